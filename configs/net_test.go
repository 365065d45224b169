package configs

import (
	"errors"
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
		{fairy.Net, nnue.Fairy().String()},
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
		n := laptop.Net
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
		c.Net = learnPreset(t, "small").Net
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
	c.Actor.Tree.Runtime = "tpu"
	if err := c.Validate(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), `actor.tree.runtime: found "tpu"`) {
		t.Errorf("unknown runtime: error %v", err)
	}
}
