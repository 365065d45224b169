package replay

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/sample"
)

func TestOptionsAreChecked(t *testing.T) {
	for _, change := range []func(*Options){
		func(o *Options) { o.Variant = nil },
		func(o *Options) { o.Variant = &chess.Variant{Name: "much too long a name"} },
		func(o *Options) { o.SegmentBytes = 100 },
		func(o *Options) { o.SegmentBytes = maxSegment },
		func(o *Options) { o.MaxBytes = o.SegmentBytes },
		func(o *Options) { o.Window.Slope = 2 },
	} {
		o := testOptions()
		change(&o)
		if _, err := Open(t.TempDir(), o); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: got %v, want ErrConfig", o, err)
		}
	}
}

func TestAppendCountsAndReopen(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	games := testGames(t, 0, 200)
	rep := appendGames(t, b, games[:150])
	if rep.Stored != 150 || rep.Duplicate != 0 || len(rep.Rejected) != 0 || rep.Plies != rows(games[:150]) || rep.HeldOut == 0 {
		t.Fatalf("%+v", rep)
	}
	rep = appendGames(t, b, append(games[100:], games[199]))
	if rep.Stored != 50 || rep.Duplicate != 51 {
		t.Fatalf("%+v", rep)
	}
	st := b.Stats()
	if st.Games != 200 || st.Plies != rows(games) || st.Duplicates != 51 || st.WindowPlies != st.Plies ||
		st.WindowTarget != st.Plies || st.WindowGames+st.HeldOutGames != 200 || st.StoredNow != 200 || st.Segments < 5 {
		t.Errorf("%+v", st)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Append(games[:1]); !errors.Is(err, ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
	b = openBuffer(t, dir, testOptions())
	if again := b.Stats(); again != st {
		t.Errorf("opened again: %+v, want %+v", again, st)
	}
	if d := b.Damage(); len(d) != 0 {
		t.Errorf("damage %v", d)
	}
	if rep := appendGames(t, b, games); rep.Stored != 0 || rep.Duplicate != 200 {
		t.Errorf("everything once more: %+v", rep)
	}
	r := audit(t, dir)
	if r.Games != 200 || r.UniqueIDs != 200 || r.Duplicates != 0 || r.Invalid != 0 || r.Corrupt != 0 || r.TornBytes != 0 ||
		r.HeldOut != st.HeldOutGames || r.Bytes != int64(st.Bytes) || len(r.Damage) != 0 {
		t.Errorf("audit: %+v", r)
	}
	if r.String() == "" {
		t.Error("audit prints nothing")
	}
}

func TestSecondOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	openBuffer(t, dir, testOptions())
	if _, err := Open(dir, testOptions()); !errors.Is(err, dirlock.ErrHeld) {
		t.Errorf("got %v, want ErrHeld", err)
	}
}

func TestOtherVariantIsRefused(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	appendGames(t, b, testGames(t, 0, 1))
	crash(t, b) // without a manifest the segment must tell
	o := testOptions()
	o.Variant = chess.Chess
	if _, err := Open(dir, o); !errors.Is(err, ErrVariant) {
		t.Errorf("segment: got %v, want ErrVariant", err)
	}
	if err := openBuffer(t, dir, testOptions()).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(segmentFiles(t, dir)[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, o); !errors.Is(err, ErrVariant) {
		t.Errorf("manifest: got %v, want ErrVariant", err)
	}
}

func TestQuarantine(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	good := testGames(t, 0, 3)
	flipped := bytes.Clone(good[1])
	flipped[len(flipped)-1] ^= 1
	g := testGame(50, 20)
	g.Variant, g.Start = chess.Chess, chess.Chess.Start()
	g.Plies, g.Outcome, g.Reason = nil, chess.Draw, game.PlyLimit
	other := encode(t, g)
	rep := appendGames(t, b, [][]byte{good[0], flipped, nil, []byte("junk"), other, good[2]})
	if rep.Stored != 2 || len(rep.Rejected) != 4 {
		t.Fatalf("%+v", rep)
	}
	for i, want := range []error{game.ErrCRC, game.ErrTruncated, game.ErrMagic, ErrVariant} {
		if r := rep.Rejected[i]; r.Index != i+1 || !errors.Is(r.Err, want) {
			t.Errorf("rejection %d: game %d, %v; want %v", i, r.Index, r.Err, want)
		}
	}
	if st := b.Stats(); st.Quarantined != 4 || st.Games != 2 {
		t.Errorf("%+v", st)
	}
	names, err := filepath.Glob(filepath.Join(dir, "quarantine", "*.game"))
	if err != nil || len(names) != 4 {
		t.Fatalf("quarantine holds %q, %v", names, err)
	}
	found := false
	for _, name := range names {
		reason := readFile(t, strings.TrimSuffix(name, ".game")+".txt")
		found = found || bytes.Equal(readFile(t, name), flipped) && bytes.Contains(reason, []byte("checksum"))
	}
	if !found {
		t.Error("the damaged game and its reason are not there")
	}
	if rep := appendGames(t, b, good[1:2]); rep.Stored != 1 {
		t.Errorf("good copy of a quarantined game: %+v", rep)
	}
}

// A game that comes again, since its batch was not acknowledged, is in quarantine
// already and is not written a second time.
func TestQuarantineWritesOnce(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	old := time.Unix(1_000_000_000, 0)
	for range 2 {
		if rep := appendGames(t, b, [][]byte{[]byte("junk")}); len(rep.Rejected) != 1 {
			t.Fatalf("%+v", rep)
		}
		names, err := filepath.Glob(filepath.Join(dir, "quarantine", "*"))
		if err != nil || len(names) != 2 {
			t.Fatalf("quarantine holds %q, %v", names, err)
		}
		for _, name := range names {
			if info, err := os.Stat(name); err != nil || b.Stats().Quarantined == 2 && !info.ModTime().Equal(old) {
				t.Errorf("%s was written again (error %v)", name, err)
			}
			if err := os.Chtimes(name, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestQuarantineIsBounded(t *testing.T) {
	q := quarantine{dir: filepath.Join(t.TempDir(), "q")}
	large := make([]byte, quarantineRecord+10)
	for i := range quarantineBytes/quarantineRecord + 5 {
		large[0] = byte(i)
		if err := q.put(large, errors.New("large")); err != nil {
			t.Fatal(err)
		}
	}
	names, err := os.ReadDir(q.dir)
	if err != nil || len(names) != 2*quarantineBytes/quarantineRecord {
		t.Errorf("%d files, %v", len(names), err)
	}
}

// The window is what the rule says, from the newest game back.
func TestWindowFollowsRule(t *testing.T) {
	o := testOptions()
	o.Window = WindowRule{Min: 300, Exponent: 0.65, Slope: 0.4}
	dir := t.TempDir()
	b := openBuffer(t, dir, o)
	games := testGames(t, 0, 300)
	for at := 0; at < len(games); at += 7 {
		appendGames(t, b, games[at:min(at+7, len(games))])
		st := b.Stats()
		oldest := uint64(b.index.window[0].trainable)
		if want := o.Window.Size(st.Plies); st.WindowPlies < want || st.WindowPlies-oldest >= want {
			t.Fatalf("window of %d, oldest game %d, want %d", st.WindowPlies, oldest, want)
		}
	}
	st := b.Stats()
	if st.WindowPlies > st.Plies/2 {
		t.Errorf("window %d of %d", st.WindowPlies, st.Plies)
	}
	crash(t, b)
	if again := openBuffer(t, dir, o).Stats(); again != st {
		t.Errorf("opened again: %+v, want %+v", again, st)
	}
}

// Old segments are deleted, their games still counted and still known.
func TestRetire(t *testing.T) {
	o := testOptions()
	o.MaxBytes = 5 * o.SegmentBytes
	o.Window.Min = 200
	dir := t.TempDir()
	b := openBuffer(t, dir, o)
	games := testGames(t, 0, 400)
	for at := 0; at < len(games); at += 25 {
		appendGames(t, b, games[at:at+25])
	}
	st := b.Stats()
	if st.Games != 400 || st.Plies != rows(games) || st.StoredNow >= 400 || st.Bytes > uint64(o.MaxBytes) {
		t.Errorf("%+v", st)
	}
	r := audit(t, dir)
	if r.Retired+r.Games != 400 || r.RetiredIDs != int(r.Retired) || r.Retired == 0 {
		t.Errorf("audit: %+v", r)
	}
	check := func(b *Buffer) {
		t.Helper()
		if again := b.Stats(); again != st {
			t.Errorf("%+v, want %+v", again, st)
		}
		if rep := appendGames(t, b, games); rep.Duplicate != 400 {
			t.Errorf("everything once more: %+v", rep)
		}
		st.Duplicates += 400
	}
	check(b)
	crash(t, b)
	check(openBuffer(t, dir, o))
}

// Retiring that fails after the ids were written does not write them again.
func TestRetireAgain(t *testing.T) {
	o := testOptions()
	o.MaxBytes = 3 * o.SegmentBytes
	o.Window.Min = 100
	dir := t.TempDir()
	b := openBuffer(t, dir, o)
	games := testGames(t, 0, 400)
	appendGames(t, b, games[:50])
	path := filepath.Join(dir, manifestFile)
	manifest := readFile(t, path)
	at := 50
	for ; len(b.retired.ids) == 0 && at < len(games); at += 5 {
		if _, err := b.Append(games[at : at+5]); err != nil {
			t.Fatal(err)
		}
	}
	known := len(b.retired.ids)
	if err := errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "in the way"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := b.retireFirst(); err == nil {
			t.Fatal("found no error, expected that of the manifest")
		}
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, manifest)
	first := len(b.segments[0].ids)
	if err := b.retireFirst(); err != nil {
		t.Fatal(err)
	}
	if got := len(b.retired.ids); got != known+first {
		t.Errorf("found %d ids of deleted games, expected %d and %d", got, known, first)
	}
	if rep := appendGames(t, b, games[:at]); rep.Duplicate != at {
		t.Errorf("everything once more: %+v", rep)
	}
	crash(t, b)
	if r := audit(t, dir); r.RetiredIDs != known+first {
		t.Errorf("audit: %+v", r)
	}
}

// The window is never deleted, however small the room.
func TestRetireSparesTheWindow(t *testing.T) {
	o := testOptions()
	o.MaxBytes = 2 * o.SegmentBytes
	b := openBuffer(t, t.TempDir(), o)
	appendGames(t, b, testGames(t, 0, 200))
	if st := b.Stats(); st.StoredNow != 200 || st.Bytes <= uint64(o.MaxBytes) {
		t.Errorf("%+v", st)
	}
}

func TestRetiredIDsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), retiredFile)
	seen := make(map[uint64]struct{})
	var r retiredIDs
	if _, err := r.load(path, seen); err != nil {
		t.Fatal(err)
	}
	ids := make([]uint64, maxRetired/2)
	var next, forgotten uint64
	for range 5 {
		for i := range ids {
			next++
			ids[i] = next
		}
		gone, err := r.append(ids)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range gone {
			if forgotten++; id != forgotten {
				t.Fatalf("forgot %d, want %d", id, forgotten)
			}
		}
	}
	if len(r.ids) != maxRetired || r.inFile > 2*maxRetired || forgotten != next-maxRetired {
		t.Errorf("%d ids, %d in the file, %d forgotten", len(r.ids), r.inFile, forgotten)
	}
	var back retiredIDs
	if damage, err := back.load(path, seen); err != nil || len(damage) > 0 || len(back.ids) != maxRetired || back.ids[0] != forgotten+1 {
		t.Errorf("%d ids came back, damage %v, %v", len(back.ids), damage, err)
	}
	data := readFile(t, path)
	writeFile(t, path, data[:len(data)-3]) // cut short
	if f, err := readIDs(path); err != nil || len(f.ids) != r.inFile-1 || f.damaged > 0 {
		t.Errorf("cut short: %d ids, %d damaged, %v", len(f.ids), f.damaged, err)
	}
	writeFile(t, path, []byte("something else"))
	if _, err := readIDs(path); !errors.Is(err, ErrVersion) {
		t.Errorf("other file: %v", err)
	}
}

func TestManifestIsChecked(t *testing.T) {
	for text, want := range map[string]error{
		"{":                        ErrManifest,
		`{"schema":1,"unknown":1}`: ErrManifest,
		`{"schema":2,"unknown":1}`: ErrManifest,
		`{"schema":4,"unknown":1}`: ErrVersion,
		`{"schema":2,"segments":[{"number":2},{"number":1}]}`: ErrManifest,
		`{"unknown":1}`:  ErrVersion,
		`{"schema":1}`:   ErrVariant,
		`{"schema":1}{}`: ErrManifest,
		`{"schema":"1"}`: ErrManifest,
	} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, manifestFile), []byte(text))
		if _, err := Open(dir, testOptions()); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", text, err, want)
		}
	}
}

