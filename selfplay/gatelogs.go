package selfplay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	gateLogExt  = ".jsonl"
	gateLogOld  = ".old" // after gateLogExt: of another match
	keptGateLog = 20     // logs of the gate that are kept, the newest ones
)

// pruneLogs removes the logs of all matches but the newest. A failure is logged: the
// next match tries again.
func (j *referee) pruneLogs() {
	if err := pruneGateLogs(j.dir); err != nil {
		j.run.log.Warn("old logs of the gate not removed", "error", err)
	}
}

func pruneGateLogs(dir string) error {
	return pruneFiles(dir, gateLogExt, keptGateLog)
}

// pruneFiles removes the files of a directory with this extension, and those put by as
// old, but for the newest. A directory that is not there has none.
func pruneFiles(dir, ext string, kept int) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	type file struct {
		name    string
		written time.Time
	}
	var files []file
	for _, e := range entries {
		if !strings.HasSuffix(strings.TrimSuffix(e.Name(), gateLogOld), ext) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		files = append(files, file{e.Name(), info.ModTime()})
	}
	slices.SortFunc(files, func(a, b file) int { return b.written.Compare(a.written) })
	var errs []error
	for _, f := range files[min(kept, len(files)):] {
		errs = append(errs, os.Remove(filepath.Join(dir, f.name)))
	}
	return errors.Join(errs...)
}
