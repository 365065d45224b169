package dataset

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// id tells samples of the same games apart in every format and unit; .bin does not
// keep which piece is dropped.
func id(s *sample.Sample, unit sample.Unit) string {
	return fmt.Sprintf("%d %d %d %v %x", s.Ply, s.Result, int(sample.Convert(s.Score, unit, sample.CentipawnUnit)), s.Move.To(), s.Pos.Occupied())
}

// sourcesOf puts the same games, some of whose plies have no score, into files and a
// replay buffer and returns their names.
func sourcesOf(t *testing.T) (names []string, games []*game.Game) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 1))
	dir := t.TempDir()
	whole := Target{Name: filepath.Join(dir, "games.chain"), Variant: chess.Crazyhouse, Unit: sample.CentipawnUnit}
	err := whole.Create(func(s *Sink) error {
		for i := range 60 {
			g := randomGame(rng, i)
			for n := range g.Plies {
				if p := &g.Plies[n]; p.Train && rng.IntN(5) == 0 {
					p.HasScore, p.Score = false, 0
				}
			}
			games = append(games, g)
			record, err := game.Encode(nil, g)
			if err == nil {
				err = s.WriteGame(record)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	names = []string{whole.Name}
	for _, name := range []string{"a.bin", "a.plain", "chains.chain"} {
		c := Conversion{Filter: sample.Filter{MaxPly: 1 << 15}} // so that games are not copied whole
		to, _ := convert(t, whole.Name, name, chess.Crazyhouse, c)
		names = append(names, to)
	}
	buffer := t.TempDir()
	addGames(t, buffer, games)
	return append(names, BufferPrefix+buffer), games
}

// TestMissingScores: the same games, with scores missing, give the same positions
// and the same counts from every format and for every reader.
func TestMissingScores(t *testing.T) {
	names, games := sourcesOf(t)
	for _, text := range []string{
		"", "max-score=1000", "max-score=1000,require-score", "require-score", "no-check,no-capture,no-draw,min-ply=6,max-ply=50,max-score=1900",
	} {
		f, err := sample.ParseFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		var counts sample.Counts
		x := sample.Selection{Filter: f}
		for _, g := range games {
			for _, s := range sample.From(g, sample.RulesClock, nil) {
				why := x.Against(&s, sample.CentipawnUnit, true)
				if counts.Count(why); why == sample.Kept {
					want = append(want, id(&s, sample.CentipawnUnit))
				}
			}
		}
		missing := 0
		for _, s := range want {
			if strings.Contains(s, fmt.Sprintf(" %d ", int(sample.NoScore))) {
				missing++
			}
		}
		if kept := !f.RequireScore; (missing > 0) != kept || (counts.NoScore > 0) == kept || len(want) == 0 {
			t.Fatalf("%q: %d kept without a score, %+v", text, missing, counts)
		}
		whole := counts // of sources that keep games, which have plies that are no samples
		for _, g := range games {
			whole.Untrained += uint64(len(g.Plies) - len(sample.From(g, sample.RulesClock, nil)))
		}
		if whole.Samples += whole.Untrained; whole.Untrained == 0 {
			t.Fatal("found no opening or random moves in the games, expected some")
		}
		for _, name := range names {
			expected := counts
			if keepsGames(t, name) {
				expected = whole
			}
			checkConvert(t, name, f, want, expected)
			checkVisit(t, name, f, want, expected)
		}
		checkDraw(t, strings.TrimPrefix(names[len(names)-1], BufferPrefix), f, games)
	}
}

// keepsGames reports whether a source begins with a whole game.
func keepsGames(t *testing.T, name string) bool {
	t.Helper()
	f, err := FormatOf(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(name, f, chess.Crazyhouse, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	record, err := s.Game()
	if err != nil {
		t.Fatal(err)
	}
	return record != nil
}

// checkConvert converts a source and then visits all of what was written.
func checkConvert(t *testing.T, name string, f sample.Filter, want []string, counts sample.Counts) {
	t.Helper()
	to, c := convert(t, name, "x.plain", chess.Crazyhouse, Conversion{Filter: f})
	if f == (sample.Filter{}) && c.Games > 0 {
		t.Errorf("%s: games copied whole to .plain", name)
	}
	if c.Counts != counts {
		t.Errorf("convert %s, %+v: %+v, expected %+v", name, f, c.Counts, counts)
	}
	checkVisit(t, to, sample.Filter{}, want, sample.Counts{Samples: counts.Kept, Kept: counts.Kept})
}

// checkVisit visits what a filter keeps of a source.
func checkVisit(t *testing.T, name string, f sample.Filter, want []string, counts sample.Counts) {
	t.Helper()
	var got []string
	found, err := Visit(context.Background(), chess.Crazyhouse, f, []Input{fileInput(t, name)}, func(s *sample.Sample, _ bool) {
		got = append(got, id(s, sample.CentipawnUnit))
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("visit %s, %+v: %d samples, error %v, expected %d others", name, f, len(got), err, len(want))
	}
	if found.Counts != counts {
		t.Errorf("visit %s, %+v: %+v, expected %+v", name, f, found.Counts, counts)
	}
}

// checkDraw draws from a replay buffer until all that its filter keeps has come.
func checkDraw(t *testing.T, dir string, f sample.Filter, games []*game.Game) {
	t.Helper()
	b, err := replay.Open(dir, replay.Options{
		Variant: chess.Crazyhouse, MaxBytes: 1 << 20, SegmentBytes: 4 << 10, Window: replay.WindowRule{Min: 1 << 20, Exponent: 0.65, Slope: 0.4},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var want, got []string
	x := sample.Selection{Filter: f}
	for _, g := range games {
		for _, s := range sample.From(g, sample.PlanesClock, nil) {
			if !sample.HeldOut(g.ID) && x.Against(&s, sample.CentipawnUnit, true) == sample.Kept {
				want = append(want, id(&s, sample.CentipawnUnit))
			}
		}
	}
	dst := make([]sample.Sample, 20*len(want))
	if err := b.Draw(newRand(1), replay.Drawing{PerGame: 64, Filter: f}, dst); err != nil {
		t.Fatal(err)
	}
	for i := range dst {
		got = append(got, id(&dst[i], sample.CentipawnUnit))
	}
	slices.SortFunc(want, cmp.Compare)
	slices.Sort(got)
	if got, want = slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("draw, %+v: %d different samples, expected %d", f, len(got), len(want))
	}
}
