package planestest

import (
	"embed"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// foreignFiles are nets as PyTorch exports them and what ONNX Runtime computes of
// them, made by scripts/export_onnx.py.
//
//go:embed testdata/foreign
var foreignFiles embed.FS

const foreignDir = "testdata/foreign/"

// ForeignNet is a net that another program made.
type ForeignNet struct {
	Name  string
	Model *onnx.Model // adopted
	Meta  planes.Meta
	want  []float32
}

// Foreign returns the nets of other programs, by name.
func Foreign(t testing.TB) []ForeignNet {
	t.Helper()
	entries, err := foreignFiles.ReadDir(foreignDir[:len(foreignDir)-1])
	if err != nil {
		t.Fatal(err)
	}
	var all []ForeignNet
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".onnx")
		if !ok {
			continue
		}
		file, err := foreignFiles.ReadFile(foreignDir + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(name, "-")
		n := ForeignNet{Name: name, want: foreignNumbers(t, kind)}
		if n.Model, err = onnx.Decode(file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n.Meta, err = planes.Adopt(n.Model); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, n)
	}
	return all
}

func foreignNumbers(t testing.TB, name string) []float32 {
	t.Helper()
	b, err := foreignFiles.ReadFile(foreignDir + name + ".bin")
	if err != nil {
		t.Fatal(err)
	}
	all := make([]float32, len(b)/4)
	for i := range all {
		all[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return all
}

// foreignEvery is how many numbers of a position's output stand for one that the
// files keep.
const foreignEvery = 9

// Test runs the net on two positions, and on the first one, with a runtime and
// compares with ONNX Runtime's results.
func (n *ForeignNet) Test(t *testing.T, r planes.Runtime, tolerance float64) {
	t.Helper()
	in := foreignNumbers(t, "inputs")
	both, one := new(planes.Output), new(planes.Output)
	if err := r.Run(in, 2, both); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(in[:planes.Size], 1, one); err != nil {
		t.Fatal(err)
	}
	var got []float32
	for _, o := range [][2][]float32{{both.Value, one.Value}, {both.Policy, one.Policy}, {both.WDL, one.WDL}, {both.PliesLeft, one.PliesLeft}} {
		for i, x := range o[0] {
			if i%(len(o[0])/2)%foreignEvery == 0 {
				got = append(got, x)
			}
		}
		if !slices.EqualFunc(o[1], o[0][:len(o[1])], func(a, b float32) bool { return math.Abs(float64(a-b)) <= tolerance }) || len(o[0]) != 2*len(o[1]) {
			t.Error("a position alone has other results than with another one")
		}
	}
	if err := Compare(&planes.Output{Policy: got}, &planes.Output{Policy: n.want}, tolerance); err != nil {
		t.Error(err)
	}
}
