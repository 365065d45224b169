package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// Errors of the state of a run.
var (
	// ErrOtherSettings: the state belongs to a run with other parameters, players
	// or settings; the error says which.
	ErrOtherSettings = errors.New("tune: state of another run")
	// ErrBadState: the file is damaged, or of a version that cannot be read.
	ErrBadState = errors.New("tune: bad state")
)

// StateSchema is the version of the state. Files of version 1 have no checksum.
const StateSchema = 2

// maxStateBytes bounds the state: a digit for every pair, and the settings.
const maxStateBytes = MaxPairs + 1<<20

// state is the file that a run is resumed from. All else follows from it.
type state struct {
	Schema   int               `json:"schema"` // StateSchema
	Settings map[string]string `json:"settings"`
	// Results has a character for every pair from the first on: the half points of
	// A, 0 to 4, or - for a pair that was not finished before a later one.
	Results string `json:"results"`
}

// readState returns the results of a state, at most those of a number of pairs; none
// if there is no file. Errors: ErrBadState, ErrOtherSettings, those of the file.
func readState(path string, settings map[string]string, pairs int) (results string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("tune: state: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxStateBytes+1))
	if err != nil {
		return "", fmt.Errorf("tune: state: %w", err)
	}
	if text, err = durable.Unsum(path, text, "begin anew with another file, or go on from a copy of this one"); err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadState, err)
	}
	s, err := parseState(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if s.Results == "" {
		return "", nil // nothing was played yet, with whatever settings
	}
	if diff := words.Difference(settings, s.Settings, "in the state"); diff != "" {
		return "", fmt.Errorf("%w: %s: %s; use the settings of the state, or another file", ErrOtherSettings, path, diff)
	}
	if len(s.Results) > pairs {
		return "", fmt.Errorf("%w: %s holds %d pairs, expected at most the %d of this run", ErrOtherSettings, path, len(s.Results), pairs)
	}
	return s.Results, nil
}

func parseState(text []byte) (state, error) {
	bad := func(format string, args ...any) (state, error) {
		return state{}, fmt.Errorf("%w: %w", ErrBadState, fmt.Errorf(format, args...))
	}
	if len(text) > maxStateBytes {
		return bad("more than %d bytes", maxStateBytes)
	}
	var head struct { // a later schema may have keys unknown here
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return bad("%w", err)
	}
	if head.Schema < 1 || head.Schema > StateSchema {
		return bad("schema %d, expected 1 to %d", head.Schema, StateSchema)
	}
	var s state
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return bad("%w", err)
	}
	if i := strings.IndexFunc(s.Results, func(r rune) bool { return r != missing && (r < '0' || r > '4') }); i >= 0 {
		return bad("result %q of pair %d, expected a digit from 0 to 4 or %c", s.Results[i], i, missing)
	}
	return s, nil
}

func writeState(path string, settings map[string]string, results []byte) error {
	s := state{StateSchema, settings, strings.TrimRight(string(results), string(missing))}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("tune: state: %w", err)
	}
	if err := durable.WriteSummed(path, append(text, '\n')); err != nil {
		return fmt.Errorf("tune: state: %w", err)
	}
	return nil
}
