package runtimes_test

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/ort"
	"github.com/crazyhouse-rl/selfplay/planes/planestest"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/search"
)

var library = flag.String("library", "", "path of ONNX Runtime's shared library, for programs built with -tags ort")

// tolerances are what the runtimes may be off from one another.
var tolerances = map[string]float64{runtimes.Native: 0, runtimes.Int8: 0.1, runtimes.OnnxGo: 1e-4, runtimes.ORT: 1e-4}

// TestRuntimes runs a net with every runtime that this program has: all agree.
func TestRuntimes(t *testing.T) {
	f, err := runtimes.FromModel(archtest.Net(t, "residual 2x24 policy=3", 1))
	if err != nil {
		t.Fatal(err)
	}
	const n = 3
	in := planestest.Inputs(n, 1)
	want := new(planes.Output)
	for _, name := range append([]string{""}, runtimes.Names()...) {
		r, err := f.Runtime(runtimes.Options{
			Name: name, Threads: 2, Library: *library,
			Calibration: func(*chess.Variant) ([]float32, error) { return planestest.Inputs(16, 2), nil },
		})
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		out := new(planes.Output)
		if err := r.Run(in, n, out); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if name == "" {
			want = out
		} else if err := planestest.Compare(out, want, tolerances[name]); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if exact := planestest.Compare(out, want, 1e-7) == nil; name == runtimes.Int8 && exact {
			t.Error("int8 is as exact as float32")
		}
		if err := r.Close(); err != nil {
			t.Errorf("%q: Close: %v", name, err)
		}
	}
}

func TestNames(t *testing.T) {
	want := []string{"native", "int8", "onnxgo"}
	if ort.Built {
		want = append(want, "ort")
	} else if err := runtimes.Check(runtimes.ORT); !errors.Is(err, ort.ErrNotBuilt) || !strings.Contains(err.Error(), "-tags ort") {
		t.Errorf("ort: found error %v, expected one that names the tag", err)
	}
	if names := runtimes.Names(); !slices.Equal(names, want) {
		t.Errorf("found %q, expected %q", names, want)
	}
	for _, name := range append(want, "") {
		if err := runtimes.Check(name); err != nil {
			t.Errorf("%q: found error %v", name, err)
		}
	}
}

func TestRefused(t *testing.T) {
	f, err := runtimes.FromModel(archtest.Net(t, "residual 1x8", 1))
	if err != nil {
		t.Fatal(err)
	}
	errNone := errors.New("none")
	none := func(*chess.Variant) ([]float32, error) { return nil, errNone }
	if _, err := f.Open(runtimes.Options{Name: "tpu"}); !errors.Is(err, runtimes.ErrUnknown) || !strings.Contains(err.Error(), `found "tpu", expected one of native, int8`) {
		t.Errorf("unknown: found error %v", err)
	}
	if _, err := f.Open(runtimes.Options{Name: runtimes.Int8}); err == nil {
		t.Error("int8 without positions: no error")
	}
	if _, err := f.Open(runtimes.Options{Name: runtimes.Int8, Calibration: none}); !errors.Is(err, errNone) {
		t.Errorf("int8 without positions: found error %v", err)
	}
	if _, err := f.Open(runtimes.Options{Name: runtimes.Native, Calibration: none}); err != nil {
		t.Errorf("native asked for positions: %v", err)
	}
}

// TestRead reads files of other programs, whose inputs and outputs have other names
// and which have no metadata, and what is no net.
func TestRead(t *testing.T) {
	const dir = "../planestest/testdata/foreign/"
	f, err := runtimes.Read(dir + "risev1-dynamo-18-unnamed.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CheckVariant(chess.Crazyhouse); err != nil {
		t.Error(err)
	}
	if err := f.CheckVariant(chess.Chess); !errors.Is(err, runtimes.ErrVariant) || !strings.Contains(err.Error(), "unnamed.onnx: ") {
		t.Errorf("another variant: found error %v", err)
	}
	n, err := f.Open(runtimes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if n.Meta() != f.Meta {
		t.Errorf("found %+v, expected %+v", n.Meta(), f.Meta)
	}
	p := chess.Crazyhouse.Start()
	var moves chess.MoveList
	p.Legal(&moves)
	leaves := []search.Leaf{{Pos: &p, Moves: moves.Slice()}}
	if err := n.Evaluate(t.Context(), leaves); err != nil || len(leaves[0].Priors) != 20 {
		t.Errorf("found %d priors, error %v", len(leaves[0].Priors), err)
	}

	if _, err := runtimes.Read("none.onnx"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: found error %v", err)
	}
	if _, err := runtimes.Read("runtimes_test.go"); !errors.Is(err, onnx.ErrFormat) || !strings.HasPrefix(err.Error(), "runtimes_test.go: ") {
		t.Errorf("no net: found error %v", err)
	}
	if _, err := runtimes.FromModel(&onnx.Model{Metadata: []onnx.Property{{Key: "selfplay.variant", Value: "go"}}}); !errors.Is(err, planes.ErrMeta) {
		t.Errorf("unknown variant: found error %v", err)
	}
}
