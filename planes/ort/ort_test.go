//go:build ort && cgo

package ort_test

import (
	"errors"
	"flag"
	"strconv"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/ort"
	"github.com/crazyhouse-rl/selfplay/planes/planestest"
)

var library = flag.String("library", "", "path of ONNX Runtime's shared library")

func open(file []byte) (planes.Runtime, error) {
	m, err := onnx.Decode(file)
	if err != nil {
		return nil, err
	}
	return ort.New(m, ort.Options{Library: *library})
}

// TestMissing: where there is no library the error says why, and what to do. It comes first:
// a process that has loaded a library refuses another before it looks.
func TestMissing(t *testing.T) {
	_, err := ort.New(archtest.Net(t, "residual 1x8", 1), ort.Options{Library: "no-such-library.so"})
	if err == nil || !strings.Contains(strings.ToLower(err.Error()), "no such file") || !strings.Contains(err.Error(), "--library") {
		t.Errorf("found error %v, expected why and what to do", err)
	}
}

func TestConformance(t *testing.T) {
	if *library == "" {
		t.Fatal("found no library, expected -library PATH")
	}
	var nets []planestest.Net
	for i, text := range []string{
		"residual 1x16", "residual 2x24 policy=3 value=3/0 heads=value", "residual 2x16 gates=1/4",
		"mobile 2x16 gates=1/2", "mobile 1x20 expansion=12+0 heads=value,plies",
	} {
		b, err := onnx.Encode(archtest.Net(t, text, uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		nets = append(nets, planestest.Net{Name: text, Model: b})
	}
	planestest.Test(t, open, nets, 1e-4)
}

// TestForeign runs nets that PyTorch exported, one of them for single positions.
func TestForeign(t *testing.T) {
	for _, n := range planestest.Foreign(t) {
		r, err := ort.New(n.Model, ort.Options{Library: *library})
		if err != nil {
			t.Fatalf("%s: %v", n.Name, err)
		}
		n.Test(t, r, 1e-5)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRefused(t *testing.T) {
	m := archtest.Net(t, "residual 1x8", 1)
	if _, err := ort.New(m, ort.Options{Library: *library + ".other"}); err == nil {
		t.Error("a library that is not there: found no error")
	}
	m.Graph.Inputs[0].Type = onnx.Float16
	if _, err := ort.New(m, ort.Options{Library: *library}); !errors.Is(err, onnx.ErrUnsupported) {
		t.Errorf("another type of input: found error %v", err)
	}
}

func BenchmarkRun(b *testing.B) {
	r, err := ort.New(archtest.Net(b, "5x64", 1), ort.Options{Library: *library})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for _, n := range []int{1, 8, 64} {
		in, out := planestest.Inputs(n, 1), new(planes.Output)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				if err := r.Run(in, n, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "positions/s")
		})
	}
}
