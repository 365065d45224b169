package configs

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func learnPreset(t testing.TB, name string) Learn {
	t.Helper()
	l, err := LearnPreset(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLearnPresets(t *testing.T) {
	if got := LearnPresets(); !slices.Equal(got, []string{"fairy", "narrow", "planes", "pqr", "small", "tiny"}) {
		t.Errorf("presets %q", got)
	}
	text, err := learnFiles.ReadFile("learn/" + learnPresets.base + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	given, err := new(Learn).parse(text, learnPresets.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range LearnPresets() {
		l := learnPreset(t, name)
		if err := l.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, key := range keys(&l) {
			if _, ok := given[key]; !ok && key != "preset" { // a forgotten one would silently be zero
				t.Fatalf("the base preset lacks %s", key)
			}
		}
		again, err := Learn{}.Sweep(l.YAML(), name)
		if err != nil || len(again) != 1 || string(again[0].YAML()) != string(l.YAML()) {
			t.Errorf("%s: read again as %+v, error %v", name, again, err)
		}
	}
	if _, err := LearnPreset("huge"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "narrow") {
		t.Errorf("error %v, want ErrInvalid with the names", err)
	}
}

func TestEverySettingHasUsage(t *testing.T) {
	var l Learn
	n := 0
	for key := range l.Usage() {
		if l.Get(key) == "" && key != "weights" {
			v, _ := field(&l, key)
			if v.String() != "" {
				t.Errorf("%s has no value", key)
			}
		}
		n++
	}
	if all := len(keys(&l)); n != all-3 { // schema, preset, data
		t.Errorf("%d settings of %d have a usage", n, all)
	}
}

func TestSweep(t *testing.T) {
	base := learnPreset(t, "tiny")
	runs, err := base.Sweep([]byte("schema: 1\nseed: [1, 2]\nwidth: [16, 32, 64]\nlr: [0.001, linear:1:0]\ndata: [a, b]\nepochs: 3\n"), "sweep")
	if err != nil || len(runs) != 12 {
		t.Fatalf("%d runs, error %v, want 12", len(runs), err)
	}
	if got := Varied(runs); !slices.Equal(got, []string{"seed", "width", "lr"}) {
		t.Errorf("varied %q", got)
	}
	var names []string
	for _, r := range runs {
		names = append(names, r.Get("seed")+" "+r.Get("width")+" "+r.Get("lr"))
		if r.Epochs != 3 || len(r.Data) != 2 || r.Batch != base.Batch {
			t.Errorf("%+v", r)
		}
	}
	if names[0] != "1 16 0.001" || names[1] != "1 16 linear:1:0" || names[2] != "1 32 0.001" || names[11] != "2 64 linear:1:0" {
		t.Errorf("runs %q", names)
	}
	for text, want := range map[string]string{
		"width: 1":                               "schema: found none",
		"schema: 2":                              "schema: found 2",
		"schema: 1\nwidht: 3":                    `"width"`,
		"schema: 1\nwidth: []":                   "width: found 0 values",
		"schema: 1\nseed: [1, 2, 1]":             `seed: found "1" twice`,
		"schema: 1\nwidth: [16, 32]\nlr: [1, 1]": `lr: found "1" twice`,
		"schema: 1\ninit: [\"\", \"\"]":          `init: found "" twice`,
		"schema: 1\nwidth: [a]":                  "width: found \"a\"",
		"schema: 1\nwidth: 1.5":                  "a whole number",
		"schema: 1\ndata: [1]":                   "names of files",
		"schema: 1\nlr: [1, 2]\nbatch: yes":      "batch",
		"schema: [1":                             "sweep",
	} {
		if _, err := base.Sweep([]byte(text), "sweep"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, lacks %q", text, err, want)
		}
	}
}

func TestFilePresetOfLearn(t *testing.T) {
	if preset, err := FilePreset([]byte("schema: 1\npreset: fairy"), "file"); err != nil || preset != "fairy" {
		t.Errorf("preset %q, error %v", preset, err)
	}
	if preset, err := FilePreset([]byte("schema: 1\npreset: [fairy, tiny]"), "file"); !errors.Is(err, ErrInvalid) {
		t.Errorf("a list of presets is %q, error %v", preset, err)
	}
}

func TestLearnSet(t *testing.T) {
	l := learnPreset(t, "small")
	for _, tc := range []struct{ key, text, want string }{
		{"lr", "0.01", "0.01"}, {"width", "256", "256"}, {"psqt", "false", "false"}, {"power", "2.2", "2.2"}, {"features", "King-All", "King-All"},
	} {
		if err := l.Set(tc.key, tc.text); err != nil || l.Get(tc.key) != tc.want {
			t.Errorf("%s=%s: %s, error %v", tc.key, tc.text, l.Get(tc.key), err)
		}
	}
	for _, pair := range [][2]string{{"widht", "1"}, {"width", "a"}, {"psqt", "2"}, {"data", "x"}} {
		if err := l.Set(pair[0], pair[1]); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s=%s: error %v, want ErrInvalid", pair[0], pair[1], err)
		}
	}
	l.Preset, l.Variant, l.Buckets = "huge", "shogi", "men"
	err := l.Validate()
	for _, key := range []string{"preset", "variant", "buckets"} {
		if err == nil || !strings.Contains(err.Error(), key+": found") {
			t.Errorf("error %v, lacks %s", err, key)
		}
	}
}

func FuzzSweep(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text[:min(len(text), 4<<10)])
	}
	f.Add("schema: 1\nseed: [1, 2]\ndata: [a]")
	f.Add("schema: 1\nwidth: {a: 1}")
	base := learnPreset(f, "tiny")
	f.Fuzz(func(t *testing.T, text string) {
		runs, err := base.Sweep([]byte(text), "fuzz")
		if err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("error %v, want ErrInvalid", err)
		}
		if err == nil && (len(runs) == 0 || len(runs) > maxSweep) {
			t.Errorf("%d runs", len(runs))
		}
	})
}
