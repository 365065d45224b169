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
	if got := strings.Join(Presets(), " "); got != "fairy laptop tiny" {
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
	text, err := presets.ReadFile(base + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	for key := range Keys() {
		if key == "preset" {
			continue
		}
		leaf := key[strings.LastIndexByte(key, '.')+1:]
		if !strings.Contains(string(text), leaf+":") {
			t.Errorf("%s.yaml does not give %s", base, key)
		}
	}
}

func TestYAMLRoundTrip(t *testing.T) {
	for _, name := range Presets() {
		a, _ := Preset(name)
		a.Seed = 1<<63 + 5
		a.Bus.Listen = "127.0.0.1:4222"
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
		{"not YAML", "schema: [1\n", []string{"x.yaml"}},
	} {
		c, _ := Preset("laptop")
		err := c.Merge([]byte(tc.text), "x.yaml")
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

func TestValidateReportsEveryMistake(t *testing.T) {
	c, _ := Preset("laptop")
	c.Variant, c.Train.Batch, c.Gate.Elo0 = "shogi", 1, 50
	err := c.Validate()
	for _, want := range []string{"variant: found shogi", "train.batch: found 1", "gate.elo0: found 50"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate() = %v, lacks %q", err, want)
		}
	}
}

func TestSetAndEnvironment(t *testing.T) {
	c, _ := Preset("laptop")
	if err := c.SetEnv([]string{"HOME=/root", "SELFPLAY_TRAIN_LR=0.01", "SELFPLAY_SEED=7"}); err != nil {
		t.Fatal(err)
	}
	if err := c.SetPairs([]string{"gate.enabled=false", "net.width=32"}); err != nil {
		t.Fatal(err)
	}
	if c.Train.LR != 0.01 || c.Seed != 7 || c.Gate.Enabled || c.Net.Width != 32 {
		t.Errorf("got lr %v seed %d gate %v width %d", c.Train.LR, c.Seed, c.Gate.Enabled, c.Net.Width)
	}
	if err := c.SetEnv([]string{"SELFPLAY_TRAIN_LRX=1"}); err == nil || !strings.Contains(err.Error(), "SELFPLAY_TRAIN_LR") {
		t.Errorf("unknown variable: %v", err)
	}
	if err := c.Set("net.width", "wide"); err == nil || !strings.Contains(err.Error(), `found "wide"`) {
		t.Errorf("bad value: %v", err)
	}
	if err := c.SetPairs([]string{"seed"}); err == nil {
		t.Error("a pair without = was accepted")
	}
}

func TestDifferences(t *testing.T) {
	a, _ := Preset("laptop")
	b := a
	b.Net.Width = 128
	if got := Differences(a, b); len(got) != 1 || got[0] != "net.width: 64 → 128" {
		t.Errorf("Differences = %q", got)
	}
}

func FuzzMerge(f *testing.F) {
	for _, name := range Presets() {
		text, _ := presets.ReadFile(name + ".yaml")
		f.Add(text)
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
