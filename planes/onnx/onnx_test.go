package onnx_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// sample is a model with one of everything.
func sample() *onnx.Model {
	return &onnx.Model{
		IRVersion:       7,
		Opsets:          []onnx.Opset{{Version: 13}, {Domain: "com.example", Version: 2}},
		Producer:        "test",
		ProducerVersion: "1",
		Metadata:        []onnx.Property{{Key: "variant", Value: "crazyhouse"}, {Key: "a", Value: ""}},
		Graph: onnx.Graph{
			Name: "g",
			Inputs: []onnx.Value{
				{Name: "x", Type: onnx.Float, Shape: []onnx.Dim{{Size: onnx.Any, Name: "batch"}, {Size: 2}, {Size: onnx.Any}}},
				{Name: "scalar", Type: onnx.Float, Shape: []onnx.Dim{}},
				{Name: "anything", Type: onnx.Float16},
			},
			Outputs: []onnx.Value{{Name: "y", Type: onnx.Float, Shape: []onnx.Dim{{Size: 2}}}},
			Nodes: []onnx.Node{
				{Op: "Constant", Outputs: []string{"two"}, Attributes: []onnx.Attribute{
					{Name: "value", Type: onnx.AttributeTensor, Tensor: &onnx.Tensor{Type: onnx.Int64, Dims: []int{}, Ints: []int64{2}}}}},
				{Op: "Identity", Inputs: []string{"two"}, Outputs: []string{"same"}},
				{Name: "n", Op: "Odd", Domain: "com.example", Inputs: []string{"x", "", "w"}, Outputs: []string{"", "y"}, Attributes: []onnx.Attribute{
					onnx.IntAttribute("i", -3), onnx.FloatAttribute("f", 0.5), onnx.IntsAttribute("is", 1, -1),
					{Name: "s", Type: onnx.AttributeString, Text: "NOT\xffSET"},
					{Name: "fs", Type: onnx.AttributeFloats, Floats: []float32{1, 2}},
					{Name: "ss", Type: onnx.AttributeStrings, Strings: []string{"", "a"}},
				}},
			},
			Initializers: []onnx.Tensor{
				{Name: "w", Type: onnx.Float, Dims: []int{2, 2}, Floats: []float32{1, -2, float32(math.Inf(1)), 1e-40}},
				{Name: "empty", Type: onnx.Float, Dims: []int{0, 3}},
				{Name: "half", Type: onnx.Float16, Dims: []int{3}, Floats: []float32{1, -0.5, 65504}},
				{Name: "brain", Type: onnx.BFloat16, Dims: []int{2}, Floats: []float32{1, -3}},
				{Name: "double", Type: onnx.Double, Dims: []int{1}, Floats: []float32{0.25}},
				{Name: "i8", Type: onnx.Int8, Dims: []int{2}, Ints: []int64{-128, 127}},
				{Name: "u8", Type: onnx.Uint8, Dims: []int{1}, Ints: []int64{255}},
				{Name: "i16", Type: onnx.Int16, Dims: []int{1}, Ints: []int64{-32768}},
				{Name: "u16", Type: onnx.Uint16, Dims: []int{1}, Ints: []int64{65535}},
				{Name: "i32", Type: onnx.Int32, Dims: []int{1}, Ints: []int64{math.MinInt32}},
				{Name: "u32", Type: onnx.Uint32, Dims: []int{1}, Ints: []int64{math.MaxUint32}},
				{Name: "i64", Type: onnx.Int64, Dims: []int{2}, Ints: []int64{math.MinInt64, math.MaxInt64}},
				{Name: "u64", Type: onnx.Uint64, Dims: []int{1}, Ints: []int64{math.MaxInt64}},
				{Name: "bool", Type: onnx.Bool, Dims: []int{2}, Ints: []int64{0, 1}},
			},
		},
	}
}

func encode(t testing.TB, m *onnx.Model) []byte {
	t.Helper()
	b, err := onnx.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	want := sample()
	b := encode(t, want)
	got, err := onnx.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	want.Graph.Initializers[1].Floats = []float32{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found\n%+v\nexpected\n%+v", got, want)
	}
	if !bytes.Equal(encode(t, got), b) {
		t.Error("encoding again gives other bytes")
	}
}

