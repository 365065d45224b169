// Package ort runs nets with ONNX Runtime, through its C library, on the
// processor or a GPU: the reference for other runtimes' speed, and the way to use a
// GPU.
//
// It needs cgo and is built with the tag ort alone; otherwise New returns
// ErrNotBuilt. The library is loaded when the first net is opened and comes from
// elsewhere: it is part of the Python package onnxruntime and in the npm package
// onnxruntime-node, and must be version 1.24 or newer.
//
//	go build -tags ort ./cmd/selfplay
package ort

import "errors"

// ErrNotBuilt reports that the program was built without this package.
var ErrNotBuilt = errors.New("ort: built without ONNX Runtime, which needs cgo and -tags ort")

// Options are the settings of a runtime.
type Options struct {
	// Library is the path of ONNX Runtime's shared library; "" is the name that
	// it has where the system looks for libraries, as libonnxruntime.so. A
	// process loads one: another path later is an error.
	Library string
	// Threads share the work of a batch; 0 counts as 1.
	Threads int
	// CUDA runs the net on the first GPU. The library must be one with CUDA.
	CUDA bool
}
