package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// told are the sentences of all who read a buffer: VisitGames, Audit, Open, and Open
// once more.
func told(t *testing.T, dir string) (all [][]Damage) {
	t.Helper()
	var visited []Damage
	if _, err := VisitGames(dir, func(*game.Game) bool { return true }, func(d Damage) { visited = append(visited, d) }); err != nil {
		t.Fatal(err)
	}
	r := audit(t, dir)
	if len(r.Damage) > 0 != r.Wrong() || len(r.Damage) > 0 && !strings.Contains(r.String(), r.Damage[0].String()) {
		t.Errorf("audit: %+v", r)
	}
	all = append(all, visited, r.Damage)
	for range 2 {
		b := openBuffer(t, dir, testOptions())
		if st := b.Stats(); st.Lost != lostGames(b.Damage()) {
			t.Errorf("%+v, damage %v", st, b.Damage())
		}
		all = append(all, b.Damage())
		crash(t, b)
	}
	return all
}

// Whatever is taken away from a closed buffer is told by everybody who reads it, with
// the number of games lost, and told again later.
func TestDamageIsTold(t *testing.T) {
	base := t.TempDir()
	b := openBuffer(t, base, testOptions())
	appendGames(t, b, testGames(t, 0, 200))
	files := segmentFiles(t, base)
	games := make([]uint64, len(files))
	for i, s := range b.segments {
		games[i] = s.records
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	last := len(files) - 1
	// cut removes the last n games of a segment, and some bytes more.
	cut := func(dir string, i, n int, more int64) {
		path := filepath.Join(dir, filepath.Base(files[i]))
		data := readFile(t, path)
		ends := []int64{headerBytes}
		scan(data, func(r record) { ends = append(ends, r.end()) }, nil)
		writeFile(t, path, data[:ends[len(ends)-1-n]-more])
	}
	remove := func(dir string, i int) {
		if err := os.Remove(filepath.Join(dir, filepath.Base(files[i]))); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		damage  func(dir string)
		segment int
		lost    uint64
	}{
		"nothing":                     {func(string) {}, -1, 0},
		"first deleted":               {func(dir string) { remove(dir, 0) }, 0, games[0]},
		"one deleted":                 {func(dir string) { remove(dir, 2) }, 2, games[2]},
		"newest deleted":              {func(dir string) { remove(dir, last) }, last, games[last]},
		"cut between games":           {func(dir string) { cut(dir, 1, 3, 0) }, 1, 3},
		"cut in a game":               {func(dir string) { cut(dir, 1, 3, 1) }, 1, 4},
		"newest cut between games":    {func(dir string) { cut(dir, last, 2, 0) }, last, 2},
		"newest cut in a game":        {func(dir string) { cut(dir, last, 2, 5) }, last, 3},
		"emptied":                     {func(dir string) { writeFile(t, filepath.Join(dir, segmentName(2)), nil) }, 1, games[1]},
		"newest emptied":              {func(dir string) { writeFile(t, filepath.Join(dir, filepath.Base(files[last])), nil) }, last, games[last]},
		"newest cut to its last byte": {func(dir string) { cut(dir, last, int(games[last]), 0) }, last, games[last]},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyDir(t, base)
			c.damage(dir)
			for i, found := range told(t, dir) {
				if c.segment < 0 {
					if len(found) > 0 {
						t.Errorf("reader %d: %v", i, found)
					}
					continue
				}
				if len(found) == 0 || found[0].Segment != filepath.Base(files[c.segment]) || lostGames(found) != c.lost {
					t.Errorf("reader %d: found %v, expected %d games lost of %s", i, found, c.lost, filepath.Base(files[c.segment]))
				}
			}
			b := openBuffer(t, dir, testOptions())
			if rep := appendGames(t, b, testGames(t, 0, 200)); rep.Stored != int(c.lost) {
				t.Errorf("%d games stored again, expected %d", rep.Stored, c.lost)
			}
			crash(t, b)
			if r := audit(t, dir); r.UniqueIDs != 200 || r.Lost != c.lost || r.Duplicates > 0 {
				t.Errorf("audit after all came again: %+v", r)
			}
		})
	}
}

// Damage in a segment that leaves the buffer for its age goes with it.
func TestDamageIsRetired(t *testing.T) {
	o := testOptions()
	o.MaxBytes, o.Window.Min = 3*o.SegmentBytes, 100
	dir := t.TempDir()
	b := openBuffer(t, dir, o)
	appendGames(t, b, testGames(t, 0, 60))
	crash(t, b)
	if err := os.Remove(segmentFiles(t, dir)[0]); err != nil {
		t.Fatal(err)
	}
	b = openBuffer(t, dir, o)
	if len(b.Damage()) != 1 {
		t.Fatalf("damage %v", b.Damage())
	}
	for at := 100; at < 400; at += 20 {
		appendGames(t, b, testGames(t, at, 20))
	}
	crash(t, b)
	if r := audit(t, dir); r.Wrong() || len(r.Damage) > 0 {
		t.Errorf("audit: %+v", r)
	}
}

