package configs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// hostile are texts that are small for what the YAML library makes of them.
func hostile() map[string]string {
	deep := func(line string, width, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(" ", width*i) + line)
		}
		return b.String()
	}
	return map[string]string{
		"brackets":        strings.Repeat("[", 30<<10),
		"braces":          strings.Repeat("{", 30<<10),
		"open lists":      "schema: 1\nseed: " + strings.Repeat("[1,", 30<<10),
		"dashes":          strings.Repeat("- ", 15<<10) + "a",
		"dashes in depth": deep("-\n", 1, 1000),
		"tabs":            strings.Repeat("-\t", 500<<10),
		"questions":       strings.Repeat("? ", 15<<10),
		"long list":       "seed: [" + strings.Repeat("1,", 500<<10) + "]",
		"long mapping":    "{" + strings.Repeat("a: 1,", 50<<10) + "}",
		"lines":           strings.Repeat("- a\n", 250<<10),
		"carriage":        strings.Repeat("- a\r", 250<<10),
		"documents":       strings.Repeat("---\n", 256<<10),
		"comments":        strings.Repeat("#\n", 512<<10),
		"large":           "a: " + strings.Repeat("x", maxFile),
		"laughs":          "a: &a [1,1]\nb: &b [*a,*a]\nseed: [*b,*b]",
		"merge":           "a: &a {b: 1}\nc: {<<: *a}",
		"tag":             "schema: !!binary aGVsbG8=",
	}
}

func TestHostileText(t *testing.T) {
	const most = 100 << 20 // bytes: a text of 1 MiB whose tokens are at the bound takes half of it
	for name, text := range hostile() {
		for reader, read := range map[string]func() error{
			"merge":  func() error { c, _ := Preset("laptop"); return c.Merge([]byte(text), "x.yaml") },
			"preset": func() error { _, err := FilePreset([]byte(text), "x.yaml"); return err },
			"sweep":  func() error { _, err := (Learn{}).Sweep([]byte(text), "x.yaml"); return err },
			"ladder": func() error { _, err := ParseLadder([]byte(text), "x.yaml"); return err },
			"set":    func() error { c, _ := Preset("laptop"); return c.Set("actor.workers", text) },
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := read()
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > most {
				t.Errorf("%s, %s: took %d MiB", name, reader, taken>>20)
			}
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("%s, %s: error %v, expected ErrInvalid", name, reader, err)
			}
			if reader != "set" && err != nil && len(err.Error()) > 300 {
				t.Errorf("%s, %s: an error of %d bytes", name, reader, len(err.Error()))
			}
		}
	}
}

// Texts as large as the bounds allow are read in reasonable time and memory.
func TestLargeText(t *testing.T) {
	for name, text := range map[string]string{
		"data":     "schema: 1\ndata:\n" + strings.Repeat("  - "+strings.Repeat("x", 60)+"\n", 10_000),
		"one line": "schema: 1\ndata: [" + strings.Repeat("x, ", 19_000) + "x]",
		"sweep":    "schema: 1\nseed: [" + numbers(maxSweep) + "]",
	} {
		if _, err := learnPreset(t, "tiny").Sweep([]byte(text), "x.yaml"); err != nil {
			t.Errorf("%s: %.300s", name, err)
		}
	}
}

// numbers lists n numbers.
func numbers(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return strings.Join(all, ", ")
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	for size, good := range map[int]bool{0: true, maxFile: true, maxFile + 1: false} {
		if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
		if text, err := ReadFile(path); good && (err != nil || len(text) != size) || !good && !errors.Is(err, ErrInvalid) {
			t.Errorf("%d bytes: found %d, error %v", size, len(text), err)
		}
	}
	if _, err := ReadFile(path + "2"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if _, err := ReadFile("/dev/zero"); !errors.Is(err, ErrInvalid) {
			t.Errorf("a file without end: error %v", err)
		}
	}
}

// TestKeyTwice: a key is written with dots or nested, not both.
func TestKeyTwice(t *testing.T) {
	for range 20 { // of a map in any order
		if _, err := decode([]byte("schema: 1\ntrain.batch: 3\ntrain:\n  batch: 64\n"), "file"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), `the key "train.batch" twice`) {
			t.Fatalf("found error %v", err)
		}
	}
}

// TestOneDocument: what stands after a line --- is not left out in silence.
func TestOneDocument(t *testing.T) {
	for text, want := range map[string]string{
		"schema: 1\n---\nbogus: 1\n": "found a second document after a line ---, expected one",
		"---\nschema: 1\n":           "",
		"schema: 1\n---\n":           "",
		"schema: 1\n...\n":           "",
		"# nothing\n":                "",
		"":                           "",
	} {
		var to map[string]any
		err := unmarshal([]byte(text), &to)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, expected %q", text, err, want)
		}
	}
}
