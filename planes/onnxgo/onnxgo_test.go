package onnxgo_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/onnxgo"
	"github.com/crazyhouse-rl/selfplay/planes/planestest"
)

func open(file []byte) (planes.Runtime, error) {
	m, err := onnx.Decode(file)
	if err != nil {
		return nil, err
	}
	return onnxgo.New(m)
}

func encode(t testing.TB, m *onnx.Model) []byte {
	t.Helper()
	b, err := onnx.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	var nets []planestest.Net
	for i, text := range []string{
		"residual 1x8 value=4/8",
		"residual 2x16 policy=3 value=8/0 heads=value",
		"residual 1x8 value=2/4 heads=value,plies",
	} {
		nets = append(nets, planestest.Net{Name: text, Model: encode(t, archtest.Net(t, text, uint64(i)))})
	}
	planestest.Test(t, open, nets, 1e-4)
}

// TestForeign runs or refuses nets that PyTorch exported: onnx-go lacks most of
// their operators.
func TestForeign(t *testing.T) {
	right := 0
	for _, n := range planestest.Foreign(t) {
		r, err := onnxgo.New(n.Model)
		if err != nil {
			if !errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(err.Error(), "node ") {
				t.Errorf("%s: found error %v, expected one that names the node", n.Name, err)
			}
			continue
		}
		n.Test(t, r, 1e-4)
		right++
	}
	if right == 0 {
		t.Error("found none that onnx-go computes, expected one or more")
	}
}

// head is a net without blocks whose value comes of the given nodes, which take
// "flat" [N, 2176].
func head(nodes []onnx.Node, constants ...onnx.Tensor) *onnx.Model {
	batch := onnx.Dim{Size: onnx.Any, Name: "batch"}
	flat := onnx.Node{Op: "Flatten", Inputs: []string{planes.InputName}, Outputs: []string{"flat"}}
	policy := onnx.Node{Op: "MatMul", Inputs: []string{"flat", "policy"}, Outputs: []string{planes.PolicyName}}
	weights := onnx.Tensor{Name: "policy", Type: onnx.Float, Dims: []int{planes.Size, 7}, Floats: make([]float32, 7*planes.Size)}
	for i := range weights.Floats {
		weights.Floats[i] = float32(i%5) - 2
	}
	return &onnx.Model{
		IRVersion: 7, Opsets: []onnx.Opset{{Version: 13}},
		Graph: onnx.Graph{
			Inputs:       []onnx.Value{{Name: planes.InputName, Type: onnx.Float, Shape: []onnx.Dim{batch, {Size: planes.Channels}, {Size: 8}, {Size: 8}}}},
			Outputs:      []onnx.Value{{Name: planes.ValueName, Type: onnx.Float}, {Name: planes.PolicyName, Type: onnx.Float}},
			Nodes:        append([]onnx.Node{flat, policy}, nodes...),
			Initializers: append([]onnx.Tensor{weights}, constants...),
		},
	}
}

func tensor(name string, dims ...int) onnx.Tensor {
	n := 1
	for _, d := range dims {
		n *= d
	}
	t := onnx.Tensor{Name: name, Type: onnx.Float, Dims: dims, Floats: make([]float32, n)}
	for i := range t.Floats {
		t.Floats[i] = float32(i%5)/4 - 0.4
	}
	return t
}

// What PyTorch writes for a dense layer, and a bias as long as the batch.
func TestRewritten(t *testing.T) {
	gemm := head([]onnx.Node{
		{Op: "Gemm", Inputs: []string{"flat", "w", "b"}, Outputs: []string{"y"}, Attributes: []onnx.Attribute{onnx.IntAttribute("transB", 1)}},
		{Op: "Relu", Inputs: []string{"y"}, Outputs: []string{"z"}},
		{Op: "Gemm", Inputs: []string{"z", "w2"}, Outputs: []string{"t"}},
		{Op: "Tanh", Inputs: []string{"t"}, Outputs: []string{planes.ValueName}},
	}, tensor("w", 5, planes.Size), tensor("b", 5), tensor("w2", 5, 1))
	planestest.Test(t, open, []planestest.Net{{Name: "gemm", Model: encode(t, gemm)}}, 1e-4)
}

func TestRefused(t *testing.T) {
	value := []string{planes.ValueName}
	for want, n := range map[string]onnx.Node{
		`(Clip): onnx-go has no such operator`:    {Op: "Clip", Inputs: []string{"flat"}, Outputs: value},
		`(LeakyRelu): onnx-go's changes`:          {Op: "LeakyRelu", Inputs: []string{"flat"}, Outputs: value},
		`found inputs ["flat" "flat"]`:            {Op: "Add", Inputs: []string{"flat", "flat"}, Outputs: value},
		`found axis 2`:                            {Op: "Flatten", Inputs: []string{"flat"}, Outputs: value, Attributes: []onnx.Attribute{onnx.IntAttribute("axis", 2)}},
		`expected a constant matrix`:              {Op: "MatMul", Inputs: []string{"flat", "flat"}, Outputs: value},
		`found alpha 2, expected 1`:               {Op: "Gemm", Inputs: []string{"flat", "w"}, Outputs: value, Attributes: []onnx.Attribute{onnx.FloatAttribute("alpha", 2)}},
		`found a constant [3 1 1] for 2 dimensio`: {Op: "Add", Inputs: []string{"flat", "c"}, Outputs: value},
		`expected a constant shape that flattens`: {Op: "Reshape", Inputs: []string{"flat", "flat"}, Outputs: value},
		`output "value_out" is constant`:          {Op: "Identity", Inputs: []string{"w"}, Outputs: value},
	} {
		m := head([]onnx.Node{n}, tensor("w", planes.Size, 1), tensor("c", 3, 1, 1))
		if _, err := onnxgo.New(m); !errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	for text, want := range map[string]string{
		"residual 1x8 gates=1/2": "(Mul): onnx-go does not broadcast",
		"mobile 1x8":             "found group 16",
	} {
		if _, err := onnxgo.New(archtest.Net(t, text, 1)); !errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %q", text, err, want)
		}
	}
}
