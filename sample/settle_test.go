package sample

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// capturingGame is a game with many captures, drops and checks.
func capturingGame(t *testing.T) *game.Game {
	t.Helper()
	g := newGame(t, startFEN, "e2e4 d7d5 e4d5 d8d5 b1c3 d5d8 P@e5 P@d4 c3e2 d4d3 c2d3 d8d3 d1a4 c8d7 a4d7 e8d7 e2f4 d3e4 B@e2 Q@d4 g1f3 d4f2 e1f2 P@e3 d2e3 e4f4 e3f4")
	g.Outcome, g.Reason = chess.WhiteWins, game.Resigned
	return g
}

// TestQuietLeaf: of a game's positions those that are not quiet are replaced by quiet
// ones, with score and result from the side to move there; the others stay.
func TestQuietLeaf(t *testing.T) {
	g := capturingGame(t)
	replaced, odd, without := 0, 0, 0
	for _, was := range From(g, RulesClock, nil) {
		was.Score = search.Score(100 + int(was.Ply))
		is := was
		x := Selection{Filter: Filter{SkipInCheck: true, SkipCaptures: true, QuietLeaf: true}}
		why := x.Against(&is, CentipawnUnit, true)
		if !was.Pos.InCheck() && !IsCapture(&was.Pos, was.Move) {
			if why != Kept || is != was {
				t.Errorf("ply %d: the quiet position is %v, %+v", was.Ply, why, is)
			}
			continue
		}
		if why != Kept {
			if without++; why != Unquiet || is != was {
				t.Errorf("ply %d: left out as %v, %+v", was.Ply, why, is)
			}
			continue
		}
		replaced++
		score := was.Score
		if is.Pos.SideToMove() != was.Pos.SideToMove() {
			odd++
			score = -score
		}
		if is.Score != score || is.Result != ResultFor(is.Pos.SideToMove(), g.Outcome) {
			t.Errorf("ply %d, %v to move: score %d, result %d", was.Ply, is.Pos.SideToMove(), is.Score, is.Result)
		}
		plies := is.Ply - was.Ply
		if (plies%2 == 1) != (is.Pos.SideToMove() != was.Pos.SideToMove()) || is.PliesLeft != was.PliesLeft-min(plies, was.PliesLeft) {
			t.Errorf("ply %d: the leaf has ply %d, %d left", was.Ply, is.Ply, is.PliesLeft)
		}
		if is.Pos.InCheck() || is.Move != chess.NoMove || is.Policy != nil {
			t.Errorf("ply %d: the leaf %s has a move, or is in check", was.Ply, is.Pos.FEN())
		}
		next := was.Pos
		next.Make(was.Move)
		if end, _, ok := ab.Settle(&next); !ok || end != is.Pos {
			t.Errorf("ply %d: the leaf is %s, not what its move leads to", was.Ply, is.Pos.FEN())
		}
	}
	if replaced < 5 || odd == 0 || odd == replaced {
		t.Errorf("%d replaced, %d of them with the other side to move, %d without a leaf: too few to mean anything", replaced, odd, without)
	}
}

// TestNoLeaf: a sample whose line is not known, or has no quiet end, is left out and
// stays as it is. What has no score has none afterwards.
func TestNoLeaf(t *testing.T) {
	of := func(fen, move string) Sample {
		p, err := chess.ParseFEN(chess.Crazyhouse, fen)
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.ParseUCI(move)
		if err != nil {
			t.Fatal(err)
		}
		return Sample{Pos: p, Move: m, Score: NoScore, Ply: 30}
	}
	f := Filter{QuietLeaf: true}
	mate := of("6k1/5ppp/8/8/8/8/8/r3R1K1[] w - - 0 1", "e1a1") // then all is quiet
	if !f.Replace(&mate) || mate.HasScore() || mate.Ply != 31 {
		t.Errorf("found %+v", mate)
	}
	illegal := of("6k1/8/8/3p4/4P3/8/8/6K1[] w - - 0 1", "e4d5")
	illegal.Move = chess.NewMove(chess.A1+6, chess.A1+35, chess.Normal)
	partial := of("6k1/8/8/3p4/4P3/8/8/6K1[] w - - 0 1", "e4d5")
	partial.Partial = true
	mates := of("r5k1/5ppp/8/8/8/8/8/R5K1[] w - - 0 1", "a1a8") // check mate
	none := of("6k1/8/8/8/8/8/8/r5K1[] w - - 0 1", "g1g2")
	none.Move = chess.NoMove // in check
	for name, s := range map[string]Sample{"illegal": illegal, "partial": partial, "mate": mates, "no move": none} {
		was := s
		if f.Replace(&s) || s != was {
			t.Errorf("%s: replaced by %+v", name, s)
		}
	}
	if quiet := none; !(&Filter{}).Replace(&quiet) || quiet != none {
		t.Error("replaced without being asked for")
	}
}
