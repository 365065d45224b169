package configs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/nnue"
)

func TestNetArchitecture(t *testing.T) {
	fairy, _ := Preset("fairy")
	laptop, _ := Preset("laptop")
	custom := learnPreset(t, "small").Net
	custom.Features = "All+Hand" // as one may type it
	custom.L3, custom.PSQT, custom.Activation = 0, false, "screlu"
	for _, tc := range []struct {
		net  Net
		want string
	}{
		{fairy.Net.Net, nnue.Fairy().String()},
		{learnPreset(t, "narrow").Net, nnue.Narrow(64).String()},
		{learnPreset(t, "fairy").Net, nnue.Fairy().String()},
		{custom, "crazyhouse All + Hand 128-16-1 x8 by pieces in hand, SCReLU"},
	} {
		if a, err := tc.net.Architecture("crazyhouse"); err != nil || a.String() != tc.want {
			t.Errorf("%+v: %v, error %v, want %s", tc.net, a, err, tc.want)
		}
	}
	for _, tc := range []struct {
		change func(*Net)
		want   string
	}{
		{func(n *Net) { n.Buckets = "men" }, `buckets: found "men"`},
		{func(n *Net) { n.Activation = "relu" }, `activation: found "relu"`},
		{func(n *Net) { n.Width = 17 }, "found width 17"},
		{func(n *Net) { n.Features = "Halfka" }, "Halfka"},
		{func(n *Net) { n.Stacks = 4 }, "found 4 stacks"},
	} {
		n := laptop.Net.Net
		tc.change(&n)
		if _, err := n.Architecture("crazyhouse"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: error %v, lacks %q", n, err, tc.want)
		}
	}
}

// Files of earlier builds keep their meaning whatever the presets have become.
func TestOldArchitecture(t *testing.T) {
	for text, want := range map[string]nnue.Architecture{
		"schema: 1\nnet:\n  architecture: narrow\n  width: 32\n": nnue.Narrow(32),
		"schema: 1\nnet:\n  architecture: fairy\n  width: 512\n": nnue.Fairy(),
	} {
		c, _ := Preset("laptop")
		c.Net.Net = learnPreset(t, "small").Net
		if err := c.Merge([]byte(text), "old"); err != nil {
			t.Fatal(err)
		}
		if a, err := c.Net.Architecture(c.Variant); err != nil || a != want {
			t.Errorf("%q: %v, error %v, want %v", text, a, err, want)
		}
	}
	for text, want := range map[string]string{
		"architecture: wide":                "found wide, expected narrow or fairy",
		"architecture: [1]":                 "found [1]",
		"architecture: fairy, buckets: men": "found net.buckets beside net.architecture",
	} {
		c, _ := Preset("laptop")
		err := c.Merge([]byte("schema: 1\nnet: {"+text+"}\n"), "old")
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, lacks %q", text, err, want)
		}
	}
	c, _ := Preset("laptop")
	if err := c.Set("net.architecture", "fairy"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "replaced by net.features") {
		t.Errorf("set: error %v", err)
	}
}

// TestOldInt8 reads files of the time when actor.tree.runtime was a switch.
func TestOldInt8(t *testing.T) {
	for text, want := range map[string]string{"int8: true": "int8", "int8: false": "native", "runtime: onnxgo": "onnxgo"} {
		c, _ := Preset("planes")
		if err := c.Merge([]byte("schema: 1\nactor:\n  tree: {"+text+"}\n"), "old"); err != nil || c.Actor.Tree.Runtime != want {
			t.Errorf("%s: found %q, error %v, expected %q", text, c.Actor.Tree.Runtime, err, want)
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"int8: yes":                "found yes, expected true or false",
		"int8: [1]":                "found [1]",
		"int8: true, runtime: ort": "found actor.tree.runtime beside actor.tree.int8",
	} {
		c, _ := Preset("laptop")
		err := c.Merge([]byte("schema: 1\nactor:\n  tree: {"+text+"}\n"), "old")
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, expected one with %q", text, err, want)
		}
	}
	c, _ := Preset("laptop")
	if err := c.Set("actor.tree.int8", "true"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "replaced by actor.tree.runtime") {
		t.Errorf("set: error %v", err)
	}
}

