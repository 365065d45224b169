package native_test

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/native"
	"github.com/crazyhouse-rl/selfplay/planes/planestest"
)

// TestForeign runs nets that PyTorch exported, in many ways.
func TestForeign(t *testing.T) {
	for _, n := range planestest.Foreign(t) {
		t.Run(n.Name, func(t *testing.T) {
			r, err := native.New(n.Model, native.Options{})
			if err != nil {
				t.Fatal(err)
			}
			n.Test(t, r, tolerance)
			if _, err := planes.NewNet(r, n.Meta); err != nil {
				t.Error(err)
			}
		})
	}
}