func TestTruncated(t *testing.T) {
	b := encode(t, sample())
	whole := 0
	for n := range b {
		m, err := onnx.Decode(b[:n])
		if err != nil && !errors.Is(err, onnx.ErrFormat) && !errors.Is(err, onnx.ErrUnsupported) {
			t.Errorf("%d of %d bytes: found error %v", n, len(b), err)
		}
		if err == nil {
			whole++ // cut between two entries of the metadata
			if len(m.Graph.Nodes) != 3 {
				t.Errorf("%d of %d bytes: found %d nodes", n, len(b), len(m.Graph.Nodes))
			}
		}
	}
	if whole > len(sample().Metadata) {
		t.Errorf("%d truncated files were accepted", whole)
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name   string
		change func(*onnx.Model)
		want   error
		text   string
	}{
		{"no version", func(m *onnx.Model) { m.IRVersion = 0 }, onnx.ErrFormat, "found version 0"},
		{"no operators", func(m *onnx.Model) { m.Opsets = m.Opsets[1:] }, onnx.ErrFormat, "no version of the operator set"},
		{"foreign domain", func(m *onnx.Model) { m.Opsets = m.Opsets[:1] }, onnx.ErrFormat, `node "n" (Odd): found operator set "com.example"`},
		{"metadata twice", func(m *onnx.Model) { m.Metadata[1].Key = "variant" }, onnx.ErrFormat, `"variant" twice`},
		{"unknown input", func(m *onnx.Model) { m.Graph.Nodes[2].Inputs[0] = "z" }, onnx.ErrFormat, `input "z", which nothing`},
		{"out of order", func(m *onnx.Model) { n := m.Graph.Nodes; n[0], n[1] = n[1], n[0] }, onnx.ErrFormat, `input "two"`},
		{"name twice", func(m *onnx.Model) { m.Graph.Nodes[1].Outputs[0] = "w" }, onnx.ErrFormat, `name "w"`},
		{"initializer twice", func(m *onnx.Model) { m.Graph.Initializers[1].Name = "w" }, onnx.ErrFormat, `name "w"`},
		{"no outputs", func(m *onnx.Model) { m.Graph.Outputs = nil }, onnx.ErrFormat, "no outputs"},
		{"unknown output", func(m *onnx.Model) { m.Graph.Outputs[0].Name = "z" }, onnx.ErrFormat, `output "z"`},
		{"operator", func(m *onnx.Model) { m.Graph.Nodes[2].Op = "" }, onnx.ErrFormat, "no operator"},
		{"attribute twice", func(m *onnx.Model) { m.Graph.Nodes[2].Attributes[0].Name = "f" }, onnx.ErrFormat, `attribute "f"`},
		{"control flow", func(m *onnx.Model) { m.Graph.Nodes[2].Attributes[0].Type = 5 }, onnx.ErrUnsupported, "type graph"},
		{"no tensor", func(m *onnx.Model) { m.Graph.Nodes[0].Attributes[0].Tensor = nil }, onnx.ErrFormat, "found no tensor"},
		{"elements", func(m *onnx.Model) { m.Graph.Initializers[0].Dims[0] = 3 }, onnx.ErrFormat, "found 4 elements of type float, expected 6"},
		{"dimensions", func(m *onnx.Model) { m.Graph.Initializers[0].Dims = []int{1 << 30, 1 << 30, 1 << 30} }, onnx.ErrFormat, "at most"},
		{"negative", func(m *onnx.Model) { m.Graph.Initializers[0].Dims[0] = -2 }, onnx.ErrFormat, "found dimension -2"},
		{"range", func(m *onnx.Model) { m.Graph.Initializers[5].Ints[0] = -129 }, onnx.ErrFormat, "found element -129, expected -128..127"},
		{"kind", func(m *onnx.Model) { m.Graph.Initializers[5].Type = onnx.Float }, onnx.ErrFormat, "found 0 elements of type float"},
		{"type", func(m *onnx.Model) { m.Graph.Initializers[0].Type = 14 }, onnx.ErrUnsupported, "complex64"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := sample()
			test.change(m)
			_, err := onnx.Encode(m)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("found %v, expected %v with %q", err, test.want, test.text)
			}
		})
	}
}

