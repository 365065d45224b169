// Package planestest holds the tests that every [planes.Runtime] must pass. The
// truth is package onnxtest, which runs a net's graph plainly in float64.
package planestest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/onnx/onnxtest"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Net is a net to run.
type Net struct {
	Name  string // of the subtest
	Model []byte // ONNX file
}

// Open makes a runtime of an ONNX file.
type Open func(model []byte) (planes.Runtime, error)

// batches are the numbers of positions run at once, falling in between so that
// memory of larger ones is used again.
var batches = []int{1, 4, 3, 1}

// Test runs nets on encoded positions and compares each number of their outputs
// with what [Reference] computes; a number off by more than tolerance, relative if
// the number is above 1, is a failure. It checks further that equal inputs have
// equal outputs, that what is no batch or no net is refused, and that two runtimes
// work side by side.
func Test(t *testing.T, open Open, nets []Net, tolerance float64) {
	t.Helper()
	if len(nets) == 0 {
		t.Fatal("planestest: found no nets, expected one or more")
	}
	in := Inputs(slices.Max(batches), 1)
	for _, n := range nets {
		t.Run(n.Name, func(t *testing.T) {
			want, err := Reference(n.Model, in, len(in)/planes.Size)
			if err != nil {
				t.Fatal(err)
			}
			s := &suite{open: open, model: n.Model, tolerance: tolerance, in: in, want: want}
			t.Run("batches", s.batches)
			t.Run("refusals", s.refusals)
			t.Run("side by side", s.sideBySide)
			t.Run("cut files", s.cutFiles)
		})
	}
}

// suite is the tests of one net.
type suite struct {
	open      Open
	model     []byte
	tolerance float64
	in        []float32
	want      *planes.Output // of all positions
}

func (s *suite) runtime(t *testing.T) planes.Runtime {
	t.Helper()
	r, err := s.open(s.model)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return r
}

// batch is the planes of n positions from the first, and the expected outputs.
func (s *suite) batch(first, n int) (in []float32, want *planes.Output) {
	in = s.in[first*planes.Size:][:n*planes.Size]
	count := len(s.in) / planes.Size
	part := func(all []float32) []float32 {
		each := len(all) / count
		return all[first*each:][:n*each]
	}
	return in, &planes.Output{Value: part(s.want.Value), Policy: part(s.want.Policy), WDL: part(s.want.WDL), PliesLeft: part(s.want.PliesLeft)}
}

// batches runs every batch twice, with one Output for all that begins with the
// leftovers of another net.
func (s *suite) batches(t *testing.T) {
	r := s.runtime(t)
	out := leftovers()
	for _, n := range batches {
		in, want := s.batch(len(s.in)/planes.Size-n, n)
		given := slices.Clone(in)
		for round := range 2 {
			if err := r.Run(in, n, out); err != nil {
				t.Fatal(err)
			}
			if err := Compare(out, want, s.tolerance); err != nil {
				t.Errorf("batch of %d, round %d: %v", n, round+1, err)
			}
		}
		if !slices.Equal(in, given) {
			t.Errorf("batch of %d: Run changed its input", n)
		}
	}
}

// leftovers is an Output as it may come from a net with other heads.
func leftovers() *planes.Output {
	nan := slices.Repeat([]float32{float32(math.NaN())}, 7)
	return &planes.Output{Value: nan, Policy: slices.Clone(nan), WDL: slices.Clone(nan), PliesLeft: slices.Clone(nan)}
}

func (s *suite) refusals(t *testing.T) {
	r := s.runtime(t)
	for _, tc := range []struct{ numbers, n int }{
		{0, 0}, {planes.Size, 0}, {planes.Size, -1}, {0, 1}, {planes.Size - 1, 1}, {planes.Size + 1, 1}, {planes.Size, 2}, {2 * planes.Size, 1},
	} {
		if err := r.Run(s.in[:tc.numbers], tc.n, new(planes.Output)); err == nil {
			t.Errorf("%d numbers for %d positions: found no error", tc.numbers, tc.n)
		}
	}
	in, want := s.batch(0, 1)
	out := new(planes.Output)
	if err := r.Run(in, 1, out); err != nil {
		t.Fatalf("after refusals: %v", err)
	}
	if err := Compare(out, want, s.tolerance); err != nil {
		t.Errorf("after refusals: %v", err)
	}
}

