package selfplay

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// someEvents are nets that were offered, a line each, as they are written; sum says whether
// with checksums.
func someEvents(sum bool) []byte {
	var text bytes.Buffer
	var to summedLines
	to.to = &text
	log := slog.New(slog.NewJSONHandler(&text, nil))
	if sum {
		log = slog.New(slog.NewJSONHandler(to, nil))
	}
	for generation := range 3 {
		log.Info("net offered", "generation", generation, "net", "a\"b", "games", 10*generation, "held_out_loss", 0.5)
	}
	return text.Bytes()
}

// Whatever bit of the events flips, the line is left out and told of, or it reads as it was;
// the others are there. Only a line's end takes two with it.
func TestFlippedBitOfEvents(t *testing.T) {
	text := someEvents(true)
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		if !json.Valid(line) || !bytes.Contains(line, []byte(`,"crc32c":"`)) {
			t.Fatalf("found %s, expected an object with its checksum", line)
		}
	}
	for i := range text {
		for bit := range 8 {
			flipped := bytes.Clone(text)
			flipped[i] ^= 1 << bit
			c := curveOfText(flipped)
			lost := 3 - len(c.Offered)
			for _, o := range c.Offered {
				if o.Games != float64(10*o.Generation) || o.HeldOutLoss != 0.5 {
					t.Fatalf("byte %d, bit %d: read %+v", i, bit, o)
				}
			}
			if lost > 1 && text[i] != '\n' || lost > 2 || (lost > 0) != (c.Damaged > 0) {
				t.Errorf("byte %d, bit %d: %d of 3 lines lost, %d told of", i, bit, lost, c.Damaged)
			}
		}
	}
	if c := curveOfText(someEvents(false)); len(c.Offered) != 3 || c.Damaged > 0 {
		t.Errorf("of an earlier build: found %+v", c)
	}
}

// A run that is opened tells of damaged lines of its events, and the line that a killed
// process has left is not joined with the next.
func TestDamagedEventsAreToldOf(t *testing.T) {
	t.Parallel()
	dir, cfg := filepath.Join(t.TempDir(), "run"), smallConfig(t)
	if err := openRun(t, dir, cfg).Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, eventsFile)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	offered := someEvents(true)
	damaged := bytes.Replace(offered, []byte(`"games":10`), []byte(`"games":11`), 1)
	cut := offered[:bytes.IndexByte(offered, '\n')/2]
	if err := os.WriteFile(path, bytes.Join([][]byte{before, damaged, cut}, nil), 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o := testOptions()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	r, err := Open(t.Context(), dir, cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	r.event("one more")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), eventsFile) || !strings.Contains(log.String(), "expected ") || !strings.Contains(log.String(), "lines=2") {
		t.Errorf("nothing tells of the damage:\n%s", &log)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(after), []byte("\n"))
	if last, err := CheckEvent(lines[len(lines)-1]); err != nil || !json.Valid(last) || !bytes.Contains(last, []byte(`"one more"`)) {
		t.Errorf("the last line is %s, error %v", last, err)
	}
	if !bytes.Contains(after, append(bytes.Clone(cut), '\n')) {
		t.Error("the unfinished line is joined with the next")
	}
}

// curveOfText is the curve of events.
func curveOfText(events []byte) (c Curve) {
	for line := range bytes.Lines(events) {
		c.Event(line)
	}
	return c
}

// A file read while it grows gives every whole line once, in order, whatever its parts. Lines
// that are too long are left out, and another file is read from its beginning.
func TestEventFileFollows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), eventsFile)
	long := strings.Repeat("y", maxEventLine)
	text := "one\n\ntwo\n" + long + "\nthree\n" + long[1:] + "\n" + long + long + "four\nfive"
	for _, parts := range []int{1, 2, 3, 7, 19} {
		e, found, restarts := EventFile{Path: path}, []string{}, 0
		again := func() { restarts++ }
		each := func(line []byte) { found = append(found, string(line)) }
		if err := e.Read(again, each); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without a file: error %v, expected %v", err, os.ErrNotExist)
		}
		for i := range parts {
			if err := os.WriteFile(path, []byte(text[:(i+1)*len(text)/parts]), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := e.Read(again, each); err != nil {
				t.Fatal(err)
			}
		}
		if want := []string{"one\n", "\n", "two\n", "three\n", long[1:] + "\n"}; !slices.Equal(found, want) || restarts != 0 {
			t.Errorf("in %d parts: found %d lines, %d restarts, expected %d lines", parts, len(found), restarts, len(want))
		}
		found = nil
		if err := os.WriteFile(path, []byte("six\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := e.Read(again, each); err != nil || restarts != 1 || !slices.Equal(found, []string{"six\n"}) {
			t.Errorf("another file: found %q, %d restarts, error %v", found, restarts, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
