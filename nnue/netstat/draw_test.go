package netstat

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

// heats lists the heat maps of a figure by title.
func heats(f *figure.Figure) map[string]*figure.Heat {
	found := map[string]*figure.Heat{}
	for _, row := range f.Rows {
		for _, p := range row {
			if h, ok := p.(*figure.Heat); ok {
				found[h.Title] = h
			}
		}
	}
	return found
}

// TestDrawer plants a weight of 1 in one feature of every summand.
func TestDrawer(t *testing.T) {
	n := newNet(t, testArchitecture("All + PH + MB + Hand + DropMoves"))
	ph, mb := 768, 768+1152
	hand, drops := mb+768, mb+768+160
	const neuron = 3
	for _, f := range []int{
		192 + int(f3),        // an enemy knight on f3
		ph + (2*12+3)*12 + 4, // on the third rank an enemy knight left of an own bishop
		mb + 64*11 + int(e4), // the enemy king may go to e4
		hand + 16*9 + 1,      // the enemy holds two queens
		drops + 7,
	} {
		n.FTRow(f)[neuron] = nnue.ActivationScale
	}
	n.FTBias[neuron] = -254
	d := NewDrawer(n, chess.NoSquare)
	f := d.Neuron(neuron)
	if f.Title != "neuron 3, bias -2.00" || len(d.LeftOut()) != 0 {
		t.Errorf("found title %q, left out %v", f.Title, d.LeftOut())
	}
	found := heats(f)
	// 12 boards of All, 8 ranks of PH, 12 boards of MB, two hands, one strip.
	if len(found) != 12+8+12+2+1 {
		t.Errorf("found %d panels: %v", len(found), f.Rows)
	}
	for title, at := range map[string]int{
		"All: enemy knight":          int(f3),
		"PH: rank 3":                 4*12 + 3, // the right man's row, the left one's column
		"MB: enemy king":             int(e4),
		"Hand: enemy hand":           4*16 + 1,
		"DropMoves: features 0 to 9": 7,
	} {
		h := found[title]
		if h == nil {
			t.Errorf("no panel %q", title)
			continue
		}
		for i, v := range h.Values {
			if want := 0.0; i == at && v != 1 || i != at && v != want && !math.IsNaN(v) {
				t.Errorf("%s: found %g at %d", title, v, i)
			}
		}
	}
	if v := found["PH: rank 1"].Values[0]; !math.IsNaN(v) {
		t.Errorf("two pawns on the first rank have the weight %g", v)
	}
	if err := f.Save(filepath.Join(t.TempDir(), "neuron.png")); err != nil {
		t.Error(err)
	}
}

func TestDrawerOfKings(t *testing.T) {
	n := newNet(t, testArchitecture("HalfKAv2"))
	n.FTRow(6*864 + 28)[0] = 127 // own king g1, own pawn e4
	on := func(king chess.Square) (*figure.Figure, float64) {
		f := NewDrawer(n, king).Neuron(0)
		return f, heats(f)["own pawn"].Values[e4]
	}
	if f, v := on(g1); v != 1 || !strings.HasSuffix(f.Title, "own king on g1") {
		t.Errorf("on g1: found %g in %q", v, f.Title)
	}
	if f, v := on(f3); v != 0 || !strings.HasSuffix(f.Title, "f3") {
		t.Errorf("on f3: found %g in %q", v, f.Title)
	}
	if f, v := on(chess.NoSquare); math.Abs(v-1.0/63) > 1e-9 || !strings.Contains(f.Title, "mean") {
		t.Errorf("mean: found %g in %q", v, f.Title)
	}

	a := testArchitecture("HandPairs * HandPairs")
	d := NewDrawer(newNet(t, a), chess.NoSquare)
	if !slices.Equal(d.LeftOut(), []string{a.Features}) {
		t.Errorf("found %v left out, expected %s", d.LeftOut(), a.Features)
	}
}

func TestDrawHistograms(t *testing.T) {
	float, integer := []float64{0, 0, 0, 0}, []float64{0, -1, 1, 1000}
	positions := make([]chess.Position, 4)
	for i := range positions {
		positions[i] = chess.Crazyhouse.Start()
	}
	d, err := Compare(positions, float, integer, 361)
	if err != nil {
		t.Fatal(err)
	}
	h := d.Draw(float, integer).Rows[1][1].(*figure.Histogram)
	sum := 0.0
	for _, v := range h.Heights {
		sum += v
	}
	if math.Abs(sum-1) > 1e-9 || h.Heights[len(h.Heights)-1] != 0.25 && d.P999 < 1000 {
		t.Errorf("found shares %v", h.Heights)
	}

	var m Mobility
	m.Add(&positions[0])
	f := m.Draw("start", 0.999)
	pawns := f.Rows[0][0].(*figure.Histogram)
	if len(f.Rows) != 2 || len(pawns.Heights) != 16 || pawns.Heights[15] != 1 || pawns.Marks[0] != 16.5 {
		t.Errorf("found %+v", pawns)
	}
	if err := f.Save(filepath.Join(t.TempDir(), "mobility.svg")); err != nil {
		t.Error(err)
	}
}

func TestFits(t *testing.T) {
	if err := Fits(nnue.Fairy(), nnue.Fairy()); err != nil {
		t.Errorf("the same architecture: error %v", err)
	}
	a := nnue.Narrow(64)
	err := Fits(a, nnue.Fairy())
	for _, want := range []string{"Width: found 64, expected 512", "Buckets: found pieces in hand, expected pieces on board"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "Features") {
		t.Errorf("error %v names a field that fits", err)
	}
	a = nnue.Fairy()
	a.Activation = nnue.Pairwise
	if err := Fits(a, nnue.Fairy()); !errors.Is(err, ErrMisfit) || !strings.Contains(err.Error(), "Activation: found pairwise product, expected clipped ReLU") {
		t.Errorf("the pairwise product: %v", err)
	}
}
