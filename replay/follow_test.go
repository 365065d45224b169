package replay

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/game"
)

// follow returns the ids of the games that are new to f, and their trainable plies.
func follow(t *testing.T, f *Follower) (ids []string, plies int) {
	t.Helper()
	err := f.Next(func(encoded []byte, trainable int) {
		h, err := game.DecodeHeader(encoded)
		if err != nil {
			t.Fatal(err)
		}
		ids, plies = append(ids, h.ID), plies+trainable
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids, plies
}

func idsFrom(first, n int) (ids []string) {
	for i := range n {
		ids = append(ids, gameID(first+i))
	}
	return ids
}

// What a follower is shown in pieces is what was stored, in order, each game once.
func TestFollowerSeesEveryGameOnce(t *testing.T) {
	dir := t.TempDir()
	f := NewFollower(dir, 1<<30)
	if ids, _ := follow(t, f); len(ids) > 0 {
		t.Fatalf("found games %q in an empty directory", ids)
	}
	b := openBuffer(t, dir, testOptions())
	for first, n := 0, 1; first < 120; first, n = first+n, n+3 {
		games := testGames(t, first, n)
		rep := appendGames(t, b, games)
		ids, plies := follow(t, f)
		if want := idsFrom(first, n); !slices.Equal(ids, want) {
			t.Fatalf("after games from %d on: found %q, expected %q", first, ids, want)
		}
		if uint64(plies) < rep.Plies {
			t.Errorf("found %d trainable plies, expected those %d and of the held-out games", plies, rep.Plies)
		}
	}
	if n := len(segmentFiles(t, dir)); n < 3 {
		t.Fatalf("found %d segments: the test is vacuous", n)
	}
	if counts, whole := f.Total(); !whole || counts != b.counts() {
		t.Errorf("found %+v, whole %v, expected %+v", counts, whole, b.counts())
	}
}

// A follower that may read little begins with the newest segment, and knows how many
// games were before it.
func TestFollowerBeginsLate(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	appendGames(t, b, testGames(t, 0, 90))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	f := NewFollower(dir, 1)
	ids, _ := follow(t, f)
	counts, whole := f.Total()
	if len(ids) == 0 || len(ids) == 90 || whole || counts.Games != 90 {
		t.Errorf("found %d games of %d, whole %v, expected the newest of 90", len(ids), counts.Games, whole)
	}
	if want := idsFrom(90-len(ids), len(ids)); !slices.Equal(ids, want) {
		t.Errorf("found %q, expected %q", ids, want)
	}
}

// Games that were deleted before the follower was asked again are not shown, but counted.
func TestFollowerCountsWhatItMissed(t *testing.T) {
	for _, most := range []int64{1 << 30, 1} {
		dir := t.TempDir()
		o := testOptions()
		o.MaxBytes, o.Window.Min = 3*o.SegmentBytes, 100
		b := openBuffer(t, dir, o)
		f := NewFollower(dir, most)
		appendGames(t, b, testGames(t, 0, 10))
		shown, _ := follow(t, f)
		for first := 10; first < 200; first += 10 {
			appendGames(t, b, testGames(t, first, 10))
		}
		ids, _ := follow(t, f)
		if n := len(shown) + len(ids); len(ids) == 0 || n == 200 {
			t.Fatalf("found %d of 200 games, the newest %d at once: the test is vacuous", n, len(ids))
		}
		if want := idsFrom(200-len(ids), len(ids)); !slices.Equal(ids, want) {
			t.Errorf("found %q, expected %q", ids, want)
		}
		counts, whole := f.Total()
		if whole != (most > 1) || counts.Games != 200 || whole && counts != b.counts() {
			t.Errorf("read %d bytes at first: found %+v, whole %v, expected %+v", most, counts, whole, b.counts())
		}
	}
}

// A follower whose buffer is replaced by an earlier copy begins again, whether its segment is
// not there or shorter.
func TestFollowerOfAnEarlierCopy(t *testing.T) {
	for _, later := range []int{1, 60} { // games after the copy
		dir := t.TempDir()
		b := openBuffer(t, dir, testOptions())
		appendGames(t, b, testGames(t, 0, 100))
		earlier, segments := copyDir(t, dir), len(segmentFiles(t, dir))
		appendGames(t, b, testGames(t, 100, later))
		if n := len(segmentFiles(t, dir)); n < 3 || (n > segments) != (later > 1) {
			t.Fatalf("found %d segments and %d before the last %d games: the test is vacuous", n, segments, later)
		}
		f := NewFollower(dir, 1<<30)
		follow(t, f)
		if err := errors.Join(b.Close(), os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(earlier))); err != nil {
			t.Fatal(err)
		}
		if err := f.Next(func([]byte, int) { t.Error("a game is shown again") }); !errors.Is(err, ErrReplaced) {
			t.Errorf("%d games less: error %v, expected %v", later, err, ErrReplaced)
		}
		f = NewFollower(dir, 1<<30)
		if ids, _ := follow(t, f); !slices.Equal(ids, idsFrom(0, 100)) {
			t.Errorf("%d games less: found %q, expected the first 100", later, ids)
		}
		b = openBuffer(t, dir, testOptions())
		appendGames(t, b, testGames(t, 200, 5))
		if ids, _ := follow(t, f); !slices.Equal(ids, idsFrom(200, 5)) {
			t.Errorf("%d games less: found %q, expected the 5 new ones", later, ids)
		}
		if counts, whole := f.Total(); !whole || counts != b.counts() {
			t.Errorf("%d games less: found %+v, whole %v, expected %+v", later, counts, whole, b.counts())
		}
	}
}

// A damaged record costs that game, a torn one waits until it is whole.
func TestFollowerPassesOverDamage(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	appendGames(t, b, testGames(t, 0, 5))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	path := segmentFiles(t, dir)[0]
	whole := readFile(t, path)
	damaged := slices.Clone(whole)
	damaged[headerBytes+frameBytes+5] ^= 1
	writeFile(t, path, damaged[:len(damaged)-3])
	f := NewFollower(dir, 1<<30)
	if ids, _ := follow(t, f); !slices.Equal(ids, idsFrom(1, 3)) {
		t.Errorf("found %q, expected games 1 to 3", ids)
	}
	writeFile(t, path, damaged)
	if ids, _ := follow(t, f); !slices.Equal(ids, idsFrom(4, 1)) {
		t.Errorf("found %q, expected game 4", ids)
	}
	writeFile(t, filepath.Join(dir, "x.seg"), nil)
	if err := f.Next(func([]byte, int) {}); err == nil {
		t.Error("a segment with a strange name: found no error")
	}
}
