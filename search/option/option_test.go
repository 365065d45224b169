package option_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/search/option"
)

type inner struct {
	Nodes uint64 `yaml:"fast_nodes" range:"0..1000000000000" random:"true"`
}

type settings struct {
	Resource int     `yaml:"-"`
	Depth    int     `yaml:"depth" uci:"Depth" range:"1..64" usage:"plies"`
	Margin   float64 `yaml:"margin" uci:"Margin Value" range:"-1..2.5"`
	Probe    int     `yaml:"mate_probe" alias:"probe" uci:"Mate Probe" values:"0,1,3"`
	Reuse    bool    `yaml:"reuse" uci:"Reuse"`
	Hidden   int     `yaml:"-" key:"hash" range:"1..10"`
	Inner    inner   `yaml:",inline"`
	Late     inner   `yaml:"-" prefix:"late_"`
}

func usual() settings {
	return settings{Depth: 8, Margin: 0.5, Probe: 3, Reuse: true, Hidden: 4, Inner: inner{Nodes: 7}, Late: inner{Nodes: 9}}
}

func TestAll(t *testing.T) {
	s := usual()
	all := option.All(&s)
	want := []string{"depth", "margin", "mate_probe", "reuse", "hash", "fast_nodes", "late_fast_nodes"}
	if keys := option.Keys(all); !slices.Equal(keys, want) {
		t.Fatalf("found keys %q, expected %q", keys, want)
	}
	lines := []string{
		"type spin default 8 min 1 max 64",
		"type string default 0.5",
		"type combo default 3 var 0 var 1 var 3",
		"type check default true",
		"type spin default 4 min 1 max 10",
		"type spin default 7 min 0 max 1000000000000",
		"type spin default 9 min 0 max 1000000000000",
	}
	for i, o := range all {
		if o.Describe() != lines[i] {
			t.Errorf("%s: found %q, expected %q", o.Key, o.Describe(), lines[i])
		}
		if err := o.Check(); err != nil {
			t.Error(err)
		}
		if o.Random != strings.HasSuffix(o.Key, "fast_nodes") {
			t.Errorf("%s: found random %v", o.Key, o.Random)
		}
		before := s
		if err := o.Set(o.String()); err != nil || s != before { // what is printed is what is read
			t.Errorf("%s set to itself: found %+v, error %v", o.Key, s, err)
		}
	}
}

func TestSet(t *testing.T) {
	for _, c := range []struct {
		key, text string
		want      settings // of values taken
		err       string   // else
	}{
		{key: "depth", text: "64", want: settings{Depth: 64}},
		{key: "depth", text: "65", err: "whole number from 1 to 64"},
		{key: "depth", text: "0", err: "whole number from 1 to 64"},
		{key: "depth", text: "2.5", err: "whole number"},
		{key: "margin", text: "-1", want: settings{Margin: -1}},
		{key: "margin", text: "2.6", err: "expected -1 to 2.5"},
		{key: "margin", text: "NaN", err: "expected -1 to 2.5"},
		{key: "margin", text: "x", err: "decimal number"},
		{key: "probe", text: "1", want: settings{Probe: 1}},
		{key: "mate_probe", text: "2", err: "0, 1 or 3"},
		{key: "reuse", text: "TRUE", want: settings{Reuse: true}},
		{key: "reuse", text: "1", err: "true or false"},
		{key: "fast_nodes", text: "1000", want: settings{Inner: inner{Nodes: 1000}}},
		{key: "fast_nodes", text: "-1", err: "whole number from 0"},
	} {
		var s settings
		o, ok := option.Find(option.All(&s), c.key)
		if !ok {
			t.Errorf("found no option %s", c.key)
			continue
		}
		if err := o.Set(c.text); c.err == "" && (err != nil || s != c.want) {
			t.Errorf("%s=%s: found %+v, error %v", c.key, c.text, s, err)
		} else if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || s != settings{}) {
			t.Errorf("%s=%s: found %+v, error %v, expected one with %q", c.key, c.text, s, err, c.err)
		}
	}
}

func TestFind(t *testing.T) {
	s := usual()
	for _, key := range []string{"marign", ""} {
		if o, ok := option.Find(option.All(&s), key); ok {
			t.Errorf("%q: found the option %s, expected none", key, o.Key)
		}
	}
}

func TestCheck(t *testing.T) {
	for name, change := range map[string]func(*settings){
		"depth":      func(s *settings) { s.Depth = 0 },
		"margin":     func(s *settings) { s.Margin = math.NaN() },
		"mate_probe": func(s *settings) { s.Probe = 2 },
		"hash":       func(s *settings) { s.Hidden = 11 },
	} {
		s := usual()
		change(&s)
		if err := option.Check(&s); err == nil || !strings.HasPrefix(err.Error(), name+": found ") {
			t.Errorf("%s: found error %v", name, err)
		}
	}
	s := usual()
	if err := option.Check(&s); err != nil {
		t.Error(err)
	}
}

func TestBadTag(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a number without a range was taken")
		}
	}()
	option.All(&struct {
		X int `yaml:"x"`
	}{})
}

func TestBounds(t *testing.T) {
	s := usual()
	for key, want := range map[string][2]float64{"depth": {1, 64}, "margin": {-1, 2.5}, "fast_nodes": {0, 1e12}} {
		o, _ := option.Find(option.All(&s), key)
		if low, high, ok := o.Bounds(); !ok || low != want[0] || high != want[1] {
			t.Errorf("%s: found %v to %v, %v, expected %v", key, low, high, ok, want)
		}
	}
	for _, key := range []string{"probe", "reuse"} {
		o, _ := option.Find(option.All(&s), key)
		if _, _, ok := o.Bounds(); ok {
			t.Errorf("%s: found bounds, expected none", key)
		}
	}
	if o, _ := option.Find(option.All(&s), "fast_nodes"); o.Field != "Nodes" {
		t.Errorf("found the field %q, expected Nodes", o.Field)
	}
}
