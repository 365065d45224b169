//go:build !onnxgo

package onnxgo_test

import (
	"errors"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/onnxgo"
)

func TestNotBuilt(t *testing.T) {
	if _, err := onnxgo.New(new(onnx.Model)); !errors.Is(err, onnxgo.ErrNotBuilt) {
		t.Errorf("found error %v, expected ErrNotBuilt", err)
	}
}
