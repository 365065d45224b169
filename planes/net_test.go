package planes_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/search"
)

// table is a runtime that answers with what answer writes, and keeps its input.
type table struct {
	answer func(n int, out *planes.Output)
	in     []float32
	err    error
	closed bool
}

func (r *table) Run(in []float32, n int, out *planes.Output) error {
	r.in = append(r.in[:0], in...)
	if r.err == nil {
		r.answer(n, out)
	}
	return r.err
}

func (r *table) Close() error {
	r.closed = true
	return nil
}

// resize gives a slice n elements.
func resize(s *[]float32, n int) []float32 {
	*s = slices.Grow((*s)[:0], n)[:n]
	return *s
}

// ramp is a net without meaning: every number differs from the others.
func ramp(policy int, heads bool) func(int, *planes.Output) {
	return func(n int, out *planes.Output) {
		for i := range resize(&out.Value, n) {
			out.Value[i] = float32(i)/100 - 0.5
		}
		for i := range resize(&out.Policy, n*policy) {
			out.Policy[i] = float32(i%policy%97)/10 - 4
		}
		out.WDL, out.PliesLeft = out.WDL[:0], out.PliesLeft[:0]
		if heads {
			for i := range resize(&out.PliesLeft, n) {
				out.PliesLeft[i] = 0.25
				out.WDL = append(out.WDL, 0.125, 0.25, 0.625)
			}
		}
	}
}

func newNet(t testing.TB, r planes.Runtime, change func(*planes.Meta)) *planes.Net {
	t.Helper()
	m := planes.NewMeta(chess.Crazyhouse)
	if change != nil {
		change(&m)
	}
	n, err := planes.NewNet(r, m)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// leaves are those of the fixtures that have a legal move.
func leaves(t testing.TB) []search.Leaf {
	t.Helper()
	var list []search.Leaf
	for _, f := range fixtures(t) {
		l := f.line(t)
		p := search.Current(l)
		var moves chess.MoveList
		if p.Legal(&moves); moves.N != 0 {
			list = append(list, search.Leaf{Pos: &p, Repetitions: l.Repetitions(), Moves: slices.Clone(moves.Slice())})
		}
	}
	return list
}

// checkPriors compares a leaf's priors with the softmax of its moves' logits.
func checkPriors(t *testing.T, l *search.Leaf, logit func(chess.Move) float64) {
	t.Helper()
	sum, total := 0.0, 0.0
	for _, m := range l.Moves {
		sum += math.Exp(logit(m))
	}
	for i, m := range l.Moves {
		total += float64(l.Priors[i])
		if want := math.Exp(logit(m)) / sum; math.Abs(float64(l.Priors[i])-want) > 1e-6 {
			t.Errorf("%s: %s: found prior %v, expected %v", l.Pos.FEN(), l.Pos.UCI(m), l.Priors[i], want)
		}
	}
	if math.Abs(total-1) > 1e-5 {
		t.Errorf("%s: found priors that sum to %v, expected 1", l.Pos.FEN(), total)
	}
}

func TestEvaluate(t *testing.T) {
	r := &table{answer: ramp(planes.PolicySize, false)}
	n := newNet(t, r, nil)
	list := leaves(t)
	if err := n.Evaluate(context.Background(), list); err != nil {
		t.Fatal(err)
	}
	x := make([]float32, planes.Size)
	for i := range list {
		l := &list[i]
		planes.Encode(x, l.Pos, l.Repetitions)
		if !slices.Equal(r.in[i*planes.Size:][:planes.Size], x) {
			t.Errorf("%s: the runtime was given other planes", l.Pos.FEN())
		}
		if want := float32(i)/100 - 0.5; l.Value != want || l.Draw != 0 || l.PliesLeft != 0 {
			t.Errorf("leaf %d: found value %v, draw %v, plies %v, expected %v, 0, 0", i, l.Value, l.Draw, l.PliesLeft, want)
		}
		checkPriors(t, l, func(m chess.Move) float64 { return float64(planes.Cell(l.Pos, m)%97) / 10 })
	}
	if err := n.Close(); err != nil || !r.closed {
		t.Errorf("Close: found error %v, runtime closed %v", err, r.closed)
	}
}

func TestEvaluateHeads(t *testing.T) {
	list := leaves(t)[:3]
	if err := newNet(t, &table{answer: ramp(planes.PolicySize, true)}, nil).Evaluate(context.Background(), list); err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		if l.Value != 0.5 || l.Draw != 0.25 || l.PliesLeft != 25 {
			t.Errorf("found value %v, draw %v, plies %v, expected 0.5, 0.25, 25", l.Value, l.Draw, l.PliesLeft)
		}
	}
	// The same leaves from a net without those heads keep nothing of them.
	if err := newNet(t, &table{answer: ramp(planes.PolicySize, false)}, nil).Evaluate(context.Background(), list); err != nil {
		t.Fatal(err)
	}
	if l := list[0]; l.Value != -0.5 || l.Draw != 0 || l.PliesLeft != 0 {
		t.Errorf("found value %v, draw %v, plies %v, expected -0.5, 0, 0", l.Value, l.Draw, l.PliesLeft)
	}
}

