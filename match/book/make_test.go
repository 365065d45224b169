package book

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

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/search"
)

func testSettings() Settings {
	return Settings{
		Variant: chess.Crazyhouse, Seed: 3, MinPlies: 4, MaxPlies: 13,
		Moves:       search.Limits{Nodes: 60, MultiPV: 6},
		Temperature: 40, MaxLoss: 120, CaptureBonus: 40, MaxScore: 500,
		Judge: search.Limits{Nodes: 120},
	}
}

func newMaterial() (game.Player, error) {
	return ab.New(func() ab.Evaluator { return ab.NewMaterial() }, ab.Options{HashMB: 1, Threads: 1}), nil
}

// explore returns the walks first to n-1.
func explore(t *testing.T, s Settings, first, n, concurrency int) []Walk {
	t.Helper()
	e := Explorer{Settings: s, NewWalker: newMaterial, NewJudge: newMaterial, Concurrency: concurrency}
	var walks []Walk
	err := e.Run(t.Context(), first, func(w Walk) (bool, error) {
		walks = append(walks, w)
		return w.Number+1 < n, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return walks
}

// Walks depend on the settings and their number, not on who makes them or what
// was made before.
func TestWalksAreRepeatable(t *testing.T) {
	const n = 60
	walks := explore(t, testSettings(), 0, n, 1)
	if again := explore(t, testSettings(), 0, n, 3); !slices.Equal(walks, again) {
		t.Error("three goroutines make other walks than one")
	}
	if rest := explore(t, testSettings(), 40, n, 2); !slices.Equal(walks[40:], rest) {
		t.Error("walks from number 40 on are others than those after 40 walks")
	}
	s := testSettings()
	s.Seed++
	if slices.Equal(walks, explore(t, s, 0, n, 1)) {
		t.Error("another seed makes the same walks")
	}
}

func TestWalksObeySettings(t *testing.T) {
	sides, hands := [2]int{}, 0
	for i, w := range explore(t, testSettings(), 0, 120, 2) {
		if w.Number != i {
			t.Fatalf("walk %d comes as number %d", w.Number, i)
		}
		if w.Verdict != Scored {
			continue
		}
		if plies := w.End.Ply(); plies < 4 || plies > 13 {
			t.Errorf("walk %d has %d plies", i, plies)
		}
		if w.End.InCheck() {
			t.Errorf("walk %d ends in check: %s", i, w.End.FEN())
		}
		sides[w.End.SideToMove()]++
		hands += piecesInHand(&w.End)
		// The judge's word, from White's side.
		judge, _ := newMaterial()
		res, err := judge.Search(t.Context(), chess.NewLine(w.End), testSettings().Judge)
		if err != nil {
			t.Fatal(err)
		}
		if w.End.SideToMove() == chess.Black {
			res.Score = -res.Score
		}
		if res.Score != w.Score {
			t.Errorf("walk %d: score %d, the judge says %d", i, w.Score, res.Score)
		}
	}
	if sides[0] < 20 || sides[1] < 20 || hands == 0 {
		t.Errorf("%v with White and Black to move, %d pieces in hand", sides, hands)
	}
}

// scripted answers every search alike.
type scripted struct{ res search.Result }

func (s scripted) NewGame() error { return nil }
func (s scripted) Search(context.Context, *chess.Line, search.Limits) (search.Result, error) {
	return s.res, nil
}

// draws counts how often each of some lines is drawn, of 4000.
func draws(t *testing.T, s Settings, scores ...search.Score) []int {
	t.Helper()
	p := chess.Crazyhouse.Start()
	var list chess.MoveList
	p.Legal(&list)
	var res search.Result
	for i, score := range scores {
		res.Lines = append(res.Lines, search.RootLine{Score: score, PV: list.Moves[i : i+1]})
	}
	count := make([]int, len(scores))
	rng := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		m := s.draw(&p, &res, rng)
		count[slices.Index(list.Slice(), m)]++
	}
	return count
}

func TestDraw(t *testing.T) {
	s := testSettings() // e^(-40/40) = 0.368
	got := draws(t, s, 100, 100, 60, -20, -21)
	for i, want := range []float64{0.414, 0.414, 0.152, 0.0206, 0} {
		if share := float64(got[i]) / 4000; share < want-0.025 || share > want+0.025 || want == 0 && share > 0 {
			t.Errorf("line %d is drawn %.3f of the time, expected %.3f", i, share, want)
		}
	}
	s.MaxLoss = 0
	if got := draws(t, s, 50, 49); got[0] != 4000 {
		t.Errorf("with no loss allowed the best move is drawn %d times of 4000", got[0])
	}
	only := search.Result{Move: chess.NewMove(chess.NewSquare(4, 1), chess.NewSquare(4, 3), chess.DoublePush)}
	p := chess.Crazyhouse.Start()
	if m := s.draw(&p, &only, rand.New(rand.NewPCG(1, 2))); m != only.Move {
		t.Errorf("of a search without lines %04x is drawn", uint16(m))
	}
}

func TestCaptureBonus(t *testing.T) {
	p, err := chess.ParseFEN(chess.Crazyhouse, "4k3/8/8/3p4/4P3/8/8/4K3[] w - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	take, _ := p.ParseUCI("e4d5")
	push, _ := p.ParseUCI("e4e5")
	res := search.Result{Lines: []search.RootLine{{Score: 0, PV: []chess.Move{push}}, {Score: 0, PV: []chess.Move{take}}}}
	s, rng, taken := testSettings(), rand.New(rand.NewPCG(1, 2)), 0
	for range 4000 {
		if s.draw(&p, &res, rng) == take {
			taken++
		}
	}
	if taken < 2800 || taken > 3050 { // e/(1+e) = 0.731
		t.Errorf("the capture is drawn %d times of 4000, expected about 2924", taken)
	}
}

// At the lowest of temperatures, and with the greatest bonus, the best move is drawn: a capture.
func TestDrawWhenCold(t *testing.T) {
	p, err := chess.ParseFEN(chess.Crazyhouse, "4k3/8/8/3p4/4P3/8/8/4K3[] w - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	take, _ := p.ParseUCI("e4d5")
	push, _ := p.ParseUCI("e4e5")
	res := search.Result{Move: push, Lines: []search.RootLine{{Score: 90, PV: []chess.Move{push}}, {Score: 0, PV: []chess.Move{take}}}}
	s, rng := testSettings(), rand.New(rand.NewPCG(1, 2))
	s.Temperature, s.CaptureBonus = 0.1, maxBonus
	for range 100 {
		if m := s.draw(&p, &res, rng); m != take {
			t.Fatalf("drew %04x, expected the capture, %04x", uint16(m), uint16(take))
		}
	}
}

// alone is a player that reports no lines.
type alone struct{ game.Player }

func (p alone) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	res, err := p.Player.Search(ctx, line, lim)
	res.Lines = nil
	return res, err
}

// Every bad answer of a player ends the exploration with an error.
func TestPlayerFaults(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		walker func() (game.Player, error)
		want   error
	}{
		"does not start": {func() (game.Player, error) { return nil, boom }, boom},
		"illegal move": {func() (game.Player, error) {
			return scripted{search.Result{Move: chess.NewMove(chess.NewSquare(4, 1), chess.NewSquare(4, 4), chess.Normal)}}, nil
		}, game.ErrIllegal},
		"the best move alone": {func() (game.Player, error) {
			p, err := newMaterial()
			return alone{p}, err
		}, ErrSettings},
	} {
		e := Explorer{Settings: testSettings(), NewWalker: c.walker, Concurrency: 2}
		err := e.Run(t.Context(), 0, func(Walk) (bool, error) { return true, nil })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, expected %v", name, err, c.want)
		}
	}
	e := Explorer{Settings: testSettings(), NewWalker: newMaterial}
	if err := e.Run(t.Context(), 0, func(Walk) (bool, error) { return true, boom }); !errors.Is(err, boom) {
		t.Errorf("visit fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := e.Run(ctx, 0, func(w Walk) (bool, error) {
		if w.Number == 3 {
			cancel()
		}
		return true, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestBadSettings(t *testing.T) {
	for name, change := range map[string]func(*Settings){
		"variant":     func(s *Settings) { s.Variant = nil },
		"plies":       func(s *Settings) { s.MinPlies = 14 },
		"negative":    func(s *Settings) { s.MinPlies = -1 },
		"no limit":    func(s *Settings) { s.Moves.Nodes = 0 },
		"move time":   func(s *Settings) { s.Judge.MoveTime = 1 },
		"clock":       func(s *Settings) { s.Moves.Inc[1] = 1 },
		"multipv":     func(s *Settings) { s.Moves.MultiPV = 0 },
		"temperature": func(s *Settings) { s.Temperature = 0 },
		"loss":        func(s *Settings) { s.MaxLoss = -1 },
		"bonus":       func(s *Settings) { s.CaptureBonus = 1001 },
		"score":       func(s *Settings) { s.MaxScore = 0 },
	} {
		s := testSettings()
		change(&s)
		e := Explorer{Settings: s, NewWalker: newMaterial}
		if err := e.Run(t.Context(), 0, func(Walk) (bool, error) { return false, nil }); !errors.Is(err, ErrSettings) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// journalled makes n walks with the journal at path.
func journalled(t *testing.T, path string, n int) []Walk {
	t.Helper()
	j, err := OpenJournal(path, chess.Crazyhouse, "header")
	if err != nil {
		t.Fatal(err)
	}
	e := Explorer{Settings: testSettings(), NewWalker: newMaterial, NewJudge: newMaterial, Concurrency: 2}
	var walks []Walk
	err = j.Run(t.Context(), &e, func(w Walk) (bool, error) {
		walks = append(walks, w)
		return len(walks) < n, nil
	})
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	return walks
}

// A journal cut anywhere, as by a crash, is gone on with to the same walks and
// the same bytes.
func TestJournalGoesOn(t *testing.T) {
	const n = 20
	path := filepath.Join(t.TempDir(), "walks")
	want := journalled(t, path, n)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut <= len(whole); cut += 1 + cut/3 {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if got := journalled(t, path, n); !slices.Equal(got, want) {
			t.Fatalf("cut after %d bytes: other walks", cut)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, whole) {
			t.Fatalf("cut after %d bytes: another journal", cut)
		}
	}
}

// A file that is no journal of these walks is refused and left as it is.
func TestBadJournals(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"other header":    {"other\n0\tended\n", "other settings"},
		"no journal":      {"precious text", "other settings"},
		"verdict":         {"header\n0\tlucky\n", "line 2: found"},
		"scored how":      {"header\n0\tscored\n", "line 2: found"},
		"score":           {"header\n0\tscored\tmuch\t" + startBoard + "\n", "line 2: found score"},
		"FEN":             {"header\n0\tscored\t5\tx\n", "line 2: "},
		"number":          {"header\nx\tended\n", "line 2: found number"},
		"negative number": {"header\n-1\tended\n", "line 2: found number"},
		"gap":             {"header\n0\tended\n2\tended\n", "line 3: found walk 2"},
		"empty line":      {"header\n\n", "line 2: "},
	} {
		path := filepath.Join(t.TempDir(), "walks")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := OpenJournal(path, chess.Crazyhouse, "header")
		if !errors.Is(err, ErrJournal) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %q in it", name, err, c.want)
		}
		if got, _ := os.ReadFile(path); string(got) != c.text {
			t.Errorf("%s: the file is now %q", name, got)
		}
	}
}

func TestJournalIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "walks")
	j, err := OpenJournal(path, chess.Crazyhouse, "header")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(path, chess.Crazyhouse, "header"); !errors.Is(err, dirlock.ErrFileHeld) {
		t.Errorf("opened twice: %v", err)
	}
	j.Close()
	if j, err = OpenJournal(path, chess.Crazyhouse, "header"); err != nil {
		t.Fatalf("opened after it was closed: %v", err)
	}
	j.Close()
}

func FuzzWalk(f *testing.F) {
	f.Add("0\tended")
	f.Add("17\tscored\t-35\t" + startBoard + " 0 1")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := parseWalk(chess.Crazyhouse, text)
		if err != nil {
			return
		}
		again, err := parseWalk(chess.Crazyhouse, strings.TrimSuffix(string(appendWalk(nil, &w)), "\n"))
		if err != nil || again != w {
			t.Errorf("%q reads as %+v, and after writing as %+v, %v", text, w, again, err)
		}
	})
}

