package configs

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestComparePresets(t *testing.T) {
	for _, name := range ComparePresets() {
		c, err := ComparePreset(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := ParseCompare(c.YAML(), name)
		if err != nil || string(again.YAML()) != string(c.YAML()) {
			t.Errorf("%s: its YAML gives %+v, error %v, expected %+v", name, again, err, c)
		}
	}
	if _, err := ComparePreset("none"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "smoke") {
		t.Errorf("an unknown preset: %v", err)
	}
}

func TestCompareLayers(t *testing.T) {
	c, err := ParseCompare([]byte("schema: 1\ndata: [a.chain]\ntrain: {preset: tiny, width: 32, epochs: 3}\nrows:\n- {name: a}\n- {name: b, width: 64, preset: narrow}\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		width, batch int
		preset       string
	}{{32, 256, "tiny"}, {64, 16384, "narrow"}} {
		l, err := c.Learn(i)
		if err != nil || l.Width != want.width || l.Batch != want.batch || l.Preset != want.preset || l.Epochs != 3 || l.Data[0] != "a.chain" {
			t.Errorf("row %d: %+v, error %v", i, l, err)
		}
	}
}

// A row's budget takes the place of the comparison's, and two rows may differ in it alone.
func TestCompareBudgets(t *testing.T) {
	if _, err := ParseCompare([]byte("schema: 1\ntrain: {epochs: 2}\nrows: [{name: a}, {name: b, width: 32, budget: {time: 1m}}]"), "f.yaml"); err != nil {
		t.Errorf("a row's own budget in place of epochs: %v", err)
	}

	c, err := ParseCompare([]byte("schema: 1\nbudget: {time: 2m}\nrows:\n- {name: a}\n- {name: b, budget: {samples: 100}}\n- {name: c, epochs: 3, budget: {}}\n- {name: d, budget: {time: 90s}}\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseCompare(c.YAML(), "again")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []CompareBudget{{Time: 2 * time.Minute}, {Samples: 100}, {}, {Time: 90 * time.Second}} {
		if got := c.BudgetOf(i); got != want {
			t.Errorf("row %d: found %+v, expected %+v", i, got, want)
		}
		if got := again.BudgetOf(i); got != want {
			t.Errorf("row %d of its YAML: found %+v, expected %+v", i, got, want)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"rows: [{name: a}]", "schema"},
		{"schema: 1\nrows: []", "rows"},
		{"schema: 1\nrwos: [{name: a}]", "rwos"},
		{"schema: 1\nrows: [{name: a, widht: 32}]", `"width"`},
		{"schema: 1\nrows: [{name: a, width: [16, 32]}]", "width"},
		{"schema: 1\nrows: [{width: 32}]", "name"},
		{"schema: 1\nrows: [{name: a}, {name: a, width: 32}]", "another name"},
		{"schema: 1\nrows: [{name: a}, {name: b}]", "rows a and b: found the same settings"},
		{"schema: 1\nrows: [{name: a, features: All+Hand}, {name: b, features: All + (Hand)}]", "rows a and b: found features All+Hand and All + (Hand), the same set in two spellings, and no other difference, expected different settings: delete one"},
		{"schema: 1\nrows: [{name: a, seed: 3}]", "seeds of the comparison"},
		{"schema: 1\nrows: [{name: a, features: All + Nothing}]", "Nothing"},
		{"schema: 1\nseeds: 0\nrows: [{name: a}]", "seeds"},
		{"schema: 1\nrows: [{name: a}]\nsort: beauty", "sort"},
		{"schema: 1\nrows: [{name: a}]", "somebody to play against"},
		{"schema: 1\nrows: [{name: a}]\ngames: {pairs: 0}", "games.pairs"},
		{"schema: 1\nrows: [{name: a}]\ngames: {nodes: 0}", "no limits"},
		{"schema: 1\nrows: [{name: a, epochs: 2}]\nbudget: {samples: 100}", "epochs beside budget"},
		{"schema: 1\ntrain: {epochs: 2}\nrows: [{name: a}]\nbudget: {samples: 100}", "epochs beside budget"},
		{"schema: 1\nrows: [{name: a, epochs: 2, budget: {time: 1m}}]", "epochs beside budget"},
		{"schema: 1\nrows: [{name: a, budget: {time: 1m, samples: 3}}]", "rows[0].budget"},
		{"schema: 1\nrows: [{name: a, budget: {tmie: 1m}}]", "tmie"},
		{"schema: 1\nrows: [{name: a, budget: 3}]", "expected samples or time"},
		{"schema: 1\nrows: [{name: a}]\nbudget: {time: -1m}", "budget.time"},
		{"schema: 1\nrows: [{name: a}, {name: b, init: 'row:c'}]", "row b: init: found c"},
		{"schema: 1\nrows: [{name: a, init: 'row:a'}, {name: b}]", "row a: init: found a"},
		{"schema: 1\nrows: [{name: a, init: 'row:c'}, {name: b, init: 'row:a'}, {name: c, init: 'row:b'}]", "does not begin from this one"},
		{"schema: 1\nrows: [{name: a}, {name: b, kind: planes, preset: planes, init: 'row:a'}]", "row of kind planes"},
		{"schema: 1\nrows: [{name: a}]\nanchors: [{name: a, player: material}]", "anchors[0].name"},
		{"schema: 1\nrows: [{name: a}]\nanchors: [{name: m}]", "anchors[0].player"},
		{"schema: 1\nrows: [{name: a}]\nanchors: [{name: m, player: material, elo: 20000}]", "found 20000"},
		{"schema: 1\nrows: [{name: a}]\nanchors: [{name: m, player: }]", "anchors[0].player: found nothing"},
		{"schema: 1\nrows: [{name: a}, {name: b, width: 32}]\ngames: {pairs: 2.7}", "games.pairs: found 2.7"},
		{"schema: 1\nrows: [{name: a}, {name: b, width: 32}]\ngames: {nodes: }", "games.nodes: found nothing"},
		{"schema: 1\nrows: [{name: a}, {name: b, width: 32}]\ngames:", "games: found nothing"},
		{"schema: 1\nrows: [{name: a}, {name: b, width: 32}]\nseeds: '2'", `seeds: found "2"`},
		{"schema: 1\nrows: [{name: a}, {name: b, width: 32}]\nseed: 012", "begins with 0"},
		{"schema: 1\nrows: [{name: a}, {name: b, width: 32, budget: {samples: 2.7}}]", "row b: budget.samples: found 2.7"},
	} {
		if _, err := ParseCompare([]byte(tc.text), "f.yaml"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, expected %q in it", tc.text, err, tc.want)
		}
	}
}