// Without the manifest nobody says that nothing was deleted.
func TestLostManifestIsTold(t *testing.T) {
	base := t.TempDir()
	o := testOptions()
	o.MaxBytes, o.Window.Min = 3*o.SegmentBytes, 100
	b := openBuffer(t, base, o)
	for at := 0; at < 200; at += 20 {
		appendGames(t, b, testGames(t, at, 20))
	}
	retired := b.Stats().Games - b.Stats().StoredNow
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{{manifestFile}, {manifestFile, retiredFile}} {
		dir := copyDir(t, base)
		for _, name := range names {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if r := audit(t, dir); len(names) == 1 && r.Retired != retired {
			t.Errorf("%d retired games, expected %d", r.Retired, retired)
		}
		for i, found := range told(t, dir)[:3] {
			if len(found) != 1 || found[0].Segment != manifestFile || len(names) == 1 && !strings.Contains(found[0].Reason, retiredFile) {
				t.Errorf("without %v, reader %d: found %v", names, i, found)
			}
		}
		if b := openBuffer(t, dir, o); len(names) == 1 && b.Stats().Games != b.Stats().StoredNow+retired {
			t.Errorf("%+v, expected %d retired", b.Stats(), retired)
		}
	}
}

// Older manifests list no segments: a gap is told, but not its games.
func TestGapIsTold(t *testing.T) {
	dir := copyDir(t, filepath.Join("testdata", "v1"))
	files := segmentFiles(t, dir)
	if err := os.Rename(files[len(files)-1], filepath.Join(dir, segmentName(1<<40))); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := audit(t, dir)
		if !r.Wrong() || len(r.Damage) != 1 || r.Damage[0].Segment != filepath.Base(files[len(files)-1]) || !strings.Contains(r.Damage[0].Reason, "not known") {
			t.Errorf("damage %v", r.Damage)
		}
		b := openBuffer(t, dir, goldenOptions())
		if len(b.Damage()) != 1 {
			t.Errorf("damage %v", b.Damage())
		}
		crash(t, b)
	}
}

// A segment that vanishes while games are drawn from it is told once, with the games
// that were missed.
func TestDrawsTellDamage(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	appendGames(t, b, testGames(t, 0, 60))
	crash(t, b)
	b = openBuffer(t, dir, testOptions())
	first := segmentFiles(t, dir)[0]
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	if err := b.Draw(newRand(1), Drawing{PerGame: 1}, make([]sample.Sample, 500)); err != nil {
		t.Fatal(err)
	}
	d, st := b.Damage(), b.Stats()
	if len(d) != 1 || d[0].Segment != filepath.Base(first) || d[0].Games != st.Unreadable || st.Unreadable < 2 || st.Lost != st.Unreadable {
		t.Errorf("%+v, damage %v", st, d)
	}
}

// Who reads a buffer while games are stored and segments deleted finds nothing wrong.
func TestBufferInUseIsWhole(t *testing.T) {
	o := testOptions()
	o.MaxBytes, o.Window.Min = 3*o.SegmentBytes, 100
	dir := t.TempDir()
	b := openBuffer(t, dir, o)
	games := testGames(t, 0, 400)
	appendGames(t, b, games[:10])
	stored := make(chan struct{})
	go func() {
		defer close(stored)
		for at := 10; at < len(games); at += 3 {
			if _, err := b.Append(games[at:min(at+3, len(games))]); err != nil {
				t.Error(err)
			}
		}
	}()
	for n, more := 0, true; more; n++ {
		select {
		case <-stored:
			more = false
		default:
		}
		if r := audit(t, dir); r.Wrong() {
			t.Fatalf("audit %d: %+v", n, r)
		}
		if _, err := VisitGames(dir, func(*game.Game) bool { return true }, func(d Damage) { t.Errorf("visit %d: %v", n, d) }); err != nil {
			t.Fatal(err)
		}
	}
}

// Of a flood of garbage some is kept, all is refused, and the games among it are stored.
func TestFloodOfGarbage(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	batch := testGames(t, 0, 3)
	for i := range 500 {
		batch = append(batch, fmt.Appendf(nil, "garbage %d", i))
	}
	rep, err := b.Append(batch)
	if err != nil || rep.Stored != 3 || len(rep.Rejected) != 500 {
		t.Fatalf("%+v, %v", rep, err)
	}
	kept, err := filepath.Glob(filepath.Join(dir, "quarantine", "*.game"))
	if err != nil || len(kept) != QuarantineBatch {
		t.Errorf("found %d games in quarantine, %v, expected %d", len(kept), err, QuarantineBatch)
	}
	if st := b.Stats(); st.Quarantined != 500 {
		t.Errorf("found %d games counted, expected 500", st.Quarantined)
	}
}