func TestHeldOutShare(t *testing.T) {
	b := openBuffer(t, t.TempDir(), testOptions())
	games := testGames(t, 0, 400)
	rep := appendGames(t, b, games)
	if rep.HeldOut < 5 || rep.HeldOut > 40 {
		t.Errorf("%d of 400 held out, want about %d", rep.HeldOut, 400/sample.HeldOutEvery)
	}
}

// A game that is refused for a reason of the caller's is in quarantine, and its id is
// still free: another may have forged it.
func TestAppendExcept(t *testing.T) {
	b := openBuffer(t, t.TempDir(), testOptions())
	games, ids := testGames(t, 0, 2), []string{gameID(0), gameID(1)}
	reason := errors.New("not signed")
	rep, err := b.AppendExcept(games, map[int]error{1: reason})
	if err != nil || rep.Stored != 1 || len(rep.Rejected) != 1 || rep.Rejected[0].Err != reason || rep.Rejected[0].Index != 1 {
		t.Fatalf("report %+v, error %v", rep, err)
	}
	if got := b.Known(ids); got[0] != Stored || got[1] != Unknown {
		t.Errorf("known: %v, want stored and unknown", got)
	}
	if rep, err := b.Append(games); err != nil || rep.Stored != 1 || rep.Duplicate != 1 {
		t.Errorf("again: report %+v, error %v", rep, err)
	}
}
