package planesfit

import (
	"math"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// reference is a residual net without squeeze and excitation and without hidden neurons of the value
// in Gorgonia, with Σ output·weight in place of the loss.
type reference struct {
	t             testing.TB
	graph         *G.ExprGraph
	tensors       arch.Params
	n             int
	nodes         map[string]*G.Node
	input, loss   *G.Node
	weights       map[string]*G.Node // of the outputs
	policy, value *G.Node
}

func newReference(t testing.TB, a arch.Architecture, tensors arch.Params, n int) *reference {
	r := &reference{t: t, graph: G.NewGraph(), tensors: tensors, n: n, nodes: map[string]*G.Node{}, weights: map[string]*G.Node{}}
	r.input = r.leaf("x", make([]float32, n*planes.Size), n, planes.Channels, 8, 8)
	x := r.relu(r.norm(r.conv(r.input, "stem.conv"), "stem.norm"))
	for i := range a.Blocks {
		name := "block" + string(rune('0'+i))
		y := r.relu(r.norm(r.conv(x, name+".conv1"), name+".norm1"))
		y = r.norm(r.conv(y, name+".conv2"), name+".norm2")
		x = r.relu(r.must(G.Add(y, x)))
	}
	policy := r.conv(r.relu(r.norm(r.conv(x, "policy.conv1"), "policy.norm")), "policy.conv2")
	r.policy = r.must(G.Reshape(policy, tensor.Shape{n, planes.PolicySize}))
	value := r.relu(r.norm(r.conv(x, "value.conv"), "value.norm"))
	flat := r.must(G.Reshape(value, tensor.Shape{n, 64 * a.ValueChannels}))
	r.value = r.must(G.Mul(flat, r.param("value.out.weight")))
	r.loss = r.must(G.Add(r.weighed("policy", r.policy), r.weighed("value", r.value)))
	if _, err := G.Grad(r.loss, r.parameters()...); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *reference) must(n *G.Node, err error) *G.Node {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

func (r *reference) leaf(name string, data []float32, shape ...int) *G.Node {
	return G.NewTensor(r.graph, tensor.Float32, len(shape), G.WithShape(shape...), G.WithName(name),
		G.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))))
}

// param is a tensor of the net.
func (r *reference) param(name string) *G.Node {
	for _, p := range r.tensors {
		if p.Name == name {
			r.nodes[name] = r.leaf(name, slices.Clone(p.Data), p.Dims...)
			return r.nodes[name]
		}
	}
	r.t.Fatalf("no tensor %s", name)
	return nil
}

// parameters are the tensors in the order of the net.
func (r *reference) parameters() G.Nodes {
	var all G.Nodes
	for _, p := range r.tensors {
		if n := r.nodes[p.Name]; n != nil {
			all = append(all, n)
		}
	}
	return all
}

func (r *reference) conv(x *G.Node, name string) *G.Node {
	w := r.param(name + ".weight")
	k := w.Shape()[2]
	return r.must(G.Conv2d(x, w, tensor.Shape{k, k}, []int{k / 2, k / 2}, []int{1, 1}, []int{1, 1}))
}

func (r *reference) relu(x *G.Node) *G.Node { return r.must(G.Rectify(x)) }

// norm spreads scale and bias over all squares of all images, so that Gorgonia need
// not.
func (r *reference) norm(x *G.Node, name string) *G.Node {
	shape := x.Shape()
	for _, part := range []string{".scale", ".bias"} {
		var spread []float32
		data := r.tensors.Data(name + part)
		for range shape[0] {
			for c := range shape[1] {
				spread = append(spread, slices.Repeat(data[c:c+1], 64)...)
			}
		}
		r.nodes[name+part] = r.leaf(name+part, spread, shape...)
	}
	y, _, _, _, err := G.BatchNorm(x, r.nodes[name+".scale"], r.nodes[name+".bias"], 0.1, arch.Epsilon)
	return r.must(y, err)
}

func (r *reference) weighed(name string, x *G.Node) *G.Node {
	r.weights[name] = r.leaf(name+" weights", make([]float32, x.Shape().TotalSize()), x.Shape()...)
	return r.must(G.Sum(r.must(G.HadamardProd(x, r.weights[name]))))
}

