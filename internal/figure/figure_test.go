package figure

import (
	"errors"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample is a figure with every kind of panel and every kind of cell.
func sample() *Figure {
	var board [64]float64
	board[0], board[27], board[63] = -0.5, 2, math.NaN()
	return &Figure{
		Title: "neuron 17", Unit: "weight",
		Rows: [][]Panel{
			{Board("own pawn", &board), &Heat{Title: "own hand", Columns: 3, Values: make([]float64, 6), YLabels: []string{"P", "N"}}},
			{&Histogram{Title: "difference", XLabel: "units", YLabel: "share", Low: -1, Width: 0.5, Heights: []float64{0, 0.7, 0.3}, Marks: []float64{-0.25}}},
		},
	}
}

func save(t *testing.T, f *Figure, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPNG(t *testing.T) {
	file, err := os.Open(save(t, sample(), "a.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	img, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	count := map[color.RGBA]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			count[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
		}
	}
	// A cell is 26 pixels wide; its edges are blended with their neighbours.
	const least = 20 * 20
	for name, c := range map[string]color.Color{
		"the largest value": red,
		"half the legend":   scaleColours[0],
		"a quarter below":   scaleColours[96],
		"zero":              color.White,
		"no value":          noValue,
		"a bar":             curveColours[0],
	} {
		if n := count[color.RGBAModel.Convert(c).(color.RGBA)]; n < least && name != "half the legend" || n == 0 {
			t.Errorf("%s: found %d pixels of colour %v, expected %d or more", name, n, c, least)
		}
	}
}

func TestSVG(t *testing.T) {
	text, err := os.ReadFile(save(t, sample(), "a.SVG"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "neuron 17", "own pawn", "own hand", "difference", "units", "weight", ">-2<", ">2<", "#B41A28", "</svg>"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the file lacks %q", want)
		}
	}
	again, err := os.ReadFile(save(t, sample(), "b.svg"))
	if err != nil || string(again) != string(text) {
		t.Errorf("the same figure gives another file, error %v", err)
	}
}

func TestAllZeroIsDrawn(t *testing.T) {
	text, err := os.ReadFile(save(t, &Figure{Rows: [][]Panel{{Board("empty", new([64]float64))}}}, "a.svg"))
	if err != nil || !strings.Contains(string(text), ">-1<") {
		t.Errorf("error %v; expected a scale from -1 to 1", err)
	}
}

func TestWholeNumbers(t *testing.T) {
	for bars, want := range map[int]string{1: ">1<", 3: ">1< >2< >3<", 20: ">2< >4< >20<", 28: ">5< >25<", 200: ">20< >200<"} {
		h := &Histogram{Low: 0.5, Width: 1, Heights: make([]float64, bars)}
		text, err := os.ReadFile(save(t, &Figure{Rows: [][]Panel{{h}}}, "a.svg"))
		if err != nil {
			t.Fatal(err)
		}
		for _, label := range strings.Fields(want) {
			if !strings.Contains(string(text), label) {
				t.Errorf("%d bars: the axis lacks %s", bars, label)
			}
		}
		if strings.Contains(string(text), ".5<") {
			t.Errorf("%d bars: the axis has fractions", bars)
		}
	}
}

func TestIntervals(t *testing.T) {
	long := strings.Repeat("ä", 100)
	v := &Intervals{Title: "ratings", XLabel: "Elo", Names: []string{"first", long, "last"},
		Values: []float64{120, 0, -500}, Low: []float64{100, 0, -700}, High: []float64{140, 0, -450}}
	text, err := os.ReadFile(save(t, &Figure{Rows: [][]Panel{{v}}}, "a.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">first<", ">" + long[:2*longestName] + "<", ">last<", ">ratings<", ">Elo<", ">-600<", ">0<", ">+120 ± 20<", ">0 ± 0<", ">-500 ± 125<"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the file lacks %q", want)
		}
	}
	if first, last := strings.Index(string(text), ">first<"), strings.Index(string(text), ">last<"); first < last {
		t.Error("names are written from the bottom up, so the first comes last in the file")
	}
	save(t, &Figure{Rows: [][]Panel{{&Intervals{Names: []string{"one"}, Values: []float64{3}, Low: []float64{3}, High: []float64{3}}}}}, "a.png")
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	one := func(p Panel) *Figure { return &Figure{Rows: [][]Panel{{p}}} }
	for name, tc := range map[string]struct {
		figure *Figure
		path   string
		want   error
	}{
		"format":       {sample(), "a.jpg", ErrFormat},
		"no panels":    {&Figure{Title: "a"}, "a.png", ErrShape},
		"half a row":   {one(&Heat{Columns: 3, Values: make([]float64, 4)}), "a.png", ErrShape},
		"no values":    {one(&Heat{Columns: 3}), "a.png", ErrShape},
		"few labels":   {one(&Heat{Columns: 2, Values: make([]float64, 4), XLabels: []string{"a"}}), "a.png", ErrShape},
		"infinite":     {one(&Heat{Columns: 1, Values: []float64{math.Inf(1)}}), "a.png", ErrShape},
		"no bars":      {one(&Histogram{Width: 1}), "a.png", ErrShape},
		"no width":     {one(&Histogram{Heights: []float64{1}}), "a.png", ErrShape},
		"no mark":      {one(&Histogram{Heights: []float64{1}, Width: 1, Marks: []float64{math.NaN()}}), "a.png", ErrShape},
		"few values":   {one(&Intervals{Names: []string{"a"}}), "a.png", ErrShape},
		"no names":     {one(&Intervals{}), "a.png", ErrShape},
		"wrong order":  {one(&Intervals{Names: []string{"a"}, Values: []float64{1}, Low: []float64{2}, High: []float64{3}}), "a.png", ErrShape},
		"no end":       {one(&Intervals{Names: []string{"a"}, Values: []float64{1}, Low: []float64{1}, High: []float64{math.Inf(1)}}), "a.png", ErrShape},
		"no directory": {sample(), "none/a.png", os.ErrNotExist},
	} {
		if err := tc.figure.Save(filepath.Join(dir, tc.path)); !errors.Is(err, tc.want) {
			t.Errorf("%s: found error %v, expected %v", name, err, tc.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("failed drawings left %v, error %v", left, err)
	}
	if err := CheckPath("plot"); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), `"plot"`) {
		t.Errorf("a name without extension: error %v", err)
	}
}

func TestLines(t *testing.T) {
	l := &Lines{Title: "loss", XLabel: "positions", YLabel: "loss", Curves: []Curve{
		{Name: "training", X: []float64{1, 2, 3}, Y: []float64{3, math.NaN(), 1}},
		{Name: "held out", X: []float64{1}, Y: []float64{2}, Dashed: true},
		{Name: "none"},
		{X: []float64{1, 3}, Y: []float64{2, 2}},
		{Name: "observed", X: []float64{1, 2}, Y: []float64{2, 3}, Errors: []float64{0.5, math.NaN()}},
	}}
	text, err := os.ReadFile(save(t, &Figure{Title: "run", Rows: [][]Panel{{l}}}, "lines.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"loss", "positions", "training", "held out", "observed"} {
		if !strings.Contains(string(text), ">"+want+"<") {
			t.Errorf("the drawing lacks %q", want)
		}
	}
	for _, bad := range []*Lines{
		{},
		{Curves: []Curve{{Name: "a", X: []float64{1}}}},
		{Curves: []Curve{{Name: "a", X: []float64{1}, Y: []float64{1}, Errors: []float64{1, 2}}}},
		{Curves: []Curve{{Name: "a", X: []float64{1}, Y: []float64{math.Inf(1)}}}},
	} {
		if err := (&Figure{Rows: [][]Panel{{bad}}}).Save(filepath.Join(t.TempDir(), "a.png")); !errors.Is(err, ErrShape) {
			t.Errorf("%+v: error %v, want ErrShape", bad, err)
		}
	}
}

// Axes have round numbers in plain digits.
func TestRoundTicks(t *testing.T) {
	for _, tc := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1"},
		{-20000, 20000, "-20000 -10000 0 10000 20000"},
		{0, 12345, "0 2000 4000 6000 8000 10000 12000"},
		{0, 0.00031, "0 0.0001 0.0002 0.0003"},
	} {
		var labels []string
		for _, tick := range roundTicks(tc.low, tc.high, 0) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != tc.want {
			t.Errorf("from %v to %v: found ticks %s, expected %s", tc.low, tc.high, got, tc.want)
		}
	}
}
