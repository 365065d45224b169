//go:build !onnxgo

package onnxgo

import (
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// New returns ErrNotBuilt.
func New(*onnx.Model) (planes.Runtime, error) { return nil, ErrNotBuilt }
