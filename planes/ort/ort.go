//go:build ort && cgo

package ort

import (
	"cmp"
	"fmt"
	system "runtime"
	"slices"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// Built reports whether the program was built with this package.
const Built = true

// library is the one that the process has loaded, "" before.
var library struct {
	sync.Mutex
	path string
}

// names are what the library is called on systems where it is not
// libonnxruntime.so.
var names = map[string]string{"darwin": "libonnxruntime.dylib", "windows": "onnxruntime.dll"}

// load loads the library unless it is loaded.
func load(path string) error {
	path = cmp.Or(path, names[system.GOOS], "libonnxruntime.so")
	library.Lock()
	defer library.Unlock()
	if library.path != "" {
		if path != library.path {
			return fmt.Errorf("ort: found library %s, expected %s, which is loaded", path, library.path)
		}
		return nil
	}
	system.LockOSThread() // why a library is not loaded is known to the thread that tried
	defer system.UnlockOSThread()
	ort.SetSharedLibraryPath(path)
	if err := ort.InitializeEnvironment(); err != nil {
		return fmt.Errorf("ort: found no ONNX Runtime of version 1.24 or newer in %s (%w), expected its library: give its path with --library, or library= of a player", path, err)
	}
	library.path = path
	return nil
}

// runtime is a session. It is for one goroutine at a time.
type runtime struct {
	session *ort.DynamicAdvancedSession
	outputs []string
	batch   int       // that the model was exported for, 0 for any
	padded  []float32 // input of so many positions
}

// New opens a net whose input and outputs have the names of package planes; other
// outputs are not computed. The error wraps onnx.ErrUnsupported if the net has none
// of these names.
func New(m *onnx.Model, o Options) (planes.Runtime, error) {
	outputs, err := wanted(m)
	if err != nil {
		return nil, err
	}
	file, err := onnx.Encode(m)
	if err != nil {
		return nil, fmt.Errorf("ort: %w", err)
	}
	if err := load(o.Library); err != nil {
		return nil, err
	}
	options, err := o.session()
	if err != nil {
		return nil, fmt.Errorf("ort: %w", err)
	}
	defer options.Destroy()
	session, err := ort.NewDynamicAdvancedSessionWithONNXData(file, []string{planes.InputName}, outputs, options)
	if err != nil {
		return nil, fmt.Errorf("ort: %w", err)
	}
	r := &runtime{session: session, outputs: outputs}
	if dims := m.Graph.Inputs[0].Shape; len(dims) > 0 && dims[0].Size > 0 {
		if r.batch = dims[0].Size; r.batch > maxBatch {
			session.Destroy()
			return nil, fmt.Errorf("ort: %w: found a model for %d positions at once, expected at most %d", onnx.ErrUnsupported, r.batch, maxBatch)
		}
		r.padded = make([]float32, r.batch*planes.Size)
	}
	return r, nil
}

// wanted returns the names of the outputs to compute.
func wanted(m *onnx.Model) ([]string, error) {
	inputs := m.Graph.Inputs
	if len(inputs) != 1 || inputs[0].Name != planes.InputName || inputs[0].Type != onnx.Float {
		return nil, fmt.Errorf("ort: %w: expected one input %q of type float", onnx.ErrUnsupported, planes.InputName)
	}
	var outputs []string
	for _, v := range m.Graph.Outputs {
		if v.Type == onnx.Float && slices.Contains([]string{planes.ValueName, planes.PolicyName, planes.WDLName, planes.PliesLeftName}, v.Name) {
			outputs = append(outputs, v.Name)
		}
	}
	if !slices.Contains(outputs, planes.ValueName) || !slices.Contains(outputs, planes.PolicyName) {
		return nil, fmt.Errorf("ort: %w: expected outputs %q and %q of type float", onnx.ErrUnsupported, planes.ValueName, planes.PolicyName)
	}
	return outputs, nil
}

// session makes the library's options, which the caller must destroy.
func (o Options) session() (*ort.SessionOptions, error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	err = options.SetIntraOpNumThreads(max(o.Threads, 1))
	if err == nil {
		err = options.SetInterOpNumThreads(1)
	}
	if err == nil && o.CUDA {
		err = addCUDA(options)
	}
	if err != nil {
		options.Destroy()
		return nil, err
	}
	return options, nil
}

func addCUDA(options *ort.SessionOptions) error {
	cuda, err := ort.NewCUDAProviderOptions()
	if err != nil {
		return err
	}
	defer cuda.Destroy()
	return options.AppendExecutionProviderCUDA(cuda)
}

// maxBatch is how many positions a model may be exported for.
const maxBatch = 1 << 12

// Run runs the net on n positions, in parts if the model was exported for another number.
func (r *runtime) Run(in []float32, n int, out *planes.Output) error {
	if n < 1 || len(in) != n*planes.Size {
		return fmt.Errorf("ort: found %d numbers for %d positions, expected %d for each of at least one", len(in), n, planes.Size)
	}
	for _, f := range []*[]float32{&out.Value, &out.Policy, &out.WDL, &out.PliesLeft} {
		*f = (*f)[:0]
	}
	if r.batch == 0 {
		return r.run(in, n, n, out)
	}
	for ; n > 0; n -= r.batch {
		real := min(n, r.batch)
		clear(r.padded[copy(r.padded, in[:real*planes.Size]):])
		if err := r.run(r.padded, r.batch, real, out); err != nil {
			return err
		}
		in = in[real*planes.Size:]
	}
	return nil
}

// run runs the net on n positions and appends the results of the first real ones.
func (r *runtime) run(in []float32, n, real int, out *planes.Output) error {
	data, err := ort.NewTensor(ort.NewShape(int64(n), planes.Channels, 8, 8), in)
	if err != nil {
		return fmt.Errorf("ort: %w", err)
	}
	defer data.Destroy()
	results := make([]ort.Value, len(r.outputs)) // which the library makes
	if err := r.session.Run([]ort.Value{data}, results); err != nil {
		return fmt.Errorf("ort: %w", err)
	}
	defer func() {
		for _, v := range results {
			v.Destroy()
		}
	}()
	return r.take(results, n, real, out)
}

// take copies the outputs for the first real of n positions.
func (r *runtime) take(results []ort.Value, n, real int, out *planes.Output) error {
	fields := map[string]*[]float32{
		planes.ValueName: &out.Value, planes.PolicyName: &out.Policy,
		planes.WDLName: &out.WDL, planes.PliesLeftName: &out.PliesLeft,
	}
	for i, name := range r.outputs {
		t, ok := results[i].(*ort.Tensor[float32])
		if !ok || len(t.GetData()) == 0 || len(t.GetData())%n != 0 {
			return fmt.Errorf("ort: output %q: found %v, expected float32 for %d positions", name, results[i].GetShape(), n)
		}
		f := fields[name]
		*f = append(*f, t.GetData()[:len(t.GetData())/n*real]...)
	}
	return nil
}

// Close frees the session. The library stays loaded.
func (r *runtime) Close() error {
	if err := r.session.Destroy(); err != nil {
		return fmt.Errorf("ort: %w", err)
	}
	return nil
}
