package selfplay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

const (
	// settingsKey is the pointer whose value is the settingsList.
	settingsKey = "settings"

	settingsFile   = "settings.json" // in a trainer's directory: the settingsList
	settingsSchema = 1
	settingsRemedy = "remove it if the servers have the run, they know its content; else put it back from a backup"
)

// settingsList are the settings that a run has had. They are in the trainer's
// directory and on the server before others can play with them.
type settingsList struct {
	Schema int      `json:"schema"`
	Whole  bool     `json:"whole"`  // there were no others
	Values []string `json:"values"` // of the pointer configKey, each once, oldest first
}

// parseSettings reads an encoded list, called name in errors.
func parseSettings(text []byte, name string) (s settingsList, err error) {
	if len(text) > maxMessage+1 { // and a newline
		return s, fmt.Errorf("%s: found %d bytes, expected at most %d", name, len(text), maxMessage)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	if s.Schema != settingsSchema {
		return s, fmt.Errorf("%s: found schema %d, expected %d", name, s.Schema, settingsSchema)
	}
	return s, nil
}

// encode drops the oldest settings of a list that is too long for a message.
func (s *settingsList) encode() ([]byte, error) {
	s.Schema = settingsSchema
	text, err := json.Marshal(s)
	for err == nil && len(text) > maxMessage && len(s.Values) > 1 {
		s.Values, s.Whole = s.Values[1:], false
		text, err = json.Marshal(s)
	}
	return text, err
}

// add adds settings that are not in the list.
func (s *settingsList) add(values ...string) {
	for _, v := range values {
		if !slices.Contains(s.Values, v) {
			s.Values = append(s.Values, v)
		}
	}
}

// read returns what actors have had by the list. Own are settings of this process,
// for what the list does not say.
func (s *settingsList) read(own configs.Config) actorHistory {
	h := actorHistory{Whole: s.Whole}
	for _, v := range slices.Backward(s.Values) {
		cfg, err := configs.WithShared(own, []byte(v), "settings of the run")
		if err != nil { // of another build
			h.Whole = false
			continue
		}
		h.Settings = append(h.Settings, cfg.Actor)
	}
	return h
}

// beginSettings writes the list of a new run, unless it is there.
func (r *Run) beginSettings() error {
	_, err := os.Stat(r.path(settingsFile))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err = r.keepSettings(settingsList{Whole: true})
	return err
}

// keepSettings writes a list into the trainer's directory and returns its text.
func (r *Run) keepSettings(s settingsList) (string, error) {
	text, err := s.encode()
	if err != nil {
		return "", err
	}
	return string(text), durable.WriteSummed(r.path(settingsFile), append(text, '\n'))
}

// saidSettings returns the settings that the run has had as far as the server knows
// them. Without the trainer's list there, which trainers of earlier builds do not
// give, said is false and the list is not whole.
func (r *Run) saidSettings(ctx context.Context) (s settingsList, said bool, err error) {
	p, err := r.bus.Pointer(ctx, settingsKey)
	if err == nil {
		said = true
		s, err = parseSettings([]byte(p.Value), "list of the run's settings on the server")
	} else if errors.Is(err, bus.ErrNoPointer) {
		err = nil
	}
	if err != nil {
		return s, said, err
	}
	changes, err := r.bus.PointerHistory(ctx, configKey)
	for _, c := range changes {
		s.add(c.Value)
	}
	return s, said, err
}

// pastSettings returns the settings that the run has had as the trainer's directory
// and the server know them.
func (r *Run) pastSettings(ctx context.Context) (settingsList, error) {
	found, said, err := r.saidSettings(ctx)
	if err != nil {
		return found, err
	}
	text, err := durable.ReadSummed(r.path(settingsFile), settingsRemedy)
	if errors.Is(err, fs.ErrNotExist) { // a directory of an earlier build
		if !said {
			found.Whole, err = r.reachBack(ctx)
			return found, err
		}
		return found, nil
	}
	if err != nil {
		return found, err
	}
	s, err := parseSettings(text, r.path(settingsFile))
	if said { // a directory from a backup may know less
		s.Whole = found.Whole
	}
	s.add(found.Values...)
	return s, err
}

// firstSettings is how long after a run's beginning its first settings are there.
const firstSettings = time.Minute

// reachBack reports whether the server has all settings since the run was created: it
// keeps so many only, and may have lost some.
func (r *Run) reachBack(ctx context.Context) (bool, error) {
	changes, err := r.bus.PointerHistory(ctx, configKey)
	if err != nil || len(changes) == 0 {
		return false, err
	}
	record, err := r.conn.FindRun(ctx, r.identity.Name)
	return err == nil && changes[0].Time.Before(record.Created.Add(firstSettings)), err
}