func TestMeasurement(t *testing.T) {
	b := read(t, chess.Crazyhouse, readFile(t, "testdata/openings.epd"), Options{})
	m := Measurement{
		NewPlayer: newMaterial, Games: len(b.Entries), Seed: 5, Concurrency: 1,
		Game: game.Config{Limits: [2]search.Limits{{Nodes: 50}, {Nodes: 50}}, MaxPlies: 120},
	}
	got, err := m.Run(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	m.Concurrency = 3
	again, err := m.Run(t.Context(), b)
	if err != nil || got != again {
		t.Errorf("%+v on one goroutine, %+v on three, %v", got, again, err)
	}
	if n := len(b.Entries); got.Games != n || got.Wins+got.Draws > n || got.Wins == 0 || got.Wins+got.Draws == n {
		t.Errorf("%+v", got)
	}
	m.NewPlayer = func() (game.Player, error) { return nil, game.ErrIllegal }
	if _, err := m.Run(t.Context(), b); !errors.Is(err, game.ErrIllegal) {
		t.Errorf("player that does not start: %v", err)
	}
	for _, games := range []int{0, len(b.Entries) + 1} {
		if _, err := (&Measurement{NewPlayer: newMaterial, Games: games}).Run(t.Context(), b); !errors.Is(err, ErrSettings) {
			t.Errorf("%d games of a book of %d openings: %v", games, len(b.Entries), err)
		}
	}
}

// A measurement plays no opening twice, though the book has it twice.
func TestMeasurementOfRepeats(t *testing.T) {
	const line = "4k3/8/8/8/8/8/8/4K3[%s] w - -\n"
	text := ""
	for _, hand := range []string{"Q", "R", "Q", "B", "Q", "N"} {
		text += fmt.Sprintf(line, hand)
	}
	b := read(t, chess.Crazyhouse, text, Options{})
	m := Measurement{NewPlayer: newMaterial, Games: 4, Seed: 5, Game: game.Config{Limits: [2]search.Limits{{Nodes: 10}, {Nodes: 10}}, MaxPlies: 4}}
	if got, err := m.Run(t.Context(), b); err != nil || got.Games != 4 {
		t.Errorf("found %+v, %v, expected 4 games", got, err)
	}
	m.Games = 5
	if _, err := m.Run(t.Context(), b); !errors.Is(err, ErrSettings) {
		t.Errorf("5 games from 4 different openings: error %v, expected ErrSettings", err)
	}
	entries, distinct := b.Shuffled(5)
	seen := make(map[string]bool)
	for _, e := range entries[:distinct] {
		seen[e.Start.FEN()] = true
	}
	if len(entries) != 6 || len(seen) != 4 {
		t.Errorf("found %d different openings at the front of %d, expected 4 of 6", len(seen), len(entries))
	}
}

func TestTally(t *testing.T) {
	got := tally([]chess.Outcome{chess.WhiteWins, chess.WhiteWins, chess.Draw, chess.BlackWins}, 7)
	// Mean 0.625, variance 0.5625 - 0.390625.
	if want := (WhiteScore{Games: 4, Wins: 2, Draws: 1, Percent: 62.5, Error: 40.63, Seed: 7}); got != want {
		t.Errorf("%+v, expected %+v", got, want)
	}
}
