package nnue_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

func TestCheck(t *testing.T) {
	const (
		width = 16
		block = 864
	)
	for _, c := range []struct {
		name string
		edit func(n *nnue.Network)
		says string // "" if the network is good
	}{
		{"random", func(*nnue.Network) {}, ""},
		{"31 large rows in a block", func(n *nnue.Network) {
			n.FTBias[3] = 0
			for i := range 31 {
				n.FTRow(5*block + i)[3] = 1000
			}
		}, ""},
		{"large rows of two blocks", func(n *nnue.Network) {
			for i := range 20 {
				n.FTRow(i)[3] = 1000
				n.FTRow(block + i)[3] = 1000
			}
		}, ""},
		{"32 rows reach int16", func(n *nnue.Network) {
			n.FTBias[3] = 767
			for i := range 32 {
				n.FTRow(5*block + 20*i)[3] = 1000
			}
		}, ""},
		{"32 rows pass int16", func(n *nnue.Network) {
			n.FTBias[3] = 768
			for i := range 32 {
				n.FTRow(5*block + 20*i)[3] = 1000
			}
		}, "network can overflow: found accumulator 3"},
		{"32 rows pass int16 below", func(n *nnue.Network) {
			n.FTBias[15] = -769
			for i := range 32 {
				n.FTRow(63*block + i)[15] = -1000
			}
		}, "-32769"},
		{"piece-square sum", func(n *nnue.Network) {
			for i := range 32 {
				n.PSQTRow(i)[7] = math.MaxInt32 / 63
			}
		}, "piece-square sum 7"},
		{"layer 1", func(n *nnue.Network) { n.Stacks[2].L1Bias[1] = math.MaxInt32 }, "stack 2"},
		{"layer 2", func(n *nnue.Network) { n.Stacks[0].L2Bias[1] = math.MinInt32 }, "layer 2"},
		{"output", func(n *nnue.Network) { n.Stacks[7].OutBias = math.MaxInt32 - 1 }, "output layer"},
	} {
		n := random(t, nnue.Narrow(width), 1)
		c.edit(n)
		err := n.Check()
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if !errors.Is(err, nnue.ErrOverflow) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v saying %q", c.name, err, nnue.ErrOverflow, c.says)
		}
	}
	n := random(t, nnue.Narrow(width), 1)
	n.Stacks[0].OutWeights = nil
	if err := n.Check(); !errors.Is(err, nnue.ErrArchitecture) {
		t.Errorf("missing weights: %v, want %v", err, nnue.ErrArchitecture)
	}
}

// TestCheckSum: a sum of sets is bounded as a whole and part by part. All has at
// most 32 active features, Hand 30, both together 32, HandTotal 2.
func TestCheckSum(t *testing.T) {
	for _, c := range []struct {
		features string
		first    int   // row of the second part
		large    int16 // in all rows from there on
		says     string
	}{
		{"All + Hand", 768, 1000, ""},
		{"All + Hand", 768, 1100, "between 0 and 33000"},
		{"All + Hand", 0, 1000, ""},
		{"All + Hand", 0, 1100, "between 0 and 35200"},
		{"All + HandTotal", 768, 16000, ""},
		{"All + HandTotal", 768, 16400, "between 0 and 32800"},
	} {
		a := nnue.Narrow(16)
		a.Features = c.features
		n, err := nnue.New(a)
		if err != nil {
			t.Fatal(err)
		}
		for f := c.first; f < n.Features().Size(); f++ {
			n.FTRow(f)[5] = c.large
		}
		err = n.Check()
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s, %d from row %d on: %v, want %q", c.features, c.large, c.first, err, c.says)
		}
	}
}

