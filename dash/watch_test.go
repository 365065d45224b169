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

// How long nothing was written is said in whole minutes.
func TestStillInMinutes(t *testing.T) {
	w, err := NewWatch(Config{Dir: trial(t)})
	if err != nil {
		t.Fatal(err)
	}
	w.readDirectory(time.Now())
	for idle, want := range map[time.Duration]string{
		2*time.Minute + time.Second: "2m", 2*time.Minute + 59*time.Second: "2m", 10 * time.Minute: "10m", 61*time.Minute + 5*time.Second: "1h1m",
	} {
		found := w.state(w.changed().Add(idle)).Findings
		if len(found) != 1 || !strings.HasPrefix(found[0], "nothing has been written for "+want+":") {
			t.Errorf("after %v: found %q, expected that nothing has been written for %s", idle, found, want)
		}
	}
}

// A loss that was not measured, as no games were held out yet, is not shown as 0.
func TestLossNotMeasured(t *testing.T) {
	dir := trial(t)
	write(t, dir, "events.jsonl", testEvents+`{"time":"2026-01-02T03:05:00Z","level":"INFO","msg":"net offered","generation":3,"net":"`+strings.Repeat("3", 64)+`","step":120,"games":30,"held_out_loss":0}`+"\n")
	for _, s := range read[State](t, newTestServer(t, Config{Dir: dir}), "/api/state").Stages {
		if s.ID == "train" && (len(s.Figures) != 1 || *s.Figures[0].Value != 120) {
			t.Errorf("found figures %+v, expected step 120 alone", s.Figures)
		}
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
	settings.Actor.Workers, settings.Gate.Elo1, settings.Allocator.Enabled = 123, 45, true
	write(t, dir, "config.yaml", string(settings.YAML()))
	if now := read[State](t, s, "/api/state").Versions.Learning; now == before {
		t.Errorf("found version %d of Learning with other settings, expected another", now)
	}
	write(t, dir, "gate/new.jsonl", testMatch)
	l := read[Learning](t, s, "/api/learning")
	if l.Cores == nil || l.Cores.Actor != 123 || !l.Cores.Allocator {
		t.Errorf("found %+v, expected 123 games at the same time on cores that the allocator divides", l.Cores)
	}
	if !slices.ContainsFunc(l.Matches, func(m Match) bool { return m.Elo1 == 45 }) {
		t.Errorf("found matches %+v, expected one with an upper hypothesis of 45 Elo", l.Matches)
	}
}