func TestAttributes(t *testing.T) {
	n := &sample().Graph.Nodes[2]
	if v, err := n.Int("i", 1); v != -3 || err != nil {
		t.Errorf("i: found %d, %v", v, err)
	}
	if v, err := n.Int("absent", 1); v != 1 || err != nil {
		t.Errorf("absent: found %d, %v", v, err)
	}
	if v, err := n.Ints("is"); !slices.Equal(v, []int64{1, -1}) || err != nil {
		t.Errorf("is: found %d, %v", v, err)
	}
	if v, err := n.Float("f", 1); v != 0.5 || err != nil {
		t.Errorf("f: found %v, %v", v, err)
	}
	if v, err := n.Text("s", ""); v != "NOT\xffSET" || err != nil {
		t.Errorf("s: found %q, %v", v, err)
	}
	if _, err := n.Ints("i"); !errors.Is(err, onnx.ErrFormat) {
		t.Errorf("an int as ints: found error %v", err)
	}
}

func TestConstants(t *testing.T) {
	m := sample()
	c := m.Graph.Constants()
	if got := c["same"]; got == nil || !slices.Equal(got.Ints, []int64{2}) {
		t.Errorf("same: found %+v", got)
	}
	if c["w"] == nil || c["x"] != nil || c["y"] != nil {
		t.Errorf("found %v", c)
	}
}

// Every number of 16 bits survives the way to float32 and back.
func TestHalfNumbers(t *testing.T) {
	for _, kind := range []onnx.DataType{onnx.Float16, onnx.BFloat16} {
		infinity := uint16(0x7C00)
		if kind == onnx.BFloat16 {
			infinity = 0x7F80
		}
		raw := make([]byte, 0, 2<<16)
		for bits := range 1 << 16 {
			if uint16(bits)&0x7FFF <= infinity { // not a number has many spellings
				raw = append(raw, byte(bits), byte(bits>>8))
			}
		}
		m := sample()
		m.Graph.Initializers = append(m.Graph.Initializers, onnx.Tensor{Name: "all", Type: kind, Dims: []int{len(raw) / 2}, Floats: make([]float32, len(raw)/2)})
		b := encode(t, m)
		at := bytes.Index(b, make([]byte, len(raw)))
		copy(b[at:], raw)
		got, err := onnx.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encode(t, got), b) {
			t.Errorf("%v: encoding again gives other bytes", kind)
		}
	}
}

func TestRounding(t *testing.T) {
	tests := []struct {
		kind     onnx.DataType
		in, want float32
	}{
		{onnx.Float16, 1 + 0x1p-11, 1},                         // tie to even
		{onnx.Float16, 1 + 3*0x1p-11, 1 + 2*0x1p-10},           // tie to even, up
		{onnx.Float16, 1 + 0x1.004p-11, 1 + 0x1p-10},           // above the tie
		{onnx.Float16, 65519, 65504},                           // largest
		{onnx.Float16, 65520, float32(math.Inf(1))},            // first beyond
		{onnx.Float16, -0x1p-24, -0x1p-24},                     // smallest
		{onnx.Float16, 0x1p-25, 0},                             // tie to even
		{onnx.Float16, 0x1.8p-25, 0x1p-24},                     //
		{onnx.Float16, 0x1.FFFp-15, 0x1p-14},                   // subnormal to normal
		{onnx.BFloat16, 1 + 0x1p-8, 1},                         // tie to even
		{onnx.BFloat16, 1 + 3*0x1p-8, 1 + 2*0x1p-7},            //
		{onnx.BFloat16, math.MaxFloat32, float32(math.Inf(1))}, //
		{onnx.Double, 0x1p-149, 0x1p-149},
	}
	for _, test := range tests {
		m := sample()
		m.Graph.Initializers = append(m.Graph.Initializers, onnx.Tensor{Name: "v", Type: test.kind, Dims: []int{}, Floats: []float32{test.in}})
		m, err := onnx.Decode(encode(t, m))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Graph.Constants()["v"].Floats[0]; got != test.want {
			t.Errorf("%v as %v: found %v, expected %v", test.in, test.kind, got, test.want)
		}
	}
}

// No bytes make Decode panic, and what it accepts it gives back.
func FuzzDecode(f *testing.F) {
	f.Add(encode(f, sample()))
	for _, b := range foreign(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := onnx.Decode(b)
		if err != nil {
			return
		}
		first := encode(t, m)
		again, err := onnx.Decode(first)
		if err != nil {
			t.Fatalf("what was encoded is refused: %v", err)
		}
		if !bytes.Equal(encode(t, again), first) {
			t.Error("encoding again gives other bytes")
		}
	})
}