// Schedules of earlier builds, in several settings, keep their meaning; those that a
// file does not give are what it is laid over.
func TestOldSchedules(t *testing.T) {
	for text, want := range map[string][2]string{ // over laptop
		"{lr: 0.02, lr_final: 0.002, lr_steps: 30000, warmup_steps: 100, lambda: 0.65, lambda_final: 0.65, lambda_steps: 10000}": {"warmup:100,cosine:0.02:0.002:30000", "0.65"},
		"{lr: 0.02, lr_final: 1e-05, lr_steps: 30000, warmup_steps: 0}":                                                          {"cosine:0.02:1e-05:30000", "0.9"},
		"{lr_steps: 2000, warmup_steps: 10, lambda_steps: 1000}":                                                                 {"warmup:10,cosine:0.003:0.0003:2000", "0.9"},
		"{lambda: 1, lambda_final: 0.7, lambda_steps: 5}":                                                                        {"warmup:50,cosine:0.003:0.0003:11000", "linear:1:0.7:5"},
		"{lr: 0.001}": {"0.001", "0.9"},
		"{lr: 'warmup:5,0.001', lambda: linear:1:0:9}": {"warmup:5,0.001", "linear:1:0:9"},
	} {
		c, _ := Preset("laptop")
		if err := c.Merge([]byte("schema: 1\ntrain: "+text+"\n"), "old"); err != nil {
			t.Error(err)
		} else if string(c.Train.LR) != want[0] || string(c.Train.Lambda) != want[1] {
			t.Errorf("%s: lr %s, lambda %s, want %s", text, c.Train.LR, c.Train.Lambda, want)
		}
	}
	for text, want := range map[string]string{
		"{lr: 'cosine:1:0:5', lr_steps: 9}": `train.lr: found "cosine:1:0:5" beside train.lr, train.lr_steps`,
		"{lr_final: [1]}":                   `train.lr_final: found "[1]"`,
		"{lr_final: }":                      `train.lr_final: found "<nil>"`,
		"{lambda_final: '0.5,1'}":           `train.lambda_final: found "0.5,1"`,
	} {
		c, _ := Preset("laptop")
		if err := c.Merge([]byte("schema: 1\ntrain: "+text+"\n"), "old"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, lacks %q", text, err, want)
		}
	}
	other, _ := Preset("laptop")
	other.Train.LR = "0.1"
	if err := other.Merge([]byte("schema: 1\ntrain: {lr_steps: 9}\n"), "old"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "train.lr: found \"\"") {
		t.Errorf("steps of no cosine: error %v", err)
	}
	var planes Config
	old := "schema: 1\nnet: {kind: planes}\ntrain: {lr: 0.1, lr_final: 0.1, lr_steps: 1, warmup_steps: 0}\n"
	if err := planes.Merge([]byte(old), "old"); err != nil || planes.Train.Momentum != 0.95 || planes.Train.WeightDecay != 0.0001 {
		t.Errorf("planes of an earlier build: momentum %g, weight decay %g, error %v", planes.Train.Momentum, planes.Train.WeightDecay, err)
	}
	c, _ := Preset("laptop")
	if err := c.Set("train.warmup_steps", "5"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "replaced by train.lr, a schedule such as") {
		t.Errorf("set: error %v", err)
	}
}

// Effective configurations that the build before schedules were texts wrote mean what
// the presets mean now, but for the inputs of laptop's nets, its nodes and its window, which
// were others.
func TestOldConfigurations(t *testing.T) {
	laptop, _ := Preset("laptop")
	for _, name := range Presets() {
		text, err := os.ReadFile(filepath.Join("testdata", "old", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		want, _ := Preset(name)
		if want.Net.Features == laptop.Net.Features {
			want.Net.Features = "All + Hand"
		}
		if want.Actor.Nodes == laptop.Actor.Nodes {
			want.Actor.Nodes = 250
		}
		want.Replay.WindowExponent, want.Replay.WindowSlope = 0.65, 0.4
		got := want
		got.Train.LR, got.Train.Lambda, got.Actor.Tree.Runtime = "", "", "" // the file gives them
		if err := got.Merge(text, name); err != nil {
			t.Error(err)
		} else if got != want {
			t.Errorf("%s: %q", name, Differences(want, got))
		}
	}
}
