package dataset

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// TestOutput: existing files stay unless told, and appending begins after the
// last whole record.
func TestOutput(t *testing.T) {
	for _, ext := range []string{".chain", ".bin", ".plain", ".txt", ".compact"} {
		src := open(t, wholeGames, chess.Crazyhouse)
		to := target(t, "x"+ext, src)
		all := func(s *Sink) error {
			var c Conversion
			return c.Run(context.Background(), open(t, wholeGames, chess.Crazyhouse), s)
		}
		if err := to.Create(all); err != nil {
			t.Fatal(err)
		}
		once := mustRead(t, to.Name)
		if err := to.Create(all); !errors.Is(err, ErrExists) {
			t.Errorf("%s: %v", ext, err)
		}
		to.Append = true
		failed := errors.New("failed")
		if err := to.Create(func(s *Sink) error { return errors.Join(all(s), failed) }); !errors.Is(err, failed) || !bytes.Equal(mustRead(t, to.Name), once) {
			t.Errorf("%s: after a failure the file is another, %v", ext, err)
		}
		if err := os.WriteFile(to.Name, slices.Concat(once, []byte("torn")), 0o644); err != nil {
			t.Fatal(err)
		}
		notes := 0
		to.Note = func(string) { notes++ }
		if err := to.Create(all); err != nil {
			t.Fatalf("%s: %v", ext, err)
		}
		if twice := mustRead(t, to.Name); !bytes.Equal(twice, slices.Concat(once, once)) || notes != 1 {
			t.Errorf("%s: %d bytes after appending, expected twice %d; %d notes", ext, len(twice), len(once), notes)
		}
		to.Append, to.Force = false, true
		if err := to.Create(all); err != nil || !bytes.Equal(mustRead(t, to.Name), once) {
			t.Errorf("%s: not replaced, %v", ext, err)
		}
	}
}

