package selfplay

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// TestVerifyQuickNodes: games with quick searches are the same again; one that only says
// so, or that does not say so, is caught.
func TestVerifyQuickNodes(t *testing.T) {
	t.Parallel()
	cfg := verifyConfig(t)
	all := newMaker(t, cfg)
	cfg.Actor.QuickNodes = 20
	m, n := newMaker(t, cfg), randomNNUE(t, cfg, 1)
	const quick = " quick nodes 20"
	checkForgeries(t, cfg, n, m.record(t, m.open(t, n), n, verifyID(0)), map[string][]byte{
		"no quick searches": altered(t, all.record(t, all.open(t, n), n, evil(1)), func(g *game.Game) { g.Limits += quick }),
		"says nothing": altered(t, m.record(t, m.open(t, n), n, evil(1)), func(g *game.Game) {
			g.Limits = strings.TrimSuffix(g.Limits, quick)
		}),
	})
}

// BenchmarkQuickNodes plays with the built-in net and reports what a second of CPU time
// gives a net to learn from: positions that are to train on, not in check and without a
// capture or promotion as best move.
func BenchmarkQuickNodes(b *testing.B) {
	for _, c := range []struct{ nodes, quick uint64 }{{150, 0}, {150, 75}, {150, 50}, {150, 30}, {75, 0}, {75, 30}} {
		b.Run(fmt.Sprintf("nodes=%d/quick=%d", c.nodes, c.quick), func(b *testing.B) {
			cfg, err := configs.Preset("laptop")
			if err != nil {
				b.Fatal(err)
			}
			cfg.Actor.Nodes, cfg.Actor.QuickNodes = c.nodes, c.quick
			m := newMaker(b, cfg)
			n := &net{&player.Net{ID: builtin.ID(chess.Crazyhouse), NNUE: builtin.Net(chess.Crazyhouse)}, 1, 0}
			p := m.open(b, n)
			plies, learned, i := 0, 0, 0
			began := cputime.Process(os.Getpid())
			for b.Loop() {
				g, err := game.Decode(m.record(b, p, n, verifyID(i)))
				if err != nil {
					b.Fatal(err)
				}
				line := chess.NewLine(g.Start)
				for _, ply := range g.Plies {
					if ply.Train && !line.Pos().InCheck() && !sample.IsCapture(line.Pos(), ply.Move) {
						learned++
					}
					line.Push(ply.Move)
				}
				plies += len(g.Plies)
				i++
			}
			took := (cputime.Process(os.Getpid()) - began).Seconds()
			b.ReportMetric(float64(plies)/took, "plies/s")
			b.ReportMetric(float64(learned)/took, "learned/s")
			b.ReportMetric(float64(i)/took, "games/s")
		})
	}
}
