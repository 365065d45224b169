package selfplay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
)

// openOnServer opens a run on a server of its own, for roles that join it.
func openOnServer(t *testing.T) (r *Run, own configs.Config) {
	t.Helper()
	server, err := bus.Open(t.Context(), bus.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	cfg := smallConfig(t)
	cfg.Bus.URL, cfg.Run.Name = "nats://"+server.Addr(), "test"
	own = preset(t, "laptop")
	own.Bus.URL = cfg.Bus.URL
	r = openRun(t, filepath.Join(t.TempDir(), "trainer"), cfg)
	t.Cleanup(func() { r.Close() })
	return r, own
}

// replaying is a replay role in this process.
type replaying struct {
	run    *Run
	cancel context.CancelFunc
	done   chan error
}

func startReplay(t *testing.T, dir string, own configs.Config, o Options) *replaying {
	t.Helper()
	o.Build, o.Role = "test", "replay"
	r, err := Join(t.Context(), dir, "test", own, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	p := &replaying{r, cancel, make(chan error, 1)}
	go func() { p.done <- r.Replay(ctx) }()
	return p
}

// await waits until the role says that it does something.
func (p *replaying) await(t *testing.T, what string) {
	t.Helper()
	state := func() string { s := p.run.Status(); return s.state("replay") }
	for end := time.After(patience); !strings.Contains(state(), what); {
		select {
		case err := <-p.done:
			t.Fatalf("the role ended with error %v, expected it to say %q", err, what)
		case <-end:
			t.Fatalf("found %q, expected %q", state(), what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (p *replaying) end(t *testing.T) {
	t.Helper()
	p.cancel()
	if err := errors.Join(<-p.done, p.run.Close()); err != nil {
		t.Fatal(err)
	}
}

// A second replay role on the same directory waits until the first has ended, and then
// goes on with the buffer.
func TestSecondReplayWaitsForTheDirectory(t *testing.T) {
	_, own := openOnServer(t)
	dir := filepath.Join(t.TempDir(), "replay")
	first := startReplay(t, dir, own, Options{})
	first.await(t, "waiting for games")
	second := startReplay(t, dir, own, Options{})
	second.await(t, "another process has "+filepath.Join(dir, replayDir))
	first.end(t)
	second.await(t, "waiting for games")
	second.end(t)
}

// A quarantined game appears in the status with its actor and the reason.
func TestOverviewShowsQuarantinedGames(t *testing.T) {
	r, own := openOnServer(t)
	for i := range shownRefusals + 1 {
		id := fmt.Sprintf("%s-liar-0-0-%06d", r.id(), i)
		if err := r.bus.Reject(t.Context(), fmt.Sprint("no seal ", i), shortGame(t, id)); err != nil {
			t.Fatal(err)
		}
	}
	own.Run.Name = "test"
	v, err := ReadOverview(t.Context(), own, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Stream.Rejects != shownRefusals+1 || len(v.Refused) != shownRefusals || v.Refused[0].Actor != "liar" || v.Refused[0].Reason != "no seal 3" {
		t.Errorf("found %d games, %+v, expected %d, the newest no seal 3 of liar", v.Stream.Rejects, v.Refused, shownRefusals+1)
	}
	var text strings.Builder
	if err := v.Write(&text); err != nil || !strings.Contains(text.String(), "actor liar: no seal 3") {
		t.Errorf("error %v, text %s", err, &text)
	}
}

// The status says how old everything is that it tells.
func TestOverviewSaysWhen(t *testing.T) {
	r, own := openOnServer(t)
	m := bus.Member{Schema: bus.MemberSchema, Protocol: bus.Protocol, Role: "actor", Instance: "a", Since: time.Now()}
	lease, err := r.bus.Lease(t.Context(), replayLease, bus.Holder{Instance: "a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release(t.Context())
	if err := r.bus.Announce(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := r.bus.PublishGame(t.Context(), "a", "id", []byte("game")); err != nil {
		t.Fatal(err)
	}
	id := offerNet(t, r, 1)
	own.Run.Name = "test"
	v, err := ReadOverview(t.Context(), own, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Members) != 1 || len(v.Leases) != 1 || v.Offered.Net != id {
		t.Fatalf("found members %+v, leases %+v, offered %+v", v.Members, v.Leases, v.Offered)
	}
	for what, at := range map[string]time.Time{"member": v.Members[0].Seen, "lease": v.Leases[0].Renewed, "offer": v.OfferedAt, "oldest": v.Stream.Oldest, "newest": v.Stream.Newest} {
		if age := time.Since(at); age < -time.Minute || age > patience {
			t.Errorf("%s: found %v, expected a time of this test", what, at)
		}
	}
	var text strings.Builder
	if err := v.Write(&text); err != nil || !strings.Contains(text.String(), "; the oldest came ") || !strings.Contains(text.String(), ", written ") {
		t.Errorf("error %v, text\n%s", err, &text)
	}
}

// Another buffer than the run's is refused while the run's is in use and after that, until
// it is said that it takes its place.
func TestOtherBufferIsRefused(t *testing.T) {
	_, own := openOnServer(t)
	dir, other := filepath.Join(t.TempDir(), "replay"), filepath.Join(t.TempDir(), "other")
	first := startReplay(t, dir, own, Options{})
	first.await(t, "waiting for games")
	l, err := first.run.bus.ReadLease(t.Context(), replayLease)
	if err != nil {
		t.Fatal(err)
	}
	refused := func() {
		t.Helper()
		p := startReplay(t, other, own, Options{})
		err := <-p.done
		if !errors.Is(err, ErrOtherBuffer) || !strings.Contains(err.Error(), "expected "+l.Detail) || !strings.Contains(err.Error(), "--replace-buffer") {
			t.Errorf("found error %v, expected ErrOtherBuffer with %s and what to do", err, l.Detail)
		}
		if err := p.run.Close(); err != nil {
			t.Error(err)
		}
	}
	refused()
	first.end(t)
	refused()
	instead := startReplay(t, other, own, Options{ReplaceBuffer: true})
	instead.await(t, "waiting for games")
	instead.end(t)
	p := startReplay(t, dir, own, Options{})
	if err := <-p.done; !errors.Is(err, ErrOtherBuffer) {
		t.Errorf("the buffer that was replaced: found error %v, expected ErrOtherBuffer", err)
	}
}

// Servers that have lost everything are told by the trainer which buffer has the run's games: an
// empty one does not become the run's because it comes first.
func TestOtherBufferIsRefusedByEmptyServers(t *testing.T) {
	r, own := openOnServer(t)
	dir := filepath.Join(t.TempDir(), "replay")
	first := startReplay(t, dir, own, Options{})
	first.await(t, "waiting for games")
	kept, err := r.readPointers()
	if err == nil {
		err = r.keepOnce(t.Context(), kept, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := r.bus.ReadLease(t.Context(), replayLease)
	if err != nil {
		t.Fatal(err)
	}
	first.end(t)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	server, err := bus.Open(t.Context(), bus.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	cfg := r.cfg
	cfg.Bus.URL = "nats://" + server.Addr()
	own.Bus.URL = cfg.Bus.URL
	defer openRun(t, r.dir, cfg).Close()
	other := startReplay(t, filepath.Join(t.TempDir(), "other"), own, Options{})
	if err := <-other.done; !errors.Is(err, ErrOtherBuffer) || !strings.Contains(err.Error(), "expected "+l.Detail) {
		t.Errorf("found error %v, expected ErrOtherBuffer with %s", err, l.Detail)
	}
	again := startReplay(t, dir, own, Options{})
	again.await(t, "waiting for games")
	again.end(t)
	instead := startReplay(t, other.run.dir, own, Options{ReplaceBuffer: true})
	instead.await(t, "waiting for games")
	instead.end(t)
}
