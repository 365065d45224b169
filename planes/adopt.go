package planes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// Adopt prepares a model of any program for runtimes: it renames the input and the
// outputs to the names that runtimes expect, and returns what the numbers mean, as
// ReadMeta does. The error wraps ErrMeta and lists the outputs that were found.
//
// The only input is the planes. Outputs with other names are recognised by how many
// numbers they have for a position: one is the value, 5,184 or 2,272 the policy.
// Where the file does not state this, two outputs are the value and the policy, in
// CrazyAra's order; a net with others fails when it runs. An output of a softmax
// holds probabilities. In other programs' files an output named WDLName is used only
// if it comes from a softmax, because CrazyAra's nets have logits by that name.
func Adopt(m *onnx.Model) (Meta, error) {
	meta, err := ReadMeta(m)
	if err != nil {
		return Meta{}, err
	}
	g := &m.Graph
	if len(g.Inputs) != 1 {
		return Meta{}, fmt.Errorf("%w: found %d inputs, expected the planes alone", ErrMeta, len(g.Inputs))
	}
	rename(g, g.Inputs[0].Name, InputName)
	value, policy, err := heads(g.Outputs)
	if err != nil {
		return Meta{}, err
	}
	rename(g, value, ValueName)
	rename(g, policy, PolicyName)
	if _, ours := m.Property(keyEncoder); !ours {
		g.Outputs = slices.DeleteFunc(g.Outputs, func(v onnx.Value) bool { return v.Name == WDLName && !madeBySoftmax(g, WDLName) })
	}
	if _, said := m.Property(keyProbabilities); !said {
		meta.Probabilities = madeBySoftmax(g, PolicyName)
	}
	return meta, nil
}

// heads returns the names of the outputs that are the value and the policy.
func heads(outputs []onnx.Value) (value, policy string, err error) {
	find := func(name string, sizes ...int) (found string) {
		for _, o := range outputs {
			if o.Name == name {
				return name
			}
		}
		count := 0
		for _, o := range outputs {
			if slices.Contains(sizes, sizeOf(o)) && !slices.Contains([]string{ValueName, PolicyName, WDLName, PliesLeftName}, o.Name) {
				found = o.Name
				count++
			}
		}
		if count != 1 {
			return ""
		}
		return found
	}
	value, policy = find(ValueName, 1), find(PolicyName, PolicySize, Labels)
	if two := len(outputs) == 2; two && (value == "" || policy == "") {
		first, second := outputs[0], outputs[1]
		switch {
		case value != "" || policy != "": // the other is what is left
			if second.Name == value || first.Name == policy {
				first, second = second, first
			}
			if value == "" && sizeOf(first) < 0 || policy == "" && sizeOf(second) < 0 {
				value, policy = first.Name, second.Name
			}
		case sizeOf(first) < 0 && sizeOf(second) < 0:
			value, policy = first.Name, second.Name
		}
	}
	if value == "" || policy == "" {
		return "", "", fmt.Errorf("%w: found outputs %s, expected one named %q or of 1 number a position, and one named %q or of %d or %d",
			ErrMeta, describe(outputs), ValueName, PolicyName, PolicySize, Labels)
	}
	return value, policy, nil
}

// sizeOf returns how many numbers an output has for a position, -1 if it is
// unknown.
func sizeOf(v onnx.Value) int {
	if len(v.Shape) == 0 {
		return -1
	}
	n := 1
	for _, d := range v.Shape[1:] {
		if d.Size < 0 || d.Size > PolicySize {
			return -1
		}
		n *= d.Size
	}
	return n
}

func describe(outputs []onnx.Value) string {
	var all []string
	for _, o := range outputs {
		dims := make([]string, len(o.Shape))
		for i, d := range o.Shape {
			if dims[i] = fmt.Sprint(d.Size); d.Size == onnx.Any {
				dims[i] = "?"
			}
		}
		all = append(all, fmt.Sprintf("%q [%s]", o.Name, strings.Join(dims, ", ")))
	}
	return strings.Join(all, ", ")
}

// rename renames a value. If the graph uses the new name for another value, that one
// is renamed too.
func rename(g *onnx.Graph, from, to string) {
	if from == to {
		return
	}
	taken := map[string]bool{}
	eachName(g, func(name *string) { taken[*name] = true })
	free := to
	for taken[free] {
		free += "'"
	}
	eachName(g, func(name *string) {
		switch *name {
		case to:
			*name = free
		case from:
			*name = to
		}
	})
}

// eachName visits every name of a value in a graph.
func eachName(g *onnx.Graph, visit func(*string)) {
	for i := range g.Inputs {
		visit(&g.Inputs[i].Name)
	}
	for i := range g.Outputs {
		visit(&g.Outputs[i].Name)
	}
	for i := range g.Initializers {
		visit(&g.Initializers[i].Name)
	}
	for i := range g.Nodes {
		for _, names := range [][]string{g.Nodes[i].Inputs, g.Nodes[i].Outputs} {
			for j := range names {
				if names[j] != "" {
					visit(&names[j])
				}
			}
		}
	}
}

// madeBySoftmax reports whether a value is the output of a softmax, perhaps
// reshaped.
func madeBySoftmax(g *onnx.Graph, name string) bool {
	for _, n := range slices.Backward(g.Nodes) {
		if !slices.Contains(n.Outputs, name) {
			continue
		}
		switch n.Op {
		case "Softmax":
			return true
		case "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Cast":
			if len(n.Inputs) > 0 {
				name = n.Inputs[0]
			}
		}
	}
	return false
}
