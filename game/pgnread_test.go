package game

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// readAll returns the records of a PGN text and what was wrong with it.
func readAll(t testing.TB, r io.Reader) (recs []*PGNRecord, bad []*PGNError) {
	t.Helper()
	reader := NewPGNReader(r)
	for {
		rec, err := reader.Next()
		var pgnErr *PGNError
		switch {
		case err == io.EOF:
			return recs, bad
		case errors.As(err, &pgnErr):
			bad = append(bad, pgnErr)
		case err != nil:
			t.Fatal(err)
		default:
			recs = append(recs, rec)
		}
	}
}

func moves(rec *PGNRecord) string {
	var words []string
	for _, m := range rec.Moves {
		words = append(words, m.Text)
	}
	return strings.Join(words, " ")
}

// TestPGNDialects reads games as other programs write them, with line ends of
// three systems.
func TestPGNDialects(t *testing.T) {
	text, err := os.ReadFile("testdata/dialects.pgn")
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"\n", "\r\n", "\r"} {
		changed := "\xef\xbb\xbf" + strings.ReplaceAll(string(text), "\n", end)
		recs, bad := readAll(t, iotest.OneByteReader(strings.NewReader(changed)))
		if len(recs) != 4 || len(bad) != 0 {
			t.Fatalf("ends %q: %d games and errors %v, expected 4 games", end, len(recs), bad)
		}
		for i, want := range []struct {
			line         int
			white, black string
			moves        string
			uci          string // of the last ply
			outcome      chess.Outcome
			reason       chess.Reason
		}{
			{2, "dev", "base", "Nxe4 Nxe5 Nxe5", "c6e5", chess.WhiteWins, AdjudicatedWin},
			{21, `Stockfish "dev" build`, `C:\engines\sunsetter`, "e4 e5 Bc4 Nc6 Bxf7+ Kxf7 Nf3 Nf6 Ng5+ Ke8", "f7e8", chess.BlackWins, IllegalMove},
			{36, "alice", "bob", "d4 d5 Bg5?! h6 Bh4 g5 Bxg5 hxg5 @h6 Bxh6", "f8h6", chess.Draw, chess.NoReason},
			{49, "long", "coordinates", "e2-e4 e7e5 Ng1-f3 Nb8-c6 Bf1b5 a7-a6 Bb5xc6 d7xc6 o-o N@d4", "B@d4", chess.BlackWins, chess.NoReason},
		} {
			rec := recs[i]
			if rec.Line != want.line || rec.Tags["White"] != want.white || rec.Tags["Black"] != want.black || moves(rec) != want.moves {
				t.Errorf("ends %q: game %d: line %d, tags %v, moves %q", end, i, rec.Line, rec.Tags, moves(rec))
			}
			if i == 3 { // who captured the bishop has no knight
				if _, err := rec.Game(); !errors.Is(err, chess.ErrIllegalMove) || !strings.HasPrefix(err.Error(), "line 49: ply 10: ") {
					t.Errorf("illegal drop: %v", err)
				}
				rec.Moves[9].Text = "b@d4"
			}
			g, err := rec.Game()
			if err != nil {
				t.Fatal(err)
			}
			line := g.Line()
			last := line.Moves()[line.Len()-1]
			line.Pop()
			if g.Outcome != want.outcome || g.Reason != want.reason || line.Pos().UCI(last) != want.uci {
				t.Errorf("game %d: %v by %s, last move %s", i, g.Outcome, ReasonText(g.Reason), line.Pos().UCI(last))
			}
		}
		checkFigures(t, recs)
	}
}

