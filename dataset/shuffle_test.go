package dataset

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// TestShuffle: nothing is lost or added, the seed decides, memory or not.
func TestShuffle(t *testing.T) {
	want := slices.Concat(readAll(t, crazyhousePlain, chess.Crazyhouse), readAll(t, wholeGames, chess.Crazyhouse))
	for _, memory := range []int64{1 << 30, 300 * sampleBytes} {
		for _, byGame := range []bool{false, true} {
			run := func() (string, Shuffling) {
				sources := []*Source{open(t, crazyhousePlain, chess.Crazyhouse), open(t, wholeGames, chess.Crazyhouse)}
				to := target(t, "x.plain", sources[0])
				h := Shuffling{Memory: memory, ByGame: byGame, Temp: t.TempDir(), Rand: newRand(5)}
				if err := to.Create(func(s *Sink) error { return h.Run(context.Background(), sources, s) }); err != nil {
					t.Fatal(err)
				}
				if left, err := os.ReadDir(h.Temp); err != nil || len(left) > 0 {
					t.Errorf("%d temporary files left, %v", len(left), err)
				}
				return to.Name, h
			}
			name, h := run()
			again, _ := run()
			got := readAll(t, name, chess.Crazyhouse)
			if !slices.Equal(sorted(got), sorted(want)) || slices.Equal(got, want) {
				t.Errorf("memory %d, by game %v: %d samples, expected %d in another order", memory, byGame, len(got), len(want))
			}
			if !bytes.Equal(mustRead(t, name), mustRead(t, again)) {
				t.Errorf("memory %d, by game %v: another order at the second run", memory, byGame)
			}
			if h.Samples != int64(len(want)) || (h.Spilled > 0) != (memory < 1<<30) {
				t.Errorf("memory %d, by game %v: %d samples, %d bytes spilled", memory, byGame, h.Samples, h.Spilled)
			}
		}
	}
}

// TestShuffleGames keeps games whole, even where one alone fills the memory.
func TestShuffleGames(t *testing.T) {
	name, list := writeGames(t, 10)
	for _, memory := range []int64{1 << 30, 1} {
		src := open(t, name, nil)
		to := target(t, "x.chain", src)
		h := Shuffling{Memory: memory, ByGame: true, Temp: t.TempDir(), Rand: newRand(5)}
		if err := to.Create(func(s *Sink) error { return h.Run(context.Background(), []*Source{src}, s) }); err != nil {
			t.Fatal(err)
		}
		if got := ids(t, to.Name); !slices.Equal(got, ids(t, name)) || len(got) != len(list) || bytes.Equal(mustRead(t, to.Name), mustRead(t, name)) {
			t.Errorf("memory %d: %d games, expected %d in another order", memory, len(got), len(list))
		}
	}
}

// TestShuffleWithoutPolicies: what searches made of the moves, which no output of single
// samples keeps, takes no memory.
func TestShuffleWithoutPolicies(t *testing.T) {
	name := policyFile(t)
	for _, byGame := range []bool{false, true} {
		src := open(t, name, nil)
		to := target(t, "x.bin", src)
		h := Shuffling{Memory: 1 << 30, ByGame: byGame, Temp: t.TempDir(), Rand: newRand(5)}
		if err := to.Create(func(s *Sink) error { return h.Run(context.Background(), []*Source{src}, s) }); err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		if err := h.held.each(func(g *Game) error {
			for i := range g.Samples {
				if n++; g.Samples[i].Policy != nil {
					return fmt.Errorf("sample %d of %d in memory has a policy", i, len(g.Samples))
				}
			}
			return nil
		}); err != nil || n != h.Samples || n == 0 {
			t.Errorf("by game %v: %d samples held, %d read, error %v", byGame, n, h.Samples, err)
		}
	}
}

// plies is a sample.Writer that remembers the plies.
type plies []uint16

func (p *plies) Write(s *sample.Sample) error {
	*p = append(*p, s.Ply)
	return nil
}

func (p *plies) Close() error { return nil }

// TestShuffleIsFair has every sample at every place about equally often.
func TestShuffleIsFair(t *testing.T) {
	const n, rounds = 6, 3000
	all := readAll(t, wholeGames, chess.Crazyhouse)[:n]
	var seen [n][n]int
	rng := newRand(6)
	for range rounds {
		var held heap
		for i := range all {
			held.add(&Game{Samples: all[i : i+1]})
		}
		var order plies
		if err := held.write(rng, &Sink{w: &order}); err != nil {
			t.Fatal(err)
		}
		for place, ply := range order {
			seen[ply][place]++
		}
	}
	for i, row := range seen {
		for place, count := range row {
			if count < rounds/n*8/10 || count > rounds/n*12/10 {
				t.Errorf("sample %d stood at %d in %d of %d", i, place, count, rounds)
			}
		}
	}
}

func BenchmarkShuffleSpilled(b *testing.B) {
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		var sources []*Source
		for range 50 {
			sources = append(sources, open(b, crazyhouseBin, chess.Crazyhouse))
		}
		to := target(b, "x.bin", sources[0])
		h := Shuffling{Memory: 4 << 20, Temp: b.TempDir(), Rand: newRand(5)}
		if err := to.Create(func(s *Sink) error { return h.Run(context.Background(), sources, s) }); err != nil {
			b.Fatal(err)
		}
		n += h.Samples
		for _, s := range sources {
			s.Close()
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
}
