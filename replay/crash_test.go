package replay

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Cut the newest segment at every byte: all games before the cut are there,
// the lost ones can be stored again, and then nothing is missing or twice.
func TestCutAtEveryByte(t *testing.T) {
	o := testOptions()
	dir := t.TempDir()
	b := openBuffer(t, dir, o)
	games := testGames(t, 0, 40)
	appendGames(t, b, games)
	crash(t, b)
	files := segmentFiles(t, dir)
	last := filepath.Base(files[len(files)-1])
	data, manifest := readFile(t, files[len(files)-1]), readFile(t, filepath.Join(dir, manifestFile))
	ends := []int64{headerBytes}
	scan(data, func(r record) { ends = append(ends, r.end()) }, nil)
	older := len(games) - (len(ends) - 1)
	if older < 1 || len(ends) < 3 {
		t.Fatalf("%d games in the newest segment, %d before it", len(ends)-1, older)
	}
	step := int64(1)
	if testing.Short() {
		step = 3
	}
	for n := int64(0); n <= int64(len(data)); n += step {
		whole := 0
		for whole < len(ends)-1 && ends[whole+1] <= n {
			whole++
		}
		if err := os.WriteFile(filepath.Join(dir, last), data[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, manifestFile), manifest)
		b, err := Open(dir, o)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if got := b.Stats().Games; got != uint64(older+whole) {
			t.Fatalf("cut at %d: %d games, want %d", n, got, older+whole)
		}
		wantDamage := 1
		if n >= headerBytes && ends[whole] == n {
			wantDamage = 0
		}
		if d := b.Damage(); len(d) != wantDamage {
			t.Fatalf("cut at %d: damage %v", n, d)
		}
		if n%64 == 0 { // the whole way takes a sync
			if rep := appendGames(t, b, games); rep.Stored != len(games)-older-whole || rep.Duplicate != older+whole {
				t.Fatalf("cut at %d: %+v", n, rep)
			}
			if r := audit(t, dir); r.UniqueIDs != uint64(len(games)) || r.Games != r.UniqueIDs || len(r.Damage) != 0 {
				t.Fatalf("cut at %d: %+v", n, r)
			}
		}
		crash(t, b)
	}
}

// Damage anywhere in an old segment costs the games it touches.
func TestBitRot(t *testing.T) {
	o := testOptions()
	dir := t.TempDir()
	b := openBuffer(t, dir, o)
	games := testGames(t, 0, 60)
	appendGames(t, b, games)
	crash(t, b)
	first := segmentFiles(t, dir)[0]
	data := readFile(t, first)
	rng := newRand(1)
	for range 60 {
		flipped := bytes.Clone(data)
		at := rng.IntN(len(flipped))
		flipped[at] ^= 1 << rng.IntN(8)
		writeFile(t, first, flipped)
		b, err := Open(dir, o)
		if err != nil {
			t.Fatalf("byte %d: %v", at, err)
		}
		lost := uint64(1)
		if at < headerBytes {
			lost = 0
		}
		if st := b.Stats(); st.Games != uint64(len(games))-lost {
			t.Fatalf("byte %d: %d games, want %d", at, st.Games, uint64(len(games))-lost)
		}
		if d := b.Damage(); len(d) != 1 || d[0].Segment != filepath.Base(first) || int64(at) < d[0].Offset || int64(at) >= d[0].Offset+d[0].Bytes {
			t.Fatalf("byte %d: damage %v", at, d)
		}
		if r := audit(t, dir); r.Corrupt != 1 || r.Games != uint64(len(games))-lost || len(r.Damage) != 1 {
			t.Fatalf("byte %d: audit %+v", at, r)
		}
		crash(t, b)
	}
}

// A game damaged after Open is not drawn and stops nothing.
func TestRotAfterOpen(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	appendGames(t, b, testGames(t, 0, 20))
	crash(t, b)
	b = openBuffer(t, dir, testOptions())
	path := segmentFiles(t, dir)[0]
	data := readFile(t, path)
	e := b.index.window[3]
	data[e.offset+frameBytes+20] ^= 1
	writeFile(t, path, data)
	if _, err := b.read(e); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
	if err := b.Draw(newRand(1), Drawing{PerGame: 1}, make([]sample.Sample, 500)); err != nil {
		t.Fatal(err)
	}
	if st := b.Stats(); st.Unreadable != 1 {
		t.Errorf("%d unreadable games, want 1", st.Unreadable)
	}
}