// checkFigures looks at what the comments of dialects.pgn say.
func checkFigures(t *testing.T, recs []*PGNRecord) {
	t.Helper()
	fast, _ := recs[0].Game()
	lichess, err := recs[2].Game()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		got  Ply
		want Ply
	}{
		{"fastchess", fast.Plies[0], Ply{HasScore: true, Score: -31, Depth: 12, SelDepth: 18, Nodes: 5000, Elapsed: 123 * time.Millisecond}},
		{"mate", fast.Plies[1], Ply{HasScore: true, Score: search.MateAfter(9), Depth: 20, Elapsed: time.Second / 2}},
		{"mated, with an ending", fast.Plies[2], Ply{HasScore: true, Score: search.MatedAfter(8), Depth: 20, Elapsed: time.Millisecond}},
		{"lichess, White", lichess.Plies[0], Ply{HasScore: true, Score: 55, Clock: time.Minute}},
		{"lichess, Black", lichess.Plies[1], Ply{HasScore: true, Score: -38, Clock: 59 * time.Second}},
		{"lichess, parts of seconds", lichess.Plies[2], Ply{HasScore: true, Score: -30, Clock: 58500 * time.Millisecond}},
		{"lichess, mate", lichess.Plies[4], Ply{HasScore: true, Score: search.MatedAfter(6)}},
		{"no figures", lichess.Plies[8], Ply{}},
	} {
		c.want.Move = c.got.Move
		if c.got != c.want {
			t.Errorf("%s: read %+v, expected %+v", c.name, c.got, c.want)
		}
	}
}

// TestPGNRoundTrip writes games, reads them and writes them again.
func TestPGNRoundTrip(t *testing.T) {
	games := engineGames(t)
	rng := newRand(7)
	for i, start := range starts(t) {
		g := randomGame(start, rng, 30+40*i)
		for j := range g.Plies {
			g.Plies[j].Train = false
		}
		games = append(games, g)
	}
	full := randomGame(chess.Crazyhouse.Start(), rng, 20)
	full.Outcome, full.Reason = chess.BlackWins, TimeForfeit
	full.TimeControls = [2]string{"10+0.1", "5+0.05"}
	full.Began = time.Date(2024, 2, 29, 23, 59, 58, 0, time.FixedZone("", 3600))
	full.Ended = full.Began.Add(90 * time.Second)
	for i := range full.Plies {
		p := &full.Plies[i]
		p.HasScore, p.Depth, p.SelDepth, p.Nodes, p.Elapsed, p.Clock = true, 9, 20, 1234, 56*time.Millisecond, 7*time.Second
	}
	games = append(games, full)
	reasons := []chess.Reason{PlyLimit, AdjudicatedWin, AdjudicatedDraw, TimeForfeit, IllegalMove, EngineFailure, NoAnswer, Resigned}
	for _, reason := range reasons {
		g := randomGame(chess.Chess.Start(), rng, 9)
		g.Outcome, g.Reason, g.Adjudged = chess.WhiteWins, reason, chess.Ongoing
		if reason == PlyLimit || reason == AdjudicatedDraw {
			g.Outcome = chess.Draw
		}
		if adjudicated(reason) {
			g.Adjudged = g.Outcome
		}
		games = append(games, g)
	}
	var all bytes.Buffer
	for _, g := range games {
		if err := writePGN(&all, g, map[string]string{"White": "Ann \"A\" \\", "Black": "Böb"}); err != nil {
			t.Fatal(err)
		}
	}
	recs, bad := readAll(t, bytes.NewReader(all.Bytes()))
	if len(recs) != len(games) || len(bad) != 0 {
		t.Fatalf("%d games and %v, expected %d", len(recs), bad, len(games))
	}
	var again bytes.Buffer
	for i, rec := range recs {
		g, err := rec.Game()
		if err != nil {
			t.Fatal(err)
		}
		if want := games[i]; g.Reason != want.Reason || g.Adjudged != want.Adjudged || g.Variant != want.Variant || g.ID != want.ID || g.Seed != want.Seed {
			t.Errorf("game %d: read %s, verdict %v; expected %s, %v", i, ReasonText(g.Reason), g.Adjudged, ReasonText(want.Reason), want.Adjudged)
		}
		if err := writePGN(&again, g, map[string]string{"White": rec.Tags["White"], "Black": rec.Tags["Black"]}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(all.Bytes(), again.Bytes()) {
		a, b := strings.Split(all.String(), "\n"), strings.Split(again.String(), "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("line %d: wrote %q, read and wrote %q", i+1, a[i], b[i])
			}
		}
		t.Fatal("one is longer")
	}
}

// TestPGNWhole reads oddities that are no errors.
func TestPGNWhole(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"\n\n ; nothing\n{no game}\n":   "",
		"*":                             "",
		"1. e4 e5 1-0":                  "e4 e5 1-0",
		"e4 e5":                         "e4 e5 *",
		"1.e4(1.d4)e5{x}2.Nf3$1Nc6!? *": "e4 e5 Nf3 Nc6!? *",
		"1. e4 +- e5 = 2. Nf3 e.p. N/A": "e4 e5 Nf3 N/A *",
		"1. O-O 0-0-0 0-0 1…e5 2...d5":  "O-O 0-0-0 0-0 e5 d5 *",
		"[Result \"0-1\"]\n[A \"\"]":    "0-1",
		"[Result \"1/2-1/2\"] 1. e4 *":  "e4 1/2-1/2",
		"[Round 7]\n1. e4 1-0 junk":     "e4 1-0|junk *",
		"[A \"x\"]\n\n[B \"y\"]\ne4":    "e4 *",
		"[Event \"x\"]\n\n\n[Event \"y\"]\n\n1-0": "*|1-0",
		"[Event \"x\"]\n1. e4\n[Event \"y\"]\nd4": "e4 *|d4 *",
		"[Event \"x\"]\n\n  [Event \"z\"] 1-0":    "*|1-0",
		"1. e4 {[Event in a comment} e5":          "e4 e5 *",
		"1. e4 -- 2. d4":                          "e4 -- d4 *",
		"1. e4 ) e5":                              "e4 e5 *",
		"% 1. e4\n1. d4\n% 1... d5\nd6":           "d4 d6 *",
		"1. e4 ½-½":                               "e4 1/2-1/2",
	} {
		recs, bad := readAll(t, strings.NewReader(text))
		var got []string
		for _, rec := range recs {
			got = append(got, strings.TrimSpace(moves(rec)+" "+rec.Result.String()))
		}
		if strings.Join(got, "|") != want || len(bad) > 0 {
			t.Errorf("%q reads as %q, errors %v; expected %q", text, strings.Join(got, "|"), bad, want)
		}
	}
}

