// Package native runs nets on the processor with the kernels of package kernel:
// no library to install, and nothing to wait for when a net is loaded.
//
// [New] compiles the graph of an ONNX model. Convolutions take with them the batch
// normalisation, the addition and the activation that follow, and compute in the
// kernels' own layout, channels innermost with a border of zeros. Operators that
// this package does not know are refused by name.
//
// A position's results do not depend on the batch it is in nor on the number of
// threads, to the bit.
package native

import (
	"fmt"
	"slices"
	"sync"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// Options say how a net is run.
type Options struct {
	// Threads is how many goroutines share the positions of a batch; 0 counts
	// as 1.
	Threads int
	// Calibration, if not empty, has convolutions computed with bytes: it
	// holds the planes of positions such as the net will see, from which the
	// ranges of intermediate results are taken; a few hundred are enough. How
	// far off results then are is better measured for a net at hand, as
	// selfplay net quantcheck does. Of trained nets of 2x32 on 50,000
	// positions the policy's divergence was 0.0006 to 0.0008 nats, the best
	// move the same in 98%, and values 0.008 off in the mean, 0.11 in one of a
	// thousand, 0.17 at most; of untrained ones
	// the logits' error is up to 3% of their deviation. What adds up along the
	// blocks stays in float32, as do the net's input, convolutions of up to 16
	// outputs, those of single squares in the policy's head, which cost little
	// and would make half of its error, and what is no convolution of all
	// channels.
	Calibration []float32
}

// Runtime is a compiled net. It is for one goroutine at a time, which it keeps
// waiting while Threads others compute.
type Runtime struct {
	program *program
	workers []*worker
	jobs    chan job
	done    sync.WaitGroup
}

var _ planes.Runtime = (*Runtime)(nil)

// New compiles a model. Its graph has one input of planes.Channels planes and at
// least the outputs planes.ValueName and planes.PolicyName; planes.WDLName and
// planes.PliesLeftName may come with them, and further ones are not computed. The error wraps
// onnx.ErrUnsupported for a graph that cannot be compiled.
func New(model *onnx.Model, o Options) (*Runtime, error) {
	if o.Threads < 0 || o.Threads > maxThreads {
		return nil, fmt.Errorf("native: found %d threads, expected 1 to %d", o.Threads, maxThreads)
	}
	if len(o.Calibration)%planes.Size != 0 {
		return nil, fmt.Errorf("native: found %d numbers of positions for calibration, expected a multiple of %d", len(o.Calibration), planes.Size)
	}
	p, err := compile(model, o.Calibration)
	if err != nil {
		return nil, err
	}
	r := &Runtime{program: p, workers: make([]*worker, max(o.Threads, 1))}
	for i := range r.workers {
		r.workers[i] = newWorker(p)
	}
	if len(r.workers) > 1 {
		r.jobs = make(chan job, len(r.workers))
		for _, w := range r.workers {
			go r.serve(w, r.jobs)
		}
	}
	return r, nil
}

const maxThreads = 1024

// job is a part of a batch: n positions from the first.
type job struct {
	in       []float32
	first, n int
	out      *planes.Output
}

// serve takes the channel as it was made: Close may come before the goroutine
// begins.
func (r *Runtime) serve(w *worker, jobs <-chan job) {
	for j := range jobs {
		w.run(j)
		r.done.Done()
	}
}

// Run runs the net on n positions. After its largest batch it allocates nothing.
func (r *Runtime) Run(in []float32, n int, out *planes.Output) error {
	if n < 1 || len(in) != n*planes.Size {
		return fmt.Errorf("native: found %d numbers for %d positions, expected %d for each of at least one", len(in), n, planes.Size)
	}
	for i, slice := range outputs(out) {
		size := n * r.program.outputs[i].size
		*slice = slices.Grow((*slice)[:0], size)[:size]
	}
	if len(r.workers) == 1 || n == 1 {
		r.workers[0].run(job{in, 0, n, out})
		return nil
	}
	parts := min(n, len(r.workers))
	r.done.Add(parts)
	for i := range parts {
		first, end := n*i/parts, n*(i+1)/parts
		r.jobs <- job{in, first, end - first, out}
	}
	r.done.Wait()
	return nil
}

// Close ends the runtime's goroutines. It never fails.
func (r *Runtime) Close() error {
	if r.jobs != nil {
		close(r.jobs)
		r.jobs = nil
	}
	return nil
}

// outputNames are the names of a graph's outputs in the order of outputs.
var outputNames = [...]string{planes.ValueName, planes.PolicyName, planes.WDLName, planes.PliesLeftName}

// outputs returns the slices of an output.
func outputs(o *planes.Output) [len(outputNames)]*[]float32 {
	return [...]*[]float32{&o.Value, &o.Policy, &o.WDL, &o.PliesLeft}
}