// TestSaturations: four weights that are added in 16 bits, in the order the
// instructions take them, and no others.
func TestSaturations(t *testing.T) {
	n, err := nnue.New(nnue.Narrow(16))
	if err != nil {
		t.Fatal(err)
	}
	stack := &n.Stacks[3]
	for _, i := range []int{8, 9, 10, 11} { // two of either group of eight inputs
		stack.L1Weights[5*32+i] = 127
	}
	for _, i := range []int{0, 1, 4, 5} {
		stack.L2Weights[7*32+i] = -65
		stack.L2Weights[8*32+i] = 64
	}
	for i := range stack.L2Weights {
		if i%32 >= 16 {
			stack.L2Weights[i] = 127 // padding
		}
	}
	want := []nnue.Saturation{{Stack: 3, Layer: 2, Output: 7, Inputs: [4]int{0, 1, 4, 5}, Lowest: -4 * 65 * 127}}
	if got := n.Saturations(); !slices.Equal(got, want) {
		t.Errorf("found %+v, want %+v", got, want)
	}
	stack.L1Weights[5*32+15] = 5
	stack.L1Weights[5*32+14] = 127
	stack.L1Weights[5*32+12] = 4
	want = append([]nnue.Saturation{
		{Stack: 3, Layer: 1, Output: 5, Inputs: [4]int{8, 9, 12, 13}},
		{Stack: 3, Layer: 1, Output: 5, Inputs: [4]int{10, 11, 14, 15}, Highest: 386 * 127},
	}, want...)
	if got := n.Saturations(); !slices.Equal(got, want[1:]) {
		t.Errorf("found %+v, want %+v", got, want[1:])
	}
	stack.L1Weights[5*32+13] = 1
	want[0].Highest = 259 * 127
	if got := n.Saturations(); !slices.Equal(got, want) {
		t.Errorf("found %+v, want %+v", got, want)
	}
	if found := fixtureA().network(t).Saturations(); len(found) != 0 {
		t.Errorf("fixture A: found %+v, want none", found)
	}
	if found := fixtureS().network(t).Saturations(); len(found) == 0 {
		t.Errorf("fixture S: found none, want some")
	}
}

func TestArchitectureValidate(t *testing.T) {
	for _, c := range []struct {
		edit func(a *nnue.Architecture)
		says string // "" if valid
	}{
		{func(*nnue.Architecture) {}, ""},
		{func(a *nnue.Architecture) { *a = nnue.Fairy() }, ""},
		{func(a *nnue.Architecture) { a.Variant = "checkers" }, "checkers"},
		{func(a *nnue.Architecture) { a.Features = "Nothing" }, "Nothing"},
		{func(a *nnue.Architecture) { a.Features = "All+PH" }, `canonical form "All + PH"`},
		{func(a *nnue.Architecture) { a.Features = "All + PH" }, ""},
		{func(a *nnue.Architecture) { *a = nnue.HalfKP() }, ""},
		{func(a *nnue.Architecture) { a.Width = 0 }, "width 0"},
		{func(a *nnue.Architecture) { a.Width = 24 }, "width 24"},
		{func(a *nnue.Architecture) { a.Width = 4096 }, "width 4096"},
		{func(a *nnue.Architecture) { a.Stacks = 0 }, "stacks 0"},
		{func(a *nnue.Architecture) { a.Stacks, a.PSQT = 4, 4 }, "found 4 stacks, expected 8"},
		{func(a *nnue.Architecture) { a.PSQT = 4 }, "found 4 PSQT columns, expected 8, one per stack, or none"},
		{func(a *nnue.Architecture) { a.PSQT, a.Buckets, a.Stacks = 0, nnue.BoardPieces, 16 }, ""},
		{func(a *nnue.Architecture) { a.L3 = 0 }, ""},
		{func(a *nnue.Architecture) { a.L2, a.L3 = 0, 0 }, ""},
		{func(a *nnue.Architecture) { a.L2 = 0 }, "second layer of 32 without a first"},
		{func(a *nnue.Architecture) { a.Activation = 0 }, "activation 0"},
		{func(a *nnue.Architecture) { a.Activation = 4 }, "activation 4"},
		{func(a *nnue.Architecture) { a.Activation = nnue.Pairwise }, ""},
		{func(a *nnue.Architecture) { a.Activation, a.Width = nnue.Pairwise, 48 }, "width 48, expected a multiple of 32"},
		{func(a *nnue.Architecture) { a.LayerScale = 8 }, "layer scale 8"},
		{func(a *nnue.Architecture) { a.LayerScale = 96 }, "layer scale 96"},
		{func(a *nnue.Architecture) { a.OutputScale = 0 }, "output scale 0"},
		{func(a *nnue.Architecture) { a.Units = -1 }, "units -1"},
		{func(a *nnue.Architecture) { a.Buckets = 0 }, "bucket rule 0"},
		{func(a *nnue.Architecture) { a.L2 = 129 }, "first layer 129"},
		{func(a *nnue.Architecture) { a.L3 = -1 }, "second layer -1"},
	} {
		a := nnue.Narrow(64)
		c.edit(&a)
		_, err := nnue.New(a)
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%v: %v", a, err)
		case c.says != "" && (!errors.Is(err, nnue.ErrArchitecture) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%v: %v, want %v saying %q", a, err, nnue.ErrArchitecture, c.says)
		}
	}
}

