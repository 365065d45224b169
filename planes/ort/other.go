//go:build !ort || !cgo

package ort

import (
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// New returns ErrNotBuilt.
func New(*onnx.Model, Options) (planes.Runtime, error) { return nil, ErrNotBuilt }
