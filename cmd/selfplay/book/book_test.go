package book

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// smallBook are the arguments that make a book in little time.
func smallBook(out string, more ...string) []string {
	return append([]string{"book", "--out", out, "--count", "24", "--seed", "5", "--plies", "3-9",
		"--nodes", "40", "--judge-nodes", "80", "--band", "-150..200", "--score-strata", "2", "--hand-strata", "0,1"}, more...)
}

func makeSmallBook(t *testing.T, out string, more ...string) (text, manifest []byte) {
	t.Helper()
	if _, stderr, code := selfplayCommand(t, "", smallBook(out, more...)...); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err = os.ReadFile(out + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return text, manifest
}

// The same settings make the same book, on however many goroutines and after a
// kill.
func TestBookIsRepeatable(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "first.epd")
	text, manifest := makeSmallBook(t, first, "--concurrency", "1")
	for name, makeJournal := range map[string]func([]byte) []byte{
		"none": nil,
		"cut":  func(j []byte) []byte { return j[:2*len(j)/3] },
	} {
		out := filepath.Join(dir, name+".epd")
		if makeJournal != nil {
			j, err := os.ReadFile(first + ".walks")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(out+".walks", makeJournal(j), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		again, other := makeSmallBook(t, out, "--concurrency", "3")
		if !bytes.Equal(text, again) || !bytes.Equal(manifest, other) {
			t.Errorf("journal %s: another book or manifest", name)
		}
	}
	packed := filepath.Join(dir, "packed.epd.gz")
	if z, other := makeSmallBook(t, packed, "--walks", first+".walks"); !bytes.HasPrefix(z, []byte("\x1f\x8b")) || !bytes.Equal(manifest, other) {
		t.Errorf("packed book begins %x, manifest\n%s", z[:2], other)
	}
}

func TestBookCheck(t *testing.T) {
	out := filepath.Join(t.TempDir(), "book.epd")
	makeSmallBook(t, out)
	stdout, stderr, code := selfplayCommand(t, "", "book", "check", out, "--games", "12", "--nodes", "30", "--record")
	if code != 0 || !strings.Contains(stdout, "openings: 24,") || !strings.Contains(stdout, "manifest: agrees") || !strings.Contains(stdout, "in 12 games") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	recorded := stdout[strings.LastIndex(strings.TrimSpace(stdout), "\n"):]
	if stdout, _, _ = selfplayCommand(t, "", "book", "check", out); !strings.HasSuffix(stdout, recorded) {
		t.Errorf("recorded %q, then printed %s", recorded, stdout)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := selfplayCommand(t, "", "book", "check", out); code != 1 || !strings.Contains(stderr, "expected 23") {
		t.Errorf("a book with a line less: exit code %d, %s", code, stderr)
	}
}

func TestBookErrors(t *testing.T) {
	out, alone := filepath.Join(t.TempDir(), "book.epd"), filepath.Join(t.TempDir(), "alone.epd")
	if err := os.WriteFile(alone, []byte("4k3/8/8/8/8/8/8/4K3[Q] w - -\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(t.TempDir(), "note.json") // where a manifest would be
	if err := os.WriteFile(note, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"file":         {smallBook(alone), 2, "alone.epd or"},
		"other file":   {smallBook(strings.TrimSuffix(note, ".json")), 2, "note.json, of which"},
		"one file":     {smallBook(out, "--walks", out), 2, "expected another file"},
		"concurrency":  {smallBook(out, "--concurrency", "-1"), 2, "--concurrency: found -1, expected 1 to 1024"},
		"plies of PGN": {[]string{"book", "check", alone, "--plies", "-1"}, 2, "--plies: found -1"},
		"no out":       {[]string{"book"}, 2, "--out"},
		"plies":        {smallBook(out, "--plies", "3..9"), 2, "FROM-TO"},
		"band":         {smallBook(out, "--band", "5"), 2, "FROM..TO"},
		"variant":      {smallBook(out, "--variant", "shogi"), 2, "--variant"},
		"time":         {smallBook(out, "--player", "material,movetime=5ms"), 2, "expected nodes or depth"},
		"temperature":  {smallBook(out, "--temperature", "0"), 2, "temperature is 0"},
		"count":        {smallBook(out, "--count", "0"), 2, "a book of 0 positions"},
		"games":        {[]string{"book", "check", "--games", "5001"}, 2, "5001 games, expected 1 to 5000"},
		"negative":     {[]string{"book", "check", "--games", "-1"}, 2, "-1 games, expected 1 to 5000"},
		"too few":      {smallBook(out, "--band", "0..3", "--max-walks", "20"), 1, "too few positions"},
		"other walks":  {smallBook(out+"2", "--seed", "6", "--walks", out+".walks"), 1, "other settings"},
		"other book":   {smallBook(out, "--seed", "6", "--walks", out+".others"), 2, "book.epd.json, of which the second does not call the first a book of these walks"},
		"record where": {[]string{"book", "check", "--record", "--games", "2"}, 2, "--record"},
		"record own":   {[]string{"book", "check", "default", "--record", "--games", "2"}, 2, "the program's own book cannot be written"},
		"no manifest":  {[]string{"book", "check", alone, "--record", "--games", "1", "--player", "none.nnue"}, 1, "alone.epd.json: found no manifest"},
		"no book":      {[]string{"book", "check", out + "x"}, 1, "no such file"},
		"no default":   {[]string{"book", "check", "--variant", "chess"}, 1, "no default book"},
	} {
		if strings.HasPrefix(name, "other ") {
			makeSmallBook(t, out)
		}
		if name == "too few" {
			c.args = append(c.args, "--walks", filepath.Join(t.TempDir(), "walks"))
		}
		_, stderr, code := selfplayCommand(t, "", c.args...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, %q; expected %d and %q", name, code, stderr, c.code, c.want)
		}
	}
	for path, begins := range map[string]string{alone: "4k3/", note: "mine"} {
		if text, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(text), begins) {
			t.Errorf("%s, which was in the way, now holds %q, error %v", path, text, err)
		}
	}
}
