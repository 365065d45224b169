package tune

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/golden"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGoldenState reads the states of all versions and writes the present one.
func TestGoldenState(t *testing.T) {
	settings := map[string]string{"method": "screen", "parameter singular": "false or true", "seed of values": "1"}
	results := []byte("0143-2---")
	present := golden.Present(StateSchema, "state.json")
	path := filepath.Join(t.TempDir(), "state.json")
	if err := writeState(path, settings, results); err != nil {
		t.Fatal(err)
	}
	written := golden.Read(t, path)
	if *update {
		golden.Write(t, present, written)
	}
	if !bytes.Equal(written, golden.Read(t, present)) {
		t.Errorf("found\n%s\nexpected the golden file", written)
	}
	for _, path := range golden.Versions(t, present) {
		if found, err := readState(path, settings, 9); err != nil || found != "0143-2" {
			t.Errorf("%s: found %q, error %v", path, found, err)
		}
	}
	if _, err := readState(path, settings, 5); !errors.Is(err, ErrOtherSettings) {
		t.Errorf("a state of more pairs: found error %v", err)
	}
}

func TestBadState(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "unexpected end",
		"[]":                              "array",
		`{"schema":3,"later":1}`:          "schema 3, expected 1 to 2",
		`{"schema":1,"later":1}`:          "later",
		`{"schema":1,"results":"015"}`:    `'5' of pair 2`,
		`{"schema":1} {}`:                 "after top-level value",
		strings.Repeat(" ", 2*MaxPairs+1): "more than",
	} {
		path := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readState(path, nil, 9); !errors.Is(err, ErrBadState) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: found error %v, expected one with %q", text, err, want)
		}
	}
}

// TestStateWithoutPairs: a state in which nothing was played does not stand in the way of
// another run.
func TestStateWithoutPairs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	if err := writeState(path, map[string]string{"method": "spsa"}, nil); err != nil {
		t.Fatal(err)
	}
	if results, err := readState(path, map[string]string{"method": "screen"}, 9); err != nil || results != "" {
		t.Errorf("found results %q, error %v", results, err)
	}
}

// TestResultsOutOfOrder: no batch of SPSA begins before the one before it has ended.
func TestResultsOutOfOrder(t *testing.T) {
	numbers, _, _ := three()
	s := SPSA{Numbers: numbers, Batch: 4}
	c := Config{Pairs: 16, State: filepath.Join(t.TempDir(), "state"),
		Play: func(context.Context, int, Values, Values) (int, error) { return 2, nil }}
	settings := s.settings(c.Pairs)
	settings["seed of values"] = "0"
	for results, good := range map[string]bool{"2222--1": true, "222-1": false, "2222": true, "": true, "22222222": true, "2222-2222": false} {
		if err := writeState(c.State, settings, []byte(results)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), c); (err == nil) != good || !good && !errors.Is(err, ErrBadState) {
			t.Errorf("%q: found error %v", results, err)
		}
	}
}

// A flipped bit is an error that names the file, or makes no difference.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	settings := map[string]string{"method": "screen"}
	if err := writeState(path, settings, []byte("0143-2")); err != nil {
		t.Fatal(err)
	}
	if told := golden.Flip(t, path, func() (any, error) { return readState(path, settings, 9) }); told == 0 {
		t.Error("no flipped bit made a difference")
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(`{"schema":1,"settings":{"a":"b"},"results":"01-4"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseState(text)
		if (err == nil) != (s.Schema == 1 || s.Schema == StateSchema) {
			t.Errorf("found %+v, error %v", s, err)
		}
	})
}
