package selfplay

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/game"
)

// TestReleasedActorIsAccusedAgain: an actor that was found out and released, and forges
// again, gets a second verdict from the same verifier.
func TestReleasedActorIsAccusedAgain(t *testing.T) {
	t.Parallel()
	cfg := verifyConfig(t)
	r, buffer := openWithBuffer(t, filepath.Join(t.TempDir(), "run"), cfg)
	in := &ingester{run: r, stream: r.bus, buffer: buffer}
	stop, err := in.serve()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	a := randomNNUE(t, cfg, 1)
	v := newTestVerifier(cfg, a)
	v.runID = r.id()
	m := newMaker(t, cfg)
	p := m.open(t, a)
	play := func(id game.ID) []byte {
		id.Run = r.id()
		return m.record(t, p, a, id)
	}
	forge := func(n int) []byte {
		return altered(t, play(evil(n)), func(g *game.Game) { g.Seed++ })
	}
	store := func(record []byte) {
		t.Helper()
		if rep, err := buffer.Append([][]byte{record}); err != nil || rep.Stored != 1 {
			t.Fatalf("found %+v, error %v, expected a stored game", rep, err)
		}
	}
	var source verifySource
	look := func(games int) (accused []string) {
		t.Helper()
		err := v.run(t.Context(), func(ctx context.Context) ([]byte, error) {
			if games == 0 {
				return nil, io.EOF
			}
			games--
			return v.nextOf(ctx, &source, r)
		}, func(verdict Verdict) error {
			accused = append(accused, verdict.Actor)
			return r.convict(t.Context(), verdict)
		})
		if err != nil {
			t.Fatal(err)
		}
		return accused
	}
	store(play(verifyID(0)))
	store(forge(1))
	store(forge(2)) // comes with the first
	if accused := look(3); len(accused) != 1 || accused[0] != "evil" || len(buffer.Excluded()) != 1 {
		t.Fatalf("accused %v, excluded %v, expected evil", accused, buffer.Excluded())
	}
	if err := buffer.Include("evil"); err != nil {
		t.Fatal(err)
	}
	store(forge(3))
	if accused := look(1); len(accused) != 1 || accused[0] != "evil" || len(buffer.Excluded()) != 1 {
		t.Errorf("after the release: accused %v, excluded %v, expected evil again", accused, buffer.Excluded())
	}
}
