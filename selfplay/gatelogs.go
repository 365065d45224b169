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
	var logs []file
	for _, e := range entries {
		if !strings.HasSuffix(strings.TrimSuffix(e.Name(), gateLogOld), gateLogExt) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		logs = append(logs, file{e.Name(), info.ModTime()})
	}
	slices.SortFunc(logs, func(a, b file) int { return b.written.Compare(a.written) })
	var errs []error
	for _, f := range logs[min(keptGateLog, len(logs)):] {
		errs = append(errs, os.Remove(filepath.Join(dir, f.name)))
	}
	return errors.Join(errs...)
}
