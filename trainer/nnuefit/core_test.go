package nnuefit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// The tests of the core use a made-up feature set: king squares times pieces, whose factoriser drops the king, as HalfKAv2's does.
const (
	testKings = 4
	testMen   = 20
)

func testShape(width int) shape {
	s := shape{
		features: testKings * testMen, anchors: testKings, virtual: testMen,
		width: width, psqt: 3, stacks: 3, l2: 5, l3: 9,
	}
	for f := range s.features {
		s.toVirtual = append(s.toVirtual, int32(f%testMen))
	}
	return s
}

// plainShape has no factoriser.
func plainShape(width int) shape {
	s := testShape(width)
	s.virtual, s.toVirtual = 0, nil
	return s
}

// testShapes are kinds of nets, as changes to the usual one.
var testShapes = map[string]func(s *shape){
	"two layers":        func(*shape) {},
	"one layer":         func(s *shape) { s.l3 = 0 },
	"no layer":          func(s *shape) { s.l2, s.l3 = 0, 0 },
	"squared":           func(s *shape) { s.square = true },
	"squared to output": func(s *shape) { s.square, s.l2, s.l3 = true, 0, 0 },
	"pairs":             func(s *shape) { s.pairs = true },
	"pairs to output":   func(s *shape) { s.pairs, s.l2, s.l3 = true, 0, 0 },
	"no PSQT":           func(s *shape) { s.psqt = 0 },
	"no factoriser":     func(s *shape) { *s = plainShape(s.width) },
	"one stack":         func(s *shape) { s.stacks, s.psqt = 1, 1 },
}

func testConfig() Config {
	cfg := DefaultConfig()
	cfg.Workers = 1
	return cfg
}

var testScales = newScales(nnue.Fairy())

var testLimits = limits{hidden: maxHidden, output: 127.0 * 127 / 9600, transformer: 7.5}

func testCore(width int, cfg Config, seed uint64) *core {
	return shapedCore(testShape(width), cfg, seed)
}

func shapedCore(s shape, cfg Config, seed uint64) *core {
	c := newCore(s, cfg, testScales, testLimits)
	rng := rand.New(rand.NewPCG(seed, 1))
	psqt := make([]float32, s.features)
	for f := range psqt {
		psqt[f] = float32(f%testMen)/20 - 0.5
	}
	c.start(rng, psqt)
	return c
}

// testBatch is a batch of made-up positions.
type testBatch struct {
	feats     [][2][]int32
	buckets   []int
	targets   []float64
	objective objective
}

var testObjective = objective{PowerLoss, 2.5, 600.0 / 361}

func randomBatch(rng *rand.Rand, n int) *testBatch { return batchFor(rng, n, 3) }

// batchFor makes a batch for nets of the given number of stacks.
func batchFor(rng *rand.Rand, n, stacks int) *testBatch {
	b := &testBatch{objective: testObjective}
	for range n {
		var p [2][]int32
		for side := range p {
			king := rng.IntN(testKings)
			for _, m := range rng.Perm(testMen)[:3+rng.IntN(6)] {
				p[side] = append(p[side], int32(king*testMen+m))
			}
		}
		b.feats = append(b.feats, p)
		b.buckets = append(b.buckets, rng.IntN(stacks))
		b.targets = append(b.targets, float64(rng.IntN(5))/4)
	}
	return b
}

func (b *testBatch) input() *input {
	return &input{
		n: len(b.feats), examples: len(b.feats),
		features: func(i, side int, dst []int32) []int32 { return append(dst, b.feats[i][side]...) },
		anchor:   func(i, side int) int { return int(b.feats[i][side][0]) / testMen },
		bucket:   func(i int) int { return b.buckets[i] },
		loss:     func(i int, output float64) (float64, float64) { return b.objective.at(output, b.targets[i]) },
	}
}

// twin is the slow, obvious net in float64: it computes the summed loss of a
// batch from the parameters as they are, with every row summed on the spot.
type twin struct {
	shape
	rows, factors, dense []float64
	layout               layout
}

