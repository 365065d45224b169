package mcts

import (
	"context"
	"fmt"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// BenchmarkPlayout measures what a playout costs beside its evaluation, with an
// evaluator that takes hardly any time.
func BenchmarkPlayout(b *testing.B) {
	for _, probe := range []int{0, 1, 3} {
		b.Run(fmt.Sprintf("probe%d", probe), func(b *testing.B) {
			e := mustNew(b, &scatter{}, func(o *Options) { o.MateProbe, o.MemoryMB = probe, 64 })
			l := mustLine(b, chess.Crazyhouse, middleFEN, "")
			b.ReportAllocs()
			for left := b.N; left > 0; left -= 10000 {
				if _, err := e.Search(context.Background(), l, search.Limits{Nodes: uint64(min(left, 10000))}); err != nil {
					b.Fatal(err)
				}
				_ = e.NewGame()
			}
		})
	}
}
