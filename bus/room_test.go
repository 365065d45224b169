package bus

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
)

// A store of 10 MiB opens with 10 MiB free, as it would be with a server whose
// limit is three quarters of what is free.
func TestLittleRoomOnTheDisk(t *testing.T) {
	dir := t.TempDir()
	b := openBus(t, Options{Dir: dir})
	publishMany(t, b, 160, 60<<10)
	if err := b.conn.Close(); err != nil {
		t.Fatal(err)
	}
	open := func(free uint64, log *slog.Logger) (*Conn, error) {
		return Open(testContext(t), Options{Dir: dir, Log: log, free: func(string) (uint64, error) { return free, nil }})
	}
	if _, err := open(startRoom-1<<19, nil); !errors.Is(err, ErrFull) ||
		!strings.Contains(err.Error(), "needs 4.0 MiB of free disk to start and has 3.5 MiB; free 0.5 MiB there") {
		t.Errorf("too little room: %v", err)
	}
	var log bytes.Buffer
	c, err := open(10<<20, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b = joinRun(t, c, "test", JoinOptions{})
	if !strings.Contains(log.String(), "less room than games may take") || !strings.Contains(log.String(), `free="10.0 MiB"`) {
		t.Errorf("log %q", log.String())
	}
	if s := stats(t, b); s.Messages != 160 {
		t.Errorf("%+v", s)
	}
	publish(t, b, 1)
	c.opt.free = func(string) (uint64, error) { return spareRoom, nil }
	if _, err := b.PublishGames(testContext(t), "a", "id", [][]byte{{1}}); !errors.Is(err, ErrFull) ||
		!strings.Contains(err.Error(), "2.0 MiB of them to spare") {
		t.Errorf("nothing to spare: %v", err)
	}
	c.opt.free = func(string) (uint64, error) { return math.MaxUint64, nil }
	publish(t, b, 2)
}

// Warnings that every start after a kill gives are not passed on as such.
func TestServerLog(t *testing.T) {
	var out bytes.Buffer
	log := &serverLog{out: slog.New(slog.NewTextHandler(&out, nil))}
	log.Warnf("Filestore [%s] Stream state outdated, last block has additional entries, will rebuild", "r-games")
	log.Warnf("Filestore [%s] Recovering stream state from index errored: %v", "r-games", "prior state file")
	if out.Len() > 0 {
		t.Errorf("passed on: %s", out.String())
	}
	log.Warnf("Filestore [%s] Recovering stream state from index errored: %v", "r-games", "corrupt state file")
	log.Errorf("Critical write error: %v", "x")
	if n := strings.Count(out.String(), "nats server: "); n != 2 {
		t.Errorf("%d lines passed on: %s", n, out.String())
	}
}
