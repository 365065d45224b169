package analysis

import (
	"context"
	"errors"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

func material(t *testing.T) *Analyst {
	t.Helper()
	spec := player.Spec{Search: player.AlphaBeta}
	p, err := spec.Open(player.NoNet(player.AlphaBeta), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return &Analyst{Player: p, Search: player.AlphaBeta, Limits: search.Limits{Nodes: 2000}, Lines: 3}
}

func lineOf(t *testing.T, fen string, moves ...string) *chess.Line {
	t.Helper()
	start, err := chess.ParseFEN(chess.Crazyhouse, fen)
	if err != nil {
		t.Fatal(err)
	}
	line := chess.NewLine(start)
	for _, text := range moves {
		m, err := line.Pos().ParseUCI(text)
		if err != nil {
			t.Fatal(err)
		}
		line.Push(m)
	}
	return line
}

// The moves before count: what leads back to a position of the game is worth a draw,
// whatever is on the board.
func TestReportKnowsTheGame(t *testing.T) {
	a := material(t)
	a.Lines = 60
	r, err := a.Report(context.Background(), lineOf(t, "7k/8/8/8/8/8/8/K5Q1[] w - - 0 1", "g1g2", "h8h7", "g2g1", "h7h8", "g1g2", "h8h7"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range r.Lines {
		if repeats := l.UCI[0] == "g2g1"; repeats != (l.Centipawns != nil && *l.Centipawns == 0) {
			t.Errorf("%s: score %v", l.UCI[0], l.Score)
		}
	}
}

func TestReportEnds(t *testing.T) {
	r, err := material(t).Report(context.Background(), lineOf(t, "6k1/5ppp/8/8/8/8/5PPP/r5K1[] w - - 0 1"))
	if err != nil || r.Ended != "checkmate" || len(r.Lines) != 0 {
		t.Errorf("found %+v, error %v", r, err)
	}
}

func TestReportThreats(t *testing.T) {
	r, err := material(t).Report(context.Background(), lineOf(t, "6k1/5ppp/8/8/8/8/5PPP/1N4K1[r] w - - 0 1"))
	if err != nil || len(r.Threats) == 0 || r.Threats[0].Mate != 1 || !r.Threats[0].Check {
		t.Errorf("found %+v, error %v", r, err)
	}
}

// pusher is an engine that searches all moves, whatever it is asked.
type pusher struct{ player.Player }

func (pusher) Search(_ context.Context, line *chess.Line, _ search.Limits) (search.Result, error) {
	m, err := line.Pos().ParseUCI("g7g5")
	if line.Pos().SideToMove() == chess.White {
		m, err = line.Pos().ParseUCI("g2g4")
	}
	pv := []chess.Move{m}
	return search.Result{Move: m, Score: 900, PV: pv, Lines: []search.RootLine{{Score: 900, PV: pv}}}, err
}

// Threats are drops, whatever an engine answers.
func TestThreatsAreDrops(t *testing.T) {
	a := material(t)
	a.Player = pusher{a.Player}
	r, err := a.Report(context.Background(), lineOf(t, "6k1/5ppp/8/8/8/8/5PPP/1N4K1[n] w - - 0 1"))
	if err != nil || len(r.Threats) != 0 {
		t.Errorf("found threats %+v, error %v", r.Threats, err)
	}
}

func TestReportCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := material(t).Report(ctx, chess.NewLine(chess.Crazyhouse.Start())); !errors.Is(err, context.Canceled) {
		t.Errorf("found error %v, expected that of the context", err)
	}
}
