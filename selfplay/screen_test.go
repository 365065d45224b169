package selfplay

import (
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/game"
)

// TestForgersDoNotStopAVerifier: games that one actor forges are excluded once an
// honest game has shown that the verifier plays as it should, however many come before.
func TestForgersDoNotStopAVerifier(t *testing.T) {
	cfg := verifyConfig(t)
	a, _ := verifyNets(t, cfg)
	m := newMaker(t, cfg)
	p := m.open(t, a)
	v := newTestVerifier(cfg, a)
	defer v.close()
	v.share = 1e-9
	forged := altered(t, m.record(t, p, a, evil(1)), func(g *game.Game) { g.Seed = 7 })
	for range 2 * maxDiffering {
		if verdicts, err := v.verdicts(t.Context(), forged); err != nil || len(verdicts) > 0 {
			t.Fatalf("before proof: %v, error %v", verdicts, err)
		}
	}
	verdicts, err := v.verdicts(t.Context(), m.record(t, p, a, verifyID(1)))
	if err != nil || len(verdicts) != 1 || verdicts[0].Actor != "evil" {
		t.Errorf("with proof: %v, error %v", verdicts, err)
	}
	// What is forged in any case needs no chance from then on.
	second := evil(2)
	second.Actor = "second"
	forged = altered(t, m.record(t, p, a, second), func(g *game.Game) { g.Nets = [2]string{foreignNet, foreignNet} })
	if verdicts, err := v.verdicts(t.Context(), forged); err != nil || len(verdicts) != 1 || verdicts[0].Actor != "second" {
		t.Errorf("a net of its own: %v, error %v", verdicts, err)
	}
}

// TestUnverifiable: an actor is told of when many of its games cannot be verified, for
// the most frequent reason, but not for nets that are gone when its games are old.
func TestUnverifiable(t *testing.T) {
	cfg := verifyConfig(t)
	a, _ := verifyNets(t, cfg)
	m := newMaker(t, cfg)
	good := m.record(t, m.open(t, a), a, verifyID(1))
	by := func(actor string, change func(*game.Game)) []byte {
		return altered(t, good, func(g *game.Game) {
			id := verifyID(1)
			id.Actor = actor
			g.ID, g.Seed = id.String(), gameSeed(cfg.Seed, id)
			change(g)
		})
	}
	old := func(g *game.Game) { g.Nets = [2]string{netID(9), netID(9)} }
	other := func(g *game.Game) { g.Build = "v9" }
	same := func(*game.Game) {}
	v := newTestVerifier(cfg, a)
	defer v.close()
	v.share = 0
	give := func(n int, stored []byte) {
		t.Helper()
		for range n {
			if verdicts, err := v.verdicts(t.Context(), stored); err != nil || len(verdicts) > 0 {
				t.Fatalf("%v, error %v", verdicts, err)
			}
		}
	}
	give(181, by("few", same))
	give(20, by("few", other))
	give(19, by("young", other))
	give(40, by("build", other))
	give(10, by("build", old))
	v.catchingUp = true
	give(100, by("early", old))
	v.catchingUp = false
	give(30, by("net", old))
	found := v.unverifiable()
	want := []bus.Unverifiable{{Actor: "build", Games: 50, Count: 50, Why: skipBuild}, {Actor: "net", Games: 30, Count: 30, Why: skipNet}}
	if len(found) != len(want) || found[0] != want[0] || found[1] != want[1] {
		t.Errorf("found %v, want %v", found, want)
	}
	if text := found[0].String(); !strings.Contains(text, "100 % of 50 games of actor build") {
		t.Errorf("in words: %s", text)
	}
	give(1, by("young", other))
	if found := v.unverifiable(); len(found) != 3 {
		t.Errorf("found %v after 20 games", found)
	}
}

// A verifier has caught up once it is through with the games that were there.
func TestVerifierCatchesUp(t *testing.T) {
	t.Parallel()
	r, p := openPublisher(t, "run-local-0-0-000000", "run-local-0-0-000001")
	in := answering(t, r)
	store := func(games int) {
		t.Helper()
		if n, err := p.once(t.Context()); n != games || err != nil {
			t.Fatalf("published %d games, error %v; want %d", n, err, games)
		}
		if err := in.drain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	store(2)
	var source verifySource
	for i, caughtUp := range []bool{false, false, true} {
		if i == 2 {
			if err := p.spool.add(encodedGame{id: "run-local-0-0-000002", data: shortGame(t, "run-local-0-0-000002")}); err != nil {
				t.Fatal(err)
			}
			store(1)
		}
		if _, err := source.next(t.Context(), r); err != nil || source.caughtUp != caughtUp {
			t.Errorf("game %d: caught up %v, error %v, expected %v", i, source.caughtUp, err, caughtUp)
		}
	}
}