func newTwin(c *core) *twin {
	wide := func(x []float32) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = float64(v)
		}
		return y
	}
	table := func(t *table) []float64 {
		var y []float64
		for r := range t.count {
			y = append(y, wide(t.row(r).w)...)
		}
		return y
	}
	return &twin{shape: c.shape, rows: table(&c.rows.table), factors: table(&c.virtualRows), dense: wide(c.dense.w),
		layout: c.layout}
}

// weight is column j of feature f's row, with its virtual row's.
func (t *twin) weight(f int32, j int) float64 {
	sum := t.rows[int(f)*t.row()+j]
	if t.virtual > 0 {
		sum += t.factors[int(t.toVirtual[f])*t.row()+j]
	}
	return sum
}

func (t *twin) output(p [2][]int32, bucket int) float64 {
	l := t.layout
	x := make([]float64, t.inputs())
	out := t.dense[l.b3+bucket]
	for side := range 2 {
		clipped := make([]float64, t.width)
		for j := range clipped {
			sum := t.dense[j]
			for _, f := range p[side] {
				sum += t.weight(f, j)
			}
			clipped[j] = min(max(sum, 0), 1)
		}
		for j, value := range clipped[:t.outputs()] {
			switch {
			case t.square:
				value *= value
			case t.pairs:
				value *= clipped[t.width/2+j]
			}
			x[side*t.outputs()+j] = value
		}
		if t.psqt > 0 {
			for _, f := range p[side] {
				out += float64(1-2*side) * t.weight(f, t.width+bucket) / 2
			}
		}
	}
	if t.l2 > 0 {
		h := make([]float64, t.l2)
		for o := range h {
			sum := t.dense[l.b1+bucket*t.l2+o]
			for k := range x {
				sum += x[k] * (t.dense[l.fact+k*t.l2+o] + t.dense[l.w1+(bucket*len(x)+k)*t.l2+o])
			}
			h[o] = min(max(sum, 0), 1)
		}
		x = h
	}
	if t.l3 > 0 {
		h := make([]float64, t.l3)
		for o := range h {
			sum := t.dense[l.b2+bucket*t.l3+o]
			for k := range x {
				sum += x[k] * t.dense[l.w2+(bucket*t.l2+k)*t.l3+o]
			}
			h[o] = min(max(sum, 0), 1)
		}
		x = h
	}
	for k := range x {
		out += x[k] * t.dense[l.w3+bucket*len(x)+k]
	}
	return out
}

func (t *twin) loss(b *testBatch) float64 {
	sum := 0.0
	for i := range b.feats {
		loss, _ := b.objective.at(t.output(b.feats[i], b.buckets[i]), b.targets[i])
		sum += loss
	}
	return sum
}

// disturb gives every parameter a value that makes its gradient visible.
func disturb(c *core, rng *rand.Rand) {
	for _, p := range [][]float32{c.rows.w, c.virtualRows.w, c.dense.w} {
		for i := range p {
			p[i] += 0.3 * (rng.Float32() - 0.5)
		}
	}
}

func TestForwardEqualsTwin(t *testing.T) {
	for name, change := range testShapes {
		s := testShape(16)
		change(&s)
		rng := rand.New(rand.NewPCG(1, 1))
		c := shapedCore(s, testConfig(), 1)
		disturb(c, rng)
		b := batchFor(rng, 300, s.stacks)
		out := c.evaluate(b.input())
		tw := newTwin(c)
		for i, got := range out {
			if want := tw.output(b.feats[i], b.buckets[i]); math.Abs(float64(got)-want) > 1e-5 {
				t.Fatalf("%s: position %d: output %g, want %g", name, i, got, want)
			}
		}
	}
}

func TestGradientsAgainstFiniteDifferences(t *testing.T) {
	for name, change := range testShapes {
		s := testShape(8)
		change(&s)
		t.Run(name, func(t *testing.T) { finiteDifferences(t, s, testObjective) })
	}
	t.Run("power 2", func(t *testing.T) { finiteDifferences(t, testShape(8), objective{PowerLoss, 2, 1.5}) })
	t.Run("cross-entropy", func(t *testing.T) { finiteDifferences(t, testShape(8), objective{CrossEntropy, 0, 1.5}) })
}

