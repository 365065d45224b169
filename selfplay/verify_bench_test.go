package selfplay

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
)

// errCaught ends a run of a verifier with the first verdict.
var errCaught = errors.New("caught")

// BenchmarkForgedUntilCaught sends games of which a fraction f is forged, past a
// verifier that plays a share s of them again, until the first verdict. Games whose
// header shows that they are forged are all found, after 1/f games in the mean. Of
// the others a game is found with probability s·f, if all that are forged differ:
// after 1/(s·f) games in the mean, of which 1/s are forged.
func BenchmarkForgedUntilCaught(b *testing.B) {
	cfg := verifyConfig(b)
	n, other := verifyNets(b, cfg)
	m := newMaker(b, cfg)
	p := m.open(b, n)
	var good [][]byte
	for i := range 40 {
		good = append(good, m.record(b, p, n, verifyID(i)))
	}
	bad := map[bool][][]byte{} // by whether the header shows it
	for _, f := range forgeries(b, cfg, n, other) {
		stored := f.make(b, 1)
		s, err := newTestVerifier(cfg, n, other).screen(b.Context(), stored)
		if err != nil {
			b.Fatal(err)
		}
		shown := s.verdict != nil
		bad[shown] = append(bad[shown], stored)
	}
	for _, c := range []struct {
		name            string
		shown           bool
		share, fraction float64
	}{
		{"played/share=1%/forged=100%", false, 0.01, 1},
		{"played/share=1%/forged=10%", false, 0.01, 0.1},
		{"played/share=1%/forged=1%", false, 0.01, 0.01},
		{"played/share=10%/forged=1%", false, 0.1, 0.01},
		{"header/share=1%/forged=100%", true, 0.01, 1},
		{"header/share=1%/forged=1%", true, 0.01, 0.01},
	} {
		b.Run(c.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			games, forged := 0, 0
			for b.Loop() {
				v := newTestVerifier(cfg, n, other)
				if _, err := v.verdicts(b.Context(), good[0]); err != nil {
					b.Fatal(err)
				}
				v.share = c.share
				next := func(context.Context) ([]byte, error) {
					games++
					if rng.Float64() < c.fraction {
						forged++
						return bad[c.shown][rng.IntN(len(bad[c.shown]))], nil
					}
					return good[rng.IntN(len(good))], nil
				}
				if err := v.run(b.Context(), next, func(Verdict) error { return errCaught }); !errors.Is(err, errCaught) {
					b.Fatal(err)
				}
			}
			expected := 1 / c.fraction
			if !c.shown {
				expected /= c.share
			}
			b.ReportMetric(float64(games)/float64(b.N), "games/caught")
			b.ReportMetric(expected, "expected")
			b.ReportMetric(float64(forged)/float64(b.N), "forged/caught")
		})
	}
}

// BenchmarkUnverifiableUntilTold sends games of which a fraction names another build,
// until the verifier tells of their actor.
func BenchmarkUnverifiableUntilTold(b *testing.B) {
	cfg := verifyConfig(b)
	n, _ := verifyNets(b, cfg)
	m := newMaker(b, cfg)
	p := m.open(b, n)
	good := m.record(b, p, n, evil(1))
	bad := altered(b, good, func(g *game.Game) { g.Build = "v9" })
	for _, c := range []struct {
		name     string
		fraction float64
	}{{"unverifiable=100%", 1}, {"unverifiable=50%", 0.5}, {"unverifiable=12%", 0.12}, {"unverifiable=5%", 0.05}} {
		b.Run(c.name, func(b *testing.B) {
			const most = 100_000
			rng := rand.New(rand.NewPCG(1, 1))
			games, told := 0, 0
			for b.Loop() {
				v := newTestVerifier(cfg, n)
				v.share = 0
				for i := 0; i < most && len(v.unverifiable()) == 0; i++ {
					games++
					stored := good
					if rng.Float64() < c.fraction {
						stored = bad
					}
					if _, err := v.verdicts(b.Context(), stored); err != nil {
						b.Fatal(err)
					}
				}
				told += len(v.unverifiable())
			}
			b.ReportMetric(float64(games)/float64(b.N), "games/told")
			b.ReportMetric(float64(told)/float64(b.N), "told/trial")
		})
	}
}

// BenchmarkScreen looks at a game without playing it.
func BenchmarkScreen(b *testing.B) {
	cfg := verifyConfig(b)
	n, _ := verifyNets(b, cfg)
	m := newMaker(b, cfg)
	stored := m.record(b, m.open(b, n), n, verifyID(1))
	v := newTestVerifier(cfg, n)
	for b.Loop() {
		if s, err := v.screen(b.Context(), stored); err != nil || s.verdict != nil || s.skip != "" {
			b.Fatal(s.verdict, s.skip, err)
		}
	}
}

// BenchmarkVerifyCost plays games and has a verifier play shares of them again. The
// cost is the verifier's time on processors as a percentage of the player's.
func BenchmarkVerifyCost(b *testing.B) {
	cfg := verifyConfig(b)
	cfg.Actor.Nodes, cfg.Actor.MaxPlies = 400, 200
	n, _ := verifyNets(b, cfg)
	m := newMaker(b, cfg)
	p := m.open(b, n)
	const games = 400
	var stored [games][]byte
	began := cputime.Process(os.Getpid())
	for i := range stored {
		stored[i] = m.record(b, p, n, verifyID(i))
	}
	played := cputime.Process(os.Getpid()) - began
	for _, c := range []struct {
		name  string
		share float64
	}{{"share=1%", 0.01}, {"share=100%", 1}} {
		b.Run(c.name, func(b *testing.B) {
			v := newTestVerifier(cfg, n)
			v.share = c.share
			began := cputime.Process(os.Getpid())
			for b.Loop() {
				i := 0
				next := func(context.Context) ([]byte, error) {
					if i == games {
						return nil, io.EOF
					}
					i++
					return stored[i-1], nil
				}
				if err := v.run(b.Context(), next, func(v Verdict) error { return errors.New(v.String()) }); err != nil {
					b.Fatal(err)
				}
			}
			cost := cputime.Process(os.Getpid()) - began
			b.ReportMetric(100*float64(cost)/float64(b.N)/float64(played), "%-of-playing")
			b.ReportMetric(100*float64(v.stats.Same)/float64(v.stats.Seen), "%-verified")
			b.ReportMetric(float64(played.Microseconds())/games, "µs/game-played")
		})
	}
}
