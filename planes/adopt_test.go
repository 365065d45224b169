package planes_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// output describes an output of so many numbers for each position.
func output(name string, dims ...int) onnx.Value {
	v := onnx.Value{Name: name, Type: onnx.Float, Shape: []onnx.Dim{{Size: onnx.Any}}}
	for _, d := range dims {
		v.Shape = append(v.Shape, onnx.Dim{Size: d})
	}
	return v
}

// foreign is a model whose outputs are made by operators of the names given.
func foreign(outputs []onnx.Value, operators ...string) *onnx.Model {
	m := &onnx.Model{IRVersion: 7, Opsets: []onnx.Opset{{Version: 13}}}
	m.Graph.Inputs = []onnx.Value{output("x", planes.Channels, 8, 8)}
	for i, o := range outputs {
		op := "Relu"
		if i < len(operators) {
			op = operators[i]
		}
		inner := o.Name + " inner"
		m.Graph.Nodes = append(m.Graph.Nodes,
			onnx.Node{Op: op, Inputs: []string{"x"}, Outputs: []string{inner}},
			onnx.Node{Op: "Flatten", Inputs: []string{inner}, Outputs: []string{o.Name}})
	}
	m.Graph.Outputs = outputs
	return m
}

func outputNames(m *onnx.Model) (names []string) {
	for _, o := range m.Graph.Outputs {
		names = append(names, o.Name)
	}
	return names
}

func TestAdopt(t *testing.T) {
	const value, policy, wdl = planes.ValueName, planes.PolicyName, planes.WDLName
	for name, c := range map[string]struct {
		model         *onnx.Model
		want          []string
		probabilities bool
	}{
		"names":         {foreign([]onnx.Value{output(value, 1), output(policy, planes.PolicySize)}), []string{value, policy}, false},
		"sizes":         {foreign([]onnx.Value{output("a", 2272), output("b", 1), output("c", 7)}), []string{policy, value, "c"}, false},
		"planes":        {foreign([]onnx.Value{output("value_tanh0_output"), output("p", 81, 8, 8)}), []string{value, policy}, false},
		"order":         {foreign([]onnx.Value{output("a", onnx.Any), {Name: "b"}}), []string{value, policy}, false},
		"the other":     {foreign([]onnx.Value{output("b", onnx.Any), output(value, 1)}), []string{policy, value}, false},
		"softmax":       {foreign([]onnx.Value{output("a", 1), output("b", 5184)}, "Tanh", "Softmax"), []string{value, policy}, true},
		"logits":        {foreign([]onnx.Value{output(value, 1), output(policy, 5184), output(wdl, 3)}), []string{value, policy}, false},
		"probabilities": {foreign([]onnx.Value{output(value, 1), output(policy, 5184), output(wdl, 3)}, "Tanh", "LogSoftmax", "Softmax"), []string{value, policy, wdl}, false},
		"taken":         {foreign([]onnx.Value{output("a", 1), output(policy+" inner", 2272), output(planes.InputName, 2)}), []string{value, policy, planes.InputName + "'"}, false},
	} {
		meta, err := planes.Adopt(c.model)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := outputNames(c.model); !slices.Equal(got, c.want) || meta.Probabilities != c.probabilities {
			t.Errorf("%s: found outputs %q, probabilities %v, expected %q, %v", name, got, meta.Probabilities, c.want, c.probabilities)
		}
		if err := c.model.Check(); err != nil || c.model.Graph.Inputs[0].Name != planes.InputName {
			t.Errorf("%s: input %q, error %v", name, c.model.Graph.Inputs[0].Name, err)
		}
	}
}

// TestAdoptOurs keeps what a file says of itself.
func TestAdoptOurs(t *testing.T) {
	m := foreign([]onnx.Value{output(planes.ValueName, 1), output(planes.PolicyName, 5184), output(planes.WDLName, 3)}, "Relu", "Softmax")
	m.Metadata = planes.Meta{Variant: "chess", Encoder: planes.EncoderVersion, Normalisation: planes.Scaled, PolicyMap: planes.PolicyCells}.Properties()
	meta, err := planes.Adopt(m)
	if err != nil || meta.Variant != "chess" || meta.Probabilities || len(m.Graph.Outputs) != 3 {
		t.Errorf("found %+v, %q, error %v", meta, outputNames(m), err)
	}
}

func TestAdoptRefuses(t *testing.T) {
	inputs := foreign([]onnx.Value{output(planes.ValueName, 1), output(planes.PolicyName, 5184)})
	inputs.Graph.Inputs = append(inputs.Graph.Inputs, output("y", 1))
	for want, m := range map[string]*onnx.Model{
		"found 2 inputs": inputs,
		`"a" [?, 1], "b" [?, 1], "c" [?, 2272], expected one named "value_out" or of 1 number`: foreign([]onnx.Value{output("a", 1), output("b", 1), output("c", 2272)}),
		`"a" [?, 1], "b" [?, 4992]`: foreign([]onnx.Value{output("a", 1), output("b", 4992)}),
		`"a" [?, 1], expected`:      foreign([]onnx.Value{output("a", 1)}),
	} {
		if _, err := planes.Adopt(m); !errors.Is(err, planes.ErrMeta) || !strings.Contains(err.Error(), want) {
			t.Errorf("found error %v, expected %q", err, want)
		}
	}
}
