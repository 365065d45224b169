// Package archtest makes nets to test runtimes with: all of their parameters
// matter, as after training.
package archtest

import (
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// Net returns a net of an architecture, in the text form of arch.Parse, whose
// normalisations, biases and last layers are not as New leaves them: its outputs
// differ clearly between positions.
func Net(t testing.TB, architecture string, seed uint64) *onnx.Model {
	t.Helper()
	a, err := arch.Parse(architecture)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	p, err := a.New(rng)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p {
		for j := range p[i].Data {
			v := &p[i].Data[j]
			switch p[i].Role {
			case arch.Bias, arch.Mean:
				*v = float32(rng.NormFloat64()) * 0.2
			case arch.Scale:
				*v = 0.3 + 0.4*rng.Float32() // keeps deep nets from growing
			case arch.Variance:
				*v = 0.6 + rng.Float32()
			}
		}
	}
	for _, name := range []string{"policy.conv2.weight", "value.out.weight", "wdl.weight", "plies.weight"} {
		data := p.Data(name)
		for j := range data {
			data[j] *= 30
		}
	}
	m, err := a.Model(p, planes.NewMeta(chess.Crazyhouse))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