func TestBuckets(t *testing.T) {
	const rest = "/8/8/8/8/8/8/4K3"
	hand := func(n int) string {
		return "4k3" + rest + "[" + strings.Repeat("n", n/2) + strings.Repeat("P", n-n/2) + "] w - - 0 1"
	}
	for held, want := range []int{0, 1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 7, 7} {
		p := position(t, chess.Crazyhouse, hand(held))
		if got := nnue.Narrow(64).Bucket(&p); got != want {
			t.Errorf("%d in hand: bucket %d, want %d", held, got, want)
		}
		if got := nnue.Fairy().Bucket(&p); got != 0 {
			t.Errorf("%d in hand, two pieces on the board: bucket %d, want 0", held, got)
		}
	}
	for fen, want := range map[string]int{
		"4k3/8/8/8/8/8/PP6/4K3[] w - - 0 1":                                 0,
		"4k3/8/8/8/8/8/PPP5/4K3[] w - - 0 1":                                1,
		"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1":        7,
		"1nbqkbnr/pppp4/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQk - 0 1":            6,
		"rnbqkbnr/pppppppp/pppppppp/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1": 7,
	} {
		p := position(t, chess.Crazyhouse, fen)
		if got := nnue.Fairy().Bucket(&p); got != want {
			t.Errorf("%s: bucket %d, want %d", fen, got, want)
		}
	}
}

// TestCorneredBishops: only Chess960 corrects the final value.
func TestCorneredBishops(t *testing.T) {
	n := random(t, nnue.Narrow(16), 1)
	for fen, want := range map[string]int{
		"4k3/8/8/8/8/8/1P6/B3K3[] w - - 0 1":              -150,
		"4k3/8/8/8/8/8/1P6/B3K3[] b - - 0 1":              150,
		"4k3/8/8/8/8/1n6/1P6/B3K3[] w - - 0 1":            -200,
		"4k3/8/8/8/8/8/6P1/4K2B[] w - - 0 1":              -150,
		"4k3/8/8/8/8/6P1/6P1/4K2B[] w - - 0 1":            -200,
		"b3k3/1p6/8/8/8/8/8/4K3[] w - - 0 1":              150,
		"b3k3/1p6/1p6/8/8/8/8/4K3[] b - - 0 1":            -200,
		"4k2b/6p1/8/8/8/8/8/4K3[] w - - 0 1":              150,
		"4k2b/6p1/6N1/8/8/8/6P1/4K2B[] w - - 0 1":         50,
		"4k3/8/8/8/8/8/1p6/B3K3[] w - - 0 1":              0,
		"4k3/8/8/8/8/8/1P6/b3K3[] w - - 0 1":              0,
		"b3k2b/1p4p1/1P4P1/8/8/8/1P4P1/B3K2B[] w - - 0 1": 100,
	} {
		p := position(t, chess.Crazyhouse, fen)
		plain := n.Evaluate(&p).Final
		p.SetChess960(true)
		if got := n.Evaluate(&p).Final - plain; got != want {
			t.Errorf("%s: correction %d, want %d", fen, got, want)
		}
	}
}
