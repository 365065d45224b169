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
		a.Bus.URL, a.Bus.TokenFile, a.Bus.Creds, a.Actor.Name, a.Train.Init, a.Run = "nats://planted", "planted", "planted", "planted", "planted", Run{"planted", "planted", 1}
		text := Shared(a)
		if strings.Contains(string(text), "planted") {
			t.Errorf("%s: a setting of one machine is in\n%s", name, text)
		}
		if again := Shared(a); string(again) != string(text) {
			t.Errorf("%s: found another text the second time", name)
		}
		own, _ := Preset("tiny")
		own.Actor.Workers, own.Bus.URL, own.Actor.Name = 77, "nats://own", "me"
		got, err := WithShared(own, text, "shared")
		if err != nil {
			t.Error(err)
		}
		for _, key := range keys(&got) {
			want := own
			if IsShared(key) {
				want = a
			}
			if get(&got, key) != get(&want, key) {
				t.Errorf("%s: %s: found %s, expected %s", name, key, get(&got, key), get(&want, key))
			}
		}
	}
}

// What a machine gives the run's settings is named, whatever the value; a file's schema is
// no setting.
func TestSharedGiven(t *testing.T) {
	given, err := SharedGiven([]byte("schema: 1\nactor: {workers: 3, nodes: 150}\nbus: {creds: a}\n"), "own.yaml",
		[]string{"HOME=/root", "SELFPLAY_ACTOR_NODES=150", "SELFPLAY_ACTOR_NODES_GROWTH=", "SELFPLAY_ACTOR_WORKERS=3"}, []string{"seed=1", "gate.concurrency=2"})
	if want := []string{"actor.nodes", "seed", "SELFPLAY_ACTOR_NODES", "SELFPLAY_ACTOR_NODES_GROWTH"}; err != nil || !slices.Equal(given, want) {
		t.Errorf("found %q, error %v, expected %q", given, err, want)
	}
	if given, err := SharedGiven(nil, "", nil, nil); err != nil || len(given) != 0 {
		t.Errorf("of nothing: found %q, error %v", given, err)
	}
	if _, err := SharedGiven([]byte("seed: 1"), "own.yaml", nil, nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("no schema: error %v", err)
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
		return slices.Contains([]string{"preset", "run", "bus", "replay", "train", "allocator"}, section)
	})
	if want := []string{"actor.name", "actor.workers", "actor.spool_max_games", "gate.concurrency"}; !slices.Equal(not, want) {
		t.Errorf("found %q not shared, expected %q", not, want)
	}
}

func TestWithSharedRefuses(t *testing.T) {
	own, _ := Preset("laptop")
	for text, want := range map[string]string{
		"schema: 1\nbus: {token_file: /etc/shadow}": "found bus.token_file",
		"schema: 1\nactor: {workers: 1000}":         "found actor.workers",
		"schema: 1\ntrain: {init: /etc/passwd}":     "found train.init",
		"schema: 1\npreset: laptop":                 "found preset",
		"schema: 1\nbus: {token: a}":                "found bus.token",
		"seed: 1":                                   "schema: found none",
		"schema: 1\nactor: {node: 5}":               "actor.nodes",
	} {
		got, err := WithShared(own, []byte(text), "shared")
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) || got != own {
			t.Errorf("%q: error %v, expected one with %q", text, err, want)
		}
	}
}

func FuzzWithShared(f *testing.F) {
	own, _ := Preset("laptop")
	for _, name := range Presets() {
		c, _ := Preset(name)
		f.Add(Shared(c))
	}
	f.Add([]byte("schema: 1\nbus: {url: a}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := WithShared(own, text, "fuzz")
		if err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("error %v, expected ErrInvalid", err)
		}
		for _, d := range Differences(own, c) {
			if key, _, _ := strings.Cut(d, ":"); !IsShared(key) {
				t.Errorf("changed %s", d)
			}
		}
	})
}
