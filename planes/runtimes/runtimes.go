// Package runtimes reads plane nets from files and opens them with the runtime of a
// given name: what users choose from, whatever the program was built with.
//
// [Read] gives a [File], and [File.Open] a net that evaluates positions.
package runtimes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/native"
	"github.com/crazyhouse-rl/selfplay/planes/onnxgo"
	"github.com/crazyhouse-rl/selfplay/planes/ort"
)

// Names of runtimes.
const (
	Native = "native" // package native in float32, the default
	Int8   = "int8"   // package native with convolutions of bytes
	OnnxGo = "onnxgo" // package onnxgo, onnx-go on Gorgonia
	ORT    = "ort"    // package ort, of programs built with -tags ort
)

// ErrUnknown reports that there is no runtime of that name.
var ErrUnknown = errors.New("unknown runtime")

// runtime is one to choose.
type runtime struct {
	name  string
	built bool
	open  func(*File, Options) (planes.Runtime, error)
}

var all = []runtime{
	{Native, true, openNative},
	{Int8, true, openInt8},
	{OnnxGo, true, func(f *File, _ Options) (planes.Runtime, error) { return onnxgo.New(f.Model) }},
	{ORT, ort.Built, func(f *File, o Options) (planes.Runtime, error) {
		return ort.New(f.Model, ort.Options{Library: o.Library, Threads: o.Threads})
	}},
}

// Options are how a net is run. With the zero value Native runs it on one thread.
type Options struct {
	Name    string // of the runtime; "" counts as Native
	Threads int    // that share the work of a batch, 0 counts as 1; OnnxGo has one
	// Calibration returns the planes of positions of a variant that Int8 is
	// calibrated on, as native.Options has them. Other runtimes do not call it.
	Calibration func(*chess.Variant) ([]float32, error)
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
// ErrUnknown, or is ort.ErrNotBuilt, which says how to build a program that can.
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
	}
	return nil, ort.ErrNotBuilt
}

func openNative(f *File, o Options) (planes.Runtime, error) {
	return native.New(f.Model, native.Options{Threads: o.Threads})
}

func openInt8(f *File, o Options) (planes.Runtime, error) {
	if o.Calibration == nil {
		return nil, errors.New("found no positions to calibrate int8 on")
	}
	positions, err := o.Calibration(f.Variant)
	if err != nil {
		return nil, fmt.Errorf("positions to calibrate int8 on: %w", err)
	}
	return native.New(f.Model, native.Options{Threads: o.Threads, Calibration: positions})
}
