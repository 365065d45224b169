package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

// pages are the ids of all games that an archive shows back from a place, by pages of n,
// and all damage that it tells.
func pages(t testing.TB, a *Archive, end Cursor, n int) (ids []string, damage []Damage) {
	t.Helper()
	for {
		p, err := a.Before(context.Background(), end, n)
		if err != nil || len(p.Games) > n {
			t.Fatalf("found %d games, error %v", len(p.Games), err)
		}
		for _, g := range p.Games {
			h, err := game.DecodeHeader(g.Game)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, h.ID)
			if at, err := a.At(g.At); err != nil || !bytes.Equal(at.Game, g.Game) {
				t.Fatalf("game %s at %+v: found %d bytes there, error %v", h.ID, g.At, len(at.Game), err)
			}
		}
		damage = append(damage, p.Damage...)
		if end = p.Older; end == (Cursor{}) {
			return ids, damage
		}
	}
}

// stored are the ids of all games of a buffer, the newest first.
func storedIDs(t testing.TB, dir string) (ids []string) {
	t.Helper()
	if err := VisitIDs(dir, func(id string) { ids = append(ids, id) }); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(ids)
	return ids
}

// Whatever the size of a page, the pages of an archive are the games stored, and each is
// found by its id and by its place.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	a := NewArchive(dir)
	if p, err := a.Before(context.Background(), Cursor{}, 10); err != nil || p.Games != nil || p.Last != 0 {
		t.Errorf("without a buffer: found %+v, error %v", p, err)
	}
	b := openBuffer(t, dir, testOptions())
	appendGames(t, b, testGames(t, 0, 150))
	want := storedIDs(t, dir)
	if files := segmentFiles(t, dir); len(want) != 150 || len(files) < 3 {
		t.Fatalf("found %d games in %d segments, expected 150 in several", len(want), len(files))
	}
	for _, n := range []int{1, 7, 150, MaxPage} {
		if ids, damage := pages(t, a, Cursor{}, n); !slices.Equal(ids, want) || damage != nil {
			t.Errorf("pages of %d: found %d games, expected 150; damage %v", n, len(ids), damage)
		}
	}
	for i := 0; i < len(want); i += 7 {
		id := want[i]
		p, err := a.Find(context.Background(), id, Cursor{})
		if err != nil {
			t.Fatal(err)
		}
		if ids, _ := pages(t, a, p.At, 50); !slices.Equal(ids, want[i+1:]) {
			t.Fatalf("before game %s: found %d games, expected %d", id, len(ids), len(want)-i-1)
		}
		if again, err := a.Find(context.Background(), id, p.At); err != nil || again.At != p.At {
			t.Errorf("game %s: found at %+v, then at %+v, error %v", id, p.At, again.At, err)
		}
	}
	// A place that holds another game now does not mislead.
	first, _ := a.Find(context.Background(), want[0], Cursor{})
	if p, err := a.Find(context.Background(), want[9], first.At); err != nil || p.At == first.At {
		t.Errorf("found at %+v, error %v", p.At, err)
	}
	for _, id := range []string{"", "none", want[0][:len(want[0])-1], strings.Repeat("x", 300)} {
		if _, err := a.Find(context.Background(), id, Cursor{}); !errors.Is(err, ErrUnknown) {
			t.Errorf("id %.20q: error %v, expected ErrUnknown", id, err)
		}
	}
	if _, err := a.Before(context.Background(), Cursor{}, MaxPage+1); !errors.Is(err, ErrConfig) {
		t.Errorf("a page that is too large: error %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := a.Find(ended, want[100], Cursor{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a question taken back: error %v", err)
	}
}

