//go:build !ort || !cgo

package ort

import (
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// Built reports whether the program was built with this package.
const Built = false

// New returns ErrNotBuilt.
func New(*onnx.Model, Options) (planes.Runtime, error) { return nil, ErrNotBuilt }
