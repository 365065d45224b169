// Package runtimes opens nets with the runtime of a given name: what users choose
// from, whatever the program was built with.
package runtimes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/native"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/onnxgo"
	"github.com/crazyhouse-rl/selfplay/planes/ort"
)

// Names of runtimes.
const (
	Native = "native" // package native in float32, the default
	Int8   = "int8"   // package native with convolutions of bytes
	OnnxGo = "onnxgo" // package onnxgo, of programs built with -tags onnxgo
	ORT    = "ort"    // package ort, of programs built with -tags ort
)

// ErrUnknown says that there is no runtime of that name.
var ErrUnknown = errors.New("unknown runtime")

// runtime is one to choose.
type runtime struct {
	name  string
	built bool
	open  func(*onnx.Model, Options) (planes.Runtime, error)
}

var all = []runtime{
	{Native, true, openNative},
	{Int8, true, openInt8},
	{OnnxGo, onnxgo.Built, func(m *onnx.Model, _ Options) (planes.Runtime, error) { return onnxgo.New(m) }},
	{ORT, ort.Built, func(m *onnx.Model, o Options) (planes.Runtime, error) {
		return ort.New(m, ort.Options{Library: o.Library, Threads: o.Threads})
	}},
}

// Options say how a net is opened. The zero value is that of Native.
type Options struct {
	Name    string // of the runtime; "" counts as Native
	Threads int    // that share the work of a batch, 0 counts as 1; OnnxGo has one
	// Calibration returns the planes that Int8 is calibrated on, as
	// native.Options has them. Others do not call it.
	Calibration func() ([]float32, error)
	// Library is the path of ONNX Runtime's library for ORT; "" leaves it to the
	// system to find.
	Library string
}

// Names returns the runtimes that this program was built with, the default first.
func Names() []string {
	var names []string
	for _, r := range all {
		if r.built {
			names = append(names, r.name)
		}
	}
	return names
}

// Check reports why nets cannot be opened with the runtime of a name: it wraps
// ErrUnknown, or onnxgo.ErrNotBuilt or ort.ErrNotBuilt, which say how to build
// a program that can.
func Check(name string) error {
	_, err := find(name)
	return err
}

func find(name string) (*runtime, error) {
	if name == "" {
		name = Native
	}
	i := slices.IndexFunc(all, func(r runtime) bool { return r.name == name })
	switch {
	case i < 0:
		return nil, fmt.Errorf("%w: found %q, expected one of %s", ErrUnknown, name, strings.Join(Names(), ", "))
	case all[i].built:
		return &all[i], nil
	case name == OnnxGo:
		return nil, onnxgo.ErrNotBuilt
	}
	return nil, ort.ErrNotBuilt
}

// Open makes a runtime for a net. The error is that of Check or of the package
// that would compute the net.
func Open(m *onnx.Model, o Options) (planes.Runtime, error) {
	r, err := find(o.Name)
	if err != nil {
		return nil, err
	}
	return r.open(m, o)
}

func openNative(m *onnx.Model, o Options) (planes.Runtime, error) {
	return native.New(m, native.Options{Threads: o.Threads})
}

func openInt8(m *onnx.Model, o Options) (planes.Runtime, error) {
	if o.Calibration == nil {
		return nil, errors.New("runtimes: found no positions to calibrate int8 on")
	}
	positions, err := o.Calibration()
	if err != nil {
		return nil, fmt.Errorf("runtimes: positions to calibrate int8 on: %w", err)
	}
	return native.New(m, native.Options{Threads: o.Threads, Calibration: positions})
}
