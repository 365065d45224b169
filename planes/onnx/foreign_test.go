package onnx_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// foreign reads the files of testdata, which ONNX's own Python package wrote
// with testdata/make.py, by name.
func foreign(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.onnx")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	all := make(map[string][]byte)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".onnx")] = b
	}
	return all
}

func TestForeignTypes(t *testing.T) {
	for _, name := range []string{"typed", "raw"} {
		m, err := onnx.Decode(foreign(t)[name])
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := m.Property("variant"); v != "crazyhouse" || m.Opset() != 13 || m.Producer != "make.py" {
			t.Errorf("%s: found variant %q, opset %d, producer %q", name, v, m.Opset(), m.Producer)
		}
		c := m.Graph.Constants()
		for tensor, want := range map[string][]float32{
			"float": {1.5, -2}, "double": {1.5, -2}, "float16": {1.5, -2}, "bfloat16": {1.5, -2},
		} {
			if got := c[tensor]; got == nil || !slices.Equal(got.Floats, want) || got.Type.String() != tensor {
				t.Errorf("%s: %s: found %+v, expected %v", name, tensor, got, want)
			}
		}
		for tensor, want := range map[string][]int64{
			"int8": {-7, 9}, "uint8": {7, 200}, "int16": {-7, 900}, "uint16": {7, 60000}, "int32": {-7, 1 << 30},
			"uint32": {7, 1 << 31}, "int64": {-7, 1 << 40}, "uint64": {7, 1 << 40}, "bool": {1, 0},
		} {
			if got := c[tensor]; got == nil || !slices.Equal(got.Ints, want) || got.Type.String() != tensor {
				t.Errorf("%s: %s: found %+v, expected %v", name, tensor, got, want)
			}
		}
	}
}

// Version 3 of the format lists initializers among the inputs.
func TestForeignInputs(t *testing.T) {
	m, err := onnx.Decode(foreign(t)["inputs"])
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Graph.Inputs) != 1 || m.Graph.Inputs[0].Name != "x" || len(m.Graph.Initializers) != 1 {
		t.Errorf("found inputs %+v", m.Graph.Inputs)
	}
}

// TestReadFile reads elements that lie beside the model, from none but such files.
func TestReadFile(t *testing.T) {
	model := foreign(t)["external"] // w, two floats in weights.bin
	dir := t.TempDir()
	path := filepath.Join(dir, "net.onnx")
	save := func(path string, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, special := range []string{dir, os.DevNull} {
		if _, err := onnx.ReadFile(special); !errors.Is(err, onnx.ErrFormat) || !strings.Contains(err.Error(), "expected a regular one") {
			t.Errorf("%s: found error %v", special, err)
		}
	}
	save(path, model)
	if _, err := onnx.ReadFile(path); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), `tensor "w"`) {
		t.Errorf("without the other file: found error %v", err)
	}
	weights := filepath.Join(dir, "weights.bin")
	save(weights, []byte{0, 0, 128, 63, 0, 0, 0})
	if _, err := onnx.ReadFile(path); !errors.Is(err, onnx.ErrFormat) {
		t.Errorf("a byte too few: found error %v", err)
	}
	save(weights, []byte{0, 0, 128, 63, 0, 0, 0, 192, 9})
	m, err := onnx.ReadFile(path)
	if err != nil || !slices.Equal(m.Graph.Initializers[0].Floats, []float32{1, -2}) {
		t.Errorf("found %+v, error %v", m, err)
	}
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o777); err != nil {
		t.Fatal(err)
	}
	save(filepath.Join(sub, "net.onnx"), bytes.Replace(model, []byte("weights.bin"), []byte("../weights!"), 1))
	save(filepath.Join(dir, "weights!"), []byte{0, 0, 128, 63, 0, 0, 0, 192})
	if _, err := onnx.ReadFile(filepath.Join(sub, "net.onnx")); err == nil {
		t.Error("a file outside the directory: found no error")
	}
}

func TestForeignRefused(t *testing.T) {
	files := foreign(t)
	for name, text := range map[string]string{
		"external": `tensor "w": its data are in another file`,
		"branch":   "attribute else_branch: ONNX model not supported: a value of type graph",
		"function": "functions",
		"sparse":   "sparse initializers",
		"strings":  "a tensor of strings",
		"sequence": `"x" is not a tensor`,
	} {
		if _, err := onnx.Decode(files[name]); !errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: found %v, expected %q", name, err, text)
		}
	}
}