// TestEvaluateLabels reads the flat policy, whether the metadata says so or only
// its length does.
func TestEvaluateLabels(t *testing.T) {
	for _, policyMap := range []string{planes.PolicyLabels, ""} {
		list := leaves(t)
		n := newNet(t, &table{answer: ramp(planes.Labels, false)}, func(m *planes.Meta) { m.PolicyMap = policyMap })
		if err := n.Evaluate(context.Background(), list); err != nil {
			t.Fatal(err)
		}
		for i := range list {
			l := &list[i]
			checkPriors(t, l, func(m chess.Move) float64 {
				return float64(planes.CellLabel(planes.Cell(l.Pos, m))%97) / 10
			})
		}
	}
}

// TestEvaluateProbabilities: a softmax over everything, then over what is legal,
// is the softmax over what is legal.
func TestEvaluateProbabilities(t *testing.T) {
	list := leaves(t)
	n := newNet(t, &table{answer: func(n int, out *planes.Output) {
		ramp(planes.PolicySize, false)(n, out)
		for i := range n {
			planes.Softmax(out.Policy[i*planes.PolicySize:][:planes.PolicySize])
		}
	}}, func(m *planes.Meta) { m.Probabilities = true })
	if err := n.Evaluate(context.Background(), list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		l := &list[i]
		checkPriors(t, l, func(m chess.Move) float64 { return float64(planes.Cell(l.Pos, m)%97) / 10 })
	}
}

func TestEvaluateClamped(t *testing.T) {
	p := playLine(t, chess.Crazyhouse, "6k1/8/8/8/8/8/8/6K1[Qq] b - - 45 600").Pos()
	var moves chess.MoveList
	p.Legal(&moves)
	r := &table{answer: ramp(planes.PolicySize, false)}
	n := newNet(t, r, func(m *planes.Meta) { m.Normalisation = planes.ScaledClamped })
	if err := n.Evaluate(context.Background(), []search.Leaf{{Pos: p, Moves: moves.Slice()}}); err != nil {
		t.Fatal(err)
	}
	if got := slices.Max(r.in); got != 1 {
		t.Errorf("found %v in clamped planes, expected at most 1", got)
	}
}