// sideBySide runs two runtimes of the net at a time, on different positions.
func (s *suite) sideBySide(t *testing.T) {
	var wait sync.WaitGroup
	for first := range 2 {
		r := s.runtime(t)
		in, want := s.batch(first, 2)
		wait.Go(func() {
			out := new(planes.Output)
			for range 2 {
				if err := r.Run(in, 2, out); err != nil {
					t.Error(err)
					return
				}
				if err := Compare(out, want, s.tolerance); err != nil {
					t.Errorf("positions from %d: %v", first, err)
				}
			}
		})
	}
	wait.Wait()
}

// cutFiles opens what is left of the net when its end is missing.
func (s *suite) cutFiles(t *testing.T) {
	const cuts = 16
	for i := range cuts {
		n := len(s.model) * i / cuts
		r, err := s.open(s.model[:n:n])
		if err == nil {
			t.Errorf("first %d of %d bytes: found no error", n, len(s.model))
			r.Close()
		}
	}
}

// Compare reports the first number of an output that is off by more than tolerance
// times the wanted number, or than tolerance where that is below 1, or that slices
// have other lengths. NaN is off.
func Compare(got, want *planes.Output, tolerance float64) error {
	for _, s := range []struct {
		name      string
		got, want []float32
	}{
		{"value", got.Value, want.Value}, {"policy", got.Policy, want.Policy},
		{"WDL", got.WDL, want.WDL}, {"plies left", got.PliesLeft, want.PliesLeft},
	} {
		if len(s.got) != len(s.want) {
			return fmt.Errorf("%s: found %d numbers, expected %d", s.name, len(s.got), len(s.want))
		}
		for i, w := range s.want {
			off := math.Abs(float64(s.got[i]) - float64(w))
			if !(off <= tolerance*max(1, math.Abs(float64(w)))) {
				return fmt.Errorf("%s: number %d: found %v, expected %v", s.name, i, s.got[i], w)
			}
		}
	}
	return nil
}

// Reference runs a net on n positions, plainly and slowly.
func Reference(model []byte, in []float32, n int) (*planes.Output, error) {
	m, err := onnx.Decode(model)
	if err != nil {
		return nil, err
	}
	if len(m.Graph.Inputs) != 1 {
		return nil, fmt.Errorf("planestest: found %d inputs, expected one", len(m.Graph.Inputs))
	}
	data := onnxtest.FromFloat32(in, n, planes.Channels, 8, 8)
	tensors, err := onnxtest.Run(m, map[string]onnxtest.Tensor{m.Graph.Inputs[0].Name: data})
	if err != nil {
		return nil, err
	}
	numbers := func(name string) (list []float32) {
		for _, v := range tensors[name].Data {
			list = append(list, float32(v))
		}
		return list
	}
	return &planes.Output{
		Value: numbers(planes.ValueName), Policy: numbers(planes.PolicyName),
		WDL: numbers(planes.WDLName), PliesLeft: numbers(planes.PliesLeftName),
	}, nil
}

// Inputs returns the planes of n positions of random games of crazyhouse, in which
// every plane is in use sooner or later. The same seed gives the same positions.
func Inputs(n int, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 0))
	in := make([]float32, n*planes.Size)
	for i := range n {
		p := randomPosition(rng)
		planes.Encode(in[i*planes.Size:], &p, rng.IntN(3))
	}
	return in
}

// randomPosition plays up to 120 random moves.
func randomPosition(rng *rand.Rand) chess.Position {
	p := chess.Crazyhouse.Start()
	for range rng.IntN(120) {
		var moves chess.MoveList
		p.Legal(&moves)
		if moves.N == 0 {
			break
		}
		search.Advance(&p, moves.Moves[rng.IntN(moves.N)])
	}
	return p
}
