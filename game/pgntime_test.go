package game

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// timedGame is a game with clocks that differ, times, nodes and lines, in which
// the adjudication was overruled.
func timedGame(t *testing.T) *Game {
	t.Helper()
	g := playMoves(t, chess.Crazyhouse, "f2f3 e7e5 g2g4 d8h4")
	scores := []search.Score{31, -5, search.MatedAfter(2), search.MateAfter(1)}
	for i := range g.Plies {
		p := &g.Plies[i]
		p.HasScore, p.Score, p.Depth, p.SelDepth = i > 0, scores[i], uint8(8+i), uint8(12+i)
		p.Nodes, p.Elapsed, p.Clock = uint64(1234*(i+1)), time.Duration(i)*123*time.Millisecond, time.Minute-time.Duration(i)*time.Second
	}
	g.Plies[2].Clock = 0
	for i := range g.Plies {
		pv := []chess.Move{g.Plies[i].Move}
		if i == 1 {
			pv = append(pv, g.Plies[2].Move, chess.NewMove(chess.A1, chess.A1, chess.Normal))
		}
		g.PVs = append(g.PVs, pv)
	}
	g.Outcome, g.Reason = g.Line().Outcome()
	g.Adjudged = chess.Draw
	g.TimeControls = [2]string{"60+0.6", "0.05/move"}
	zone := time.FixedZone("", 2*3600)
	g.Began = time.Date(2026, 1, 2, 1, 30, 0, 0, zone)
	g.Ended = g.Began.Add(62*time.Minute + 3500*time.Millisecond)
	return g
}

// TestPGNTimes writes the same game with every kind of comment.
func TestPGNTimes(t *testing.T) {
	for name, options := range map[string]PGNOptions{"times": {}, "eval": {Eval: true}, "pv": {PV: true}} {
		var b bytes.Buffer
		if err := options.Write(&b, timedGame(t), map[string]string{"Round": "1.1"}); err != nil {
			t.Fatal(err)
		}
		path := "testdata/" + name + ".pgn"
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
			t.Errorf("%s: PGN is\n%s\nexpected\n%s", name, b.Bytes(), want)
		}
	}
}

// TestPGNFiguresReadBack: what the search said comes back from every kind of
// comment as far as it holds it.
func TestPGNFiguresReadBack(t *testing.T) {
	for _, options := range []PGNOptions{{}, {Eval: true}, {PV: true}} {
		g := timedGame(t)
		var b bytes.Buffer
		if err := options.Write(&b, g, nil); err != nil {
			t.Fatal(err)
		}
		r := NewPGNReader(&b)
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		back, err := rec.Game()
		if err != nil || back.Reason != g.Reason {
			t.Fatalf("%s: %v", ReasonText(back.Reason), err)
		}
		for i, p := range back.Plies {
			want := g.Plies[i]
			if p.Move != want.Move || p.HasScore != want.HasScore || p.HasScore && (p.Depth != want.Depth || p.Score.String() != want.Score.String()) {
				t.Errorf("%+v: ply %d: %+v, expected %+v", options, i, p, want)
			}
			if p.HasScore && !options.Eval && (p.Nodes != want.Nodes || p.Elapsed != want.Elapsed) {
				t.Errorf("%+v: ply %d: %+v, expected %+v", options, i, p, want)
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	}
}

func TestPGNTimeTags(t *testing.T) {
	g := timedGame(t)
	g.TimeControls = [2]string{"-", "-"}
	g.Ended = time.Time{}
	g.Reason, g.Adjudged = Resigned, g.Outcome
	var b strings.Builder
	if err := writePGN(&b, g, nil); err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]bool{
		`[TimeControl "-"]`: true, "[WhiteTimeControl": false, "[GameEndTime": false, "[GameDuration": false,
		`[UTCDate "2026.01.01"]`: true, `[Termination "adjudication"]`: true, "[Adjudged": false, "resigned}": true,
	} {
		if strings.Contains(b.String(), tag) != want {
			t.Errorf("%s: expected %v in\n%s", tag, want, b.String())
		}
	}
	g.TimeControls, g.Began = [2]string{}, time.Time{}
	b.Reset()
	if err := writePGN(&b, g, nil); err != nil || strings.Contains(b.String(), "Time") || strings.Contains(b.String(), "UTC") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
