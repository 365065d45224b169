package onnx

import (
	"errors"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// Errors that Decode, Encode and Model.Check return, wrapped with what was found.
var (
	ErrFormat      = errors.New("not a valid ONNX model")
	ErrUnsupported = errors.New("ONNX model not supported")
)

// Model is an ONNX file: one graph and what is said about it.
type Model struct {
	IRVersion       int64
	Opsets          []Opset // versions of the operator sets; one has the domain ""
	Producer        string  // name of the program that wrote the file
	ProducerVersion string
	Metadata        []Property // metadata_props, in the file's order; keys differ
	Graph           Graph
}

// Opset is the version of the operator set of a domain. ONNX's own domain is
// "", which files also spell "ai.onnx".
type Opset struct {
	Domain  string
	Version int64
}

// Property is an entry of a model's metadata.
type Property struct{ Key, Value string }

// Graph is a computation: nodes in an order in which each finds its inputs
// made. Values are named; a name is given once, to an input, an initializer or
// the output of a node.
type Graph struct {
	Name         string
	Inputs       []Value // what must be fed: initializers are not among them
	Outputs      []Value
	Nodes        []Node
	Initializers []Tensor // constants, the parameters of a net
}

// Value describes an input or output of a graph, a tensor.
type Value struct {
	Name  string
	Type  DataType
	Shape []Dim // nil if even the rank is unknown, empty for a scalar
}

// Dim is a dimension: a size, or any size, which may have a name.
type Dim struct {
	Size int    // Any if not fixed
	Name string // of a size that is not fixed, as "batch"; may be empty
}

// Any is the Size of a dimension that is not fixed.
const Any = -1

// Node is one application of an operator.
type Node struct {
	Name       string // may be empty
	Op         string // operator, as "Conv"
	Domain     string // of the operator, "" for ONNX's own
	Inputs     []string
	Outputs    []string // an empty name, here and in Inputs, is an optional value left out
	Attributes []Attribute
}

// AttributeType states which field of an Attribute holds its value. Its numbers
// are the file's.
type AttributeType int32

// Types of attributes. The others, which are graphs, sparse tensors, types and
// lists of such, are not supported.
const (
	AttributeFloat   AttributeType = 1
	AttributeInt     AttributeType = 2
	AttributeString  AttributeType = 3
	AttributeTensor  AttributeType = 4
	AttributeFloats  AttributeType = 6
	AttributeInts    AttributeType = 7
	AttributeStrings AttributeType = 8
)

var attributeNames = map[AttributeType]string{
	AttributeFloat: "float", AttributeInt: "int", AttributeString: "string", AttributeTensor: "tensor",
	AttributeFloats: "floats", AttributeInts: "ints", AttributeStrings: "strings",
	5: "graph", 9: "tensors", 10: "graphs", 11: "sparse tensor", 12: "sparse tensors", 13: "type", 14: "types",
}

func (t AttributeType) String() string {
	if s, ok := attributeNames[t]; ok {
		return s
	}
	return fmt.Sprintf("attribute type %d", int32(t))
}

// Attribute is a constant parameter of a node.
type Attribute struct {
	Name    string
	Type    AttributeType
	Float   float32
	Int     int64
	Text    string // of AttributeString; any bytes
	Tensor  *Tensor
	Floats  []float32
	Ints    []int64
	Strings []string
}

// IntAttribute makes an attribute of an integer.
func IntAttribute(name string, v int64) Attribute {
	return Attribute{Name: name, Type: AttributeInt, Int: v}
}

// FloatAttribute makes an attribute of a number.
func FloatAttribute(name string, v float32) Attribute {
	return Attribute{Name: name, Type: AttributeFloat, Float: v}
}

// IntsAttribute makes an attribute of a list of integers.
func IntsAttribute(name string, v ...int64) Attribute {
	return Attribute{Name: name, Type: AttributeInts, Ints: v}
}

// Attribute returns the attribute of that name, nil if the node has none.
func (n *Node) Attribute(name string) *Attribute {
	for i := range n.Attributes {
		if n.Attributes[i].Name == name {
			return &n.Attributes[i]
		}
	}
	return nil
}

// Int returns the integer attribute of that name, or absent if the node has
// none. An attribute of another type is an error.
func (n *Node) Int(name string, absent int64) (int64, error) {
	a, err := n.typed(name, AttributeInt)
	if a == nil {
		return absent, err
	}
	return a.Int, nil
}

// Float is Int for numbers.
func (n *Node) Float(name string, absent float32) (float32, error) {
	a, err := n.typed(name, AttributeFloat)
	if a == nil {
		return absent, err
	}
	return a.Float, nil
}

// Text is Int for strings.
func (n *Node) Text(name, absent string) (string, error) {
	a, err := n.typed(name, AttributeString)
	if a == nil {
		return absent, err
	}
	return a.Text, nil
}

// Ints is Int for lists of integers; absent ones are nil.
func (n *Node) Ints(name string) ([]int64, error) {
	a, err := n.typed(name, AttributeInts)
	if a == nil {
		return nil, err
	}
	return a.Ints, nil
}

func (n *Node) typed(name string, want AttributeType) (*Attribute, error) {
	a := n.Attribute(name)
	if a != nil && a.Type != want {
		return nil, fmt.Errorf("%w: %s: attribute %s: found %v, expected %v", ErrFormat, n, name, a.Type, want)
	}
	return a, nil
}

// String names a node in messages: its operator and its name or first output.
func (n *Node) String() string {
	name := n.Name
	if name == "" && len(n.Outputs) > 0 {
		name = n.Outputs[0]
	}
	return fmt.Sprintf("node %q (%s)", name, words.Printable(n.Op))
}

// Opset returns the version of ONNX's own operator set, 0 if there is none.
func (m *Model) Opset() int64 {
	for _, s := range m.Opsets {
		if s.Domain == "" {
			return s.Version
		}
	}
	return 0
}

// Property returns the value of a key of the metadata, and whether it is there.
func (m *Model) Property(key string) (string, bool) {
	for _, p := range m.Metadata {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}

// Constants returns the tensors known before the graph runs, by name: its
// initializers, what its Constant nodes make, and Identity of these. A Constant
// of strings or of sparse tensors is not among them.
func (g *Graph) Constants() map[string]*Tensor {
	all := make(map[string]*Tensor, len(g.Initializers))
	for i := range g.Initializers {
		all[g.Initializers[i].Name] = &g.Initializers[i]
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Domain != "" || len(n.Outputs) != 1 {
			continue
		}
		switch {
		case n.Op == "Constant" && len(n.Attributes) == 1:
			if t := n.Attributes[0].constant(); t != nil {
				all[n.Outputs[0]] = t
			}
		case n.Op == "Identity" && len(n.Inputs) == 1 && all[n.Inputs[0]] != nil:
			all[n.Outputs[0]] = all[n.Inputs[0]]
		}
	}
	return all
}

// constant returns the tensor that a Constant node of this attribute makes.
func (a *Attribute) constant() *Tensor {
	switch {
	case a.Name == "value" && a.Type == AttributeTensor:
		return a.Tensor
	case a.Name == "value_float" && a.Type == AttributeFloat:
		return &Tensor{Type: Float, Dims: []int{}, Floats: []float32{a.Float}}
	case a.Name == "value_floats" && a.Type == AttributeFloats:
		return &Tensor{Type: Float, Dims: []int{len(a.Floats)}, Floats: a.Floats}
	case a.Name == "value_int" && a.Type == AttributeInt:
		return &Tensor{Type: Int64, Dims: []int{}, Ints: []int64{a.Int}}
	case a.Name == "value_ints" && a.Type == AttributeInts:
		return &Tensor{Type: Int64, Dims: []int{len(a.Ints)}, Ints: a.Ints}
	}
	return nil
}