// Damage costs only the games that it touches. A page names it, as it names a segment that is
// not there.
func TestArchiveDamage(t *testing.T) {
	o := testOptions()
	o.MaxBytes, o.Window.Min = 6*o.SegmentBytes, 100
	dir := t.TempDir()
	b := openBuffer(t, dir, o)
	for i := range 3 {
		appendGames(t, b, testGames(t, 100*i, 100))
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	a, want := NewArchive(dir), storedIDs(t, dir)
	victim, err := a.Find(context.Background(), want[60], Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, segmentName(victim.At.Segment))
	data := readFile(t, path)
	copy(data[victim.At.Offset:], make([]byte, 30))
	writeFile(t, path, data)
	files := segmentFiles(t, dir)
	newest := files[len(files)-1]
	writeFile(t, newest, append(readFile(t, newest), marker...)) // a record in the writing

	for _, n := range []int{1, 7, MaxPage} {
		ids, damage := pages(t, a, Cursor{}, n)
		if without := slices.Delete(slices.Clone(want), 60, 61); !slices.Equal(ids, without) {
			t.Errorf("pages of %d: found %d games, expected %d", n, len(ids), len(without))
		}
		if len(damage) != 1 || damage[0].Segment != segmentName(victim.At.Segment) || damage[0].Offset != victim.At.Offset {
			t.Errorf("pages of %d: found damage %v, expected that at %+v alone", n, damage, victim.At)
		}
	}
	if _, err := a.At(victim.At); !errors.Is(err, ErrDamaged) {
		t.Errorf("the damaged place: error %v", err)
	}
	if _, err := a.Find(context.Background(), want[60], victim.At); !errors.Is(err, ErrUnknown) || !errors.Is(err, ErrDamaged) {
		t.Errorf("the damaged game: error %v", err)
	}

	gone := victim.At.Segment
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	ids, damage := pages(t, a, Cursor{}, MaxPage)
	if len(damage) != 1 || !strings.Contains(damage[0].String(), "it is lost") || len(ids) == 0 || len(ids) >= len(want) {
		t.Errorf("a lost segment: found %d of %d games, damage %v", len(ids), len(want), damage)
	}
	if _, err := a.At(Cursor{gone, 24}); !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "lost") {
		t.Errorf("a lost segment: error %v", err)
	}
	_, damage = pages(t, a, Cursor{Segment: gone}, MaxPage)
	if len(damage) != 1 || damage[0].Segment != segmentName(gone) {
		t.Errorf("before the end of a lost segment: damage %v", damage)
	}
	ids, damage = pages(t, a, Cursor{Segment: 1, Offset: 500}, 9)
	if len(ids) != 0 || len(damage) != 1 || !strings.Contains(damage[0].String(), "deleted for its age") {
		t.Errorf("a deleted segment: found %d games, damage %v", len(ids), damage)
	}
}

// Long segments are read in parts, at whose borders no game is lost.
func TestArchiveParts(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	data := appendSegmentHeader(nil, chess.Crazyhouse)
	var want []string
	offsets := map[string]int64{}
	for i := 0; len(data) < 5*archiveChunk; i++ {
		g := testGame(i, 12)
		g.ID = fmt.Sprintf("run-anna-%d", i)
		want = append(want, g.ID)
		offsets[g.ID] = int64(len(data))
		data = appendFrame(data, encode(t, g), 0)
		if i%9 == 0 { // no games, but long
			noise := make([]byte, rng.IntN(maxRecord))
			for j := range noise {
				noise[j] = byte(rng.Uint32())
			}
			data = append(data, noise...)
		}
	}
	writeFile(t, filepath.Join(dir, segmentName(1)), data)
	slices.Reverse(want)
	a := NewArchive(dir)
	writeFile(t, filepath.Join(dir, manifestFile), []byte(`{"schema":2,"first_segment":1}`))
	for _, n := range []int{3, MaxPage} {
		if ids, damage := pages(t, a, Cursor{}, n); !slices.Equal(ids, want) || len(damage) == 0 {
			t.Errorf("pages of %d: found %d games, expected %d; %d places of damage", n, len(ids), len(want), len(damage))
		}
	}
	if err := os.Rename(filepath.Join(dir, segmentName(1)), filepath.Join(dir, segmentName(2))); err != nil {
		t.Fatal(err)
	}
	if ids, damage := pages(t, a, Cursor{}, MaxPage); !slices.Equal(ids, want) || damage[len(damage)-1].String() != "00000001.seg: it is lost" {
		t.Errorf("without the oldest segment: found %d games, expected %d; damage ends with %v", len(ids), len(want), damage[len(damage)-1])
	}
	for i := 0; i < len(want); i += 17 {
		if p, err := a.Find(context.Background(), want[i], Cursor{}); err != nil || p.At != (Cursor{2, offsets[want[i]]}) {
			t.Errorf("game %s: found at %+v, expected offset %d, error %v", want[i], p.At, offsets[want[i]], err)
		}
	}
}
