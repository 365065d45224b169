package lab

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
)

// A net that an earlier build, to which another spelling was another set, has made is found, and
// so is the speed of its training.
func TestSpellingOfEarlierBuilds(t *testing.T) {
	c := comparison(t, games(t, 1, 12))
	o := options(t.TempDir())
	plan := func() *Plan {
		p, err := NewPlan(t.Context(), c, o, false)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	c.Rows[0].Settings["features"] = "(All)"
	p := plan()
	typed := p.Nets[0][0].Config
	typed.Features = "(All)"
	before, err := p.trainKey(typed)
	if err != nil {
		t.Fatal(err)
	}
	if n := p.Nets[0][0]; n.Key == before || n.Config.Features != "All" {
		t.Fatalf("found cell %s of %q, expected another than %s, of All", n.Key, n.Config.Features, before)
	}
	if err := os.MkdirAll(p.cell("train", before), 0o755); err != nil {
		t.Fatal(err)
	}
	if found := plan().Nets[0][0].Key; found != before {
		t.Errorf("found cell %s, expected %s, which is there", found, before)
	}

	delete(c.Train, "epochs")
	c.Budget.Time = time.Second
	p = plan()
	typed = p.Nets[0][0].Config
	typed.Features, typed.Epochs = "(All)", 1
	rate, err := p.trainKey(typed)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(p.cell("rate", ""), 0o755), writeCell(p.cell("rate", rate+".json"), rateCell{100})); err != nil {
		t.Fatal(err)
	}
	if !p.Unmeasured[0] || plan().Unmeasured[0] {
		t.Error("the speed of training is not found")
	}
}

// What no row will have is nothing to sort by; the settings can be looked at.
func TestSortByNothing(t *testing.T) {
	data := games(t, 1, 3)
	for _, by := range []string{"time", "ladder", "puzzles"} {
		c := comparison(t, data)
		c.Games.Time, c.Games.Puzzles, c.Sort = 0, 0, by
		if _, err := Run(t.Context(), c, options(t.TempDir())); !errors.Is(err, configs.ErrInvalid) || !strings.Contains(err.Error(), "sort: found "+by) {
			t.Errorf("%s: error %v", by, err)
		}
		newPlan(t, c)
	}
}

// Of games and puzzles each job has a core, as long as there are some; nets are trained by all cores.
func TestPriceByClock(t *testing.T) {
	for _, tc := range []struct {
		jobs, cores int
		want        time.Duration
	}{{1, 1, 20}, {1, 4, 14}, {2, 4, 8}, {4, 4, 5}, {16, 4, 5}} {
		p := Price{Training: 8 * time.Hour, Playing: 9 * time.Hour, Solving: 3 * time.Hour, Jobs: tc.jobs}
		if got := p.clock(tc.cores); got != tc.want*time.Hour {
			t.Errorf("%d jobs on %d cores: found %v, expected %d hours", tc.jobs, tc.cores, got, tc.want)
		}
	}
}

// Plane nets have the same inputs, whatever their shape.
func TestInputsOfPlanes(t *testing.T) {
	c := comparison(t, games(t, 1, 3))
	c.Rows = nil
	for _, shape := range []string{"2x32", "4x48"} {
		c.Rows = append(c.Rows, configs.CompareRow{Name: shape, Settings: map[string]any{"kind": "planes", "planes": shape}})
	}
	fact := func() Fact {
		facts := newPlan(t, c).Facts()
		return facts[slices.IndexFunc(facts, func(f Fact) bool { return f.What == "inputs" })]
	}
	if f := fact(); !f.Equal || f.Detail != "1 different ones" {
		t.Errorf("found %+v, expected the same inputs", f)
	}
	c.Rows = append(c.Rows, configs.CompareRow{Name: "nnue", Settings: map[string]any{"features": "All"}})
	if f := fact(); f.Equal || f.Detail != "2 different ones" {
		t.Errorf("with an NNUE row: found %+v, expected two", f)
	}
}

// The expression of a plane net has its blocks and channels where these override planes.
func TestExpression(t *testing.T) {
	l := func(blocks, channels int) string {
		var l configs.Learn
		l.Kind, l.Planes, l.Blocks, l.Channels = configs.Planes, "4x48", blocks, channels
		return expression(&l)
	}
	for _, tc := range []struct {
		blocks, channels int
		want             string
	}{{0, 0, "planes 4x48"}, {2, 32, "planes residual 2x32 "}, {0, 64, "planes residual 4x64 "}} {
		if got := l(tc.blocks, tc.channels); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%d blocks, %d channels: found %q, expected %q", tc.blocks, tc.channels, got, tc.want)
		}
	}
}
