package replay

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/crazyhouse-rl/selfplay/sample"
)

// TestDrawAllocates nothing for each sample once the games are in memory.
func TestDrawAllocates(t *testing.T) {
	b := openBuffer(t, t.TempDir(), testOptions())
	appendGames(t, b, testGames(t, 0, 40))
	rng, dst := newRand(1), make([]sample.Sample, 1000)
	f := sample.Filter{SkipInCheck: true, SkipCaptures: true, MinPly: 8, ThinPly: 10}
	allocs := testing.AllocsPerRun(10, func() {
		if err := b.Draw(rng, Drawing{PerGame: 4, Filter: f}, dst); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 10 { // the list of plies, which grows
		t.Errorf("%v allocations for %d samples", allocs, len(dst))
	}
}

func benchmarkGames(b *testing.B, n int) [][]byte {
	games := make([][]byte, n)
	for i := range games {
		games[i] = encode(b, testGame(i, 100))
	}
	return games
}

func BenchmarkDraw(b *testing.B) {
	o := testOptions()
	o.SegmentBytes, o.MaxBytes = 1<<20, 1<<30
	games := benchmarkGames(b, 2000)
	for _, perGame := range []int{1, 4, 16} {
		b.Run(fmt.Sprint("perGame=", perGame), func(b *testing.B) {
			buf := openBuffer(b, b.TempDir(), o)
			appendGames(b, buf, games)
			rng, dst := newRand(1), make([]sample.Sample, 16384)
			f := sample.Filter{SkipInCheck: true, SkipCaptures: true, MinPly: 8}
			b.ResetTimer()
			for range b.N {
				if err := buf.Draw(rng, Drawing{PerGame: perGame, Filter: f}, dst); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*len(dst))/b.Elapsed().Seconds(), "samples/s")
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	o := testOptions()
	o.SegmentBytes, o.MaxBytes = 16<<20, 1<<30
	games := benchmarkGames(b, 1000)
	b.SetBytes(int64(len(bytes.Join(games, nil))))
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		buf := openBuffer(b, b.TempDir(), o)
		b.StartTimer()
		appendGames(b, buf, games)
	}
	b.ReportMetric(float64(b.N*len(games))/b.Elapsed().Seconds(), "games/s")
}

func BenchmarkOpen(b *testing.B) {
	o := testOptions()
	o.SegmentBytes, o.MaxBytes = 1<<20, 1<<30
	dir := b.TempDir()
	buf := openBuffer(b, dir, o)
	games := benchmarkGames(b, 2000)
	appendGames(b, buf, games)
	crash(b, buf)
	b.ResetTimer()
	for range b.N {
		buf, err := Open(dir, o)
		if err != nil {
			b.Fatal(err)
		}
		crash(b, buf)
	}
	b.ReportMetric(float64(b.N*len(games))/b.Elapsed().Seconds(), "games/s")
}
