package selfplay

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// FileGroup are files of a run's directory that a copy takes together.
type FileGroup struct {
	Name string
	// Together says that a file which vanishes while the group is read means that the
	// group has to be read again: what names the file is older than what took its place.
	Together bool
	// List returns the files that are there now, as paths from the directory with slashes,
	// in the order in which they are read.
	List func() ([]string, error)
}

// FileGroups returns the files of the run in dir that a backup keeps. Copied in this
// order while the run goes on, they belong together: what names another file comes
// before it, and games come on their way from one place to the next. The spool and the
// server's store are left out: see ServerReader. So are copies of games that are kept
// elsewhere, locks, and keys; see Keys.
func FileGroups(dir string) []FileGroup {
	listed := func(keep func(name string) bool) func() ([]string, error) {
		return func() ([]string, error) { return listFiles(dir, keep) }
	}
	in := func(folder string) func(string) bool {
		return func(name string) bool { return strings.HasPrefix(name, folder+"/") }
	}
	named := func(names ...string) func(string) bool {
		return func(name string) bool { return slices.Contains(names, name) }
	}
	first, train, store, replayed := named(stateFile, configFile, pointersFile), in(trainDir), in(netsDir), in(replayDir)
	quarantine := in(path.Join(replayDir, "quarantine"))
	return []FileGroup{
		{"settings", false, listed(first)},
		{"checkpoints", true, listed(train)},
		{"nets", true, listed(store)},
		{"lists and logs", false, listed(func(name string) bool { return !first(name) && !train(name) && !store(name) && !replayed(name) })},
		{"quarantine", false, listed(quarantine)},
		{"games", true, func() ([]string, error) {
			names, err := listFiles(dir, func(name string) bool { return replayed(name) && !quarantine(name) })
			// The manifest says which segments there have to be.
			slices.SortStableFunc(names, func(a, b string) int { return manifestFirst(b) - manifestFirst(a) })
			return names, err
		}},
	}
}

func manifestFirst(name string) int {
	if path.Base(name) == "manifest.json" {
		return 1
	}
	return 0
}

// Keys returns the files of keys in dir, with which the run's nets and the actor's games
// are signed.
func Keys(dir string) (names []string, err error) {
	for _, name := range []string{keyFile, actorFile} {
		switch _, err := os.Stat(filepath.Join(dir, name)); {
		case err == nil:
			names = append(names, name)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return names, nil
}

// leftOut are folders that no backup keeps: the server's store and the spool, whose games
// a ServerReader reads, and a trainer's copy of games that are elsewhere.
var leftOut = []string{busDir, spoolDir, mirrorDir}

// secretExts are the endings of files of secrets.
var secretExts = []string{".key", ".token", ".creds", ".nk", ".pem"}

// listFiles returns the regular files under dir that may be kept.
func listFiles(dir string, keep func(name string) bool) (names []string, err error) {
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && p != dir {
			return nil // removed meanwhile
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if e.IsDir() {
			if slices.Contains(leftOut, name) {
				return filepath.SkipDir
			}
			return nil
		}
		temp, _ := path.Match(durable.TempPattern, e.Name())
		skip := temp || !e.Type().IsRegular() || e.Name() == dirlock.FileName || name == exportFile || name == actorFile || strings.HasPrefix(name, "status-") || slices.Contains(secretExts, path.Ext(name))
		if !skip && keep(name) {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// restoredStarts is what the count of an actor's starts grows by when it is restored: it
// may have started since, and no id of a game may come twice.
const restoredStarts = 1 << 20

// RestoreActor makes the identity of the directory's actor, if it has one, that of an
// actor that was restored from a backup.
func RestoreActor(dir string) error {
	path := filepath.Join(dir, actorFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var a actorIdentity
	if err == nil {
		err = a.parse(path, text)
	}
	if err != nil {
		return err
	}
	a.Starts += restoredStarts
	return a.write(dir)
}
