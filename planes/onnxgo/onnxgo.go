//go:build onnxgo

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

// Built says whether the program was built with this package.
const Built = true

// runtime is a net. It is for one goroutine at a time; several work side by side.
type runtime struct {
	file    []byte   // the rewritten model
	outputs []string // of the model, in order

	// The graph for batches of one size: Gorgonia compiles it for that size.
	batch int
	graph *gorgonnx.Graph
	model *onnxgo.Model
}

// New prepares a net whose input and outputs have the names that package planes
// gives them. The error wraps onnx.ErrUnsupported for a graph that onnx-go cannot
// compute correctly.
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

// Run computes n positions. A size of batch other than the last one's makes the
// graph anew.
func (r *runtime) Run(in []float32, n int, out *planes.Output) (err error) {
	if n < 1 || len(in) != n*planes.Size {
		return fmt.Errorf("onnxgo: found %d numbers for %d positions, expected %d for each of at least one", len(in), n, planes.Size)
	}
	defer func() { // Gorgonia panics where shapes do not fit
		if p := recover(); p != nil {
			err = fmt.Errorf("onnxgo: %w: Gorgonia: %v", onnx.ErrUnsupported, p)
		}
		if err != nil {
			r.batch = 0 // the graph may be halfway
		}
	}()
	if r.batch != n {
		r.graph = gorgonnx.NewGraph()
		r.model = onnxgo.NewModel(r.graph)
		if err := r.model.UnmarshalBinary(r.file); err != nil {
			return fmt.Errorf("onnxgo: %w", err)
		}
		r.batch = n
	}
	data := tensor.New(tensor.WithShape(n, planes.Channels, 8, 8), tensor.WithBacking(slices.Clone(in)))
	if err := r.model.SetInput(0, data); err != nil {
		return fmt.Errorf("onnxgo: %w", err)
	}
	if err := r.graph.Run(); err != nil {
		return fmt.Errorf("onnxgo: %w", err)
	}
	return r.take(n, out)
}

// take copies the outputs of the graph.
func (r *runtime) take(n int, out *planes.Output) error {
	tensors, err := r.model.GetOutputTensors()
	if err != nil {
		return fmt.Errorf("onnxgo: %w", err)
	}
	fields := map[string]*[]float32{
		planes.ValueName: &out.Value, planes.PolicyName: &out.Policy,
		planes.WDLName: &out.WDL, planes.PliesLeftName: &out.PliesLeft,
	}
	for _, f := range fields {
		*f = (*f)[:0]
	}
	for i, name := range r.outputs {
		f, ok := fields[name]
		if !ok {
			continue
		}
		numbers, err := floats(tensors[i])
		if err != nil {
			return fmt.Errorf("onnxgo: output %q: %w", name, err)
		}
		if len(numbers) == 0 || len(numbers)%n != 0 {
			return fmt.Errorf("onnxgo: output %q: found %d numbers for %d positions", name, len(numbers), n)
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
