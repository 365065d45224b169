//go:build !ort || !cgo

package ort_test

import (
	"errors"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/ort"
)

func TestNotBuilt(t *testing.T) {
	if _, err := ort.New(new(onnx.Model), ort.Options{}); !errors.Is(err, ort.ErrNotBuilt) {
		t.Errorf("found error %v, expected ErrNotBuilt", err)
	}
}
