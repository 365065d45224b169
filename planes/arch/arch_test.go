package arch_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/onnx/onnxtest"
)

func parse(t testing.TB, text string) arch.Architecture {
	t.Helper()
	a, err := arch.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Counted by hand from the layers; risev2's are those of CrazyAra's net.
func TestCost(t *testing.T) {
	for _, test := range []struct {
		text         string
		params, macs int
	}{
		{"4x64 value=8/32 heads=value", 342_033, 20_770_848},
		{"5x64", 605_393, 30_355_712},
		{"risev2", 4_820_113, 277_233_920},
	} {
		a := parse(t, test.text)
		if a.Count() != test.params || a.MACs() != test.macs {
			t.Errorf("%s: found %d parameters, %d MACs, expected %d, %d", test.text, a.Count(), a.MACs(), test.params, test.macs)
		}
	}
}

func TestText(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"4x48", "residual 4x48 policy=1 value=8/64 heads=wdl,plies"},
		{"5x64", "residual 5x64 policy=3 value=8/256 heads=value"},
		{"risev2", "mobile 13x256 expansion=128+64 gates=5/2 policy=3 value=8/256 heads=value"},
		{"4x48 gates=2/4 heads=value,plies policy=3 value=4/0", "residual 4x48 gates=2/4 policy=3 value=4/0 heads=value,plies"},
		{"residual 3x40", "residual 3x40 policy=1 value=8/64 heads=wdl,plies"},
		{"mobile 6x64", "mobile 6x64 expansion=128+0 policy=3 value=8/256 heads=value"},
		{"risev2 gates=0/0", "mobile 13x256 expansion=128+64 policy=3 value=8/256 heads=value"},
	} {
		a := parse(t, test.in)
		if a.String() != test.want {
			t.Errorf("%s: found %q, expected %q", test.in, a, test.want)
		}
		if again := parse(t, a.String()); again != a {
			t.Errorf("%s: read back as %+v", a, again)
		}
	}
	if arch.Names()[0] != arch.Default {
		t.Errorf("found first name %s, expected the default", arch.Names()[0])
	}
}

func TestTextRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "found nothing",
		"4x49":                        "nearest: 4x48",
		"residual":                    "BLOCKSxCHANNELS",
		"residual 0x8":                "blocks: found 0, expected 1..64",
		"residual 1x8x2":              "BLOCKSxCHANNELS",
		"4x48 policy=2":               "policy kernel: found 2",
		"4x48 policy=-1":              `found "-1"`,
		"4x48 gates=5/2":              "gates: found 5, expected 0..4",
		"4x48 gates=1/5":              "gate ratio: found 5",
		"4x48 gates=0/2":              "gate ratio: found 2",
		"4x48 expansion=8+0":          "expansion of the first block: found 8, expected 0..0",
		"mobile 2x8 expansion=0+8":    "expansion of the first block: found 0",
		"mobile 9x8 expansion=1+8000": "expansion of the last block",
		"4x48 heads=wdl,moves":        "heads=wdl,plies",
		"4x48 heads=":                 "heads=wdl,plies",
		"4x48 value=8":                "value=8/64",
		"4x48 depth=2":                "expected expansion=",
	} {
		if _, err := arch.Parse(text); !errors.Is(err, arch.ErrArchitecture) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: found %v, expected %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range arch.Names() {
		f.Add(name)
		f.Add(parse(f, name).String())
	}
	f.Add("4x48 gates=2/4 heads=value,plies policy=3 value=4/0")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := arch.Parse(text)
		if err != nil {
			return
		}
		if again := parse(t, a.String()); again != a {
			t.Errorf("%q is %q and read back %q", text, a, again)
		}
	})
}

