package selfplay

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/cputime"
)

// errCaught ends a run of a verifier with the first verdict.
var errCaught = errors.New("caught")

// BenchmarkForgedUntilCaught sends games of which a fraction f is forged, past a
// verifier that plays a share s of them again, until the first verdict. A game is the
// one with probability s·f, if all that are forged differ: then the verdict comes
// after 1/(s·f) games in the mean, of which 1/s are forged.
func BenchmarkForgedUntilCaught(b *testing.B) {
	cfg := verifyConfig(b)
	n, other := verifyNets(b, cfg)
	m := newMaker(b, cfg)
	p := m.open(b, n)
	var good, bad [][]byte
	for i := range 40 {
		good = append(good, m.record(b, p, n, verifyID(i)))
	}
	for _, f := range forgeries(b, cfg, n, other) {
		bad = append(bad, f.make(b, 1))
	}
	for _, c := range []struct {
		name            string
		share, fraction float64
	}{{"share=1%/forged=100%", 0.01, 1}, {"share=1%/forged=10%", 0.01, 0.1}, {"share=1%/forged=1%", 0.01, 0.01}, {"share=10%/forged=1%", 0.1, 0.01}} {
		b.Run(c.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			games, forged := 0, 0
			for b.Loop() {
				v := newTestVerifier(cfg, n, other)
				if _, err := v.verify(b.Context(), good[0]); err != nil {
					b.Fatal(err)
				}
				v.share = c.share
				next := func(context.Context) ([]byte, error) {
					games++
					if rng.Float64() < c.fraction {
						forged++
						return bad[rng.IntN(len(bad))], nil
					}
					return good[rng.IntN(len(good))], nil
				}
				if err := v.run(b.Context(), next, func(Verdict) error { return errCaught }); !errors.Is(err, errCaught) {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(games)/float64(b.N), "games/caught")
			b.ReportMetric(1/c.share/c.fraction, "expected")
			b.ReportMetric(float64(forged)/float64(b.N), "forged/caught")
		})
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
