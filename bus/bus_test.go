package bus

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
)

// helperFlag followed by a directory makes the test binary publish
// helperGames games to a bus there and wait to be killed.
const (
	helperFlag  = "-publish"
	helperGames = 20
)

func TestMain(m *testing.M) {
	if n := len(os.Args); n > 2 && os.Args[n-2] == helperFlag {
		if err := publishAndWait(os.Args[n-1]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func publishAndWait(dir string) error {
	c, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		return err
	}
	b, err := c.Join(context.Background(), "test", JoinOptions{})
	if err != nil {
		return err
	}
	if _, err := b.SetPointer(context.Background(), "best", "net", 0); err != nil {
		return err
	}
	for i := range helperGames {
		if _, err := b.PublishGames(context.Background(), "a", gameID(i), [][]byte{gameData(i)}); err != nil {
			return err
		}
	}
	fmt.Println("published")
	select {}
}

func gameID(i int) string   { return fmt.Sprintf("game-%03d", i) }
func gameData(i int) []byte { return []byte(strings.Repeat(gameID(i), 10+i)) }

// testContext ends before the test binary would be killed for its slowness.
func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// openConn opens a connection, to a server of its own unless o says otherwise.
func openConn(t testing.TB, o Options) *Conn {
	t.Helper()
	if o.Dir == "" && o.URL == "" {
		o.Dir = t.TempDir()
	}
	c, err := Open(testContext(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

func joinRun(t testing.TB, c *Conn, id string, o JoinOptions) *Bus {
	t.Helper()
	b, err := c.Join(testContext(t), id, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// openBus joins the run "test" over a connection of its own.
func openBus(t testing.TB, o Options) *Bus {
	t.Helper()
	return joinRun(t, openConn(t, o), "test", JoinOptions{})
}

func publish(t testing.TB, b *Bus, i int) PubResult {
	t.Helper()
	r, err := b.PublishGames(testContext(t), "actor-1", gameID(i), [][]byte{gameData(i)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// take fetches n games, all of them at once.
func take(t testing.TB, b *Bus, n int) []Msg {
	t.Helper()
	ctx := testContext(t)
	for {
		batch, err := b.Games(ctx, n, 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if len(batch.Holes) > 0 {
			t.Fatalf("holes %v", batch.Holes)
		}
		if len(batch.Msgs) == n {
			return batch.Msgs
		}
		// On a busy machine fewer come at a time. What is not acknowledged
		// comes again.
	}
}

func stats(t testing.TB, b *Bus) Stats {
	t.Helper()
	s, err := b.Stats(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{
		{},
		{Dir: "d", URL: "nats://localhost"},
		{URL: "nats://localhost", Listen: ":1"},
		{URL: "nats://localhost", Patience: -1},
		{Dir: "d", Creds: "file"},
		{Dir: "d", TLSCA: "file"},
		{Dir: "d", Listen: "no port"},
		{Dir: "d", Listen: "localhost:http"},
	} {
		if c, err := Open(testContext(t), o); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: got %v, want ErrConfig", o, err)
			if c != nil {
				c.Close()
			}
		}
	}
	c := openConn(t, Options{})
	for _, o := range []JoinOptions{{MaxBytes: -1}, {DuplicateWindow: -1}, {Replicas: -1}, {Replicas: 7}} {
		if _, err := c.Join(testContext(t), "r", o); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: got %v, want ErrConfig", o, err)
		}
	}
	for _, id := range []string{"", "a.b", "a b", strings.Repeat("x", 65)} {
		if _, err := c.Join(testContext(t), id, JoinOptions{}); !errors.Is(err, ErrName) {
			t.Errorf("run id %q: got %v, want ErrName", id, err)
		}
	}
}

func TestSecondOpenNamesTheOwner(t *testing.T) {
	dir := t.TempDir()
	openBus(t, Options{Dir: dir})
	_, err := Open(testContext(t), Options{Dir: dir})
	if !errors.Is(err, dirlock.ErrHeld) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("got %v, want ErrHeld with process id %d", err, os.Getpid())
	}
}

func TestPortInUseIsAnError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Open(testContext(t), Options{Dir: t.TempDir(), Listen: l.Addr().String()})
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("got %v, want address in use", err)
	}
}

// Games, acknowledgements and pointers survive a clean restart.
func TestRestartKeepsState(t *testing.T) {
	ctx := testContext(t)
	dir := t.TempDir()
	b := openBus(t, Options{Dir: dir})
	for i := range 10 {
		publish(t, b, i)
	}
	rev, err := b.SetPointer(ctx, "best", "one", 0)
	if err != nil {
		t.Fatal(err)
	}
	ms := take(t, b, 6)
	if err := b.AckGames(ctx, ms[3]); err != nil { // 4 and 5 are fetched only
		t.Fatal(err)
	}
	if err := b.conn.Close(); err != nil {
		t.Fatal(err)
	}

	b = openBus(t, Options{Dir: dir})
	p, err := b.Pointer(ctx, "best")
	if err != nil || p.Value != "one" || p.Revision != rev {
		t.Errorf("pointer %+v, %v", p, err)
	}
	ms = take(t, b, 6)
	for i, m := range ms {
		if want := gameData(4 + i); string(m.Games[0]) != string(want) {
			t.Errorf("game %d: %q, want %q", i, m.Games[0], want)
		}
	}
	if !publish(t, b, 9).Duplicate {
		t.Error("duplicate was not known after a restart")
	}
}

// What was published is there after the process is killed.
func TestKilledServerKeepsGames(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, helperFlag, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "published\n" {
		t.Fatalf("helper said %q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()

	var log bytes.Buffer
	b := openBus(t, Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if strings.Contains(log.String(), "nats server") {
		t.Errorf("the start after a kill warns: %s", log.String())
	}
	for i, m := range take(t, b, helperGames) {
		if string(m.Games[0]) != string(gameData(i)) {
			t.Errorf("game %d: %q", i, m.Games[0])
		}
	}
	if p, err := b.Pointer(testContext(t), "best"); err != nil || p.Value != "net" {
		t.Errorf("pointer %+v, %v", p, err)
	}
}

// A second machine joins by URL and lives through a restart of the server.
func TestRemoteClient(t *testing.T) {
	ctx := testContext(t)
	dir := t.TempDir()
	token := secretFile(t, "secret")
	o := Options{Dir: dir, Listen: "127.0.0.1:0", TokenFile: token}
	host := joinRun(t, openConn(t, o), "test", JoinOptions{MaxBytes: 1 << 20})
	addr := host.conn.Addr()
	remote := openBus(t, Options{URL: "nats://" + addr, TokenFile: token})
	if remote.conn.Addr() != "" {
		t.Errorf("remote says it listens on %s", remote.conn.Addr())
	}
	updates, err := remote.WatchPointer(ctx, "best")
	if err != nil {
		t.Fatal(err)
	}
	publish(t, remote, 0)
	if ms := take(t, host, 1); string(ms[0].Games[0]) != string(gameData(0)) {
		t.Errorf("host got %q", ms[0].Games[0])
	}
	if s := stats(t, remote); s.MaxBytes != 1<<20 {
		t.Errorf("joining changed the room of the stream to %d", s.MaxBytes)
	}
	if err := host.conn.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := remote.PublishGames(ctx, "a", "lost", [][]byte{{1}}); err == nil {
		t.Error("publish without a server succeeded")
	}

	o.Listen = addr
	host = openBus(t, o)
	if _, err := host.SetPointer(ctx, "best", "net", 0); err != nil {
		t.Fatal(err)
	}
	select {
	case p := <-updates:
		if p.Value != "net" {
			t.Errorf("watch says %+v", p)
		}
	case <-ctx.Done():
		t.Fatal("watch did not come back")
	}
	publish(t, remote, 1)
}

// Two runs on one server do not see each other.
func TestRunsAreApart(t *testing.T) {
	c := openConn(t, Options{})
	one := joinRun(t, c, "one", JoinOptions{MaxBytes: 1 << 20})
	two := joinRun(t, c, "two", JoinOptions{MaxBytes: 1 << 20})
	publish(t, one, 1)
	if s := stats(t, two); s.Messages != 0 {
		t.Errorf("run two has %d games of run one", s.Messages)
	}
}

func TestClose(t *testing.T) {
	b := openBus(t, Options{})
	if err := b.conn.Close(); err != nil {
		t.Error(err)
	}
	if err := b.conn.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, err := b.PublishGames(testContext(t), "a", "late", [][]byte{{1}}); err == nil {
		t.Error("publish on a closed bus")
	}
	if _, err := b.WatchPointer(testContext(t), "best"); err == nil {
		t.Error("watch on a closed bus")
	}
}
