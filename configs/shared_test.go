package configs

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// What decides the games comes over whole, and nothing else does.
func TestShared(t *testing.T) {
	for _, name := range Presets() {
		a, _ := Preset(name)
		a.Seed, a.Variant, a.Actor.Nodes, a.Gate.Pairs, a.Net.Width, a.Actor.Tree.Noise, a.Verify.Share = 1<<63+5, "chess", 7, 9, 48, 0.25, 0.5
		theirs := a
		a.Bus.URL, a.Bus.TokenFile, a.Bus.Creds, a.Actor.Name, a.Actor.Workers, a.Train.Init = "nats://planted", "planted", "planted", "planted", 77, "planted"
		a.Run = Run{"planted", "planted"}
		text := Shared(a)
		if strings.Contains(string(text), "planted") {
			t.Errorf("%s: a setting of one machine is in\n%s", name, text)
		}
		if b, err := FromShared(text, "shared"); err != nil || b != theirs {
			t.Errorf("%s: error %v, differs in %q", name, err, Differences(theirs, b))
		}
		if again := Shared(a); string(again) != string(text) {
			t.Errorf("%s: found another text the second time", name)
		}
	}
}

func TestSharedSettings(t *testing.T) {
	var not []string
	for _, key := range keys(new(Config)) {
		if !IsShared(key) {
			not = append(not, key)
		}
	}
	not = slices.DeleteFunc(not, func(key string) bool {
		section, _, _ := strings.Cut(key, ".")
		return slices.Contains([]string{"run", "bus", "replay", "train"}, section)
	})
	if want := []string{"actor.name", "actor.workers", "actor.spool_max_games", "gate.concurrency"}; !slices.Equal(not, want) {
		t.Errorf("found %q not shared, expected %q", not, want)
	}
}

func TestFromSharedRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"schema: 1\npreset: laptop\nbus: {token_file: /etc/shadow}": "found bus.token_file",
		"schema: 1\npreset: laptop\nactor: {workers: 1000}":         "found actor.workers",
		"schema: 1\npreset: laptop\ntrain: {init: /etc/passwd}":     "found train.init",
		"schema: 1\npreset: desktop":                                "found \"desktop\"",
		"schema: 1":                                                 "preset",
		"preset: laptop":                                            "schema: found none",
		"schema: 1\npreset: laptop\nactor: {node: 5}":               "actor.nodes",
	} {
		if _, err := FromShared([]byte(text), "shared"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, expected one with %q", text, err, want)
		}
	}
}

func FuzzFromShared(f *testing.F) {
	for _, name := range Presets() {
		c, _ := Preset(name)
		f.Add(Shared(c))
	}
	f.Add([]byte("schema: 1\npreset: laptop\nbus: {url: a}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := FromShared(text, "fuzz")
		if err != nil {
			return
		}
		preset, _ := Preset(c.Preset)
		for _, d := range Differences(preset, c) {
			if key, _, _ := strings.Cut(d, ":"); !IsShared(key) {
				t.Errorf("changed %s", d)
			}
		}
	})
}
