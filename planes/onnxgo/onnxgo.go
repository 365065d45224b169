package onnxgo

import (
	"fmt"
	"slices"

	onnxgo "github.com/owulveryck/onnx-go"
	"github.com/owulveryck/onnx-go/backend/x/gorgonnx"
	"gorgonia.org/tensor"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// runtime is a net. It is for one goroutine at a time; several work side by side.
type runtime struct {
	file    []byte   // the rewritten model
	outputs []string // of the model, in order

	// Gorgonia compiles a graph for one size of batch, and is no faster with
	// larger ones: it is always 1.
	graph *gorgonnx.Graph // nil: to be made
	model *onnxgo.Model
}

// New prepares a net whose input and outputs have the names of package
// planes. The error wraps onnx.ErrUnsupported for a graph that onnx-go cannot
// run correctly.
func New(m *onnx.Model) (planes.Runtime, error) {
	rewritten, err := rewrite(m)
	if err != nil {
		return nil, fmt.Errorf("onnxgo: %w", err)
	}
	r := new(runtime)
	for _, o := range rewritten.Graph.Outputs {
		r.outputs = append(r.outputs, o.Name)
	}
	if r.file, err = onnx.Encode(rewritten); err != nil {
		return nil, fmt.Errorf("onnxgo: %w", err)
	}
	// What onnx-go itself refuses shows when it first runs.
	if err := r.Run(make([]float32, planes.Size), 1, new(planes.Output)); err != nil {
		return nil, err
	}
	return r, nil
}

// Run runs the net on n positions, one after the other.
func (r *runtime) Run(in []float32, n int, out *planes.Output) error {
	if n < 1 || len(in) != n*planes.Size {
		return fmt.Errorf("onnxgo: found %d numbers for %d positions, expected %d for each of at least one", len(in), n, planes.Size)
	}
	out.Value, out.Policy, out.WDL, out.PliesLeft = out.Value[:0], out.Policy[:0], out.WDL[:0], out.PliesLeft[:0]
	for i := range n {
		if err := r.one(in[i*planes.Size:][:planes.Size], out); err != nil {
			r.graph = nil // it may have stopped halfway
			return fmt.Errorf("onnxgo: %w", err)
		}
	}
	return nil
}

// one runs the net on a position and appends to out.
func (r *runtime) one(in []float32, out *planes.Output) (err error) {
	defer func() { // Gorgonia panics where shapes do not fit
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: Gorgonia: %v", onnx.ErrUnsupported, p)
		}
	}()
	if r.graph == nil {
		graph := gorgonnx.NewGraph()
		r.model = onnxgo.NewModel(graph)
		if err := r.model.UnmarshalBinary(r.file); err != nil {
			return err
		}
		r.graph = graph
	}
	data := tensor.New(tensor.WithShape(1, planes.Channels, 8, 8), tensor.WithBacking(slices.Clone(in)))
	if err := r.model.SetInput(0, data); err != nil {
		return err
	}
	if err := r.graph.Run(); err != nil {
		return err
	}
	return r.take(out)
}

// take appends the outputs of the graph to out.
func (r *runtime) take(out *planes.Output) error {
	tensors, err := r.model.GetOutputTensors()
	if err != nil {
		return err
	}
	fields := map[string]*[]float32{
		planes.ValueName: &out.Value, planes.PolicyName: &out.Policy,
		planes.WDLName: &out.WDL, planes.PliesLeftName: &out.PliesLeft,
	}
	for i, name := range r.outputs {
		f, ok := fields[name]
		if !ok {
			continue
		}
		numbers, err := floats(tensors[i])
		if err != nil {
			return fmt.Errorf("output %q: %w", name, err)
		}
		if len(numbers) == 0 {
			return fmt.Errorf("output %q: found no numbers", name)
		}
		*f = append(*f, numbers...)
	}
	return nil
}

// floats returns the numbers of a tensor, which may be a scalar.
func floats(t tensor.Tensor) ([]float32, error) {
	if t == nil {
		return nil, fmt.Errorf("found no tensor")
	}
	switch data := t.Data().(type) {
	case []float32:
		return data, nil
	case float32:
		return []float32{data}, nil
	}
	return nil, fmt.Errorf("found a tensor of %v, expected float32", t.Dtype())
}

// Close does nothing: all memory is Go's.
func (r *runtime) Close() error { return nil }
