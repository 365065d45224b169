package configs

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestPresetsAreValid(t *testing.T) {
	if got := strings.Join(Presets(), " "); got != "fairy laptop planes tiny" {
		t.Errorf("Presets() = %q", got)
	}
	for _, name := range Presets() {
		c, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The base preset must give every key, or a forgotten one would silently be zero.
func TestBaseGivesEveryKey(t *testing.T) {
	text, err := presetFiles.ReadFile(presets.base + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	given, err := decode(text, presets.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys(new(Config)) {
		if _, ok := given[key]; !ok && key != "preset" {
			t.Errorf("%s.yaml does not give %s", presets.base, key)
		}
	}
}

func TestYAMLRoundTrip(t *testing.T) {
	for _, name := range Presets() {
		a, _ := Preset(name)
		a.Seed = 1<<63 + 5
		a.Bus.Listen = "127.0.0.1:4222"
		a.Bus.TokenFile = "12 # '\"\\: "
		a.Train.LR, a.Train.Lambda, a.Train.Epsilon = "1e-5", "0.5", 1e-5
		a.Gate.Elo0 = -1e300
		var b Config
		if err := b.Merge(a.YAML(), "effective"); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %v", name, Differences(a, b))
		}
	}
}

func TestGoldenEffective(t *testing.T) {
	c, _ := Preset("laptop")
	golden := filepath.Join("testdata", "laptop-effective.yaml")
	if *update {
		if err := os.WriteFile(golden, c.YAML(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(c.YAML()); got != string(want) {
		t.Errorf("effective laptop configuration changed (run with -update if that is meant):\n%s", got)
	}
}

func TestErrorsNameWhatWasFound(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"unknown key", "schema: 1\ntrain:\n  lrr: 1\n", []string{`"train.lrr"`, `"train.lr"`}},
		{"unknown section", "schema: 1\nactors:\n  nodes: 5\n", []string{`"actors.nodes"`, `"actor.nodes"`}},
		{"schema missing", "seed: 1\n", []string{"schema", "found none", "expected 1"}},
		{"other schema", "schema: 9\n", []string{"found 9", "expected 1"}},
		{"wrong type", "schema: 1\nseed: many\n", []string{"seed"}},
		{"fraction for a whole number", "schema: 1\nactor:\n  workers: 2.7\n", []string{"actor.workers", "found 2.7", "whole number"}},
		{"negative for a count", "schema: 1\nactor:\n  nodes: -1\n", []string{"actor.nodes", "found -1"}},
		{"too large", "schema: 1\nactor:\n  workers: 18446744073709551615\n", []string{"actor.workers", "whole number"}},
		{"empty schedule", "schema: 1\ntrain:\n  lr:\n", []string{"train.lr", "found nothing", "a number or a schedule"}},
		{"empty number", "schema: 1\ntrain:\n  power:\n", []string{"train.power", "found nothing", "a number"}},
		{"empty switch", "schema: 1\ngate:\n  enabled:\n", []string{"gate.enabled", "found nothing", "true or false"}},
		{"number for a text", "schema: 1\nbus:\n  token_file: 12\n", []string{"bus.token_file", "found 12", "text"}},
		{"list", "schema: 1\ntrain:\n  lr: [1]\n", []string{"train.lr", "found [1]"}},
		{"other preset", "schema: 1\npreset: tiny\n", []string{"preset", "found tiny", "expected laptop"}},
		{"not YAML", "schema: [1\n", []string{"x.yaml"}},
	} {
		c, _ := Preset("laptop")
		before := c
		err := c.Merge([]byte(tc.text), "x.yaml")
		if c != before {
			t.Errorf("%s: the refused file changed %v", tc.name, Differences(before, c))
		}
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: error %v does not wrap ErrInvalid", tc.name, err)
			continue
		}
		for _, w := range tc.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %q lacks %q", tc.name, err, w)
			}
		}
	}
}

func TestFilePreset(t *testing.T) {
	for text, want := range map[string]string{"schema: 1\n": "", "schema: 1\npreset: tiny\n": "tiny"} {
		if got, err := FilePreset([]byte(text), "x.yaml"); got != want || err != nil {
			t.Errorf("FilePreset(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := FilePreset([]byte("preset: tiny\n"), "x.yaml"); !errors.Is(err, ErrInvalid) {
		t.Errorf("no schema: error %v", err)
	}
}

func TestSetAndEnvironment(t *testing.T) {
	c, _ := Preset("laptop")
	if err := c.SetEnv([]string{"HOME=/root", "SELFPLAY_TRAIN_LR=1e-2", "SELFPLAY_SEED=7"}); err != nil {
		t.Fatal(err)
	}
	if err := c.SetPairs([]string{"gate.enabled=false", "net.width=32"}); err != nil {
		t.Fatal(err)
	}
	if c.Train.LR != "1e-2" || c.Seed != 7 || c.Gate.Enabled || c.Net.Width != 32 {
		t.Errorf("got lr %q seed %d gate %v width %d", c.Train.LR, c.Seed, c.Gate.Enabled, c.Net.Width)
	}
	if err := c.SetEnv([]string{"SELFPLAY_TRAIN_LRX=1"}); err == nil || !strings.Contains(err.Error(), "SELFPLAY_TRAIN_LR") {
		t.Errorf("unknown variable: %v", err)
	}
	if err := c.Set("net.width", "wide"); err == nil || !strings.Contains(err.Error(), `found "wide"`) {
		t.Errorf("bad value: %v", err)
	}
	for _, pair := range []string{"net.width=", "net.width=16.5", "train.lr=", "gate.enabled=", "preset=tiny"} {
		if err := c.SetPairs([]string{pair}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: error %v", pair, err)
		}
	}
	if err := c.SetPairs([]string{"seed"}); err == nil {
		t.Error("a pair without = was accepted")
	}
}

func TestDifferences(t *testing.T) {
	a, _ := Preset("laptop")
	b := a
	b.Net.Width = 64
	if got := Differences(a, b); len(got) != 1 || got[0] != "net.width: 128 → 64" {
		t.Errorf("Differences = %q", got)
	}
	a.Bus.URL, b = "nats://me:pa/ss@host,nats://other", a
	b.Bus.URL = "nats://host"
	if got := Differences(a, b); len(got) != 1 || got[0] != "bus.url: nats://***@host,nats://other → nats://host" {
		t.Errorf("Differences = %q", got)
	}
}

// A secret among the settings is refused wherever it comes from, and not shown.
func TestOldToken(t *testing.T) {
	const planted = "Tr0ub4dor"
	for where, set := range map[string]func(c *Config, token string) error{
		"file": func(c *Config, token string) error {
			return c.Merge([]byte("schema: 1\nbus: {token: "+token+"}"), "old.yaml")
		},
		"environment": func(c *Config, token string) error { return c.SetEnv([]string{"SELFPLAY_BUS_TOKEN=" + token}) },
		"flag":        func(c *Config, token string) error { return c.SetPairs([]string{"bus.token=" + token}) },
	} {
		c, _ := Preset("laptop")
		before := c
		err := set(&c, planted)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "bus.token_file") || strings.Contains(err.Error(), planted) {
			t.Errorf("%s: error %v, expected one that names bus.token_file and does not show the secret", where, err)
		}
		empty := ""
		if where == "file" {
			empty = `""`
		}
		if err := set(&c, empty); err != nil || c != before {
			t.Errorf("%s: an empty one: error %v, changed %q", where, err, Differences(before, c))
		}
	}
	c, _ := Preset("laptop")
	for _, text := range []string{"12", "[Tr0ub4dor]", "{a: Tr0ub4dor}", ""} {
		if err := c.Merge([]byte("schema: 1\nbus: {token: "+text+"}"), "old.yaml"); !errors.Is(err, ErrInvalid) || strings.Contains(err.Error(), planted) {
			t.Errorf("%q: error %v, expected ErrInvalid without the secret", text, err)
		}
	}
}

func FuzzMerge(f *testing.F) {
	for _, name := range Presets() {
		text, _ := presetFiles.ReadFile(name + ".yaml")
		f.Add(text)
	}
	for _, text := range hostile() {
		f.Add([]byte(text[:min(len(text), 4<<10)]))
	}
	f.Add([]byte("schema: 1\nseed: -1\n"))
	f.Add([]byte("schema: 1\nactor: 5\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, _ := Preset("laptop")
		if c.Merge(text, "fuzz") == nil {
			_ = c.Validate()
			var again Config
			if err := again.Merge(c.YAML(), "again"); err != nil {
				t.Fatalf("the effective configuration does not read back: %v", err)
			}
		}
	})
}

// A run that began before fit_offset keeps learning from its scores as they are; other
// files leave the preset's value.
func TestFitOffsetOfOldRuns(t *testing.T) {
	for text, saved := range map[string]bool{
		"train: {score_scale: 0}":                   false,
		"train: {score_scale: 0, fit_offset: true}": true,
		"train: {batch: 4096}":                      true,
	} {
		for how, tc := range map[string]struct {
			merge func(c *Config, text []byte, name string) error
			want  bool
		}{"saved": {(*Config).MergeSaved, saved}, "given": {(*Config).Merge, true}} {
			c, err := Preset("laptop")
			if err == nil {
				err = tc.merge(&c, []byte("schema: 1\n"+text+"\n"), "run.yaml")
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.Train.FitOffset != tc.want {
				t.Errorf("%s, %s: fit_offset is %t, expected %t", text, how, c.Train.FitOffset, tc.want)
			}
		}
	}
}