func finiteDifferences(t *testing.T, s shape, loss objective) {
	rng := rand.New(rand.NewPCG(2, 2))
	c := shapedCore(s, testConfig(), 2)
	disturb(c, rng)
	b := batchFor(rng, 40, s.stacks)
	b.objective = loss
	in := b.input()
	c.prepare(in)
	if _, err := c.differentiate(in); err != nil {
		t.Fatal(err)
	}

	tw := newTwin(c)
	live := map[string]int{} // parameters with a gradient, by group
	check := func(group string, x []float64, i int, got float32) {
		live[group] += 0
		const eps = 1e-6
		old := x[i]
		x[i] = old + eps
		up := tw.loss(b)
		x[i] = old - eps
		down := tw.loss(b)
		x[i] = old
		want := (up - down) / (2 * eps)
		if math.Abs(want-float64(got)) > 1e-4+1e-3*math.Abs(want) {
			t.Errorf("d loss / d %s[%d] = %g, want %g", group, i, got, want)
		}
		if want != 0 {
			live[group]++
		}
	}
	row := c.row()
	group := func(of string, column int) string {
		if column >= c.width {
			return of + " PSQT"
		}
		return of
	}
	for slot, f := range c.batch.feats {
		g := c.gradient(slot)
		if g == nil { // f does not occur
			g = make([]float32, row)
		}
		for j := range row {
			check(group("row", j), tw.rows, int(f)*row+j, g[j])
		}
	}
	for i := range tw.factors {
		check(group("virtual row", i%row), tw.factors, i, c.gradV[i/row*c.stride()+i%row])
	}
	l := c.layout
	at := 0
	for _, e := range []struct {
		group string
		end   int
	}{{"bias", l.b1}, {"b1", l.b2}, {"b2", l.b3}, {"b3", l.fact}, {"fact", l.w1}, {"w1", l.w2}, {"w2", l.w3}, {"w3", l.size}} {
		for ; at < e.end; at++ {
			check(e.group, tw.dense, at, c.gradD[at])
		}
	}
	for group, n := range live {
		if n == 0 {
			t.Errorf("no parameter of group %s has a gradient; the test shows nothing about it", group)
		}
	}
}

func TestWorkersDoNotChangeBits(t *testing.T) {
	cores := make([]*core, 2)
	for i, workers := range []int{1, 4} {
		cfg := testConfig()
		cfg.Workers = workers
		cores[i] = testCore(16, cfg, 4)
		rng := rand.New(rand.NewPCG(4, 4))
		for range 20 {
			if _, err := cores[i].fit(randomBatch(rng, 500).input(), 1e-3); err != nil {
				t.Fatal(err)
			}
		}
	}
	sameBits(t, cores[0], cores[1])
}

// TestSlotsDoNotChangeBits trains with slots for all features and with slots for
// those that occur.
func TestSlotsDoNotChangeBits(t *testing.T) {
	cores := make([]*core, 2)
	for i := range cores {
		cores[i] = testCore(16, testConfig(), 9)
		cores[i].allSlots = i == 0
		rng := rand.New(rand.NewPCG(9, 9))
		for range 20 {
			if _, err := cores[i].fit(randomBatch(rng, 3).input(), 1e-3); err != nil {
				t.Fatal(err)
			}
			if n := len(cores[i].batch.feats); (n == cores[i].features) != cores[i].allSlots {
				t.Fatalf("found %d slots of %d features, all of them: %v", n, cores[i].features, cores[i].allSlots)
			}
		}
	}
	sameBits(t, cores[0], cores[1])
}

