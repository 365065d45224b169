package onnxtest_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/onnx/onnxtest"
)

// testCase is a line of testdata/operators.jsonl: what ONNX Runtime makes of a
// model.
type testCase struct {
	Name  string
	Model []byte
	In    onnxtest.Tensor
	Out   map[string]onnxtest.Tensor
}

func cases(t *testing.T) []testCase {
	t.Helper()
	f, err := os.Open("testdata/operators.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []testCase
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var c testCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestOperators(t *testing.T) {
	untested := onnxtest.Operators()
	for _, c := range cases(t) {
		op, _, _ := strings.Cut(c.Name, " ")
		untested = slices.DeleteFunc(untested, func(s string) bool { return s == op })
		t.Run(c.Name, func(t *testing.T) {
			m, err := onnx.Decode(c.Model)
			if err != nil {
				t.Fatal(err)
			}
			out, err := onnxtest.Run(m, map[string]onnxtest.Tensor{"x": c.In})
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range c.Out {
				compare(t, name, out[name], want)
			}
		})
	}
	if len(untested) > 0 {
		t.Errorf("no case for %v", untested)
	}
}

func compare(t *testing.T, name string, got, want onnxtest.Tensor) {
	t.Helper()
	if !slices.Equal(got.Dims, want.Dims) || len(got.Data) != len(want.Data) {
		t.Fatalf("%s: found dimensions %v, expected %v", name, got.Dims, want.Dims)
	}
	for i := range want.Data {
		if math.Abs(got.Data[i]-want.Data[i]) > 1e-5*(1+math.Abs(want.Data[i])) {
			t.Errorf("%s: found %v, expected %v", name, got.Data, want.Data)
			return
		}
	}
}

func TestRefused(t *testing.T) {
	model := func(n onnx.Node) *onnx.Model {
		n.Inputs, n.Outputs = []string{"x"}, []string{"y"}
		return &onnx.Model{Graph: onnx.Graph{
			Inputs: []onnx.Value{{Name: "x"}}, Outputs: []onnx.Value{{Name: "y"}}, Nodes: []onnx.Node{n},
		}}
	}
	x := map[string]onnxtest.Tensor{"x": onnxtest.FromFloat32([]float32{1, 2}, 1, 2)}
	for text, n := range map[string]onnx.Node{
		`node "y" (Einsum): operator not known`:        {Op: "Einsum"},
		`operator not known`:                           {Op: "Relu", Domain: "com.example"},
		`found 1 inputs, expected 2`:                   {Op: "MatMul"},
		`attribute alpha: found int, expected float`:   {Op: "Elu", Attributes: []onnx.Attribute{onnx.IntAttribute("alpha", 1)}},
		`found axis 3 for dimensions [1 2]`:            {Op: "Flatten", Attributes: []onnx.Attribute{onnx.IntAttribute("axis", 3)}},
		`found perm [0 0], expected an order of 2 dim`: {Op: "Transpose", Attributes: []onnx.Attribute{onnx.IntsAttribute("perm", 0, 0)}},
	} {
		if _, err := onnxtest.Run(model(n), x); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("found %v, expected %q", err, text)
		}
	}
	if _, err := onnxtest.Run(model(onnx.Node{Op: "Relu"}), nil); err == nil {
		t.Error("a missing input is accepted")
	}
}