func TestNew(t *testing.T) {
	a := parse(t, "4x64 heads=value,plies")
	first, err := a.New(rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	again, err := a.New(rand.New(rand.NewPCG(1, 2)))
	if err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("the same seed gives other parameters (%v)", err)
	}
	w := first.Data("block1.conv2.weight")
	sum, squares := 0.0, 0.0
	for _, v := range w {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	n := float64(len(w))
	if want := 2.0 / (64 * 9); math.Abs(squares/n-want) > want/20 || math.Abs(sum/n) > 0.001 {
		t.Errorf("found mean %v, variance %v, expected 0, %v", sum/n, squares/n, want)
	}
	for name, want := range map[string]float32{
		"stem.norm.scale": 1, "stem.norm.variance": 1, "stem.norm.mean": 0, "stem.norm.bias": 0, "value.hidden.bias": 0,
	} {
		if data := first.Data(name); len(data) == 0 || slices.Max(data) != want || slices.Min(data) != want {
			t.Errorf("%s: found %v, expected %v", name, data, want)
		}
	}
	if first.Data("nothing") != nil {
		t.Error("a tensor that is not there is found")
	}
}

var tested = []string{
	"residual 1x8 value=2/4",
	"residual 2x8 gates=1/2 policy=3 value=2/0 heads=value,plies",
	"mobile 2x8 expansion=8+4 gates=1/4 value=2/4",
	"residual 1x8 value=2/0 heads=wdl",
}

// A model survives its file, and its parameters are found again.
func TestRead(t *testing.T) {
	for _, text := range tested {
		a := parse(t, text)
		m := archtest.Net(t, text, 1)
		b, err := onnx.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = onnx.Decode(b); err != nil {
			t.Fatal(err)
		}
		got, p, meta, err := arch.Read(m)
		if err != nil || got != a || meta != planes.NewMeta(chess.Crazyhouse) {
			t.Errorf("%s: found %s, %+v, %v", text, got, meta, err)
		}
		again, err := a.Model(p, meta)
		if err != nil {
			t.Fatal(err)
		}
		if b2, err := onnx.Encode(again); err != nil || !slices.Equal(b, b2) {
			t.Errorf("%s: the model made of what was read differs (%v)", text, err)
		}
	}
}

func TestReadRefused(t *testing.T) {
	for want, change := range map[string]func(*onnx.Model){
		`found no metadata "selfplay.architecture"`: func(m *onnx.Model) { m.Metadata = nil },
		`"big"`: func(m *onnx.Model) { m.Metadata[len(m.Metadata)-1].Value = "big" },
		"stem.conv.weight: found none, expected a float tensor [8 34 3 3]": func(m *onnx.Model) { m.Graph.Initializers[0].Name = "w" },
		"found a float tensor [4 34 6 3]":                                  func(m *onnx.Model) { m.Graph.Initializers[0].Dims = []int{4, 34, 6, 3} },
	} {
		m := archtest.Net(t, tested[0], 1)
		change(m)
		if _, _, _, err := arch.Read(m); !errors.Is(err, arch.ErrModel) || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	a := parse(t, tested[0])
	other, err := parse(t, tested[1]).Zero()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Model(other, planes.NewMeta(chess.Crazyhouse)); !errors.Is(err, arch.ErrModel) {
		t.Errorf("parameters of another net: found error %v", err)
	}
}

// The graph of every kind computes outputs of the stated shapes and ranges, and
// each position apart from the others of its batch.
func TestOutputs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	in := onnxtest.New(2, planes.Channels, 8, 8)
	for i := range in.Data {
		in.Data[i] = rng.Float64()
	}
	for _, text := range tested {
		a, m := parse(t, text), archtest.Net(t, text, 2)
		out := run(t, m, in)
		want := map[string]int{planes.ValueName: 1, planes.PolicyName: planes.PolicySize}
		if a.WDL {
			want[planes.WDLName] = 3
		}
		if a.PliesLeft {
			want[planes.PliesLeftName] = 1
		}
		if len(out) != len(want) || m.Graph.Outputs[0].Name != planes.ValueName || m.Graph.Outputs[1].Name != planes.PolicyName {
			t.Errorf("%s: found outputs %v", text, m.Graph.Outputs)
		}
		one := run(t, m, onnxtest.Tensor{Dims: []int{1, planes.Channels, 8, 8}, Data: in.Data[planes.Size:]})
		for name, width := range want {
			if !slices.Equal(out[name].Dims, []int{2, width}) {
				t.Errorf("%s: %s: found dimensions %v", text, name, out[name].Dims)
			}
			if !slices.Equal(out[name].Data[width:], one[name].Data) {
				t.Errorf("%s: %s depends on the batch", text, name)
			}
			if slices.Equal(out[name].Data[width:], out[name].Data[:width]) {
				t.Errorf("%s: %s does not depend on the position", text, name)
			}
		}
		v := out[planes.ValueName].Data
		if wdl := out[planes.WDLName].Data; a.WDL && math.Abs(wdl[2]-wdl[0]-v[0]) > 1e-12 {
			t.Errorf("%s: found value %v of %v", text, v, wdl)
		}
	}
}

func run(t *testing.T, m *onnx.Model, in onnxtest.Tensor) map[string]onnxtest.Tensor {
	t.Helper()
	out, err := onnxtest.Run(m, map[string]onnxtest.Tensor{planes.InputName: in})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
