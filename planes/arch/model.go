package arch

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// keyArchitecture is the key of the architecture's text in metadata_props.
const keyArchitecture = "selfplay.architecture"

// opset 13 and its IR version are known to all readers since 2020, onnx-go among
// them.
const (
	opset     = 13
	irVersion = 7
)

// Model returns the ONNX model of a net, with any number N of positions as the
// first dimension of its input and outputs. Normalisations stay nodes of their
// own. The tensors share memory with p. The error wraps ErrModel if the
// parameters are not those of a, or ErrArchitecture.
func (a Architecture) Model(p Params, meta planes.Meta) (*onnx.Model, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	b := build(a)
	if err := b.fill(p); err != nil {
		return nil, err
	}
	m := &onnx.Model{
		IRVersion: irVersion,
		Opsets:    []onnx.Opset{{Version: opset}},
		Producer:  "selfplay",
		Metadata:  append(meta.Properties(), onnx.Property{Key: keyArchitecture, Value: a.String()}),
		Graph: onnx.Graph{
			Name: "net",
			Inputs: []onnx.Value{{Name: planes.InputName, Type: onnx.Float, Shape: []onnx.Dim{
				batch, {Size: planes.Channels}, {Size: 8}, {Size: 8}}}},
			Outputs: b.outputs,
			Nodes:   b.nodes,
		},
	}
	for _, t := range b.params {
		m.Graph.Initializers = append(m.Graph.Initializers, onnx.Tensor{Name: t.Name, Type: onnx.Float, Dims: t.Dims, Floats: t.Data})
	}
	if a.WDL {
		m.Graph.Initializers = append(m.Graph.Initializers, resultsTensor())
	}
	// Value first, then policy, then what other programs do not expect.
	order := []string{planes.ValueName, planes.PolicyName, planes.WDLName, planes.PliesLeftName}
	slices.SortFunc(m.Graph.Outputs, func(x, y onnx.Value) int {
		return cmp.Compare(slices.Index(order, x.Name), slices.Index(order, y.Name))
	})
	return m, nil
}

// fill takes the numbers of p, which must be the parameters of the builder's net.
func (b *builder) fill(p Params) error {
	if len(p) != len(b.params) {
		return fmt.Errorf("%w: found %d tensors, expected %d", ErrModel, len(p), len(b.params))
	}
	for i := range p {
		want := &b.params[i]
		if p[i].Name != want.Name || len(p[i].Data) != want.Len() {
			return fmt.Errorf("%w: found tensor %q of %d numbers, expected %q of %d", ErrModel, p[i].Name, len(p[i].Data), want.Name, want.Len())
		}
		want.Data = p[i].Data
	}
	return nil
}

// Read returns the architecture, parameters and meaning of a model that Model
// made, or of one read from its file. The tensors share memory with the model's.
// The error wraps ErrModel where it is not such a model.
func Read(m *onnx.Model) (Architecture, Params, planes.Meta, error) {
	fail := func(err error) (Architecture, Params, planes.Meta, error) {
		return Architecture{}, nil, planes.Meta{}, err
	}
	text, ok := m.Property(keyArchitecture)
	if !ok {
		return fail(fmt.Errorf("%w: found no metadata %q", ErrModel, keyArchitecture))
	}
	a, err := Parse(text)
	if err != nil {
		return fail(fmt.Errorf("%w: metadata %q: %w", ErrModel, keyArchitecture, err))
	}
	meta, err := planes.ReadMeta(m)
	if err != nil {
		return fail(err)
	}
	constants := m.Graph.Constants()
	p := build(a).params
	for i := range p {
		t := constants[p[i].Name]
		if t == nil || !slices.Equal(t.Dims, p[i].Dims) || t.Type != onnx.Float {
			return fail(fmt.Errorf("%w: %s: found %s, expected a float tensor %v", ErrModel, p[i].Name, describe(t), p[i].Dims))
		}
		p[i].Data = t.Floats
	}
	return a, p, meta, nil
}

func describe(t *onnx.Tensor) string {
	if t == nil {
		return "none"
	}
	return fmt.Sprintf("a %v tensor %v", t.Type, t.Dims)
}