// TestPGNErrors: a bad game is reported with its line, and the one after it is
// read all the same.
func TestPGNErrors(t *testing.T) {
	const good = "\n\n[Event \"good\"]\n\n1. e4 1-0\n"
	for text, line := range map[string]int{
		"[Event \"x\"]\n\n1. e4 {no end\n":                   3,
		"[Event \"x\"]\n\n1. e4 (1. d4\n\n":                  8,
		"[Event \"x]\n\n1. e4 1-0":                           1,
		"[]\n1. e4 1-0":                                      1,
		"[\"x\"]\n1. e4":                                     1,
		"[Event \"x\"]\n[Result \"0-1\"]\n\n1. e4 1-0":       1,
		"\n1. e4 " + strings.Repeat("x", 65) + " e5":         2,
		strings.Repeat("Nf3 ", MaxGamePlies+1):               1,
		strings.Repeat("[", 9) + strings.Repeat("x", 100000): 1,
		"[Event \"" + strings.Repeat("x", 5000) + "\"]":      1,
	} {
		recs, bad := readAll(t, strings.NewReader(text+good))
		if len(bad) != 1 || !errors.Is(bad[0], ErrPGN) || bad[0].Line != line && line != 8 || len(bad[0].Error()) > 200 {
			t.Errorf("%.40q: errors %v, expected one at line %d", text, bad, line)
		}
		if len(recs) != 1 || recs[0].Tags["Event"] != "good" {
			t.Errorf("%.40q: read %d games, expected the good one", text, len(recs))
		}
	}
	tags := strings.Builder{}
	for i := range maxTags + 1 {
		tags.WriteString("[T" + strings.Repeat("x", i%90) + string(rune('A'+i/90)) + " \"\"]\n")
	}
	if recs, bad := readAll(t, strings.NewReader(tags.String()+good)); len(bad) != 1 || len(recs) != 1 {
		t.Errorf("%d tags: %d games, errors %v", maxTags+1, len(recs), bad)
	}
	broken := errors.New("broken")
	r := NewPGNReader(io.MultiReader(strings.NewReader("[Event \"x\"]\n\n1. e4 {a"), iotest.ErrReader(broken)))
	for range 2 {
		if _, err := r.Next(); !errors.Is(err, broken) {
			t.Errorf("broken file: %v", err)
		}
	}
}

