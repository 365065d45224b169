package match

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A match stopped before its first pair is in the log goes on with what that pair left in the
// PGN, wherever it was torn, and with no other file.
func TestPGNOfNoPairs(t *testing.T) {
	cfg := testConfig(always("greedy", greedy(1)), always("random", random(2)), 2)
	cfg.Log, cfg.PGN = filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "pgn")
	mustRun(t, cfg)
	log, pgn := string(readFile(t, cfg.Log)), string(readFile(t, cfg.PGN))
	header, pairs, _ := strings.Cut(log, "\n")
	header += "\n"
	first, err := decodeLog([]byte(header + strings.SplitAfter(pairs, "\n")[0]))
	if err != nil {
		t.Fatal(err)
	}
	open := func(text string) error {
		t.Helper()
		if err := errors.Join(os.WriteFile(cfg.Log, []byte(header), 0o644), os.WriteFile(cfg.PGN, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		r, _, err := openRecords(cfg.Log, cfg.PGN, cfg.RunID, cfg.schedule())
		return errors.Join(err, r.close())
	}
	for left := int64(0); left <= first.pgn; left += 1 + left/20 {
		size := first.pgn - left
		if err := open(pgn[:size]); err != nil || len(readFile(t, cfg.PGN)) != 0 {
			t.Fatalf("%d bytes of the first pair: error %v, then\n%s", size, err, readFile(t, cfg.PGN))
		}
	}
	foreign := strings.ReplaceAll(pgn[:first.pgn], `[RunId "test"]`, `[RunId "other"]`)
	for name, text := range map[string]string{
		"games of another match": foreign,
		"the like of Windows":    strings.ReplaceAll(foreign, "\n", "\r\n"),
		"without blank lines":    strings.ReplaceAll(foreign, "\n\n", "\n"),
		"more than a pair":       pgn,
		"a third game":           pgn[:first.pgn+20],
		"no PGN":                 "1. e4 e5 *",
	} {
		if err := open(text); err == nil || !strings.Contains(err.Error(), "expected a new file") {
			t.Errorf("%s: error %v", name, err)
		}
		if got := string(readFile(t, cfg.PGN)); got != text {
			t.Errorf("%s: the file is now %q", name, got)
		}
	}
}
