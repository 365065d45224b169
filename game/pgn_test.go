package game

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func writePGN(w io.Writer, g *Game, tags map[string]string) error {
	return PGNOptions{}.Write(w, g, tags)
}

// TestPGNGolden writes a game that has everything: a start FEN with Black to
// move, an opening move without score, drops, mate scores, tags that replace, add
// and need quoting.
func TestPGNGolden(t *testing.T) {
	start := mustFEN(t, chess.Crazyhouse, "r1b1kb1r/ppp1qppp/2n5/4p3/2B1P1n1/8/PPP2PP1/RNBQ1RK1[PNq] b kq - 5 6")
	g := &Game{
		ID: "01890a5d-ac96-774b-bcce-b302099a8057", Variant: chess.Crazyhouse, Start: start,
		Seed: 42, Limits: "nodes 5000", Build: "v0.1.0", Nets: [2]string{strings.Repeat("c0", 32), "material"},
	}
	line := chess.NewLine(start)
	for i, text := range strings.Fields("a6 N@d5 Q@h2#") {
		m, err := line.Pos().ParseSAN(text)
		if err != nil {
			t.Fatal(err)
		}
		line.Push(m)
		g.Plies = append(g.Plies, Ply{
			Move: m, HasScore: i > 0, Depth: uint8(4 * i),
			Score: []search.Score{0, search.MatedAfter(2), search.MateAfter(1)}[i],
		})
	}
	g.Outcome, g.Reason = line.Outcome()
	var b bytes.Buffer
	err := writePGN(&b, g, map[string]string{
		"Event": `the "big" run`, "White": "gen\\3", "RunId": "r1", "PairId": "17", "OpeningId": "4\n5",
	})
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/tags.pgn"
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("PGN is\n%s\nexpected\n%s", b.Bytes(), want)
	}
}

// TestPGNReadsBack takes the movetext of engine games apart again: the moves are
// the game's, no line is too long and the result stands at the end.
func TestPGNReadsBack(t *testing.T) {
	for _, g := range engineGames(t) {
		var b bytes.Buffer
		if err := writePGN(&b, g, nil); err != nil {
			t.Fatal(err)
		}
		tags, movetext, _ := strings.Cut(b.String(), "\n\n")
		if !strings.Contains(tags, `[Variant "Crazyhouse"]`) || !strings.HasSuffix(movetext, "\n\n") {
			t.Errorf("%s", b.String())
		}
		for l := range strings.Lines(movetext) {
			if len(l) > 80 {
				t.Errorf("%d bytes in the line %q", len(l), l)
			}
		}
		line := chess.NewLine(g.Start)
		comment := false
		words := strings.Fields(movetext)
		for _, w := range words[:len(words)-1] {
			comment = comment || w[0] == '{'
			if comment || strings.HasSuffix(w, ".") {
				comment = comment && !strings.HasSuffix(w, "}")
				continue
			}
			m, err := line.Pos().ParseSAN(w)
			if err != nil || m != g.Plies[line.Len()].Move {
				t.Fatalf("%s at ply %d: %v", w, line.Len(), err)
			}
			line.Push(m)
		}
		if line.Len() != len(g.Plies) || words[len(words)-1] != g.Outcome.String() {
			t.Errorf("%d plies and result %s, expected %d and %v", line.Len(), words[len(words)-1], len(g.Plies), g.Outcome)
		}
	}
}

func TestPGNWords(t *testing.T) {
	for score, want := range map[search.Score]string{
		31: "+0.31", -5: "-0.05", 0: "+0.00", search.MateAfter(5): "+M3", search.MatedAfter(4): "-M2", 1234: "+12.34",
	} {
		if got := scoreText(score); got != want {
			t.Errorf("%d is written %q, expected %q", score, got, want)
		}
	}
	for reason, want := range map[chess.Reason]string{
		chess.Checkmate: "normal", chess.Repetition: "normal", PlyLimit: "adjudication", AdjudicatedWin: "adjudication",
		AdjudicatedDraw: "adjudication", TimeForfeit: "time forfeit", IllegalMove: "illegal move",
		EngineFailure: "abandoned", Abandoned: "abandoned", chess.NoReason: "unterminated",
	} {
		if got := termination(&Game{Reason: reason}); got != want {
			t.Errorf("%s terminates by %q, expected %q", ReasonText(reason), got, want)
		}
	}
	names := map[string]bool{}
	for _, p := range starts(t) {
		names[variantTag(&Game{Variant: p.Variant(), Start: p})] = true
	}
	for _, want := range []string{"Crazyhouse", "Standard", "Crazyhouse960", "Chess960"} {
		if !names[want] {
			t.Errorf("no variant is written %q: %v", want, names)
		}
	}
}
