package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// patience is how long a run may take on a busy machine to get where it is sent.
const patience = 5 * time.Minute

// smallConfig is that of a run that has a net after a few hundred positions.
func smallConfig(t *testing.T) configs.Config {
	t.Helper()
	cfg, err := configs.Preset("tiny")
	if err == nil {
		err = cfg.SetPairs([]string{
			"actor.nodes=10", "actor.max_plies=40", "train.min_positions=300", "train.batch=64", "train.steps_per_net=20",
			"train.checkpoint=10", "train.held_out=100", "gate.enabled=false", "replay.segment_bytes=8192",
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// play loops a run until it plays with a net of the generation.
func play(t *testing.T, dir string, cfg configs.Config, generation int) selfplay.Status {
	t.Helper()
	r, err := selfplay.Open(t.Context(), dir, cfg, selfplay.Options{Build: "test"})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Loop(t.Context(), selfplay.Limits{Generation: generation, For: patience})
	s := r.Status()
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	if s.ActorGeneration < generation {
		t.Fatalf("actors play with generation %d after %v, expected %d", s.ActorGeneration, s.Elapsed, generation)
	}
	return s
}

// create makes a backup of the run in dir.
func create(t *testing.T, dir string, cfg configs.Config, output string, o Options) Summary {
	t.Helper()
	sum, err := tryCreate(t.Context(), dir, cfg, output, o)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func tryCreate(ctx context.Context, dir string, cfg configs.Config, output string, o Options) (sum Summary, err error) {
	servers, err := selfplay.ReadServers(ctx, dir, cfg, selfplay.Options{Patience: patience})
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, servers.Close()) }()
	repo, err := OpenToWrite(output)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	return repo.Create(ctx, dir, servers, o)
}

// drilled drills the newest backup and fails unless it is good.
func drilled(t *testing.T, output string) DrillReport {
	t.Helper()
	report := drillOf(t, output)
	if len(report.Differences) > 0 {
		t.Errorf("drill: %s", &report)
	}
	return report
}

// newest opens the newest backup.
func newest(t *testing.T, output string) (*Repository, *Snapshot) {
	t.Helper()
	repo, err := Open(output)
	if err != nil {
		t.Fatal(err)
	}
	s, err := repo.Snapshot("")
	if err != nil {
		t.Fatal(err)
	}
	return repo, s
}

func drillOf(t *testing.T, output string) DrillReport {
	t.Helper()
	repo, s := newest(t, output)
	temp := filepath.Join(t.TempDir(), "[1]") // no pattern of names
	if err := os.Mkdir(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	report, err := repo.Drill(t.Context(), s, temp, RestoreOptions{Build: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func tryRestore(t *testing.T, output, dir string, o RestoreOptions) error {
	t.Helper()
	repo, s := newest(t, output)
	_, err := repo.Restore(t.Context(), s, dir, o)
	return err
}

func restore(t *testing.T, output, dir string, o RestoreOptions) {
	t.Helper()
	if err := tryRestore(t, output, dir, o); err != nil {
		t.Fatal(err)
	}
}

// contents are the files of a run's directory, but for those that every process writes
// anew.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if e.IsDir() && (name == "bus" || name == "spool") {
			return filepath.SkipDir
		}
		if e.IsDir() || e.Name() == "LOCK" || e.Name() == "actor.json" {
			return nil
		}
		data, err := os.ReadFile(path)
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// state is what the server of a stopped run knows, as JSON.
func state(t *testing.T, dir string, cfg configs.Config) string {
	t.Helper()
	servers, err := selfplay.ReadServers(t.Context(), dir, cfg, selfplay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	s, err := servers.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// outdated is a state as a restore gives it: the list of settings may have gaps.
func outdated(t *testing.T, state string) string {
	t.Helper()
	const whole = `\"whole\":true`
	if !strings.Contains(state, whole) {
		t.Errorf("found no whole list of settings in %s", state)
	}
	return strings.ReplaceAll(state, whole, `\"whole\":false`)
}

// A run that was brought back is the run, and goes on learning.
func TestRestoreOfBackupIsTheRun(t *testing.T) {
	t.Parallel()
	cfg, base := smallConfig(t), t.TempDir()
	dir, output, back := filepath.Join(base, "run"), filepath.Join(base, "backup"), filepath.Join(base, "back")
	before := play(t, dir, cfg, 2)
	first := create(t, dir, cfg, output, Options{Keys: true})
	if first.New != first.Parts && first.New == 0 || first.Games != before.Games || first.Nets < 2 || len(first.Notes) > 0 {
		t.Errorf("found %+v of %d games", first, before.Games)
	}
	if again := create(t, dir, cfg, output, Options{Keys: true}); again.New != 0 || again.Parts != first.Parts {
		t.Errorf("the second backup wrote %d of %d parts, expected none", again.New, again.Parts)
	}
	if report := drilled(t, output); report.Games != before.Games || report.Unique != before.Games || report.Step == 0 || report.Nets < 2 || report.Pointers < 3 {
		t.Errorf("drill compared %+v", report)
	}
	partial := back + unfinished
	if err := errors.Join(os.Mkdir(partial, 0o755), os.WriteFile(filepath.Join(partial, "mine"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := tryRestore(t, output, back, RestoreOptions{}); !errors.Is(err, ErrNotEmpty) || !strings.Contains(err.Error(), "mine") {
		t.Errorf("somebody's files in place of a restore: %v", err)
	}
	lock, err := dirlock.Acquire(partial) // now they are a restore's
	if err != nil {
		t.Fatal(err)
	}
	if err := tryRestore(t, output, back, RestoreOptions{}); !errors.Is(err, dirlock.ErrHeld) {
		t.Errorf("while another restores: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	// At the end of a link, and not in its place; a restore that was interrupted has left nothing
	// there.
	end, link := filepath.Join(t.TempDir(), "end"), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(end, link); err != nil {
		t.Fatal(err)
	}
	for _, there := range []bool{false, true} {
		if there {
			if err := errors.Join(os.RemoveAll(end), os.Mkdir(end, 0o755)); err != nil {
				t.Fatal(err)
			}
		}
		restore(t, output, link, RestoreOptions{})
		if at, err := os.Readlink(link); err != nil || at != end || len(contents(t, end)) == 0 {
			t.Errorf("the link leads to %q, error %v, with %d files there", at, err, len(contents(t, end)))
		}
	}
	restore(t, output, back, RestoreOptions{})
	found, want := contents(t, back), contents(t, dir)
	for _, name := range []string{"published.json", "settings.json"} { // the run may have gone on since
		if !strings.Contains(found[name], `"whole":false`) || !strings.Contains(want[name], `"whole":true`) {
			t.Errorf("%s: found %s, expected %s with gaps", name, found[name], want[name])
		}
		delete(want, name)
		delete(found, name)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if found[name] != want[name] {
			t.Errorf("%s: found %d bytes, expected others, %d", name, len(found[name]), len(want[name]))
		}
	}
	for name := range found {
		if _, there := want[name]; !there {
			t.Errorf("%s: found it, expected none", name)
		}
	}
	if found, want := state(t, back, cfg), outdated(t, state(t, dir, cfg)); found != want {
		t.Errorf("the server knows %s, expected %s", found, want)
	}
	after := play(t, back, cfg, before.Candidate+2) // trained after the restore
	// A game may come twice, when an answer was late, and is stored once: the audit sees that.
	if after.Step <= before.Step || after.Quarantined > 0 || after.Games <= before.Games {
		t.Errorf("before: step %d, %d games; after: step %d, %d games, %d refused", before.Step, before.Games, after.Step, after.Games, after.Quarantined)
	}
	if audit, err := replay.Audit(filepath.Join(back, "replay")); err != nil || audit.Wrong() {
		t.Errorf("audit: %v, error %v", audit, err)
	}
}

// Backups that are made while the run goes on are good, each of them, and lose no game
// that was finished before.
func TestBackupOfRunningRun(t *testing.T) {
	t.Parallel()
	cfg, base := smallConfig(t), t.TempDir()
	cfg.Replay.SegmentBytes, cfg.Replay.MaxBytes = 4096, 16384 // segments come and go
	dir, output := filepath.Join(base, "run"), filepath.Join(base, "backup")
	r, err := selfplay.Open(t.Context(), dir, cfg, selfplay.Options{Build: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Loop(ctx, selfplay.Limits{}) }()
	for _, games := range []uint64{20, 60} {
		awaitGames(t, r, games)
		stored := r.Status().Games
		create(t, dir, cfg, output, Options{Keep: 1})
		report := drilled(t, output)
		if report.Games+uint64(report.Pending) == 0 {
			t.Errorf("found no games of %d", stored)
		}
	}
	stop()
	if err := errors.Join(<-done, r.Close()); err != nil {
		t.Fatal(err)
	}
	repo, err := Open(output)
	if err != nil {
		t.Fatal(err)
	}
	if labels, err := repo.labels(); err != nil || len(labels) != 1 {
		t.Errorf("found backups %v, error %v, expected one", labels, err)
	}
	s, err := repo.Snapshot("")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Files {
		if strings.HasSuffix(f.Path, ".key") || f.Path == "actor.json" {
			t.Errorf("%s is in the backup though nobody asked for keys", f.Path)
		}
	}
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "trainer.key and actor.json are not in this backup") {
		t.Errorf("notes %q", s.Notes)
	}
}

func awaitGames(t *testing.T, r *selfplay.Run, games uint64) {
	t.Helper()
	for late := time.After(patience); r.Status().Games < games; {
		select {
		case <-late:
			t.Fatalf("found %d games, expected %d", r.Status().Games, games)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stoppedRun returns a run that holds a few games and a message on its way.
func stoppedRun(t *testing.T) (dir string, cfg configs.Config) {
	t.Helper()
	cfg, dir = smallConfig(t), filepath.Join(t.TempDir(), "run")
	r, err := selfplay.Open(t.Context(), dir, cfg, selfplay.Options{Build: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Loop(t.Context(), selfplay.Limits{Games: 30}), r.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "spool", "waiting.game"), []byte("a game"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, cfg
}

// What is damaged is named, by a drill as by a restore, which leaves nothing; and the next
// backup makes it good.
func TestDamageIsNamed(t *testing.T) {
	t.Parallel()
	dir, cfg := stoppedRun(t)
	output := filepath.Join(t.TempDir(), "backup")
	create(t, dir, cfg, output, Options{})
	repo, err := Open(output)
	if err != nil {
		t.Fatal(err)
	}
	s, err := repo.Snapshot("")
	if err != nil {
		t.Fatal(err)
	}
	if report := drilled(t, output); report.Pending != 1 {
		t.Errorf("found %d messages on their way, expected 1", report.Pending)
	}
	for i, path := range []string{".servers/state.json", "replay/00000001.seg", "run.json"} {
		f, there := s.find(path)
		if !there {
			t.Fatalf("%s is not in the backup", path)
		}
		part := repo.partPath(f.Parts[0])
		data, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		flipped := bytes.Clone(data)
		flipped[len(flipped)/2] ^= 1
		damage := []func() error{
			func() error { return os.WriteFile(part, flipped, 0o600) },
			func() error { return os.WriteFile(part, data[:len(data)-1], 0o600) },
			func() error { return os.Remove(part) },
		}[i%3]
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		back := filepath.Join(t.TempDir(), "back")
		_, err = repo.Restore(t.Context(), s, back, RestoreOptions{})
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), f.Path) || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: restore: error %v, expected it to name the file and its part", f.Path, err)
		}
		if _, err := os.Stat(back); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a restore that failed left a directory", f.Path)
		}
		if report := drillOf(t, output); len(report.Differences) != 1 || !strings.Contains(report.Differences[0], f.Path) || !strings.Contains(report.Differences[0], part) {
			t.Errorf("%s: drill: %q", f.Path, report.Differences)
		}
		create(t, dir, cfg, output, Options{Keep: 1})
		if s, err = repo.Snapshot(""); err != nil {
			t.Fatal(err)
		}
	}
	drilled(t, output)
	path := filepath.Join(output, snapshotsDir, s.file)
	text, err := os.ReadFile(path)
	if err == nil {
		text[len(text)/2] ^= 1
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Snapshot(""); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged list of files: error %v", err)
	}
}

// A backup that is broken off after any of its files leaves the one before as it was, and
// what it leaves is no backup.
func TestBrokenOffBackupIsNone(t *testing.T) {
	t.Parallel()
	dir, cfg := stoppedRun(t)
	output := filepath.Join(t.TempDir(), "backup")
	good := create(t, dir, cfg, output, Options{})
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n += 3 {
		ctx, cancel := context.WithCancel(t.Context())
		files := 0
		sum, err := tryCreate(ctx, dir, cfg, output, Options{Progress: func(_, _ int64) {
			if files++; files == n {
				cancel()
			}
		}})
		cancel()
		if err == nil && sum.Label != "" {
			if files < 10 {
				t.Errorf("the backup has %d files, expected more", files)
			}
			break // it was cancelled after its last file, or not at all
		}
		repo, err := Open(output)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := repo.Snapshot(""); err != nil || s.Label() != good.Label {
			t.Fatalf("broken off after file %d: error %v, expected backup %s", n, err, good.Label)
		}
	}
	// What a killed process was writing is removed by the next.
	left := filepath.Join(output, snapshotsDir, ".tmp-left")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	create(t, dir, cfg, output, Options{})
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a half-written list of files is still there")
	}
	drilled(t, output)
}

// serverConfig is smallConfig of a run on a server of its own.
func serverConfig(t *testing.T) configs.Config {
	t.Helper()
	conn, err := bus.Open(t.Context(), bus.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	cfg := smallConfig(t)
	cfg.Bus.URL, cfg.Run.Name = "nats://"+conn.Addr(), "zh"
	return cfg
}

// Servers get what the run's knew, and are as large as those, unless they have the run: then
// they stay as they are.
func TestRestoreToServers(t *testing.T) {
	t.Parallel()
	cfg, other, base := serverConfig(t), serverConfig(t), t.TempDir()
	other.Bus.MaxBytes *= 2
	dir := filepath.Join(base, "run")
	play(t, dir, cfg, 1)
	output := filepath.Join(base, "backup")
	saved := cfg // as of a role of a cluster with users and TLS
	saved.Bus.Creds, saved.Bus.TLSCA = "/etc/selfplay/trainer.creds", "/etc/selfplay/ca.pem"
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), saved.YAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	create(t, dir, cfg, output, Options{Keys: true})
	drilled(t, output)
	restore(t, output, filepath.Join(base, "back"), RestoreOptions{Servers: &other})
	if found, want := state(t, "", other), outdated(t, state(t, "", cfg)); found != want {
		t.Errorf("the servers know %s, expected %s", found, want)
	}
	repo, err := Open(output)
	if err != nil {
		t.Fatal(err)
	}
	s, err := repo.Snapshot("")
	if err != nil {
		t.Fatal(err)
	}
	look := bus.JoinOptions{Look: true}
	room(t, other, s.ID, look, cfg.Bus.MaxBytes)
	larger := cfg.Bus.MaxBytes + 1<<20
	room(t, other, s.ID, bus.JoinOptions{MaxBytes: larger}, larger)
	if _, err = repo.Restore(t.Context(), s, filepath.Join(base, "again"), RestoreOptions{Servers: &other}); !errors.Is(err, bus.ErrRunExists) {
		t.Errorf("servers that have the run: error %v, expected %v", err, bus.ErrRunExists)
	}
	room(t, other, s.ID, look, larger)
	// The servers alone: pointers and nets, and no games as no replay role answers.
	alone := filepath.Join(base, "alone")
	sum := create(t, "", other, alone, Options{})
	if report := drilled(t, alone); sum.Nets < 1 || report.Nets < 1 || len(sum.Notes) != 2 || !strings.Contains(sum.Notes[0], "no replay role answers") {
		t.Errorf("found %+v, drill %+v", sum, report)
	}
	if _, err := repo.Restore(t.Context(), s, dir, RestoreOptions{}); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a directory that holds a run: error %v, expected %v", err, ErrNotEmpty)
	}
}
