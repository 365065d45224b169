package match

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var testSchedule = schedule{"variant": "crazyhouse", "seed": "7", "player 1": "one", "player 2": "two"}

func testPairs() []Pair {
	return []Pair{
		{Number: 1, Players: [2]int{0, 1}, Opening: "fen x", Games: [2]GameResult{{Result: whiteWins, Reason: "checkmate", Plies: 41}, {Result: drawn, Reason: "repetition", Plies: 80, Adjudged: blackWins}}},
		{Number: 0, Players: [2]int{0, 1}, Opening: "fen y", Games: [2]GameResult{{Result: blackWins, Reason: "failure", Plies: 3, Failed: "A", Error: "crash <é>\n"}, {Result: blackWins, Reason: "checkmate"}}},
		{Number: 2, Players: [2]int{0, 1}, Opening: "fen z moves e2e4", Games: [2]GameResult{{Result: drawn, Reason: "ply limit", Plies: 300}, {Result: whiteWins, Reason: "checkmate", Plies: 9}}},
	}
}

// writeLog makes a log of the test pairs and returns its path and bytes.
func writeLog(t testing.TB) (string, []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "match.jsonl")
	log, pairs, err := openRecords(path, "", "", testSchedule)
	if err != nil || len(pairs) != 0 {
		t.Fatalf("new log: %v, %d pairs", err, len(pairs))
	}
	for _, p := range testPairs() {
		if err := log.append(p, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, data
}

// A log cut at any byte gives its whole lines.
func TestLogCutAnywhere(t *testing.T) {
	_, data := writeLog(t)
	for size := range len(data) + 1 {
		log, err := decodeLog(data[:size])
		if err != nil {
			t.Fatalf("cut at %d: %v", size, err)
		}
		if wantWhole := bytes.LastIndexByte(data[:size], '\n') + 1; log.whole != wantWhole {
			t.Fatalf("cut at %d: %d whole bytes, want %d", size, log.whole, wantWhole)
		}
		pairs := log.Pairs
		want := testPairs()[:max(0, bytes.Count(data[:size], []byte{'\n'})-1)]
		if !reflect.DeepEqual(append([]Pair{}, pairs...), want) {
			t.Fatalf("cut at %d: pairs %+v, want %+v", size, pairs, want)
		}
	}
}

// A log that was cut takes new lines behind its last whole one. Every size near
// the end of a line is tried, and some others.
func TestCutLogGoesOn(t *testing.T) {
	path, data := writeLog(t)
	for size := range len(data) + 1 {
		nearEnd := bytes.IndexByte(data[max(0, size-2):min(len(data), size+2)], '\n') >= 0
		if !nearEnd && size%50 != 0 {
			continue
		}
		if err := os.WriteFile(path, data[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		log, pairs, err := openRecords(path, "", "", testSchedule)
		if err != nil {
			t.Fatalf("cut at %d: %v", size, err)
		}
		for _, p := range testPairs()[len(pairs):] {
			if err := log.append(p, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.close(); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("cut at %d and completed: %v\n%s\nwant\n%s", size, err, again, data)
		}
	}
}

func TestLogOfAnotherSchedule(t *testing.T) {
	path, before := writeLog(t)
	_, _, err := openRecords(path, "", "", schedule{"variant": "crazyhouse", "seed": "8", "player 1": "one", "openings": "book"})
	if !errors.Is(err, ErrOtherSchedule) {
		t.Fatalf("error %v, want ErrOtherSchedule", err)
	}
	for _, word := range []string{path, `player 2 is "two" in the log, "" here`, `openings is "" in the log, "book" here`, `seed is "7" in the log, "8" here`} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
	if strings.Contains(err.Error(), "variant") {
		t.Errorf("error %q names what is the same", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("a refused log was changed: %v", err)
	}
}

// TestLogWithoutPairs: a log in which nothing was played does not stand in the way of
// another match.
func TestLogWithoutPairs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for _, seed := range []string{"a longer seed than the next", "8"} {
		s := schedule{"player 1": "one", "player 2": "two", "seed": seed}
		r, pairs, err := openRecords(path, "", "", s)
		if err != nil || len(pairs) != 0 {
			t.Fatalf("seed %s: %d pairs, error %v", seed, len(pairs), err)
		}
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if log, err := ReadLog(bytes.NewReader(data)); err != nil || log.Settings["seed"] != seed {
			t.Errorf("found settings %v, error %v, expected seed %s", log.Settings, err, seed)
		}
	}
}

// TestLogWithoutPairsKept: such a log stays as it is where another match cannot begin.
func TestLogWithoutPairsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	pgn := path + ".pgn"
	s := schedule{"player 1": "one", "player 2": "two", "seed": "1"}
	r, _, err := openRecords(path, pgn, "run", s)
	if err := errors.Join(err, r.close(), os.WriteFile(pgn, []byte("[Event torn"), 0o644)); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	other := schedule{"player 1": "one", "player 2": "two", "seed": "2"}
	if _, _, err := openRecords(path, pgn, "other", other); err == nil {
		t.Error("another match took the PGN")
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the log has changed to %q, error %v", after, err)
	}
	r, _, err = openRecords(path, pgn, "run", s)
	if err := errors.Join(err, r.close()); err != nil {
		t.Errorf("the match does not go on: %v", err)
	}
}

func TestDamagedLog(t *testing.T) {
	path, data := writeLog(t)
	lines := strings.SplitAfter(string(data), "\n")
	change := func(line int, old, new string) string {
		changed := append([]string{}, lines...)
		changed[line] = strings.Replace(changed[line], old, new, 1)
		if changed[line] == lines[line] {
			t.Fatalf("line %d has no %q: %s", line, old, lines[line])
		}
		return strings.Join(changed, "")
	}
	for name, text := range map[string]string{
		"not JSON":         change(2, "{", "["),
		"twice":            string(data) + lines[2],
		"another schedule": change(1, testSchedule.hash(), "0123456789abcdef"),
		"unknown result":   change(1, whiteWins, "2-0"),
		"negative number":  change(3, `"pair":2`, `"pair":-2`),
		"negative plies":   change(3, `"plies":9`, `"plies":-9`),
		"unknown failure":  change(2, `"failed":"A"`, `"failed":"C"`),
		"winner failed":    change(2, `"failed":"A"`, `"failed":"B"`),
		"other version":    change(0, `"version":2`, `"version":3`),
		"earlier version":  change(0, `"version":2`, `"version":1`),
		"one player":       change(0, `"player 1"`, `"player 3"`),
		"unknown player":   change(1, `"players":[0,1]`, `"players":[0,2]`),
		"one player twice": change(1, `"players":[0,1]`, `"players":[1,1]`),
		"unknown verdict":  change(1, `"adjudged":"0-1"`, `"adjudged":"0-2"`),
		"PGN in one line":  change(1, `"pair":1`, `"pgn":9,"pair":1`),
		"no PGN sizes":     change(0, `{"version"`, `{"pgn":true,"version"`),
		"no header":        strings.Join(lines[1:], ""),
		"empty line":       lines[0] + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := openRecords(path, "", "", testSchedule); !errors.Is(err, ErrBadLog) {
			t.Errorf("%s: error %v, want ErrBadLog", name, err)
		}
	}
}

// Only one match at a time has a log.
func TestLogInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "match.jsonl")
	first, _, err := openRecords(path, "", "", testSchedule)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := openRecords(path, "", "", testSchedule); !errors.Is(err, ErrLogInUse) || !strings.Contains(err.Error(), path) {
		t.Errorf("second opening: %v, want ErrLogInUse", err)
	}
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	second, _, err := openRecords(path, "", "", testSchedule)
	if err != nil {
		t.Fatal(err)
	}
	second.close()
}

// A file that is no log is not begun anew, nor one that another match writes its games into,
// or this one its log.
func TestFilesOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for text, taken := range map[string]bool{"": true, `{"ver`: true, `{"version":2,"schedu`: true, "\x00\x00\x00": true, `{"my":"notes"}`: false, "x": false} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r, _, err := openRecords(path, "", "", testSchedule)
		if (err == nil) != taken || !taken && !errors.Is(err, ErrBadLog) {
			t.Errorf("file %q: error %v, taken for a new log: %v, expected %v", text, err, err == nil, taken)
		}
		r.close()
		if now, err := os.ReadFile(path); err != nil || !taken && string(now) != text {
			t.Errorf("file %q: left %q, error %v", text, now, err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Remove(path), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	if r, _, err := openRecords(path, link, "", testSchedule); !errors.Is(err, ErrConfig) {
		t.Errorf("log and PGN in one file: error %v, expected ErrConfig", err)
		r.close()
	}
	pgn := filepath.Join(t.TempDir(), "games.pgn")
	first, _, err := openRecords("", pgn, "", testSchedule)
	if err != nil {
		t.Fatal(err)
	}
	defer first.close()
	if _, _, err := openRecords("", pgn, "", testSchedule); !errors.Is(err, ErrPGNInUse) {
		t.Errorf("another match with the PGN: error %v, expected ErrPGNInUse", err)
	}
}

func TestNoLog(t *testing.T) {
	log, pairs, err := openRecords("", "", "", testSchedule)
	if err != nil || pairs != nil {
		t.Fatal(err, pairs)
	}
	if err := errors.Join(log.append(testPairs()[0], nil), log.close()); err != nil {
		t.Error(err)
	}
	if _, _, err := openRecords(t.TempDir(), "", "", testSchedule); err == nil {
		t.Error("a directory was opened as a log")
	}
}

// Any bytes give an error or pairs that, written again, are read as they were.
func FuzzReadLog(f *testing.F) {
	_, data := writeLog(f)
	f.Add(data)
	f.Add(data[:len(data)-9])
	f.Add(readFile(f, "testdata/v1/match.jsonl"))
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"version":2,"schedule":{"player 1":"x","player 2":"y"},"pgn":true}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := ReadLog(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, ErrBadLog) {
				t.Fatalf("error %v, want ErrBadLog", err)
			}
			return
		}
		if log.whole > len(data) || bytes.IndexByte(data[log.whole:], '\n') >= 0 {
			t.Fatalf("%d whole bytes of %d", log.whole, len(data))
		}
		again, err := ReadLog(bytes.NewReader(log.encode()))
		log.whole = again.whole
		if err != nil || !reflect.DeepEqual(again, log) {
			t.Fatalf("written again: %v\n%+v\nwant\n%+v", err, again, log)
		}
	})
}

// encode writes the log as it would be now.
func (l *Log) encode() []byte {
	s := schedule(l.Settings)
	text := encodeLine(logHeader{l.Version, s, l.withPGN})
	for i, p := range l.Pairs {
		line := logLine{Schedule: s.hash(), Pair: p}
		if l.withPGN { // only the last size is known
			line.PGN = l.pgn - int64(len(l.Pairs)-1-i)
		}
		text = append(text, encodeLine(line)...)
	}
	return text
}

func TestShorten(t *testing.T) {
	for n := 490; n < 520; n++ {
		s := strings.Repeat("x", n) + "é€" + strings.Repeat("y", 100)
		short := shorten(s)
		if len(short) > 503 || !strings.HasPrefix(s, strings.TrimSuffix(short, "…")) {
			t.Errorf("shorten of %d: %q", n, short)
		}
	}
	if got := shorten("é"); got != "é" {
		t.Errorf("shorten(é) = %q", got)
	}
}
