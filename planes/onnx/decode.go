package onnx

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits of what Decode takes: far above any net, low enough that a small file
// cannot ask for much memory.
const (
	MaxFile       = 256 << 20 // bytes
	maxNodes      = 1 << 16
	maxTensors    = 1 << 16
	maxValues     = 1 << 10 // inputs, and outputs, of a graph
	maxMetadata   = 1 << 10
	maxOpsets     = 64
	maxNodeValues = 1 << 10 // inputs, and outputs, of a node
	maxAttributes = 64
	maxRank       = 8
)

// Decode reads an ONNX file. What it returns has passed Model.Check and holds no
// reference to b. It takes at most about 120 times the memory of the file, 2 times in nets. An
// initializer that older files list as an input too is dropped from the inputs.
// Tensors whose elements are in another file are refused: see ReadFile.
func Decode(b []byte) (*Model, error) {
	m, err := decode(b)
	if err != nil {
		return nil, err
	}
	for t := range m.outside() {
		return nil, fmt.Errorf("onnx: %w: tensor %q: its data are in another file, %q", ErrUnsupported, t.Name, t.external.location)
	}
	return m, m.finish()
}

// finish is what is left to do when all elements of tensors are there.
func (m *Model) finish() error {
	m.Graph.dropConstantInputs()
	if err := m.Check(); err != nil {
		return fmt.Errorf("onnx: %w", err)
	}
	return nil
}

