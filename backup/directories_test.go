package backup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// begun makes a run without games in dir.
func begun(t *testing.T, dir string, cfg configs.Config) {
	t.Helper()
	r, err := selfplay.Open(t.Context(), dir, cfg, selfplay.Options{Build: "test", Patience: patience})
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A run behind links, itself or its folders, is backed up with all its games.
func TestBackupFollowsLinks(t *testing.T) {
	t.Parallel()
	dir, cfg := stoppedRun(t)
	base := t.TempDir()
	want := create(t, dir, cfg, filepath.Join(base, "backup"), Options{})
	if want.Games == 0 {
		t.Fatal("the run has no games")
	}
	run, folder, large := filepath.Join(base, "run"), filepath.Join(dir, "replay"), filepath.Join(base, "large")
	for name, link := range map[string]func() error{
		"run":    func() error { return os.Symlink(dir, run) },
		"folder": func() error { return errors.Join(os.Rename(folder, large), os.Symlink(large, folder)) },
	} {
		if err := link(); err != nil {
			t.Fatal(err)
		}
		output := filepath.Join(base, "backup-"+name)
		through := dir
		if name == "run" {
			through = run
		}
		if found := create(t, through, cfg, output, Options{}); found.Games != want.Games || found.Files != want.Files {
			t.Errorf("%s: found %d games in %d files, expected %d in %d", name, found.Games, found.Files, want.Games, want.Files)
		}
		if report := drilled(t, output); report.Games != want.Games {
			t.Errorf("%s: drill compared %d games, expected %d", name, report.Games, want.Games)
		}
	}
}

// A link in the run's directory to where the backups are is refused.
func TestBackupOfItself(t *testing.T) {
	t.Parallel()
	base, cfg := t.TempDir(), smallConfig(t)
	dir, output := filepath.Join(base, "run"), filepath.Join(base, "backup")
	link := filepath.Join(dir, "copies")
	begun(t, dir, cfg)
	if err := errors.Join(os.Mkdir(output, 0o755), os.Symlink(output, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := tryCreate(t.Context(), dir, cfg, output, Options{}); err == nil || !strings.Contains(err.Error(), link+": found the directory of the backups") {
		t.Errorf("error %v, expected that %s is refused", err, link)
	}
	create(t, dir, cfg, filepath.Join(base, "other"), Options{})
}

// A directory that is not there, or is another run's, is refused also when the run is named.
func TestBackupOfOtherDirectory(t *testing.T) {
	t.Parallel()
	cfg, base := serverConfig(t), t.TempDir()
	dir, other, missing := filepath.Join(base, "run"), filepath.Join(base, "other"), filepath.Join(base, "missing")
	begun(t, dir, cfg)
	begun(t, other, smallConfig(t))
	for path, want := range map[string]string{missing: "found no run", other: "belongs to run other"} {
		if _, err := tryCreate(t.Context(), path, cfg, filepath.Join(base, "backup"), Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, expected %q", path, err, want)
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("the directory that was not there was made")
	}
	create(t, dir, cfg, filepath.Join(base, "backup"), Options{})
}

// made writes a snapshot of run zh without content, dated hours from now, of a directory of
// that name, or with an empty one of the servers alone.
func made(t *testing.T, repo *Repository, hours int, directory string) *Snapshot {
	t.Helper()
	s := &Snapshot{Created: time.Now().Add(time.Duration(hours) * time.Hour).UTC(), Name: "zh", ID: "abc"}
	if directory != "" {
		s.Files = []File{{Path: "a"}, {Path: selfplay.IdentityFile, SHA256: hashOf([]byte(directory))}}
	}
	if err := repo.write(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// stay checks which snapshots are left, oldest first.
func stay(t *testing.T, repo *Repository, want ...*Snapshot) {
	t.Helper()
	labels, err := repo.labels()
	var names []string
	for _, s := range want {
		names = append(names, s.file)
	}
	if err != nil || !slices.Equal(labels, names) {
		t.Errorf("found %v, error %v, expected %v", labels, err, names)
	}
}

func prune(t *testing.T, repo *Repository, s *Snapshot, keep int) {
	t.Helper()
	if _, _, err := repo.Prune(s, keep); err != nil {
		t.Fatal(err)
	}
}

// The snapshots of each directory are counted and chosen by themselves.
func TestDirectoriesApart(t *testing.T) {
	t.Parallel()
	repo, err := OpenToWrite(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	first := made(t, repo, -5, "trainer")
	if s, err := repo.Snapshot(""); err != nil || s.Label() != first.Label() {
		t.Errorf("one directory: error %v, expected backup %s", err, first.Label())
	}
	games, servers := made(t, repo, -4, "replay"), made(t, repo, -3, "")
	second := made(t, repo, -2, "trainer")
	prune(t, repo, servers, 1)
	stay(t, repo, first, games, servers, second)
	prune(t, repo, second, 1)
	stay(t, repo, games, servers, second)
	_, err = repo.Snapshot("")
	if !errors.Is(err, ErrSeveral) {
		t.Fatalf("error %v, expected %v", err, ErrSeveral)
	}
	for _, s := range []*Snapshot{games, servers, second} {
		if !strings.Contains(err.Error(), s.Label()) {
			t.Errorf("error %v, expected it to name %s", err, s.Label())
		}
		if found, err := repo.Snapshot(s.Label()); err != nil || found.Label() != s.Label() {
			t.Errorf("%s: error %v", s.Label(), err)
		}
	}
}

// The snapshot just made stays, whatever the dates of those before it.
func TestPruneAfterClockAhead(t *testing.T) {
	t.Parallel()
	for keep, stays := range map[int][]int{1: {0}, 2: {-1, 0}, 3: {-1, 0, 24}, 9: {-1, 0, 23, 24}} {
		repo, err := OpenToWrite(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		all := map[int]*Snapshot{}
		for _, hours := range []int{23, 24, -1, 0} {
			all[hours] = made(t, repo, hours, "run")
		}
		prune(t, repo, all[0], keep)
		var want []*Snapshot
		for _, hours := range stays {
			want = append(want, all[hours])
		}
		stay(t, repo, want...)
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A backup says that another is dated later, which a restore would take.
func TestBackupAfterClockAhead(t *testing.T) {
	t.Parallel()
	dir, output, cfg := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "backup"), smallConfig(t)
	begun(t, dir, cfg)
	create(t, dir, cfg, output, Options{})
	repo, s := newest(t, output)
	s.Created = s.Created.Add(24 * time.Hour)
	if err := repo.write(s); err != nil {
		t.Fatal(err)
	}
	says := func(sum Summary) bool {
		return slices.ContainsFunc(sum.Notes, func(n string) bool { return strings.HasPrefix(n, "clock: "+s.Label()) })
	}
	if sum := create(t, dir, cfg, output, Options{}); !says(sum) {
		t.Errorf("notes %q, expected that %s is dated later", sum.Notes, s.Label())
	}
	sum := create(t, dir, cfg, output, Options{Keep: 1})
	if says(sum) || sum.Pruned != 3 {
		t.Errorf("removed %d with notes %q, expected 3", sum.Pruned, sum.Notes)
	}
	if _, s := newest(t, output); s.Label() != sum.Label {
		t.Errorf("found backup %s, expected %s", s.Label(), sum.Label)
	}
}

// Of another directory a later date does not matter to a backup.
func TestBackupAfterClockOfOthersAhead(t *testing.T) {
	t.Parallel()
	dir, output, cfg := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "backup"), smallConfig(t)
	begun(t, dir, cfg)
	repo, err := OpenToWrite(output)
	if err != nil {
		t.Fatal(err)
	}
	made(t, repo, 48, "other")
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	sum := create(t, dir, cfg, output, Options{})
	if says := slices.ContainsFunc(sum.Notes, func(n string) bool { return strings.HasPrefix(n, "clock: ") }); says {
		t.Errorf("notes %q, expected none of the clock", sum.Notes)
	}
	s, err := repo.Snapshot(sum.Label)
	if err != nil {
		t.Fatal(err)
	}
	s.Created = s.Created.Add(24 * time.Hour)
	if err := repo.write(s); err != nil {
		t.Fatal(err)
	}
	sum = create(t, dir, cfg, output, Options{})
	if says := slices.ContainsFunc(sum.Notes, func(n string) bool { return strings.HasPrefix(n, "clock: "+s.Label()) }); !says {
		t.Errorf("notes %q, expected that %s is dated later", sum.Notes, s.Label())
	}
}

// A restore that makes lists ones with gaps, in the directory or on servers, says so. A drill,
// after which nothing goes on, does not.
func TestRestoreTellsOfGaps(t *testing.T) {
	t.Parallel()
	cfg, dir := serverConfig(t), filepath.Join(t.TempDir(), "run")
	begun(t, dir, cfg)
	says := func(notes []string) bool {
		return slices.ContainsFunc(notes, func(n string) bool {
			return strings.HasPrefix(n, "verify: the lists of nets and settings may have gaps")
		})
	}
	for _, c := range []struct {
		what                            string
		directory, lists, servers, want bool
	}{
		{"trainer", true, true, false, true}, {"actor", true, false, false, false},
		{"actor with servers", true, false, true, true}, {"servers", false, false, true, true},
	} {
		from := ""
		if c.directory {
			from = dir
		}
		if !c.lists {
			if err := errors.Join(os.RemoveAll(filepath.Join(dir, "settings.json")), os.RemoveAll(filepath.Join(dir, "published.json"))); err != nil {
				t.Fatal(err)
			}
		}
		var o RestoreOptions
		if c.servers {
			other := serverConfig(t)
			o.Servers = &other
		}
		output := t.TempDir()
		create(t, from, cfg, output, Options{})
		repo, s := newest(t, output)
		done, err := repo.Restore(t.Context(), s, filepath.Join(t.TempDir(), "back"), o)
		if err != nil || says(done.Notes) != c.want {
			t.Errorf("%s: notes %q, error %v, expected that it tells of gaps: %v", c.what, done.Notes, err, c.want)
		}
		if report := drilled(t, output); says(report.Notes) {
			t.Errorf("%s: the drill has notes %q", c.what, report.Notes)
		}
	}
}

// A restore tells its progress up to the last byte, a drill what it reads again, too.
func TestRestoreProgress(t *testing.T) {
	t.Parallel()
	dir, cfg := stoppedRun(t)
	output := filepath.Join(t.TempDir(), "backup")
	create(t, dir, cfg, output, Options{})
	repo, s := newest(t, output)
	var calls int
	var read, written int64
	o := RestoreOptions{Build: "test", Progress: func(r, w int64) {
		if calls++; r < read || w < written {
			t.Errorf("found %d bytes read, %d written after %d and %d", r, w, read, written)
		}
		read, written = r, w
	}}
	done, err := repo.Restore(t.Context(), s, filepath.Join(t.TempDir(), "back"), o)
	if err != nil || calls != done.Files || read != done.Bytes || written != done.Bytes {
		t.Errorf("%d calls, %d bytes read, %d written, error %v, expected %d files with %d bytes", calls, read, written, err, done.Files, done.Bytes)
	}
	calls, read, written = 0, 0, 0
	report, err := repo.Drill(t.Context(), s, t.TempDir(), o)
	if err != nil || calls <= report.Files || read <= report.Bytes || written != report.Bytes {
		t.Errorf("%d calls, %d bytes read, %d written, error %v, expected more than %d files with %d bytes", calls, read, written, err, report.Files, report.Bytes)
	}
}
