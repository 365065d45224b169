package lab

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
)

// factOf returns what a plan says of something.
func factOf(t *testing.T, p *Plan, what string) Fact {
	t.Helper()
	for _, f := range p.Facts() {
		if f.What == what {
			return f
		}
	}
	t.Fatalf("no fact about %s", what)
	return Fact{}
}

// Nets learn from as many samples as the trainer takes in their time, by a speed that is measured
// once and kept; a row may have a time or samples of its own. A comparison that was interrupted
// comes to the same nets.
func TestTimeBudget(t *testing.T) {
	c := comparison(t, games(t, 1, 12))
	delete(c.Train, "epochs")
	c.Budget.Time, c.Games.Time = 2*time.Second, 0
	c.Rows = append(c.Rows, configs.CompareRow{
		Name: "samples", Budget: &configs.CompareBudget{Samples: 256}, Settings: map[string]any{"features": "Hand", "width": uint64(32)},
	})

	looked := newPlan(t, c)
	var text strings.Builder
	if err := looked.Show(&text); err != nil || strings.Count(text.String(), "when the trainer's speed is measured") != 2 {
		t.Errorf("error %v, expected two rows not measured yet in\n%s", err, text.String())
	}
	price, err := looked.Price(t.Context(), Options{Progress: io.Discard})
	if want := 2 * 2 * c.Budget.Time; err != nil || price.Training < want || price.Training > want+time.Second {
		t.Errorf("the price is %+v, error %v, expected the budgets of four nets, %v, and little more", price, err, want)
	}

	dir := t.TempDir()
	o := options(dir)
	measured := 0
	o.MeasureTraining = func(_ context.Context, l configs.Learn) (float64, error) {
		if measured++; l.Features == "All" {
			return 320, nil
		}
		return 160, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.OnCell = cancel
	if _, err := Run(ctx, c, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, expected an interruption", err)
	}
	o.OnCell = nil
	o.MeasureTraining = func(context.Context, configs.Learn) (float64, error) {
		return 0, errors.New("measured again")
	}
	r, err := Run(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	if measured != 2 {
		t.Errorf("speeds were measured %d times, expected once for each row with a time", measured)
	}
	want := map[string]uint64{"a <b> & c": 640, "hands": 320, "samples": 256}
	for _, row := range r.Rows {
		if n := want[row.Name]; row.Samples < n || row.Samples >= n+64 {
			t.Errorf("%s, %s: %d samples, expected %d in whole batches", row.Name, row.Budget, row.Samples, n)
		}
	}

	p, err := NewPlan(t.Context(), c, o, false)
	if err != nil {
		t.Fatal(err)
	}
	if f := factOf(t, p, "time of training"); f.Equal || !f.Matters || !strings.Contains(f.Detail, "hands 2s") {
		t.Errorf("found %+v, expected the times of two rows", f)
	}
	c.Rows = c.Rows[:2]
	if p, err = NewPlan(t.Context(), c, o, false); err != nil {
		t.Fatal(err)
	}
	if f := factOf(t, p, "time of training"); !f.Equal {
		t.Errorf("found %+v, expected one time for all", f)
	}
	if f := factOf(t, p, "samples and their order"); f.Equal || f.Matters {
		t.Errorf("found %+v, expected other samples, and nothing to warn of", f)
	}
	if p.Nets[0][0].Key == looked.Nets[0][0].Key {
		t.Error("the net that was guessed has the key of the one that was made")
	}
	if entries, err := os.ReadDir(looked.Dir); err != nil || len(entries) > 0 {
		t.Errorf("a plan that is only looked at wrote %v, error %v", entries, err)
	}
}
