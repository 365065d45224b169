package netstat

import (
	"math"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
)

const (
	testWidth = 16
	testSet   = "All + Hand"
)

// testArchitecture is small: one set without king squares, one with.
func testArchitecture(features string) nnue.Architecture {
	a := nnue.Narrow(testWidth)
	a.Features = features
	return a
}

func newNet(t *testing.T, a nnue.Architecture) *nnue.Network {
	t.Helper()
	n, err := nnue.New(a)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// lively returns a net without dead neurons.
func lively(t *testing.T, features string) *nnue.Network {
	t.Helper()
	n, err := nnuetest.Random(testArchitecture(features), 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n.FTBias {
		n.FTBias[i] = 50
	}
	for s := range n.Stacks {
		for i := range n.Stacks[s].L1Bias {
			n.Stacks[s].L1Bias[i] = 64 * 40
		}
		for i := range n.Stacks[s].L2Bias {
			n.Stacks[s].L2Bias[i] = 64 * 40
		}
		for i, w := range n.Stacks[s].OutWeights {
			if w == 0 {
				n.Stacks[s].OutWeights[i] = 1
			}
		}
	}
	return n
}

// somePositions are those of random games.
func somePositions(t *testing.T) []chess.Position {
	t.Helper()
	var list []chess.Position
	var moves chess.MoveList
	p := chess.Crazyhouse.Start()
	for i := range 300 {
		list = append(list, p)
		moves.N = 0
		p.Legal(&moves)
		if moves.N == 0 {
			p = chess.Crazyhouse.Start()
			continue
		}
		p.Make(moves.Moves[(7*i+i*i)%moves.N])
	}
	return list
}

func TestRanges(t *testing.T) {
	n := newNet(t, testArchitecture(testSet))
	features := n.Features().Size()
	n.FTRow(5)[2], n.FTRow(7)[0] = -3000, 500
	n.PSQTRow(7)[1] = 9600
	for i := range n.Stacks[3].L1Weights[:10] {
		n.Stacks[3].L1Weights[i] = -127
	}
	n.Stacks[0].L2Weights[17] = 100 // padding
	got := map[string]Range{}
	for _, r := range Ranges(n) {
		got[r.Layer] = r
	}
	weights := 8 * 16 * 2 * testWidth
	for _, want := range []Range{
		{Layer: "transformer weights", Count: features * testWidth, One: 127, Min: -3000, Max: 500,
			Mean: 3500 / float64(features*testWidth), Limit: 32767 / 33, AtLimit: 1 / float64(features*testWidth)},
		{Layer: "transformer biases", Count: testWidth, One: 127, Limit: 32767 / 33},
		{Layer: "piece-square values", Count: features * 8, One: 9600, Max: 9600, Mean: 9600 / float64(features*8)},
		{Layer: "layer 1 weights", Count: weights, One: 64, Min: -127, Mean: 1270 / float64(weights), Limit: 127, AtLimit: 10 / float64(weights)},
		{Layer: "layer 2 weights", Count: 8 * 32 * 16, One: 64, Limit: 127},
		{Layer: "output layer biases", Count: 8, One: 9600},
	} {
		if found := got[want.Layer]; found != want {
			t.Errorf("found %+v, expected %+v", found, want)
		}
	}
	plain := testArchitecture(testSet)
	plain.PSQT, plain.L2, plain.L3 = 0, 0, 0
	if list := Ranges(newNet(t, plain)); len(list) != 4 || list[3].Layer != "output layer weights" || list[3].Count != 8*2*testWidth {
		t.Errorf("a net without hidden layers: found %+v", list)
	}
}

func TestDeadByWeights(t *testing.T) {
	n := lively(t, testSet)
	if dead := DeadByWeights(n, n.AccumulatorBounds()); len(dead) != 0 {
		t.Fatalf("a lively net has dead neurons: %v", dead)
	}
	for f := range n.Features().Size() {
		n.FTRow(f)[3] = min(n.FTRow(f)[3], 0)
		n.FTRow(f)[4] = 0
	}
	n.FTBias[3], n.FTBias[4] = 0, 127
	for s := range n.Stacks {
		for o := range 16 {
			n.Stacks[s].L1Weights[o*2*testWidth+5] = 0
			n.Stacks[s].L1Weights[o*2*testWidth+testWidth+5] = 0
		}
	}
	n.Stacks[2].L1Bias[1] = math.MinInt32 / 2
	n.Stacks[2].L2Bias[9] = math.MaxInt32 / 2
	n.Stacks[7].OutWeights[31] = 0
	want := []Neuron{
		{"transformer", 3, neverActive},
		{"transformer", 4, alwaysFull},
		{"transformer", 5, unheard},
		{"stack 2 layer 1", 1, neverActive},
		{"stack 2 layer 2", 9, alwaysFull},
		{"stack 7 layer 2", 31, unheard},
	}
	if dead := DeadByWeights(n, n.AccumulatorBounds()); !slices.Equal(dead, want) {
		t.Errorf("found %v, expected %v", dead, want)
	}
}

// TestWatch plants a transformer neuron that is dead in all positions and one
// that is on with White to move only.
func TestWatch(t *testing.T) {
	n := lively(t, testSet)
	for f := range n.Features().Size() {
		n.FTRow(f)[3], n.FTRow(f)[4] = -1, 0
	}
	n.FTBias[3] = 20 // 32 pieces take more away
	n.FTBias[4] = 5
	n.Stacks[0].L2Bias[7] = math.MinInt32 / 2
	positions := somePositions(t)
	w := NewWatch(n)
	active := 0
	buckets := make([]int, 8)
	for i := range positions {
		w.Add(&positions[i])
		trace := n.Trace(&positions[i])
		buckets[trace.Bucket]++
		for _, at := range []int{0, testWidth} {
			if trace.Transformed[at] > 0 {
				active++
			}
		}
	}
	a := w.Activity()
	if a.Positions != len(positions) || !slices.Equal(a.Buckets, buckets) {
		t.Errorf("found %d positions in %v, expected %d in %v", a.Positions, a.Buckets, len(positions), buckets)
	}
	transformer := a.Layers[0]
	if transformer.Outputs != 2*len(positions) || transformer.Active[0] != float64(active)/float64(2*len(positions)) {
		t.Errorf("found neuron 0 on in %g of %d, expected %d", transformer.Active[0], transformer.Outputs, active)
	}
	for _, want := range []Neuron{{"transformer", 3, neverActive}, {"transformer", 4, "always 5"}, {"stack 0 layer 2", 7, neverActive}} {
		if !slices.Contains(a.Dead, want) {
			t.Errorf("found %v, expected %v among them", a.Dead, want)
		}
	}
	if slices.ContainsFunc(a.Dead, func(d Neuron) bool { return d.Layer == "transformer" && d.Index != 3 && d.Index != 4 }) {
		t.Errorf("found %v: more than was planted", a.Dead)
	}
	if NewWatch(n).Activity().Layers != nil {
		t.Error("layers that saw nothing have rates")
	}
}

// TestFloat compares the float twin with the integer net: with a linear output
// they differ by the fraction that is dropped, with hidden layers by the bytes.
func TestFloat(t *testing.T) {
	positions := somePositions(t)
	most := func(a nnue.Architecture) float64 {
		n, err := nnuetest.Random(a, 9)
		if err != nil {
			t.Fatal(err)
		}
		f := NewFloat(n)
		worst := 0.0
		for i := range positions {
			worst = max(worst, math.Abs(f.Evaluate(&positions[i])-float64(n.Evaluate(&positions[i]).Raw)))
		}
		return worst
	}
	linear := testArchitecture(testSet)
	linear.L2, linear.L3, linear.OutputScale, linear.Units = 0, 0, 32, 400
	if worst := most(linear); worst >= 1.05 { // a half may be dropped of the piece-square sum before
		t.Errorf("without hidden layers: found a difference of %g, expected less than 1", worst)
	}
	for _, activation := range []nnue.Activation{nnue.ClippedReLU, nnue.SCReLU, nnue.Pairwise} {
		deep := testArchitecture("HalfKAv2")
		deep.Activation, deep.PSQT, deep.Width = activation, 0, 32
		if worst := most(deep); worst == 0 || worst > 120 {
			t.Errorf("%v: found a difference of %g, expected some, and less than 120", activation, worst)
		}
	}
}
