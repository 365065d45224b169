package dash

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
)

// A run stands still if nothing is written for two minutes, however old its events are.
// Games that were there before the first look say nothing of when they came.
func TestStandsStill(t *testing.T) {
	dir := trial(t)
	w, err := NewWatch(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	late := time.Now().Add(1000 * time.Hour) // after all times of the files
	still := func(after time.Duration) bool {
		now := late.Add(after)
		w.readDirectory(now)
		return slices.ContainsFunc(w.state(now).Findings, func(f string) bool { return strings.Contains(f, "nothing has been written") })
	}
	if !still(0) || !still(time.Minute) {
		t.Error("found a run that goes on, expected that it stands still")
	}
	replaytest.Store(t, filepath.Join(dir, "replay"), record(t, "abc-6", secondNet, 6))
	for s := range 21 {
		if after := 2*time.Minute + time.Duration(s)*time.Second; still(after) {
			t.Errorf("%d s after a game: found that the run stands still", s)
		}
	}
	if !still(5 * time.Minute) {
		t.Error("three minutes after the game: found a run that goes on")
	}
}

// A run that is resumed with other settings is shown with those.
func TestSettingsChange(t *testing.T) {
	dir := trial(t)
	s := newTestServer(t, Config{Dir: dir})
	before := read[State](t, s, "/api/state").Versions.Learning
	settings, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	settings.Actor.Workers, settings.Gate.Elo1 = 123, 45
	write(t, dir, "config.yaml", string(settings.YAML()))
	if now := read[State](t, s, "/api/state").Versions.Learning; now == before {
		t.Errorf("found version %d of Learning with other settings, expected another", now)
	}
	write(t, dir, "gate/new.jsonl", testMatch)
	l := read[Learning](t, s, "/api/learning")
	if l.Cores == nil || l.Cores.Actor != 123 {
		t.Errorf("found %+v, expected 123 games at the same time", l.Cores)
	}
	if !slices.ContainsFunc(l.Matches, func(m Match) bool { return m.Elo1 == 45 }) {
		t.Errorf("found matches %+v, expected one with an upper hypothesis of 45 Elo", l.Matches)
	}
}