func set(n *G.Node, data []float32) { copy(n.Value().Data().([]float32), data) }

// gradient returns the derivatives with respect to a tensor.
func (r *reference) gradient(p *arch.Param) []float32 {
	g, err := r.nodes[p.Name].Grad()
	if err != nil {
		r.t.Fatal(err)
	}
	data := g.Data().([]float32)
	if p.Role != arch.Scale && p.Role != arch.Bias {
		return data
	}
	sums := make([]float32, p.Len())
	for i, x := range data {
		sums[i/64%p.Len()] += x
	}
	return sums
}

// TestGorgonia compares all derivatives with Gorgonia's, for the same derivatives
// with respect to the outputs.
func TestGorgonia(t *testing.T) {
	const n = 5
	cfg := testConfig()
	cfg.Part = n
	m := newTestModel(t, "residual 2x16 policy=3 value=3/0 heads=value", cfg, 1)
	stir(m, 2)
	clear(m.net.params.tensors.Data("value.out.bias"))
	samples := randomSamples(3, n)
	r := newReference(t, m.net.arch, m.net.params.tensors, n)

	p, g := pass{newWork(m.net, n), m.net.params.all, n, true}, group{make([]float32, m.net.params.trained), make([]float64, len(m.sums)), m.net.params.trained, measure{}}
	m.net.pack(p.all)
	p.load(samples)
	p.forward()
	logits, value := cells(p.logits, n), slices.Clone(p.heads.value[:n])
	o := m.objective(0.5)
	p.loss(&o, samples, slices.Repeat([]float64{1}, n))
	set(r.weights["policy"], cells(p.logits, n))
	set(r.weights["value"], p.heads.value[:n])
	p.back(g.gradient)
	p.flush(&g)

	set(r.input, encodedAll(samples))
	vm := G.NewTapeMachine(r.graph, G.BindDualValues(r.parameters()...))
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	compareTensors(t, "logits", r.policy.Value().Data().([]float32), logits)
	compareTensors(t, "values", r.value.Value().Data().([]float32), value)
	for i := range m.net.params.tensors {
		if p := &m.net.params.tensors[i]; r.nodes[p.Name] != nil {
			compareTensors(t, p.Name, m.net.params.spans[p.Name].of(g.gradient), r.gradient(p))
		}
	}
}

func compareTensors(t *testing.T, name string, got, want []float32) {
	t.Helper()
	scale, worst := 0.0, 0.0
	for i := range want {
		scale = max(scale, math.Abs(float64(want[i])))
		worst = max(worst, math.Abs(float64(got[i])-float64(want[i])))
	}
	if len(got) != len(want) || scale == 0 || worst > 1e-4*scale {
		t.Errorf("%s: %d numbers, %d wanted: apart by up to %g of %g", name, len(got), len(want), worst, scale)
	}
}

// cells returns images of logits in the order of cells.
func cells(m kernel.FloatImages, n int) []float32 {
	all := make([]float32, n*planes.PolicySize)
	for i := range all {
		image, cell := i/planes.PolicySize, i%planes.PolicySize
		all[i] = m.Data[m.At(image, cell%64/8, cell%8)+cell/64]
	}
	return all
}

func encodedAll(samples []sample.Sample) []float32 {
	x := make([]float32, len(samples)*planes.Size)
	for i := range samples {
		planes.Encode(x[i*planes.Size:], &samples[i].Pos, int(samples[i].Repetitions))
	}
	return x
}

// BenchmarkGorgonia measures forward and backward passes alone, on one processor.
func BenchmarkGorgonia(b *testing.B) {
	const n = 64
	m := newTestModel(b, "5x64 value=8/0", testConfig(), 1)
	r := newReference(b, m.net.arch, m.net.params.tensors, n)
	set(r.input, encodedAll(randomSamples(1, n)))
	vm := G.NewTapeMachine(r.graph, G.BindDualValues(r.parameters()...))
	defer vm.Close()
	for b.Loop() {
		if err := vm.RunAll(); err != nil {
			b.Fatal(err)
		}
		vm.Reset()
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "positions/s")
}
