package selfplay

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/nets"
)

// changesInWords describes changes as "action generation by".
func changesInWords(changes []NetChange) []string {
	var out []string
	for _, c := range changes {
		out = append(out, strings.TrimSpace(c.Action+" "+string(rune('0'+c.Generation))+" "+c.By))
	}
	return out
}

// runWithNets returns the directory of a run that has offered nets of five generations
// and played with the first, as an earlier build says it, and the third; and their ids.
func runWithNets(t *testing.T) (dir string, r *Run, ids []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Bus.Listen = "127.0.0.1:0"
	r = openRun(t, dir, cfg)
	t.Cleanup(func() { r.Close() })
	ids = make([]string, 6)
	for g := 1; g < len(ids); g++ {
		ids[g] = offerNet(t, r, g)
	}
	revision, err := r.bus.SetPointer(t.Context(), r.currentKey(), ids[1], 0)
	if err != nil {
		t.Fatal(err)
	}
	third := nets.Record{Schema: nets.RecordSchema, Net: ids[3], Generation: 3, Action: nets.Publish, By: "referee", From: ids[1]}
	if _, err := r.bus.SetPointer(t.Context(), r.currentKey(), third.String(), revision); err != nil {
		t.Fatal(err)
	}
	return dir, r, ids
}

func chooseNet(t *testing.T, dir string) *NetChoice {
	t.Helper()
	cfg, _, err := SavedConfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ChooseNet(t.Context(), dir, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestChooseNetOfDirectory(t *testing.T) {
	t.Parallel()
	dir, r, ids := runWithNets(t)
	if _, err := ChooseNet(t.Context(), dir, r.cfg, Options{}); !errors.Is(err, dirlock.ErrHeld) || !strings.Contains(err.Error(), "--nats") {
		t.Errorf("a running run: error %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	c := chooseNet(t, dir)
	for _, step := range []struct {
		do   func() (was, is nets.Record, err error)
		want string // generations before and after, or what is wrong
	}{
		{func() (was, is nets.Record, err error) { return c.Promote(t.Context(), ids[2], "anna@host", "x") }, "older than 3"},
		{func() (was, is nets.Record, err error) { return c.Promote(t.Context(), ids[3], "anna@host", "x") }, "plays with it"},
		{func() (was, is nets.Record, err error) { return c.Promote(t.Context(), ids[5][:7], "anna@host", "x") }, "at least 8 digits"},
		{func() (was, is nets.Record, err error) {
			return c.Promote(t.Context(), strings.Repeat("0", 64), "anna@host", "x")
		}, "found 0 nets"},
		{func() (was, is nets.Record, err error) { return c.Promote(t.Context(), ids[5], "anna@host", "a\nb") }, "why"},
		{func() (was, is nets.Record, err error) { return c.Promote(t.Context(), ids[5][:8], "anna@host", "x") }, "3 5"},
		{func() (was, is nets.Record, err error) { return c.Rollback(t.Context(), 5, "anna@host", "x") }, "expected one before 5"},
		{func() (was, is nets.Record, err error) { return c.Rollback(t.Context(), Previous, "anna@host", "x") }, "5 3"},
		{func() (was, is nets.Record, err error) { return c.Rollback(t.Context(), Previous, "anna@host", "x") }, "3 1"},
		{func() (was, is nets.Record, err error) { return c.Rollback(t.Context(), Previous, "anna@host", "x") }, "none is there any more"},
		{func() (was, is nets.Record, err error) { return c.Promote(t.Context(), ids[4], "anna@host", "x") }, "1 4"},
		{func() (was, is nets.Record, err error) { return c.Rollback(t.Context(), 2, "anna@host", "x") }, "4 2"},
		{func() (was, is nets.Record, err error) { return c.Rollback(t.Context(), 0, "anna@host", "x") }, "2 0"},
		{func() (was, is nets.Record, err error) { return c.Rollback(t.Context(), 0, "anna@host", "x") }, "plays with it"},
		{func() (was, is nets.Record, err error) { return c.Promote(t.Context(), ids[3], "anna@host", "x") }, "0 3"},
	} {
		was, is, err := step.do()
		got := string([]rune{rune('0' + was.Generation), ' ', rune('0' + is.Generation)})
		if err != nil {
			got = err.Error()
		}
		if v, e := LocalOverview(dir, r.cfg, time.Now()); err == nil && (e != nil || v.Current == nil || v.Current.Net != is.Net) {
			t.Errorf("%s: the directory says %+v, error %v, expected generation %d", step.want, v.Current, e, is.Generation)
		}
		if err == nil && got != step.want || err != nil && !strings.Contains(got, step.want) {
			t.Errorf("found %q, expected %q", got, step.want)
		}
	}
	history, err := c.History(t.Context())
	want := []string{"publish 1", "publish 3 referee", "promote 5 anna@host", "rollback 3 anna@host", "rollback 1 anna@host",
		"promote 4 anna@host", "rollback 2 anna@host", "rollback 0 anna@host", "promote 3 anna@host"}
	if err != nil || !slices.Equal(changesInWords(history), want) {
		t.Errorf("found %q, error %v, expected %q", changesInWords(history), err, want)
	}
	for i := 1; i < len(history); i++ {
		if history[i].From != history[i-1].Net || history[i].Time.Before(history[i-1].Time) {
			t.Errorf("entry %d: found %+v after %+v", i, history[i], history[i-1])
		}
	}
	if current, err := c.run.store.Current(); err != nil || current != ids[3] {
		t.Errorf("the directory stands for net %s, error %v, expected %s", current, err, ids[3])
	}
}

// A net that only the directory has goes to the server first; one whose manifest
// another key signed, or of another run, is none that can be chosen.
func TestChooseNetRefusesForeign(t *testing.T) {
	t.Parallel()
	dir, r, ids := runWithNets(t)
	if err := r.bus.DeleteNet(t.Context(), ids[4]); err != nil {
		t.Fatal(err)
	}
	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	spoil := func(id string, key ed25519.PrivateKey, run string) {
		m, err := r.store.Manifest(id)
		if err == nil {
			m.Run = run
			err = errors.Join(m.Sign(key), r.store.PutManifest(m))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	spoil(ids[5], other, "")
	third := offerNet(t, r, 6)
	spoil(third, r.key, "another")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	c := chooseNet(t, dir)
	for _, id := range []string{ids[5], third} {
		if _, _, err := c.Promote(t.Context(), id, "anna@host", "x"); !errors.Is(err, ErrNoChoice) {
			t.Errorf("error %v, expected ErrNoChoice", err)
		}
	}
	if _, is, err := c.Promote(t.Context(), ids[4], "anna@host", "x"); err != nil || is.Net != ids[4] {
		t.Errorf("found %v, error %v", is, err)
	}
	if _, err := c.run.bus.NetManifest(t.Context(), ids[4]); err != nil {
		t.Errorf("the net chosen is not on the server: %v", err)
	}
}

// Without a directory the server alone tells what is to be known, while the run is
// running.
func TestChooseNetOnServer(t *testing.T) {
	t.Parallel()
	dir, r, ids := runWithNets(t)
	record := bus.RunRecord{Schema: bus.RunSchema, Name: "run", ID: r.id(), Variant: r.cfg.Variant, Kind: r.cfg.Net.Kind,
		PublicKey: hex.EncodeToString(r.key.Public().(ed25519.PublicKey)), Protocol: bus.Protocol, Created: time.Now()}
	if err := r.conn.CreateRun(t.Context(), record); err != nil && !errors.Is(err, bus.ErrRunExists) {
		t.Fatal(err)
	}
	own := preset(t, "laptop")
	own.Bus.URL, own.Run.Name = "nats://"+r.conn.Addr(), "nobody"
	if _, err := ChooseNet(t.Context(), "", own, Options{}); !errors.Is(err, bus.ErrNoRun) {
		t.Errorf("error %v, expected ErrNoRun", err)
	}
	own.Run.Name = "other" // the directory is of another run
	if _, err := ChooseNet(t.Context(), dir, own, Options{}); err == nil || !strings.Contains(err.Error(), "found the directory of run run, expected that of other") {
		t.Errorf("the directory of another run: error %v", err)
	}
	own.Run.Name = "run"
	c, err := ChooseNet(t.Context(), "", own, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, is, err := c.Promote(t.Context(), ids[5], "anna@host", "x"); err != nil || is.Generation != 5 || is.From != ids[3] {
		t.Errorf("found %v, error %v", is, err)
	}
	follow := newFollower(r)
	if err := follow.sync(t.Context()); err != nil || follow.current().ID != ids[5] {
		t.Errorf("found net %s, error %v, expected %s", follow.current().ID, err, ids[5])
	}
	p, now, err := c.now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Somebody else is faster.
	if _, _, err := c.Rollback(t.Context(), 2, "bert@host", "y"); err != nil {
		t.Fatal(err)
	}
	if err := follow.sync(t.Context()); err != nil || follow.current().ID != ids[2] {
		t.Errorf("found net %s, error %v, expected %s", follow.current().ID, err, ids[2])
	}
	if _, err := c.set(t.Context(), p, now, nets.Record{Net: ids[1], Generation: 1, Action: nets.Rollback}); !errors.Is(err, bus.ErrConflict) {
		t.Errorf("error %v, expected ErrConflict", err)
	}
	if history, err := c.History(t.Context()); err != nil || len(history) != 4 || history[3].By != "bert@host" || history[0].Generation != 1 {
		t.Errorf("found %+v, error %v", history, err)
	}
}

func TestChooseNetOfNoRun(t *testing.T) {
	dir := t.TempDir()
	if _, err := ChooseNet(t.Context(), dir, smallConfig(t), Options{}); err == nil || !strings.Contains(err.Error(), "found no run") {
		t.Errorf("error %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left %v, error %v", entries, err)
	}
}