// TestLevelsOfKernels trains alike at every level of the kernels. Those with
// vectors give the same bits; plain code rounds differently, which changes
// outputs after some steps by little.
func TestLevelsOfKernels(t *testing.T) {
	var vector *core
	var plain []float32
	for l := kernel.Generic; l <= kernel.Best(); l++ {
		restore, err := kernel.Force(l)
		if err != nil {
			t.Fatal(err)
		}
		defer restore()
		c, rng := testCore(24, testConfig(), 8), rand.New(rand.NewPCG(8, 8))
		for range 20 {
			if _, err := c.fit(randomBatch(rng, 200).input(), 1e-3); err != nil {
				t.Fatal(err)
			}
		}
		out := c.evaluate(randomBatch(rng, 50).input())
		switch {
		case l == kernel.Generic:
			plain = out
		case vector == nil:
			vector = c
		default:
			sameBits(t, vector, c)
		}
		for i, got := range out {
			if d := math.Abs(float64(got - plain[i])); !(d < 1e-4) {
				t.Errorf("output %d at level %v is %g, %g by plain code", i, l, got, plain[i])
			}
		}
	}
}

func sameBits(t *testing.T, a, b *core) {
	t.Helper()
	pairs := [][2]params{{a.rows.params, b.rows.params}, {a.virtualRows.params, b.virtualRows.params}, {a.dense, b.dense}}
	for k, p := range pairs {
		for j, x := range [][2][]float32{{p[0].w, p[1].w}, {p[0].m, p[1].m}, {p[0].v, p[1].v}} {
			for i := range x[0] {
				if math.Float32bits(x[0][i]) != math.Float32bits(x[1][i]) {
					t.Fatalf("group %d, table %d differ at %d: %g and %g", k, j, i, x[0][i], x[1][i])
				}
			}
		}
	}
}

func TestOverfitsSmallSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	b := randomBatch(rng, 64)
	c := testCore(32, testConfig(), 5)
	var first, last float64
	for step := range 800 {
		loss, err := c.fit(b.input(), 3e-3)
		if err != nil {
			t.Fatal(err)
		}
		if step == 0 {
			first = loss
		}
		last = loss
	}
	if last > 1e-3 || last > first/50 {
		t.Fatalf("loss %g after 800 steps on 64 positions, from %g", last, first)
	}
}

func TestLimitsHold(t *testing.T) {
	c := testCore(16, testConfig(), 6)
	rng := rand.New(rand.NewPCG(6, 6))
	for range 60 {
		if _, err := c.fit(randomBatch(rng, 100).input(), 0.3); err != nil {
			t.Fatal(err)
		}
	}
	const slack = 1e-6
	for b := range c.stacks {
		n := c.inputs() * c.l2
		for i, w := range c.layout.stacksW1(c.dense.w)[b*n : (b+1)*n] {
			if s := w + c.layout.sharedW1(c.dense.w)[i]; max(s, -s) > testLimits.hidden+slack {
				t.Fatalf("layer 1 weight %g beyond %g", s, testLimits.hidden)
			}
		}
	}
	for _, w := range c.layout.allW2(c.dense.w) {
		if max(w, -w) > testLimits.hidden {
			t.Fatalf("layer 2 weight %g beyond %g", w, testLimits.hidden)
		}
	}
	for _, w := range c.layout.allW3(c.dense.w) {
		if max(w, -w) > testLimits.output {
			t.Fatalf("output weight %g beyond %g", w, testLimits.output)
		}
	}
}

func TestDivergenceChangesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	batches := []*testBatch{randomBatch(rng, 50), randomBatch(rng, 50), randomBatch(rng, 50)}
	c, untouched := testCore(16, testConfig(), 7), testCore(16, testConfig(), 7)
	for _, b := range batches[:2] {
		for _, x := range []*core{c, untouched} {
			if _, err := x.fit(b.input(), 1e-3); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		i := c.layout.b3 // output bias of stack 0
		old := c.dense.w[i]
		c.dense.w[i] = bad
		if _, err := c.fit(batches[2].input(), 1e-3); err != trainer.ErrDiverged {
			t.Fatalf("output bias %g: error %v, want %v", bad, err, trainer.ErrDiverged)
		}
		c.dense.w[i] = old
		sameBits(t, c, untouched)
		if c.optimiser != untouched.optimiser {
			t.Fatal("the optimiser's state changed")
		}
	}
}