// Killed between any two steps of retiring a segment, the buffer counts and
// knows every game once.
func TestCrashWhileRetiring(t *testing.T) {
	o := testOptions()
	o.MaxBytes = 3 * o.SegmentBytes
	o.Window.Min = 100
	dir := t.TempDir()
	b := openBuffer(t, dir, o)
	games := testGames(t, 0, 300)
	for at := 0; at < 200; at += 20 {
		appendGames(t, b, games[at:at+20])
	}
	crash(t, b)
	before := copyDir(t, dir)
	oldest := filepath.Base(segmentFiles(t, before)[0])
	b = openBuffer(t, dir, o)
	for at := 200; len(segmentFiles(t, dir)) > 0 && filepath.Base(segmentFiles(t, dir)[0]) == oldest; at += 5 {
		before = copyDir(t, dir)
		appendGames(t, b, games[at:at+5])
	}
	crash(t, b)
	// What a crash leaves of the steps: ids; ids and manifest; all.
	for steps, restore := range [][]string{
		{oldest, manifestFile, retiredFile},
		{oldest, manifestFile},
		{oldest},
		{},
	} {
		state := copyDir(t, dir)
		for _, name := range restore {
			writeFile(t, filepath.Join(state, name), readFile(t, filepath.Join(before, name)))
		}
		b := openBuffer(t, state, o)
		st := b.Stats()
		n := int(st.Games)
		if n <= 200 || st.Plies != rows(games[:n]) {
			t.Errorf("after %d steps: %+v", steps, st)
		}
		if rep := appendGames(t, b, games); rep.Stored != 300-n || rep.Duplicate != n {
			t.Errorf("after %d steps: %+v with %d games", steps, rep, n)
		}
		if st := b.Stats(); st.Games != 300 || st.Plies != rows(games) {
			t.Errorf("after %d steps and everything: %+v", steps, st)
		}
		r := audit(t, state)
		if r.Games+r.Retired != 300 || r.Duplicates != 0 {
			t.Errorf("after %d steps: audit %+v", steps, r)
		}
	}
}

// A failed write leaves the buffer as it was; a failed sync stops it.
func TestFailedWrites(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	games := testGames(t, 0, 10)
	appendGames(t, b, games[:5])
	real := b.active
	readOnly, err := os.Open(real.Name())
	if err != nil {
		t.Fatal(err)
	}
	b.active = readOnly // neither write nor truncate work
	if _, err := b.Append(games); !errors.Is(err, ErrBroken) {
		t.Errorf("got %v, want ErrBroken", err)
	}
	b.active = real
	if err := readOnly.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Append(games); !errors.Is(err, ErrBroken) {
		t.Errorf("after a failed write: got %v, want ErrBroken", err)
	}
	if st := b.Stats(); st.Games != 5 {
		t.Errorf("%d games, want 5", st.Games)
	}
	crash(t, b)
	b = openBuffer(t, dir, testOptions())
	if rep := appendGames(t, b, games); rep.Stored != 5 || rep.Duplicate != 5 {
		t.Errorf("opened again: %+v", rep)
	}
}

// A whole record that is no game is damage, to Open and to Audit.
func TestRecordThatIsNoGame(t *testing.T) {
	dir := t.TempDir()
	good := testGames(t, 0, 2)
	data, _ := segmentOf(good[0], []byte("no game"), good[1], good[1])
	writeFile(t, filepath.Join(dir, segmentName(1)), data)
	b := openBuffer(t, dir, testOptions())
	if st := b.Stats(); st.Games != 2 || len(b.Damage()) != 2 {
		t.Errorf("%d games, damage %v", st.Games, b.Damage())
	}
	// segmentOf gives the games wrong numbers of trainable plies.
	if r := audit(t, dir); r.Games != 4 || r.Invalid != 4 {
		t.Errorf("%+v", r)
	}
	g, err := game.Decode(good[1])
	if err != nil {
		t.Fatal(err)
	}
	data = appendSegmentHeader(nil, g.Variant)
	data = appendFrame(appendFrame(data, good[1], trainable(g)), good[1], trainable(g))
	if err := os.Remove(filepath.Join(dir, segmentName(1))); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, segmentName(2)), data)
	if r := audit(t, dir); r.Games != 2 || r.Duplicates != 1 || r.UniqueIDs != 1 || r.Invalid != 0 {
		t.Errorf("twice the same: %+v", r)
	}
	if _, err := Audit(filepath.Join(dir, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	writeFile(t, filepath.Join(dir, "x.seg"), nil)
	if _, err := Audit(dir); !errors.Is(err, ErrSegment) {
		t.Errorf("foreign segment: %v", err)
	}
}
