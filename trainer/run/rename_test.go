package run

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
)

// Rename writes the games of the buffers that the settings name alone, and before the settings, so
// that it can be called again where it failed; workers make no settings other ones.
func TestRename(t *testing.T) {
	dir := t.TempDir()
	games := map[string]dataset.Extent{"a": {First: "1", Games: 1}, "b": {First: "2", Games: 2}, "c": {First: "3", Games: 3}}
	cfg := func(data string) configs.Learn {
		l := settings(t, dataset.BufferPrefix+data, "a")
		l.Validation = dataset.BufferPrefix + "c"
		return l
	}
	file := filepath.Join(dir, configFile)
	before := cfg("a")
	before.Workers = 3
	if err := Rename(dir, before, games); err != nil || len(glob(t, dir)) > 0 {
		t.Fatalf("no run: error %v, files %q", err, glob(t, dir))
	}
	if err := os.WriteFile(file, before.YAML(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Rename(dir, cfg("a"), games); err != nil || len(glob(t, dir)) != 1 {
		t.Errorf("other workers: error %v, files %q, expected nothing new", err, glob(t, dir))
	}
	if err := os.MkdirAll(filepath.Join(dir, replayFile, "no file"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Rename(dir, cfg("b"), games); err == nil || !bytes.Equal(read(t, file), before.YAML()) {
		t.Errorf("games that cannot be written: error %v, settings\n%s", err, read(t, file))
	}
	if err := os.RemoveAll(filepath.Join(dir, replayFile)); err != nil {
		t.Fatal(err)
	}
	err := Rename(dir, cfg("b"), games)
	found, wrong := GamesOf(dir)
	if err := errors.Join(err, wrong); err != nil || len(found) != 2 || found["b"] != games["b"] || found["c"] != games["c"] {
		t.Errorf("found games %v, error %v, expected those of b and c", found, err)
	}
	if was, err := savedSettings(read(t, file), file); err != nil || was.Data[0] != dataset.BufferPrefix+"b" || was.Workers != 3 {
		t.Errorf("found settings %+v, error %v, expected data b and 3 workers", was, err)
	}
}

func glob(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}