// TestAppendBinpack does the same where blocks say how long they are.
func TestAppendBinpack(t *testing.T) {
	name, _ := convert(t, chessPlain, "x.binpack", chess.Chess, Conversion{})
	once := mustRead(t, name)
	src := open(t, chessPlain, chess.Chess)
	to := Target{Name: name, Format: Binpack, Variant: chess.Chess, Append: true}
	var c Conversion
	for _, torn := range []int{100, len(once) - 1} { // with samples that can be read
		before := slices.Concat(once, once[:torn])
		if err := os.WriteFile(name, before, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := to.Create(func(*Sink) error { return nil }); err == nil || !strings.Contains(err.Error(), "convert the file to a new one") {
			t.Errorf("a block of %d bytes is cut off: found error %v", torn, err)
		}
		if !bytes.Equal(mustRead(t, name), before) {
			t.Errorf("the file with a block of %d bytes was changed", torn)
		}
	}
	if err := os.WriteFile(name, slices.Concat(once, once[:20]), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := to.Create(func(s *Sink) error { return c.Run(context.Background(), src, s) }); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mustRead(t, name), slices.Concat(once, once)) {
		t.Error("appended elsewhere than after the last block")
	}
	to.Variant = chess.Crazyhouse
	if err := to.Create(nil); !errors.Is(err, ErrName) {
		t.Errorf("crazyhouse in a .binpack: %v", err)
	}
}

// TestAppendForeign appends no records to a file of another format, whatever its name.
func TestAppendForeign(t *testing.T) {
	for _, as := range []string{"x.plain", "x.chain"} {
		name, _ := convert(t, chessPlain, as, chess.Chess, Conversion{})
		before := mustRead(t, name)
		for _, format := range []Format{Bin, Bin256} {
			to := Target{Name: name, Format: format, Variant: chess.Chess, Append: true}
			if err := to.Create(func(*Sink) error { return nil }); !errors.Is(err, sample.ErrFormat) {
				t.Errorf("%v appended to %s: error %v, expected %v", format, as, err, sample.ErrFormat)
			}
			if !bytes.Equal(mustRead(t, name), before) {
				t.Fatalf("%s was changed", as)
			}
		}
	}
}

// TestAppendToNotes changes no text that holds no samples.
func TestAppendToNotes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notes.txt")
	const notes = "my notes\nlast line"
	if err := os.WriteFile(name, []byte(notes), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, format := range []Format{Text, Compact} {
		to := Target{Name: name, Format: format, Variant: chess.Crazyhouse, Append: true}
		if err := to.Create(func(*Sink) error { return nil }); !errors.Is(err, sample.ErrFormat) || string(mustRead(t, name)) != notes {
			t.Errorf("%v: error %v, now %q", format, err, mustRead(t, name))
		}
	}
}

// TestAppendUnit converts scores to the unit of the file appended to.
func TestAppendUnit(t *testing.T) {
	name, _ := convert(t, wholeGames, "x.chain", chess.Crazyhouse, Conversion{})
	before := readAll(t, name, nil)
	games, _ := writeGames(t, 2)
	src := open(t, games, nil)
	to := Target{Name: name, Variant: chess.Crazyhouse, Unit: sample.CentipawnUnit, Append: true}
	var c Conversion
	if err := to.Create(func(s *Sink) error { return c.Run(context.Background(), src, s) }); err != nil {
		t.Fatal(err)
	}
	after := readAll(t, name, nil)
	if !slices.Equal(after[:len(before)], before) || len(after) == len(before) || after[len(before)].Score != 15 {
		t.Errorf("%d samples, then %d, the first new score %d", len(before), len(after), after[len(before)].Score)
	}
}

// TestAppendPlain keeps every record of a .plain file that is read, whatever ends its lines.
func TestAppendPlain(t *testing.T) {
	name, _ := convert(t, chessPlain, "x.plain", chess.Chess, Conversion{})
	once := mustRead(t, name)
	cr := bytes.ReplaceAll(once, []byte("\n"), []byte("\r\n"))
	want := 2 * len(readAll(t, name, chess.Chess))
	for what, before := range map[string][]byte{
		"lines that end with CR and LF": cr, "no end of the last line": bytes.TrimSuffix(once, []byte("\n")),
		"a torn record": slices.Concat(once, []byte("fen 8/8\nmove e")),
	} {
		if err := os.WriteFile(name, before, 0o644); err != nil {
			t.Fatal(err)
		}
		src := open(t, chessPlain, chess.Chess)
		to := Target{Name: name, Format: Plain, Variant: chess.Chess, Append: true}
		var c Conversion
		if err := to.Create(func(s *Sink) error { return c.Run(context.Background(), src, s) }); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if n := len(readAll(t, name, chess.Chess)); n != want {
			t.Errorf("%s: found %d samples, expected %d", what, n, want)
		}
	}
}

// TestAppendLocked: two do not append to one file at a time.
func TestAppendLocked(t *testing.T) {
	name, _ := convert(t, chessPlain, "x.bin", chess.Chess, Conversion{})
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := dirlock.LockFile(f); err != nil {
		t.Fatal(err)
	}
	to := Target{Name: name, Format: Bin, Variant: chess.Chess, Append: true}
	nothing := func(*Sink) error { return nil }
	if err := to.Create(nothing); !errors.Is(err, dirlock.ErrFileHeld) {
		t.Errorf("found %v, expected %v", err, dirlock.ErrFileHeld)
	}
	if to.Locked = true; to.Create(nothing) != nil {
		t.Error("who has the lock cannot append")
	}
	for _, name := range []string{os.DevNull, t.TempDir()} {
		if to.Name = name; !errors.Is(to.Create(nothing), ErrName) {
			t.Errorf("appended to %s, which is no file", name)
		}
	}
	to.Name, to.Locked = filepath.Join(t.TempDir(), "new.bin"), false
	err = to.Create(func(*Sink) error { return to.Create(nothing) }) // the lock is there from the beginning
	if !errors.Is(err, dirlock.ErrFileHeld) {
		t.Errorf("a new file: found %v, expected %v", err, dirlock.ErrFileHeld)
	}
}

// TestCreateBoth: both files or none.
func TestCreateBoth(t *testing.T) {
	dir := t.TempDir()
	a := Target{Name: filepath.Join(dir, "a.plain"), Format: Plain, Variant: chess.Chess, Force: true}
	b := a
	b.Name = filepath.Join(dir, "b.plain")
	failed := errors.New("failed")
	src := readAll(t, chessPlain, chess.Chess)
	for _, result := range []error{failed, nil} {
		err := CreateBoth(a, b, func(a, b *Sink) error {
			return errors.Join(a.Write(&src[0], sample.InternalUnit), b.Write(&src[1], sample.InternalUnit), result)
		})
		if !errors.Is(err, result) {
			t.Fatal(err)
		}
		for _, target := range []Target{a, b} {
			if _, err := os.Stat(target.Name); (err == nil) != (result == nil) {
				t.Errorf("after %v: %s: %v", result, target.Name, err)
			}
		}
	}
	folder := b
	folder.Name = t.TempDir()
	if err := CreateBoth(a, folder, nil); !errors.Is(err, ErrName) {
		t.Errorf("a directory: found %v, expected %v", err, ErrName)
	}
	if b.Force = false; !errors.Is(CreateBoth(a, b, nil), ErrExists) {
		t.Error("a file that is there was replaced")
	}
}
