package onnx

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Encode writes the model as an ONNX file, after Check. Equal models give equal
// bytes; Decode of them gives an equal model back, except that numbers that
// Tensor.Type cannot hold are rounded and empty lists may become nil.
func Encode(m *Model) ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	var w writer
	w.int(1, m.IRVersion)
	w.text(2, m.Producer)
	w.text(3, m.ProducerVersion)
	w.message(7, func(w *writer) { m.Graph.encode(w) })
	for _, s := range m.Opsets {
		w.message(8, func(w *writer) {
			w.text(1, s.Domain)
			w.int(2, s.Version)
		})
	}
	for _, p := range m.Metadata {
		w.message(14, func(w *writer) {
			w.text(1, p.Key)
			w.text(2, p.Value)
		})
	}
	if len(w.b) > MaxFile {
		return nil, fmt.Errorf("onnx: %w: %d bytes, at most %d can be read back", ErrFormat, len(w.b), MaxFile)
	}
	return w.b, nil
}

// writer appends fields of a message.
type writer struct{ b []byte }

func (w *writer) int(n protowire.Number, v int64) {
	w.b = protowire.AppendTag(w.b, n, protowire.VarintType)
	w.b = protowire.AppendVarint(w.b, uint64(v))
}

func (w *writer) float(n protowire.Number, v float32) {
	w.b = protowire.AppendTag(w.b, n, protowire.Fixed32Type)
	w.b = protowire.AppendFixed32(w.b, math.Float32bits(v))
}

func (w *writer) bytes(n protowire.Number, v []byte) {
	w.b = protowire.AppendTag(w.b, n, protowire.BytesType)
	w.b = protowire.AppendBytes(w.b, v)
}

// text writes a string that is optional: none if it is empty.
func (w *writer) text(n protowire.Number, v string) {
	if v != "" {
		w.bytes(n, []byte(v))
	}
}

func (w *writer) message(n protowire.Number, f func(*writer)) {
	var inner writer
	f(&inner)
	w.bytes(n, inner.b)
}

func (g *Graph) encode(w *writer) {
	for i := range g.Nodes {
		w.message(1, g.Nodes[i].encode)
	}
	w.text(2, g.Name)
	for i := range g.Initializers {
		w.message(5, g.Initializers[i].encode)
	}
	for i := range g.Inputs {
		w.message(11, g.Inputs[i].encode)
	}
	for i := range g.Outputs {
		w.message(12, g.Outputs[i].encode)
	}
}

func (n *Node) encode(w *writer) {
	for _, s := range n.Inputs {
		w.bytes(1, []byte(s)) // an empty one keeps its place
	}
	for _, s := range n.Outputs {
		w.bytes(2, []byte(s))
	}
	w.text(3, n.Name)
	w.text(4, n.Op)
	for i := range n.Attributes {
		w.message(5, n.Attributes[i].encode)
	}
	w.text(7, n.Domain)
}

func (a *Attribute) encode(w *writer) {
	w.text(1, a.Name)
	switch a.Type {
	case AttributeFloat:
		w.float(2, a.Float)
	case AttributeInt:
		w.int(3, a.Int)
	case AttributeString:
		w.bytes(4, []byte(a.Text))
	case AttributeTensor:
		w.message(5, a.Tensor.encode)
	case AttributeFloats:
		for _, v := range a.Floats {
			w.float(7, v)
		}
	case AttributeInts:
		for _, v := range a.Ints {
			w.int(8, v)
		}
	case AttributeStrings:
		for _, s := range a.Strings {
			w.bytes(9, []byte(s))
		}
	}
	w.int(20, int64(a.Type))
}

func (t *Tensor) encode(w *writer) {
	for _, d := range t.Dims {
		w.int(1, int64(d))
	}
	w.int(2, int64(t.Type))
	w.text(8, t.Name)
	w.bytes(9, t.raw())
}

func (v *Value) encode(w *writer) {
	w.text(1, v.Name)
	w.message(2, func(w *writer) {
		w.message(1, func(w *writer) {
			w.int(1, int64(v.Type))
			if v.Shape == nil {
				return
			}
			w.message(2, func(w *writer) {
				for _, d := range v.Shape {
					w.message(1, d.encode)
				}
			})
		})
	})
}

func (d Dim) encode(w *writer) {
	if d.Size == Any {
		w.text(2, d.Name)
	} else {
		w.int(1, int64(d.Size))
	}
}