// TestPGNGameErrors: records that the rules refuse.
func TestPGNGameErrors(t *testing.T) {
	var fen *chess.FENError
	var move *chess.MoveError
	for text, want := range map[string]any{
		`[Variant "Atomic"] 1. e4 *`:                    chess.ErrUnknownVariant,
		`[FEN "8/8/8/8/8/8/8/8 w - - 0 1"] *`:           &fen,
		`1. e5 *`:                                       chess.ErrIllegalMove,
		`1. e4 -- *`:                                    &move,
		`1. f3 e5 2. g4 Qh4# 1-0`:                       ErrOutcome,
		`1. f3 e5 2. g4 Qh4# 1/2-1/2`:                   ErrOutcome,
		`[Variant "Chess"] 1. e4 d5 2. exd5 Qxd5 P@e4*`: chess.ErrMoveSyntax,
	} {
		recs, _ := readAll(t, strings.NewReader(text))
		_, err := recs[0].Game()
		var pgn *PGNError
		sentinel, isError := want.(error)
		if !errors.As(err, &pgn) || pgn.Line != 1 || isError && !errors.Is(err, sentinel) || !isError && !errors.As(err, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	recs, _ := readAll(t, strings.NewReader("1. f3 e5 2. g4 Qh4# *"))
	if g, err := recs[0].Game(); err != nil || g.Outcome != chess.BlackWins || g.Reason != chess.Checkmate {
		t.Errorf("mate without a result: %v, %v", g, err)
	}
}

func TestPGNVariants(t *testing.T) {
	for text, want := range map[string]string{
		`e4`:                           "chess",
		`[Variant "?"] e4`:             "chess",
		`[Variant "Standard"] e4`:      "chess",
		`[Variant "From Position"] e4`: "chess",
		`[Variant "Crazyhouse"] e4`:    "crazyhouse",
		`[Variant "zh"] e4`:            "crazyhouse",
		`e4 P@e5`:                      "crazyhouse",
		`[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"] e4`: "crazyhouse",
		`[Variant "Chess 960"] e4`:     "chess960",
		`[Variant "fischerandom"] e4`:  "chess960",
		`[Variant "Crazyhouse960"] e4`: "crazyhouse960",
	} {
		recs, _ := readAll(t, strings.NewReader(text))
		v, chess960, err := recs[0].Variant()
		if err != nil {
			t.Fatal(err)
		}
		name := v.Name
		if chess960 {
			name += "960"
		}
		if name != want {
			t.Errorf("%s is %s, expected %s", text, name, want)
		}
	}
}

func TestPGNScores(t *testing.T) {
	for text, want := range map[string]Ply{
		"":                 {},
		"book":             {},
		"+0.31":            {HasScore: true, Score: 31},
		"-12.5/7":          {HasScore: true, Score: -1250, Depth: 7},
		"0.00/30 2.0s":     {HasScore: true, Depth: 30, Elapsed: 2 * time.Second},
		"1.5":              {},
		"12 plies":         {},
		"+1e9/3":           {},
		"NaN/3":            {},
		"+99999.00/3":      {HasScore: true, Score: search.MateScore - search.MaxPly - 1, Depth: 3},
		"+M1/5":            {HasScore: true, Score: search.MateAfter(1), Depth: 5},
		"-M0/5":            {HasScore: true, Score: search.MatedAfter(0), Depth: 5},
		"+M900/5":          {},
		"+MM1/5":           {},
		"+0.10/999 1e9s":   {HasScore: true, Score: 10},
		"+0.1/2 NaNs":      {HasScore: true, Score: 10, Depth: 2},
		"[%eval 0.10,17]":  {HasScore: true, Score: 10, Depth: 17},
		"[%eval x] [%clk ": {},
		"[%clk 1:2:3:4]":   {Clock: (((1*60+2)*60+3)*60 + 4) * time.Second},
		"[%clk -1:00]":     {},
	} {
		var got Ply
		if got.readComment(text, chess.White); got != want {
			t.Errorf("%q reads as %+v, expected %+v", text, got, want)
		}
	}
}

// TestPGNTruncated reads every beginning of a file.
func TestPGNTruncated(t *testing.T) {
	text, err := os.ReadFile("testdata/dialects.pgn")
	if err != nil {
		t.Fatal(err)
	}
	for n := range text {
		recs, bad := readAll(t, bytes.NewReader(text[:n]))
		if len(recs)+len(bad) > 5 {
			t.Fatalf("the first %d bytes have %d games and %v", n, len(recs), bad)
		}
	}
}

// repeat is an endless reader.
type repeat string

func (r repeat) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		n += copy(p[n:], r)
	}
	return len(p), nil
}

