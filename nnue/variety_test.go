package nnue_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// eachLevel runs a test with the kernels of every level this machine has.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	for l := kernel.Generic; l <= kernel.Best(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			restore, err := kernel.Force(l)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			f(t)
		})
	}
}

// randomSet returns an expression of one to three blocks, drawn until the set is
// small enough to test quickly.
func randomSet(t *testing.T, rng *rand.Rand, v *chess.Variant) string {
	t.Helper()
	blocks := features.Blocks(v)
	for {
		var b strings.Builder
		b.WriteString(blocks[rng.IntN(len(blocks))])
		for range rng.IntN(3) {
			b.WriteString([]string{" + ", " * "}[rng.IntN(2)])
			b.WriteString(blocks[rng.IntN(len(blocks))])
		}
		set, err := features.Parse(b.String(), v)
		if errors.Is(err, features.ErrTooLarge) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if set.Size() < 60_000 && set.MaxActive() < 1000 {
			return set.String()
		}
	}
}

func randomArchitecture(t *testing.T, rng *rand.Rand) nnue.Architecture {
	t.Helper()
	v := chess.Variants()[rng.IntN(2)]
	a := nnue.Architecture{
		Variant: v.Name, Features: randomSet(t, rng, v),
		Width: 16 * (1 + rng.IntN(4)), Stacks: 1 + rng.IntN(4), Buckets: nnue.BoardPieces,
		L2: max(0, rng.IntN(48)-8), Activation: nnue.Activation(1 + rng.IntN(3)),
		LayerScale: 16 << rng.IntN(4), OutputScale: 1 + rng.IntN(100), Units: 1 + rng.IntN(1000),
	}
	if a.Activation == nnue.Pairwise {
		a.Width *= 2
	}
	if a.L2 > 0 {
		a.L3 = max(0, rng.IntN(48)-8)
	}
	if rng.IntN(3) == 0 {
		a.Stacks, a.Buckets = 8, nnue.HandPieces
	}
	if rng.IntN(2) == 0 {
		a.PSQT = a.Stacks
	}
	return a
}

// TestRandomArchitectures: whatever the shape, a network is written and read
// unchanged, and the accumulator says what a rebuild says.
func TestRandomArchitectures(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range 20 {
		a := randomArchitecture(t, rng)
		v, err := chess.ParseVariant(a.Variant)
		if err != nil {
			t.Fatal(err)
		}
		n := random(t, a, uint64(i))
		got, err := nnue.Parse(file(t, n), v)
		if err != nil {
			t.Fatalf("%v: %v", a, err)
		}
		if !equal(got, n) {
			t.Errorf("%v: network changes when written and read", a)
		}
		count := len(n.FTBias) + n.Features().Size()*(len(n.FTRow(0))+len(n.PSQTRow(0)))
		for i := range n.Stacks {
			for _, l := range a.Layers(&n.Stacks[i]) {
				count += len(l.Bias) * (l.Inputs + 1)
			}
		}
		if found := a.Parameters(n.Features().Size()); found != count {
			t.Errorf("%v: found %d parameters, expected %d", a, found, count)
		}
		t.Run(fmt.Sprint(a), func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				acc := nnue.NewAccumulator(n)
				for _, start := range starts(t, v)[:2] {
					playGame(t, n, acc, rng, start)
					walkTree(t, n, acc, rng, start)
				}
			})
		})
	}
}

// TestArchitectureString: no two architectures print alike.
func TestArchitectureString(t *testing.T) {
	seen := map[string]nnue.Architecture{}
	add := func(a nnue.Architecture) {
		if before, ok := seen[a.String()]; ok && before != a {
			t.Errorf("%#v and %#v are both %q", before, a, a)
		}
		seen[a.String()] = a
		if strings.Contains(a.String(), "\n") {
			t.Errorf("%q is more than a line", a)
		}
	}
	rng := rand.New(rand.NewPCG(9, 9))
	for range 300 {
		a := randomArchitecture(t, rng)
		add(a)
		for _, change := range []func(){
			func() { a.PSQT = a.Stacks - a.PSQT },
			func() { a.Activation = a.Activation%3 + 1 },
			func() { a.LayerScale = 16 * 128 / a.LayerScale },
			func() { a.Buckets = 3 - a.Buckets },
			func() { a.Units++ },
		} {
			change()
			add(a)
		}
	}
	for a, want := range map[nnue.Architecture]string{
		nnue.Fairy():    "crazyhouse HalfKAv2 512+8-16-32-1 x8 by pieces on board",
		nnue.Narrow(64): "crazyhouse HalfKAv2 64+8-16-32-1 x8 by pieces in hand",
		nnue.HalfKP():   "chess HalfKP 256-32-32-1 x1 by pieces on board",
	} {
		if a.String() != want {
			t.Errorf("found %q, want %q", a, want)
		}
	}
}