// decode reads a file, and of elements in other files where they are.
func decode(b []byte) (*Model, error) {
	if len(b) > MaxFile {
		return nil, fmt.Errorf("%w: found %d bytes, expected at most %d", ErrFormat, len(b), MaxFile)
	}
	m := new(Model)
	graphs := 0
	err := fields("model", b, func(v field) error {
		switch v.number {
		case 1:
			return v.int(&m.IRVersion)
		case 2:
			return v.text(&m.Producer)
		case 3:
			return v.text(&m.ProducerVersion)
		case 7:
			if graphs++; graphs > 1 {
				return fmt.Errorf("%w: found a second graph, expected one", ErrFormat)
			}
			return m.Graph.decode(v)
		case 8:
			return m.decodeOpset(v)
		case 14:
			return m.decodeProperty(v)
		case 25:
			return fmt.Errorf("%w: functions of the model's own", ErrUnsupported)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	if graphs == 0 {
		return nil, fmt.Errorf("onnx: %w: found no graph", ErrFormat)
	}
	return m, nil
}

func (m *Model) decodeOpset(v field) error {
	b, err := v.message()
	if err != nil {
		return err
	}
	var s Opset
	err = fields("opset", b, func(v field) error {
		switch v.number {
		case 1:
			return v.domain(&s.Domain)
		case 2:
			return v.int(&s.Version)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return add(&m.Opsets, s, maxOpsets, "operator sets")
}

func (m *Model) decodeProperty(v field) error {
	b, err := v.message()
	if err != nil {
		return err
	}
	var p Property
	err = fields("metadata", b, func(v field) error {
		switch v.number {
		case 1:
			return v.text(&p.Key)
		case 2:
			return v.text(&p.Value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return add(&m.Metadata, p, maxMetadata, "metadata entries")
}

// domain stores the name of a domain, one spelling for ONNX's own.
func (v field) domain(dst *string) error {
	err := v.text(dst)
	if *dst == "ai.onnx" {
		*dst = ""
	}
	return err
}

func (g *Graph) decode(v field) error {
	b, err := v.message()
	if err != nil {
		return err
	}
	return fields("graph", b, func(v field) error {
		switch v.number {
		case 1:
			return decodeInto(&g.Nodes, v, decodeNode, maxNodes, "node")
		case 2:
			return v.text(&g.Name)
		case 5:
			return decodeInto(&g.Initializers, v, decodeTensor, maxTensors, "initializer")
		case 11:
			return decodeInto(&g.Inputs, v, decodeValue, maxTensors, "input")
		case 12:
			return decodeInto(&g.Outputs, v, decodeValue, maxValues, "output")
		case 15:
			return fmt.Errorf("%w: sparse initializers", ErrUnsupported)
		}
		return nil
	})
}

// decodeInto appends to a list what decode makes of a message.
func decodeInto[T any](dst *[]T, v field, decode func(string, []byte) (T, error), limit int, what string) error {
	b, err := v.message()
	if err != nil {
		return err
	}
	one, err := decode(fmt.Sprintf("%s %d", what, len(*dst)), b)
	if err != nil {
		return err
	}
	return add(dst, one, limit, what+"s")
}

// dropConstantInputs removes the inputs that are initializers: before version 4
// of the format every initializer had to be listed as one.
func (g *Graph) dropConstantInputs() {
	constant := make(map[string]bool, len(g.Initializers))
	for i := range g.Initializers {
		constant[g.Initializers[i].Name] = true
	}
	var fed []Value
	for _, v := range g.Inputs {
		if !constant[v.Name] {
			fed = append(fed, v)
		}
	}
	g.Inputs = fed
}

func decodeNode(what string, b []byte) (n Node, err error) {
	err = fields(what, b, func(v field) error {
		switch v.number {
		case 1:
			return v.texts(&n.Inputs, maxNodeValues)
		case 2:
			return v.texts(&n.Outputs, maxNodeValues)
		case 3:
			return v.text(&n.Name)
		case 4:
			return v.text(&n.Op)
		case 5:
			return decodeInto(&n.Attributes, v, decodeAttribute, maxAttributes, "attribute")
		case 7:
			return v.domain(&n.Domain)
		}
		return nil
	})
	return n, err
}

func decodeAttribute(what string, b []byte) (a Attribute, err error) {
	reference := ""
	err = fields(what, b, func(v field) error {
		switch v.number {
		case 1:
			return v.text(&a.Name)
		case 2:
			return v.float(&a.Float)
		case 3:
			return v.int(&a.Int)
		case 4:
			a.Text = string(v.b)
			return v.expect(protowire.BytesType)
		case 5:
			b, err := v.message()
			if err != nil {
				return err
			}
			t, err := decodeTensor("tensor", b)
			a.Tensor = &t
			return err
		case 7:
			return v.numbers(protowire.Fixed32Type, func(bits uint64) {
				a.Floats = append(a.Floats, math.Float32frombits(uint32(bits)))
			})
		case 8:
			return v.ints(&a.Ints)
		case 9:
			return v.texts(&a.Strings, maxNodeValues)
		case 20:
			return v.enum((*int32)(&a.Type))
		case 21:
			return v.text(&reference)
		}
		return nil
	})
	if err == nil && reference != "" {
		err = fmt.Errorf("%s: %w: found a reference to %q, which has a meaning in functions only", what, ErrFormat, reference)
	}
	a.onlyTyped()
	return a, err
}

// onlyTyped clears what the attribute's type does not name.
func (a *Attribute) onlyTyped() {
	kept := Attribute{Name: a.Name, Type: a.Type}
	switch a.Type {
	case AttributeFloat:
		kept.Float = a.Float
	case AttributeInt:
		kept.Int = a.Int
	case AttributeString:
		kept.Text = a.Text
	case AttributeTensor:
		kept.Tensor = a.Tensor
	case AttributeFloats:
		kept.Floats = a.Floats
	case AttributeInts:
		kept.Ints = a.Ints
	case AttributeStrings:
		kept.Strings = a.Strings
	}
	*a = kept
}

func decodeValue(what string, b []byte) (out Value, err error) {
	tensor := false
	err = fields(what, b, func(v field) error {
		switch v.number {
		case 1:
			return v.text(&out.Name)
		case 2:
			b, err := v.message()
			if err != nil {
				return err
			}
			return fields("type", b, func(v field) error {
				if v.number != 1 {
					return nil
				}
				tensor = true
				return out.decodeTensorType(v)
			})
		}
		return nil
	})
	if err == nil && !tensor {
		err = fmt.Errorf("%s: %w: %q is not a tensor", what, ErrUnsupported, out.Name)
	}
	return out, err
}

func (out *Value) decodeTensorType(v field) error {
	b, err := v.message()
	if err != nil {
		return err
	}
	return fields("tensor type", b, func(v field) error {
		switch v.number {
		case 1:
			return v.enum((*int32)(&out.Type))
		case 2:
			b, err := v.message()
			if err != nil {
				return err
			}
			out.Shape = []Dim{}
			return fields("shape", b, func(v field) error {
				if v.number != 1 {
					return nil
				}
				return decodeInto(&out.Shape, v, decodeDim, maxRank, "dimension")
			})
		}
		return nil
	})
}

func decodeDim(what string, b []byte) (d Dim, err error) {
	d.Size = Any
	err = fields(what, b, func(v field) error {
		switch v.number {
		case 1:
			var size int64
			err := v.int(&size)
			if size < 0 || size > math.MaxInt32 { // some exporters write -1 or so
				size = Any
			}
			d = Dim{Size: int(size)}
			return err
		case 2:
			d.Size = Any
			return v.text(&d.Name)
		}
		return nil
	})
	return d, err
}
