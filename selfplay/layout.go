package selfplay

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// IdentityFile says which run a directory belongs to. It is written once. Two directories
// have the same one only if it was copied.
const IdentityFile = stateFile

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
// elsewhere, locks, and keys; see Keys. The folder of the backups, if it lies in dir or
// behind a link there, is an error.
func FileGroups(dir string, backups fs.FileInfo) []FileGroup {
	listed := func(keep func(name string) bool) func() ([]string, error) {
		return func() ([]string, error) { return listFiles(dir, backups, keep) }
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
			names, err := listFiles(dir, backups, func(name string) bool { return replayed(name) && !quarantine(name) })
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

// listFiles returns the regular files under dir that may be kept, those behind links
// among them: a run may lie on several disks. The folder backups is not to be there.
func listFiles(dir string, backups fs.FileInfo, keep func(name string) bool) ([]string, error) {
	l := lister{dir: dir, backups: backups, keep: keep}
	err := l.folder("", nil)
	return l.names, err
}

// lister lists the files of a directory.
type lister struct {
	dir     string
	backups fs.FileInfo
	keep    func(name string) bool
	names   []string
}

// folder adds the files of a folder; above are those that it lies in.
func (l *lister) folder(name string, above []fs.FileInfo) error {
	p := filepath.Join(l.dir, filepath.FromSlash(name))
	info, err := os.Stat(p)
	var entries []fs.DirEntry
	if err == nil {
		entries, err = os.ReadDir(p)
	}
	if errors.Is(err, fs.ErrNotExist) && name != "" {
		return nil // removed meanwhile
	}
	if err != nil {
		return err
	}
	if os.SameFile(l.backups, info) {
		return fmt.Errorf("%s: found the directory of the backups, expected it outside the run: remove the link, or give another --output", p)
	}
	if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
		return fmt.Errorf("%s: found a link to a folder that it lies in, expected one to another place: remove it", p)
	}
	above = append(above[:len(above):len(above)], info)
	for _, e := range entries {
		if err := l.entry(path.Join(name, e.Name()), e.Type(), above); err != nil {
			return err
		}
	}
	return nil
}

// entry adds a file, or the files of a folder.
func (l *lister) entry(name string, mode fs.FileMode, above []fs.FileInfo) error {
	if slices.Contains(leftOut, name) || !mode.IsDir() && neverKept(name) {
		return nil
	}
	if mode&fs.ModeSymlink != 0 {
		p := filepath.Join(l.dir, filepath.FromSlash(name))
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			if _, gone := os.Lstat(p); gone != nil {
				return nil // removed meanwhile
			}
			return fmt.Errorf("%s: found a link to what is not there: mount the disk that it leads to, or remove it", p)
		}
		var target string
		if err == nil {
			target, err = filepath.EvalSymlinks(p)
		}
		if err != nil || isSecret(target) {
			return err
		}
		mode = info.Mode()
	}
	switch {
	case mode.IsDir():
		return l.folder(name, above)
	case mode.IsRegular() && l.keep(name):
		l.names = append(l.names, name)
	}
	return nil
}

// neverKept reports whether no backup keeps a file of that name.
func neverKept(name string) bool {
	base := path.Base(name)
	temp, _ := path.Match(durable.TempPattern, base)
	return temp || base == dirlock.FileName || name == exportFile || name == actorFile || strings.HasPrefix(name, "status-") || isSecret(name)
}

func isSecret(name string) bool { return slices.Contains(secretExts, filepath.Ext(name)) }

// RestoreDirectory completes a directory written from a backup: actors, nets and settings of
// the run may have gone on since. It reports whether lists that had no gaps may have some now.
func RestoreDirectory(dir string) (gaps bool, err error) {
	if err := restoreActor(dir); err != nil {
		return false, err
	}
	return outdateLists(newRun(dir, configs.Config{}, Options{}))
}

// The count of an actor's starts grows by restoredStarts when it is restored, as it may
// have started since, and by up to restoredSpread, so that another actor restored from
// the same backup has other starts: no id of a game may come twice. So does that of an
// actor that may have had its name before.
const (
	restoredStarts = 1 << 20
	restoredSpread = 1 << 40
)

// restoreActor makes the identity of the directory's actor, if it has one, that of an
// actor that was restored from a backup.
func restoreActor(dir string) error {
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
	a.Starts += unusedStarts()
	return a.write(dir)
}

// unusedStarts is a number of starts that an actor cannot have had.
func unusedStarts() int { return restoredStarts + int(rand.Int64N(restoredSpread)) }

// outdateLists makes the lists of settings and nets, if the directory is a trainer's, lists
// with gaps: the run may have had others after the backup, and nobody is to be accused of
// those. A damaged list stays as it is: the trainer says what is to be done.
func outdateLists(r *Run) (gaps bool, err error) {
	_, noSettings := os.Stat(r.path(settingsFile))
	if _, noNets := os.Stat(r.path(publishedFile)); noSettings != nil && noNets != nil {
		return false, nil
	}
	if text, err := durable.ReadSummed(r.path(settingsFile), settingsRemedy); err == nil {
		if s, err := parseSettings(text, r.path(settingsFile)); err == nil {
			gaps, s.Whole = s.Whole, false
			if _, err := r.keepSettings(s); err != nil {
				return false, err
			}
		}
	}
	if l, err := openNetList(r.path(publishedFile), false); err == nil {
		err := l.change(func(f *netListFormat) { gaps, f.Whole = gaps || f.Whole, false })
		return gaps, err
	}
	return gaps, nil
}
