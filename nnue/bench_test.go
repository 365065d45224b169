package nnue_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

// step is one of the things a search does, in a recorded walk over a tree: it
// makes a move in pos and evaluates the position after, or takes a move back.
type step struct {
	back  bool
	pos   chess.Position
	move  chess.Move
	after chess.Position
}

// walk is a recorded tree search from a root.
type walk struct {
	root  chess.Position
	steps []step
	nodes int
}

// record walks from p: every fourth legal move, to a depth.
func (w *walk) record(rng *rand.Rand, p *chess.Position, depth int) {
	var list chess.MoveList
	p.Legal(&list)
	for _, m := range list.Moves[:list.N] {
		if rng.IntN(4) != 0 {
			continue
		}
		child := after(p, m)
		w.steps = append(w.steps, step{pos: *p, move: m, after: child})
		w.nodes++
		if depth > 1 {
			w.record(rng, &child, depth-1)
		}
		w.steps = append(w.steps, step{back: true})
	}
}

func recordedWalks(b *testing.B) []walk {
	rng := rand.New(rand.NewPCG(6, 6))
	var all []walk
	for i, start := range []int{0, 1, 4} {
		w := walk{root: starts(b, chess.Crazyhouse)[start]}
		w.record(rng, &w.root, []int{3, 2, 2}[i])
		all = append(all, w)
	}
	return all
}

func (w *walk) replay(acc *nnue.Accumulator) {
	acc.Reset(&w.root)
	for i := range w.steps {
		if s := &w.steps[i]; s.back {
			acc.Pop()
		} else {
			acc.Push(&s.pos, s.move)
			acc.Evaluate(&s.after)
		}
	}
}

// BenchmarkWalk makes, evaluates and takes back moves in trees, the moves and
// positions already known.
func BenchmarkWalk(b *testing.B) {
	walks := recordedWalks(b)
	for _, width := range []int{64, 512} {
		n := random(b, nnue.Narrow(width), 1)
		for l := kernel.Generic; l <= kernel.Best(); l++ {
			b.Run(fmt.Sprintf("%d/%v", width, l), func(b *testing.B) {
				restore, err := kernel.Force(l)
				if err != nil {
					b.Fatal(err)
				}
				defer restore()
				acc := nnue.NewAccumulator(n)
				nodes := 0
				for b.Loop() {
					for i := range walks {
						walks[i].replay(acc)
						nodes += walks[i].nodes
					}
				}
				b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "evals/s")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(nodes), "ns/eval")
			})
		}
	}
}

// BenchmarkKingMove evaluates after a move of the king, from the cache and with
// all features collected anew.
func BenchmarkKingMove(b *testing.B) {
	var moves []step
	for _, w := range recordedWalks(b) {
		for _, s := range w.steps {
			if !s.back && s.pos.PieceAt(s.move.From()).Type() == chess.King && !s.move.IsDrop() {
				moves = append(moves, s)
			}
		}
	}
	for _, width := range []int{64, 512} {
		n := random(b, nnue.Narrow(width), 1)
		for _, forget := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/%s", width, map[bool]string{false: "cached", true: "anew"}[forget]), func(b *testing.B) {
				acc := nnue.NewAccumulator(n)
				evaluations := 0
				for b.Loop() {
					for i := range moves {
						m := &moves[i]
						if forget {
							acc.Forget(&m.after)
						}
						acc.Reset(&m.after)
						acc.Evaluate(&m.after)
						evaluations++
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(evaluations), "ns/eval")
			})
		}
	}
}

// BenchmarkReadFile loads a network of Fairy-Stockfish's size.
func BenchmarkReadFile(b *testing.B) {
	data := fixtureA().data
	path := filepath.Join(b.TempDir(), "net")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := nnue.ReadFile(path, chess.Crazyhouse); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReset evaluates unrelated positions.
func BenchmarkReset(b *testing.B) {
	line := benchmarkLine(b)
	for _, width := range []int{64, 512} {
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			acc := nnue.NewAccumulator(random(b, nnue.Narrow(width), 1))
			i := 0
			for b.Loop() {
				acc.Reset(&line.positions[i])
				i = (i + 37) % len(line.positions)
			}
		})
	}
}
