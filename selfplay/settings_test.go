package selfplay

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
)

// TestReadSettings: the settings come newest first, and those that cannot be read
// leave a gap.
func TestReadSettings(t *testing.T) {
	own := verifyConfig(t)
	value := func(nodes uint64) string {
		cfg := own
		cfg.Actor.Nodes = nodes
		return string(configs.Shared(cfg))
	}
	for _, c := range []struct {
		name  string
		list  settingsList
		want  []uint64
		whole bool
	}{
		{"from the beginning", settingsList{Whole: true, Values: []string{value(5), value(7)}}, []uint64{7, 5}, true},
		{"only the newest", settingsList{Values: []string{value(6), value(7)}}, []uint64{7, 6}, false},
		{"another build's", settingsList{Whole: true, Values: []string{value(5), "actor: {speed: 1}", value(7)}}, []uint64{7, 5}, false},
		{"none", settingsList{}, nil, false},
	} {
		h := c.list.read(own)
		if got := nodesOf(h); !slices.Equal(got, c.want) || h.Whole != c.whole {
			t.Errorf("%s: nodes %v, whole %v", c.name, got, h.Whole)
		}
	}
}

// nodesOf are the nodes per move of the settings of a history.
func nodesOf(h actorHistory) (nodes []uint64) {
	for _, s := range h.Settings {
		nodes = append(nodes, s.Nodes)
	}
	return nodes
}

// TestLongSettings: a list too long for a message loses its oldest settings and says so.
func TestLongSettings(t *testing.T) {
	s := settingsList{Whole: true}
	s.add("a", "b", "a")
	if text, err := s.encode(); err != nil || !s.Whole || len(s.Values) != 2 {
		t.Fatalf("%s, error %v", text, err)
	}
	s.add(strings.Repeat("c", maxMessage-60))
	text, err := s.encode()
	if err != nil || len(text) > maxMessage || !s.Whole {
		t.Fatalf("%d bytes, whole %v, error %v", len(text), s.Whole, err)
	}
	s.add(strings.Repeat("d", 100))
	text, err = s.encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := parseSettings(text, "test")
	if err != nil || read.Whole || len(read.Values) != 1 || read.Values[0][0] != 'd' {
		t.Errorf("%d settings, whole %v, error %v", len(read.Values), read.Whole, err)
	}
	for _, wrong := range []string{"", "[]", `{"schema":2}`} {
		if _, err := parseSettings([]byte(wrong), "test"); err == nil {
			t.Errorf("%q is read", wrong)
		}
	}
}

// TestSettingsOutliveTheServer: after the server has lost everything, games of earlier
// settings are found the same and accuse nobody, those of settings that the run never
// had do. Once the trainer's list is lost too, nobody is accused for settings.
func TestSettingsOutliveTheServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	open := func(nodes uint64, lost ...string) *Run {
		t.Helper()
		for _, name := range lost {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		cfg := verifyConfig(t)
		cfg.Actor.Nodes = nodes
		return openRun(t, dir, cfg)
	}
	check := func(r *Run, whole bool, want ...uint64) actorHistory {
		t.Helper()
		h, err := r.actorHistory(t.Context())
		if got := nodesOf(h); err != nil || h.Whole != whole || !slices.Equal(got, want) {
			t.Errorf("nodes %v, whole %v, error %v, want nodes %v, whole %v", got, h.Whole, err, want, whole)
		}
		return h
	}
	closed := func(r *Run) {
		t.Helper()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r := open(60)
	check(r, true, 60)
	closed(r)
	r = open(50)
	check(r, true, 50, 60)
	closed(r)
	r = open(50, busDir)
	history := check(r, true, 50, 60)

	a, _ := verifyNets(t, r.cfg)
	record := func(actor string, nodes uint64, n int) []byte {
		cfg := r.cfg
		cfg.Actor.Nodes = nodes
		m := newMaker(t, cfg)
		id := verifyID(n)
		id.Actor = actor
		return m.record(t, m.open(t, a), a, id)
	}
	v := newTestVerifier(r.cfg, a)
	defer v.close()
	v.history = r.actorHistory
	for i, nodes := range []uint64{50, 60} {
		if verdicts, err := v.verdicts(t.Context(), record("honest", nodes, i)); err != nil || len(verdicts) > 0 || v.stats.Same != uint64(i+1) {
			t.Errorf("honest game of %d nodes: %v, error %v, counted %+v", nodes, verdicts, err, v.stats)
		}
	}
	forged := record("evil", 11, 2)
	if verdicts, err := v.verdicts(t.Context(), forged); err != nil || len(verdicts) != 1 || verdicts[0].Actor != "evil" {
		t.Errorf("game of 11 nodes: %v, error %v, settings %v", verdicts, err, nodesOf(history))
	}
	closed(r)

	closed(open(50, settingsFile)) // the server has a copy
	r = open(50)
	check(r, true, 50, 60)
	closed(r)
	r = open(50, busDir, settingsFile)
	check(r, false, 50)
	closed(r)
	r = open(40)
	check(r, false, 40, 50)
	closed(r)
}

// TestSettingsOfAnEarlierBuild: a run whose trainer kept no list has had what the
// server knows, if that reaches back to the run's beginning.
func TestSettingsOfAnEarlierBuild(t *testing.T) {
	t.Parallel()
	r := openRun(t, filepath.Join(t.TempDir(), "run"), verifyConfig(t))
	defer r.Close()
	for name, created := range map[string]time.Time{"known": time.Now(), "older": time.Now().Add(-time.Hour)} {
		record := bus.RunRecord{
			Schema: bus.RunSchema, Name: name, ID: name, Variant: r.cfg.Variant, Kind: r.cfg.Net.Kind,
			PublicKey: r.identity.PublicKey, Protocol: bus.Protocol, Created: created.UTC(),
		}
		if err := r.conn.CreateRun(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		joined, err := r.conn.Join(t.Context(), record.ID, bus.JoinOptions{})
		if err != nil {
			t.Fatal(err)
		}
		earlier := &Run{dir: t.TempDir(), identity: identity{Name: name, ID: name}, conn: r.conn, bus: joined}
		if err := earlier.say(t.Context(), joined.SetPointer, configKey, "a"); err != nil {
			t.Fatal(err)
		}
		past, err := earlier.pastSettings(t.Context())
		if err != nil || past.Whole != (name == "known") || !slices.Equal(past.Values, []string{"a"}) {
			t.Errorf("%s: %+v, error %v", name, past, err)
		}
		if h, said, err := earlier.saidSettings(t.Context()); err != nil || said || h.Whole {
			t.Errorf("%s, to others: %+v, error %v", name, h, err)
		}
	}
}
