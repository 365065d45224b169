package selfplay

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// writeFiles writes files of that content, each with the folders that it lies in.
func writeFiles(t *testing.T, content string, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestListFiles: links are followed, secrets are not kept, and a link to what is not there, or
// to the backups, is an error that names it.
func TestListFiles(t *testing.T) {
	base := t.TempDir()
	dir, large, link, output := filepath.Join(base, "run"), filepath.Join(base, "large"), filepath.Join(base, "link"), filepath.Join(base, "backups")
	writeFiles(t, "", filepath.Join(dir, "a"), filepath.Join(dir, "LOCK"), filepath.Join(dir, "trainer.key"), filepath.Join(dir, "spool", "b"),
		filepath.Join(large, "replay", "1"), filepath.Join(large, "replay", "2"), filepath.Join(large, "secret.creds"), filepath.Join(large, "settings"), filepath.Join(output, "parts", "a"))
	backups, err := os.Stat(output)
	if err != nil {
		t.Fatal(err)
	}
	symlink := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	symlink(filepath.Join(large, "replay"), "replay")
	symlink(filepath.Join(large, "secret.creds"), "login")
	symlink(filepath.Join(large, "settings"), "config.yaml")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, link} {
		names, err := listFiles(dir, backups, func(string) bool { return true })
		if want := []string{"a", "config.yaml", "replay/1", "replay/2"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: found %v, error %v, expected %v", dir, names, err, want)
		}
	}
	for to, want := range map[string]string{filepath.Join(base, "unmounted"): "mount the disk", "..": "found a link to a folder that it lies in", output: "found the directory of the backups"} {
		path := filepath.Join(dir, "replay", "more")
		if to == ".." {
			to = dir
		}
		symlink(to, "replay/more")
		if _, err := listFiles(dir, backups, func(string) bool { return true }); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("link to %s: error %v, expected %q of %s", to, err, want, path)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := listFiles(filepath.Join(base, "missing"), nil, func(string) bool { return true }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: error %v, expected %v", err, fs.ErrNotExist)
	}
}

// TestRestoredActors: actors that are restored from one backup have other starts than the
// one that was backed up, and than each other.
func TestRestoredActors(t *testing.T) {
	seen := map[int]bool{}
	for range 2 {
		dir := t.TempDir()
		a := actorIdentity{Schema: actorSchema, Run: "run", Name: "a1", Seed: strings.Repeat("0", 2*ed25519.SeedSize), Starts: 5}
		if err := a.write(dir); err != nil {
			t.Fatal(err)
		}
		if gaps, err := RestoreDirectory(dir); gaps || err != nil {
			t.Fatalf("found gaps %v, error %v, expected no lists", gaps, err)
		}
		restored, err := openActor(dir, "run", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		epoch := restored.epoch()
		if epoch < 5+restoredStarts || seen[epoch] {
			t.Errorf("found epoch %d, expected one above %d, and another for each", epoch, restoredStarts)
		}
		seen[epoch] = true
	}
}

// TestRestoredLists: the lists of a trainer that is restored do not say that there were no
// other nets and settings.
func TestRestoredLists(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	for _, nets := range []int{0, 1} {
		r := newRun(t.TempDir(), configs.Config{}, Options{})
		if _, err := r.keepSettings(settingsList{Whole: true, Values: []string{"a"}}); err != nil {
			t.Fatal(err)
		}
		l, err := openNetList(r.path(publishedFile), true)
		if err == nil && nets > 0 {
			err = l.add("known")
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []bool{true, false} {
			if gaps, err := RestoreDirectory(r.dir); gaps != want || err != nil {
				t.Fatalf("%d nets: found new gaps %v, error %v, expected %v", nets, gaps, err, want)
			}
		}
		if l, err = openNetList(r.path(publishedFile), true); err != nil {
			t.Fatal(err)
		}
		if known, whole := l.has("known"); known != (nets > 0) || whole {
			t.Errorf("%d nets: known %v, whole %v", nets, known, whole)
		}
		answer, err := l.answer("run", key, encodeMessage(&publishedRequest{Schema: messageSchema, Net: "later", Nonce: "n"}))
		if err != nil {
			t.Fatal(err)
		}
		if place, err := readPublished(answer, "run", "later", "n", key.Public().(ed25519.PublicKey)); place != netUnsure || err != nil {
			t.Errorf("%d nets: a net of after the backup: %v, error %v, expected that nobody can say", nets, place, err)
		}
		text, err := durable.ReadSummed(r.path(settingsFile), settingsRemedy)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := parseSettings(text, settingsFile); err != nil || s.Whole || !slices.Equal(s.Values, []string{"a"}) {
			t.Errorf("settings: found %+v, error %v", s, err)
		}
	}
}

// TestRestoredOthers: a directory without lists gets none, and damaged ones stay as they were.
func TestRestoredOthers(t *testing.T) {
	dir := t.TempDir()
	if gaps, err := RestoreDirectory(dir); gaps || err != nil {
		t.Fatalf("found gaps %v, error %v, expected no lists", gaps, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("found %v, error %v, expected no file", entries, err)
	}
	paths := []string{filepath.Join(dir, publishedFile), filepath.Join(dir, settingsFile)}
	writeFiles(t, "{damaged", paths...)
	if gaps, err := RestoreDirectory(dir); gaps || err != nil {
		t.Errorf("found gaps %v, error %v, expected the lists as they were", gaps, err)
	}
	for _, p := range paths {
		if text, err := os.ReadFile(p); err != nil || !bytes.Equal(text, []byte("{damaged")) {
			t.Errorf("%s: found %s, error %v", p, text, err)
		}
	}
}

// TestRestoredSettingsOfServers: a restored list of settings is whole again if the servers
// still have theirs, and not if those come from a backup, too.
func TestRestoredSettingsOfServers(t *testing.T) {
	t.Parallel()
	r := openRun(t, filepath.Join(t.TempDir(), "run"), verifyConfig(t))
	defer r.Close()
	if _, err := RestoreDirectory(r.dir); err != nil {
		t.Fatal(err)
	}
	if past, err := r.pastSettings(t.Context()); err != nil || !past.Whole || len(past.Values) == 0 {
		t.Errorf("found %+v, error %v, expected a whole list", past, err)
	}
	p, err := r.bus.Pointer(t.Context(), settingsKey)
	if err != nil {
		t.Fatal(err)
	}
	state := ServerState{Pointers: map[string][]string{settingsKey: {p.Value}, configKey: {"whole"}}}
	state.Outdate()
	if err := r.say(t.Context(), r.bus.SetPointer, settingsKey, state.Pointers[settingsKey][0]); err != nil {
		t.Fatal(err)
	}
	if past, err := r.pastSettings(t.Context()); err != nil || past.Whole || len(past.Values) == 0 || state.Pointers[configKey][0] != "whole" {
		t.Errorf("found %+v, error %v, expected a list with gaps", past, err)
	}
}
