package netstat

import (
	"errors"
	"math"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// TestCompare has 1000 positions that agree, but for two.
func TestCompare(t *testing.T) {
	positions := make([]chess.Position, 1000)
	float, integer := make([]float64, 1000), make([]float64, 1000)
	for i := range positions {
		positions[i] = chess.Crazyhouse.Start()
		float[i], integer[i] = 100, 100
	}
	worst, err := chess.ParseFEN(chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[N] w - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	positions[700] = worst
	float[700], integer[700] = 20, -40 // another winner
	float[3], integer[3] = -10, 0      // no winner
	d, err := Compare(positions, float, integer, 200)
	if err != nil {
		t.Fatal(err)
	}
	win := func(v float64) float64 { return 1 / (1 + math.Exp(-v/200)) }
	mean, squares := (-60.0+10)/1000, (3600.0+100)/1000
	for name, f := range map[string][2]float64{
		"positions": {float64(d.Positions), 1000},
		"mean":      {d.Mean, mean},
		"deviation": {d.Deviation, math.Sqrt(squares - mean*mean)},
		"p999":      {d.P999, 10}, // 999 of 1000 are within 10
		"near":      {d.Near, 0.999},
		"same sign": {d.SameSign, 0.999},
		"max win":   {d.MaxWin, win(20) - win(-40)},
		"mean win":  {d.MeanWin, (win(20) - win(-40) + win(0) - win(-10)) / 1000},
	} {
		if math.Abs(f[0]-f[1]) > 1e-9 {
			t.Errorf("%s: found %g, expected %g", name, f[0], f[1])
		}
	}
	if want := (Case{FEN: worst.FEN(), Float: 20, Integer: -40}); d.Worst != want {
		t.Errorf("worst: found %+v, expected %+v", d.Worst, want)
	}
	if _, err := Compare(positions, float[1:], integer, 200); !errors.Is(err, ErrCount) {
		t.Errorf("too few values: error %v", err)
	}
	if _, err := Compare(nil, nil, nil, 200); !errors.Is(err, ErrCount) {
		t.Errorf("no values: error %v", err)
	}
}

func TestPercentile(t *testing.T) {
	list := []float64{1, 2, 3, 4}
	for share, want := range map[float64]float64{0: 1, 0.25: 1, 0.26: 2, 0.75: 3, 0.999: 4, 1: 4} {
		if got := Percentile(list, share); got != want {
			t.Errorf("share %g: found %g, expected %g", share, got, want)
		}
	}
}
