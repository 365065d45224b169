package selfplay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// openPublisher opens a run and a spool with games in it that nobody has published.
func openPublisher(t *testing.T, ids ...string) (*Run, *publisher) {
	t.Helper()
	cfg := smallConfig(t)
	cfg.Run.ID = "run"
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	t.Cleanup(func() { r.Close() })
	s := openTestSpool(t, r.path(spoolDir))
	for _, id := range ids {
		if err := s.add(encodedGame{id: id, data: shortGame(t, id)}); err != nil {
			t.Fatal(err)
		}
	}
	return r, &publisher{run: r, spool: s, actor: localActor}
}

// mustIngester opens the ingester of a run, which the caller closes.
func mustIngester(t *testing.T, r *Run) *ingester {
	t.Helper()
	in, err := openIngester(r)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// answering opens the ingester of a run, which answers questions and stores games when it
// is told to.
func answering(t *testing.T, r *Run) *ingester {
	t.Helper()
	in := mustIngester(t, r)
	t.Cleanup(func() {
		if err := in.close(); err != nil {
			t.Error(err)
		}
	})
	stop, err := in.serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return in
}

// onDisk counts how often each game is in the run's buffer.
func onDisk(t *testing.T, r *Run) map[string]int {
	t.Helper()
	stored := map[string]int{}
	if err := replay.VisitIDs(r.path(replayDir), func(id string) { stored[id]++ }); err != nil {
		t.Fatal(err)
	}
	return stored
}

// A game leaves the spool when it is on disk and not before, although the stream has
// it.
func TestSpooledUntilOnDisk(t *testing.T) {
	t.Parallel()
	ids := []string{"run-local-0-0-000000", "run-local-0-0-000001"}
	r, p := openPublisher(t, ids...)
	if n, err := p.once(t.Context()); n != 2 || err != nil {
		t.Fatalf("published %d games, error %v; want 2", n, err)
	}
	in := answering(t, r)
	if err := p.ask(t.Context()); err != nil || p.spool.size() != 2 || p.unsent() {
		t.Fatalf("on the stream only: error %v, %d games spooled, to be published again: %v; want 2 and none", err, p.spool.size(), p.unsent())
	}
	if err := in.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.ask(t.Context()); err != nil || p.spool.size() != 0 {
		t.Errorf("on disk: error %v, %d games spooled, want none", err, p.spool.size())
	}
	if stored := onDisk(t, r); stored[ids[0]] != 1 || stored[ids[1]] != 1 || len(stored) != 2 {
		t.Errorf("stored: %v", stored)
	}
}

// A message whose answer was lost is sent again as it was, so that the stream stores it
// once, though another game was finished meanwhile.
func TestUnansweredBundleIsSentAgainAsItWas(t *testing.T) {
	t.Parallel()
	ids := []string{"run-local-0-0-000000", "run-local-0-0-000001"}
	r, p := openPublisher(t, ids[0])
	// The server has it, and the answer is lost.
	if _, err := r.bus.PublishGames(t.Context(), p.actor, ids[0]+"-1-0", [][]byte{shortGame(t, ids[0])}); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if n, err := p.once(ended); n != 0 || !errors.Is(err, context.Canceled) {
		t.Fatalf("published %d games, error %v, expected none and %v", n, err, context.Canceled)
	}
	if err := p.spool.add(encodedGame{id: ids[1], data: shortGame(t, ids[1])}); err != nil {
		t.Fatal(err)
	}
	in := mustIngester(t, r)
	defer in.close()
	defer serveReplay(t, in)()
	if err := p.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if stored := onDisk(t, r); stored[ids[0]] != 1 || stored[ids[1]] != 1 || in.buffer.Stats().Duplicates != 0 {
		t.Errorf("stored %v, and %d came twice, expected each once and none", stored, in.buffer.Stats().Duplicates)
	}
}

// A refused game that cannot be set aside holds up no other; one that somebody deleted is
// forgotten.
func TestRefusedGameHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	ids := []string{"run-local-0-0-000000", "run-local-0-0-000001", "run-local-0-0-000002"}
	r, p := openPublisher(t, ids...)
	stop, err := r.bus.Serve(hasService, func(request []byte) ([]byte, error) {
		var q hasRequest
		if err := decodeMessage(request, &q); err != nil {
			return nil, err
		}
		return encodeMessage(&hasAnswer{Schema: messageSchema, States: "rsr"[:len(q.IDs)]}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := p.once(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused := filepath.Join(p.spool.dir, refusedDir)
	if err := os.WriteFile(refused, nil, 0o644); err != nil { // as good as a full disk
		t.Fatal(err)
	}
	if err := p.ask(t.Context()); err == nil || p.spool.size() != 2 {
		t.Errorf("error %v, %d games spooled, expected that of the disk and the refused ones", err, p.spool.size())
	}
	if err := errors.Join(os.Remove(refused), os.Remove(p.spool.path(ids[0]))); err != nil {
		t.Fatal(err)
	}
	if err := p.spool.setAside(ids[0]); err != nil || p.spool.size() != 1 {
		t.Errorf("a file that is gone: error %v, %d games spooled, expected one", err, p.spool.size())
	}
}

// A game that the stream has lost is published again, whether its sequence was passed
// by, the servers lost the end of the stream, or the whole stream was made anew.
func TestLostGamesArePublishedAgain(t *testing.T) {
	t.Parallel()
	r, p := openPublisher(t)
	in := mustIngester(t, r)
	defer in.close()
	defer serveReplay(t, in)()
	// publish has a game stored and says where its message was.
	publish := func(id string) published {
		if err := p.spool.add(encodedGame{id: id, data: shortGame(t, id)}); err != nil {
			t.Fatal(err)
		}
		if n, err := p.once(t.Context()); n != 1 || err != nil {
			t.Fatalf("published %d games, error %v; want 1", n, err)
		}
		_, at := p.spool.waiting(1)
		if err := p.drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		for r.bus.Floor().Sequence < at[0].sequence { // a game is on disk before its message is acknowledged
			if !pause.For(t.Context(), time.Millisecond) {
				t.Fatal("not acknowledged")
			}
		}
		return at[0]
	}
	at := publish("run-local-0-0-000000")
	for i, was := range []published{{at.stream, at.sequence}, {at.stream, at.sequence + 100}, {at.stream - 1, at.sequence + 100}} {
		id := fmt.Sprintf("run-local-1-0-%06d", i)
		if err := p.spool.add(encodedGame{id: id, data: shortGame(t, id)}); err != nil {
			t.Fatal(err)
		}
		p.spool.mark([]string{id}, was)
		p.end = time.Time{} // it is time to ask for the end
		if err := p.ask(t.Context()); err != nil || !p.unsent() {
			t.Fatalf("published at %v, the buffer is at %v: error %v, lost %v; want it lost", was, at, err, p.unsent())
		}
		if err := p.drain(t.Context()); err != nil || onDisk(t, r)[id] != 1 {
			t.Errorf("error %v, on disk: %v", err, onDisk(t, r))
		}
	}
}

// A file that is no game of its name is set aside, and the others go on.
func TestBadSpoolFileIsSetAside(t *testing.T) {
	t.Parallel()
	good := "run-local-0-0-000001"
	r, p := openPublisher(t)
	for id, data := range map[string][]byte{"run-local-0-0-000000": []byte("junk"), good: shortGame(t, good), "run-local-0-0-000002": shortGame(t, "another")} {
		if err := p.spool.add(encodedGame{id: id, data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := p.once(t.Context()); n != 1 || err != nil || p.spool.size() != 1 {
		t.Errorf("published %d games, error %v, %d spooled; want 1, none, 1", n, err, p.spool.size())
	}
	entries, err := os.ReadDir(filepath.Join(r.path(spoolDir), refusedDir))
	if err != nil || len(entries) != 2 {
		t.Errorf("set aside: %v, error %v; want two files", entries, err)
	}
	seen := 0
	for _, e := range events(t, r.dir) {
		if e["msg"] == "spooled file set aside" {
			seen++
		}
	}
	if seen != 2 {
		t.Errorf("%d events about files set aside, want 2", seen)
	}
}

// An actor that ends while there is no replay role says which games stay, and that is no
// failure; the next start publishes them.
func TestActorEndsWithoutReplay(t *testing.T) {
	dir, cfg := filepath.Join(t.TempDir(), "run"), smallConfig(t)
	r := openRun(t, dir, cfg)
	if err := r.withActor(t.Context(), Limits{Games: 2}, time.Second, nil, nil); err != nil {
		t.Errorf("found error %v, expected none", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	told := 0.0
	for _, e := range events(t, dir) {
		if e["msg"] == "games stay in the spool, the next start publishes them" {
			told = e["games"].(float64)
		}
	}
	if told != 2 {
		t.Errorf("told of %v games, expected 2", told)
	}
	r = openRun(t, dir, cfg)
	defer r.Close()
	in := mustIngester(t, r)
	defer in.close()
	err := r.withActor(t.Context(), Limits{Games: 1}, patience, nil, []role{func(ctx context.Context) error { return r.replayRole(ctx, in) }})
	if stored := onDisk(t, r); err != nil || len(stored) != 3 {
		t.Errorf("error %v, stored %v, expected 3 games", err, stored)
	}
}
