package selfplay

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// refusing is an ingester of signed games with an actor, whose copies of refused games are
// counted.
type refusing struct {
	*ingester
	stream *watchedStream
	key    actorIdentity
	dir    string
	sent   int
}

func newRefusing(t *testing.T) *refusing {
	t.Helper()
	cfg := smallConfig(t)
	cfg.Bus.Listen = "127.0.0.1:0"
	dir := filepath.Join(t.TempDir(), "run")
	r := openRun(t, dir, cfg)
	t.Cleanup(func() { r.Close() })
	in, err := openIngester(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.close() })
	a, err := openActor(t.TempDir(), r.id(), "bad", 0)
	if err != nil {
		t.Fatal(err)
	}
	stream := &watchedStream{Bus: r.bus, beforeAck: func() {}}
	in.stream = stream
	return &refusing{in, stream, a, dir, 0}
}

// ingest has the actor send a batch of games, signed or not.
func (f *refusing) ingest(t *testing.T, games int, sign bool) {
	t.Helper()
	var all [][]byte
	for range games {
		data := shortGame(t, game.ID{Run: f.run.id(), Actor: "bad", Counter: uint64(f.sent)}.String())
		if f.sent++; sign {
			data = game.Seal(data, f.key.key())
		}
		all = append(all, data)
	}
	if _, err := f.run.bus.PublishGames(t.Context(), "bad", fmt.Sprint("m", f.sent), all); err != nil {
		t.Fatal(err)
	}
	if n, err := f.once(t.Context(), patience); n != games || err != nil {
		t.Fatalf("%d games, error %v, expected %d", n, err, games)
	}
}

// The games of an excluded actor, which plays on, leave nothing on the disk nor on the
// servers.
func TestExcludedActorFillsNothing(t *testing.T) {
	t.Parallel()
	f := newRefusing(t)
	if err := f.buffer.Exclude("bad", "its clock is broken"); err != nil {
		t.Fatal(err)
	}
	before := len(events(t, f.dir))
	for range 10 {
		f.ingest(t, replay.QuarantineBatch+1, true)
	}
	if n := len(events(t, f.dir)) - before; n != 0 || f.stream.rejected != 0 {
		t.Errorf("%d events and %d copies on the bus, expected none", n, f.stream.rejected)
	}
	if n := f.run.Status().Figures.Rejected[rejectExcluded]; n != uint64(f.sent) {
		t.Errorf("%d games counted, expected %d", n, f.sent)
	}
}

// An event about refused games has the number of the whole batch, the first one, too.
func TestQuarantineIsToldOfWholeBatch(t *testing.T) {
	t.Parallel()
	f := newRefusing(t)
	before := len(events(t, f.dir))
	f.ingest(t, replay.QuarantineBatch+1, false)
	all := events(t, f.dir)
	if last := all[len(all)-1]; len(all) != before+1 || last["msg"] != "game quarantined" || last["games"] != float64(f.sent) {
		t.Errorf("%d events, the last %v, expected one of %d games", len(all)-before, last, f.sent)
	}
}

// Refused games are told of once in a while, with their number. They are kept all the same.
func TestQuarantineIsToldOnceInAWhile(t *testing.T) {
	t.Parallel()
	f := newRefusing(t)
	f.kept = news{"": {told: time.Now().Add(24 * time.Hour)}} // a moment ago, however slow the machine
	before := len(events(t, f.dir))
	for range 3 {
		f.ingest(t, replay.QuarantineBatch+1, false)
	}
	if n := len(events(t, f.dir)) - before; n != 0 || f.stream.rejected != 3*replay.QuarantineBatch {
		t.Errorf("%d events and %d copies on the bus, expected none and the first of each batch", n, f.stream.rejected)
	}
	f.kept[""] = untold{games: f.kept[""].games}
	f.ingest(t, 1, false)
	all := events(t, f.dir)
	if last := all[len(all)-1]; len(all) != before+1 || last["msg"] != "game quarantined" || last["games"] != float64(f.sent) {
		t.Errorf("after a while %d events, the last %v, expected one of %d games", len(all)-before, last, f.sent)
	}
}
