package puzzles

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

// testGames are positions of random openings, as games without plies, and the games.
func testGames(t *testing.T) []*game.Game {
	t.Helper()
	var games []*game.Game
	for i, fen := range []string{
		"7k/8/5K2/8/8/8/8/6Q1[r] w - - 0 1",                  // mate in 1
		"k7/8/8/8/8/8/8/1R4K1[] w - - 0 1",                   // longer than asked for
		"6rk/6pp/8/8/8/8/8/K7[Np] w - - 0 1",                 // mate in 1 by a drop
		"7k/8/8/8/8/8/8/RR4K1 w - - 0 1",                     // mates in 2 by several moves
		"r3k3/pppppppp/8/3q4/8/2N5/PPPPPPPP/4K3[] w - - 0 1", // wins a queen
		"6k1/6pp/8/8/8/8/8/K7[NRp] w - - 0 1",
	} {
		games = append(games, &game.Game{ID: string(rune('a' + i)), Variant: chess.Crazyhouse, Start: *position(t, fen)})
	}
	g := &game.Game{ID: "played", Variant: chess.Crazyhouse, Start: chess.Crazyhouse.Start()}
	at := g.Start
	for _, uci := range []string{"f2f3", "e7e5", "g2g4"} {
		m, err := at.ParseUCI(uci)
		if err != nil {
			t.Fatal(err)
		}
		g.Plies = append(g.Plies, game.Ply{Move: m})
		at.Make(m)
	}
	return append(games, g)
}

func all(games []*game.Game) iter.Seq2[*game.Game, error] {
	return func(yield func(*game.Game, error) bool) {
		for _, g := range games {
			if !yield(g, nil) {
				return
			}
		}
	}
}

// What is found is what there is, in the order of the games, and does not depend on
// the number of goroutines.
func TestMine(t *testing.T) {
	m := maker(t, "material")
	s := DefaultSettings()
	s.Nodes, s.Mate = 5000, 2
	var first []Puzzle
	for _, workers := range []int{1, 3} {
		var found []Puzzle
		games := 0
		err := Mine(t.Context(), s, m.New, workers, all(testGames(t)), func(p []Puzzle) error {
			found, games = append(found, p...), games+1
			return nil
		})
		if err != nil || games != len(testGames(t)) {
			t.Fatalf("%v after %d games", err, games)
		}
		if first == nil {
			first = found
		}
		if !reflect.DeepEqual(found, first) {
			t.Errorf("%d goroutines find\n%s, expected\n%s", workers, EPD(found), EPD(first))
		}
	}
	text := string(EPD(first))
	for _, want := range []string{`bm Qg7#; dm 1;`, `bm N@f7#; dm 1;`, `bm Nxd5; ce `, `bm Qh4#; dm 1;`, `id "played/3"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, `id "d/`) || strings.Contains(text, `id "b/`) {
		t.Errorf("found in\n%s one with several best moves, or a long mate", text)
	}
	for i := range first {
		if p := &first[i]; p.Mate > 0 {
			checkMate(t, p)
		}
	}
}

func TestSettings(t *testing.T) {
	for _, change := range []func(*Settings){
		func(s *Settings) { s.Screen = 0 }, func(s *Settings) { s.Nodes = s.Screen - 1 }, func(s *Settings) { s.Mate = 0 },
		func(s *Settings) { s.Rest = s.Win }, func(s *Settings) { s.PerGame = 0 },
	} {
		s := DefaultSettings()
		change(&s)
		if err := Mine(t.Context(), s, nil, 1, nil, nil); !errors.Is(err, ErrSettings) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// A journal cut short anywhere goes on to be the same.
func TestJournal(t *testing.T) {
	games := [][]Puzzle{{puzzle(t, mateIn1), puzzle(t, aWin)}, nil, {puzzle(t, smother)}}
	path := filepath.Join(t.TempDir(), "journal")
	write := func() string {
		j, err := OpenJournal(path, chess.Crazyhouse, "settings")
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range games[j.Games:] {
			if err := j.Add(found); err != nil {
				t.Fatal(err)
			}
		}
		if len(j.Found) != 3 || j.Games != 3 {
			t.Fatalf("%d puzzles in %d games", len(j.Found), j.Games)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	other, err := OpenJournal(path, chess.Crazyhouse, "other settings, of which nothing came")
	if err != nil || other.Close() != nil {
		t.Fatal(err)
	}
	whole := write()
	j, err := OpenJournal(path, chess.Crazyhouse, "settings")
	if err != nil {
		t.Fatal(err)
	}
	for games, want := range []int{3, 2, 2, 3, 3} { // 0 means all
		if done, found := j.First(games); len(found) != want || games > 0 && done != min(games, 3) {
			t.Errorf("the first %d games: found %d puzzles of %d, expected %d", games, len(found), done, want)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		if err := os.WriteFile(path, []byte(whole[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := write(); got != whole {
			t.Fatalf("cut after %d bytes:\n%s\nexpected\n%s", n, got, whole)
		}
	}
	if _, err := OpenJournal(path, chess.Crazyhouse, "other"); !errors.Is(err, ErrJournal) {
		t.Errorf("found %v, expected other settings to be refused", err)
	}
	for _, bad := range []string{strings.Replace(whole, "# game 2", "# game 3", 1), strings.Replace(whole, "Qg7", "Qg9", 1)} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenJournal(path, chess.Crazyhouse, "settings"); !errors.Is(err, ErrJournal) {
			t.Errorf("found %v, expected a damaged journal to be refused", err)
		}
	}
}