// TestPGNMemory reads files that are one endless something.
func TestPGNMemory(t *testing.T) {
	for _, endless := range []string{"{a", "(e4 ", "\"", "; x", "aa", "[", "[A \"x", "\n", "$1 ", "e4 ", "[A \"b\"]", "%\n"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		file := io.MultiReader(strings.NewReader(strings.TrimRight(endless, " ")), io.LimitReader(repeat(endless), 1<<21))
		readAll(t, file)
		runtime.ReadMemStats(&after)
		if used := after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc); used > 16<<20 {
			t.Errorf("%q takes %d bytes of memory", endless, used)
		}
	}
}

func BenchmarkPGNReader(b *testing.B) {
	var text bytes.Buffer
	for _, g := range engineGames(b) {
		if err := writePGN(&text, g, nil); err != nil {
			b.Fatal(err)
		}
	}
	for _, replay := range []bool{false, true} {
		b.Run(map[bool]string{false: "text", true: "game"}[replay], func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				recs, _ := readAll(b, bytes.NewReader(text.Bytes()))
				for _, rec := range recs {
					if !replay {
						continue
					}
					if _, err := rec.Game(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// FuzzPGN reads any bytes; what it reads as a game can be written and read
// again as the same game.
func FuzzPGN(f *testing.F) {
	for _, seed := range []string{ // short ones: the fuzzer shortens what it likes for a minute
		"1. f3 e5 2. g4 Qh4# {x} (1. d4 $3 ; c\n) 0-1\n[Event \"a\"]",
		"[Variant \"Crazyhouse\"]\r\n1. e4 d5 2. exd5 Qxd5 3. @e4 *",
		"[A \"b \"c\" \\\"\"] [FEN \"4k3/8/8/8/8/8/8/4K2R[Pn] b K - 3 9\"]\n%\n9... N@e5",
		"1. e2-e4 {+0.31/8 0.1s, n=5, tl=1s} e7e5 {[%eval #-3] [%clk 0:01:00]} 1/2-1/2",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		recs, _ := readAll(t, bytes.NewReader(data))
		for _, rec := range recs {
			g, err := rec.Game()
			if err != nil {
				continue
			}
			var b bytes.Buffer
			if err := writePGN(&b, g, nil); err != nil {
				t.Fatal(err)
			}
			again, bad := readAll(t, &b)
			if len(again) != 1 || len(bad) != 0 {
				t.Fatalf("%d games, errors %v", len(again), bad)
			}
			h, err := again[0].Game()
			if err != nil {
				t.Fatal(err)
			}
			if h.Outcome != g.Outcome || h.Start != g.Start || len(h.Plies) != len(g.Plies) {
				t.Fatalf("%v, %d plies; read again %v, %d plies", g.Outcome, len(g.Plies), h.Outcome, len(h.Plies))
			}
			for i := range g.Plies {
				if g.Plies[i].Move != h.Plies[i].Move {
					t.Fatalf("ply %d is another move", i)
				}
			}
		}
	})
}