func TestSoftmax(t *testing.T) {
	inf := float32(math.Inf(-1))
	for _, tc := range []struct{ in, want []float32 }{
		{[]float32{3}, []float32{1}},
		{[]float32{0, 0, 0, 0}, []float32{0.25, 0.25, 0.25, 0.25}},
		{[]float32{3e38, 3e38}, []float32{0.5, 0.5}},
		{[]float32{-3e38, 3e38}, []float32{0, 1}},
		{[]float32{-3e38, -3e38}, []float32{0.5, 0.5}},
		{[]float32{inf, 2}, []float32{0, 1}},
		{[]float32{inf, inf}, []float32{0.5, 0.5}},
	} {
		got := slices.Clone(tc.in)
		if planes.Softmax(got); !slices.Equal(got, tc.want) {
			t.Errorf("Softmax(%v): found %v, expected %v", tc.in, got, tc.want)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		x := make([]float32, 1+rng.IntN(400))
		for i := range x {
			x[i] = float32(rng.NormFloat64() * 30)
		}
		shifted := slices.Clone(x)
		for i := range shifted {
			shifted[i] += 64
		}
		planes.Softmax(x)
		planes.Softmax(shifted)
		sum := 0.0
		for i, v := range x {
			sum += float64(v)
			if math.Abs(float64(v-shifted[i])) > 1e-4 {
				t.Fatalf("found %v, and %v when every logit is larger by the same", v, shifted[i])
			}
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("found a sum of %v, expected 1", sum)
		}
	}
}

func TestEvaluateErrors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	set := func(change func(*planes.Output)) func(int, *planes.Output) {
		return func(n int, out *planes.Output) {
			ramp(planes.PolicySize, false)(n, out)
			change(out)
		}
	}
	failure := errors.New("device lost")
	start, other := chess.Crazyhouse.Start(), chess.Chess.Start()
	e2e4 := mustMove(t, &start, "e2e4")
	cell := planes.Cell(&start, e2e4)
	good := search.Leaf{Pos: &start, Moves: []chess.Move{e2e4}}
	for _, tc := range []struct {
		name string
		r    table
		leaf search.Leaf
		want error
		text string
	}{
		{"runtime", table{err: failure}, good, failure, "device lost"},
		{"variant", table{}, search.Leaf{Pos: &other, Moves: good.Moves}, planes.ErrMeta, "found a position of chess, expected one of crazyhouse"},
		{"no move", table{}, search.Leaf{Pos: &start}, search.ErrNoLegalMoves, "RNBQKBNR"},
		{"NaN value", table{answer: set(func(o *planes.Output) { o.Value[0] = nan })}, good, planes.ErrOutput, "value: found NaN"},
		{"large value", table{answer: set(func(o *planes.Output) { o.Value[0] = -1.5 })}, good, planes.ErrOutput, "found -1.5"},
		{"NaN logit", table{answer: set(func(o *planes.Output) { o.Policy[cell] = nan })}, good, planes.ErrOutput, "policy of e2e4: found NaN"},
		{"infinite logit", table{answer: set(func(o *planes.Output) { o.Policy[cell] = inf })}, good, planes.ErrOutput, "found +Inf"},
		{"short policy", table{answer: set(func(o *planes.Output) { o.Policy = o.Policy[:9] })}, good, planes.ErrOutput, "found 9 numbers for 1 positions"},
		{"flat policy", table{answer: set(func(o *planes.Output) { o.Policy = o.Policy[:planes.Labels] })}, good, planes.ErrOutput, `policy map "81x8x8"`},
		{"no value", table{answer: set(func(o *planes.Output) { o.Value = nil })}, good, planes.ErrOutput, "found 0 values"},
		{"short results", table{answer: set(func(o *planes.Output) { o.WDL = []float32{1} })}, good, planes.ErrOutput, "1 results"},
	} {
		err := newNet(t, &tc.r, nil).Evaluate(context.Background(), []search.Leaf{tc.leaf})
		if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: found error %v, expected %v with %q", tc.name, err, tc.want, tc.text)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := newNet(t, &table{}, nil).Evaluate(ctx, []search.Leaf{good}); !errors.Is(err, context.Canceled) {
		t.Errorf("found error %v, expected that of the context", err)
	}
	if err := newNet(t, &table{}, nil).Evaluate(context.Background(), nil); err != nil {
		t.Errorf("no leaves: found error %v", err)
	}
}

func TestEvaluateAllocatesNothing(t *testing.T) {
	list := leaves(t)[:8]
	n := newNet(t, &table{answer: ramp(planes.PolicySize, true)}, nil)
	evaluate := func() {
		if err := n.Evaluate(context.Background(), list); err != nil {
			t.Fatal(err)
		}
	}
	evaluate()
	if got := testing.AllocsPerRun(20, evaluate); got != 0 {
		t.Errorf("found %v allocations, expected none", got)
	}
}

func TestMeta(t *testing.T) {
	for _, m := range []planes.Meta{
		planes.NewMeta(chess.Crazyhouse),
		{Variant: "chess", Encoder: planes.EncoderVersion, Normalisation: planes.ScaledClamped, PolicyMap: planes.PolicyLabels, Probabilities: true},
	} {
		if got, err := planes.ReadMeta(&onnx.Model{Metadata: m.Properties()}); err != nil || got != m {
			t.Errorf("found %+v, error %v, expected %+v", got, err, m)
		}
	}
	foreign, err := planes.ReadMeta(&onnx.Model{Metadata: []onnx.Property{{Key: "author", Value: "somebody"}}})
	want := planes.NewMeta(chess.Crazyhouse)
	want.PolicyMap = ""
	if err != nil || foreign != want {
		t.Errorf("other metadata: found %+v, error %v, expected %+v", foreign, err, want)
	}
	for i, p := range foreign.Properties() {
		bad := foreign.Properties()
		bad[i].Value = "nonsense"
		if _, err := planes.ReadMeta(&onnx.Model{Metadata: bad}); !errors.Is(err, planes.ErrMeta) || !strings.Contains(err.Error(), "nonsense") {
			t.Errorf("%s: found error %v, expected one that says what was found", p.Key, err)
		}
	}
	if _, err := planes.NewNet(&table{}, planes.Meta{}); !errors.Is(err, planes.ErrMeta) {
		t.Errorf("empty Meta: found error %v, expected ErrMeta", err)
	}
}

// BenchmarkEvaluate is all that Evaluate does beside running the net.
func BenchmarkEvaluate(b *testing.B) {
	list := leaves(b)[:8]
	r := &table{answer: ramp(planes.PolicySize, true)}
	n := newNet(b, r, nil)
	if err := n.Evaluate(context.Background(), list); err != nil {
		b.Fatal(err)
	}
	r.answer = func(int, *planes.Output) {} // the output stays as it is
	for b.Loop() {
		if err := n.Evaluate(context.Background(), list); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/position")
}
