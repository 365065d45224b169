package book

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrSettings says that the settings of a book contradict each other.
var ErrSettings = errors.New("book: bad settings")

// Settings say how walks are made. All fields are required.
type Settings struct {
	Variant *chess.Variant
	Seed    uint64
	// MinPlies and MaxPlies bound the length of a walk from the start
	// position. Even and odd lengths are equally likely.
	MinPlies, MaxPlies int
	// Moves are the limits of the walker's search at each ply, with MultiPV
	// the number of best moves that the next one is drawn from, of a walker that
	// reports as many lines. For walks to be the same again they are nodes or
	// depth, never time.
	Moves search.Limits
	// Temperature, in centipawns, sets how much likelier better moves are:
	// a move that is worse by it is drawn 1/e times as often.
	Temperature float64
	// MaxLoss, in centipawns, is by how much the drawn move may be worse than
	// the best.
	MaxLoss search.Score
	// CaptureBonus, in centipawns, is by how much captures are drawn as if they
	// were better than they are, which fills the hands.
	CaptureBonus search.Score
	// MaxScore, in centipawns, gives a walk up once the best move is worth
	// more, to either side.
	MaxScore search.Score
	// Judge are the limits of the search that scores the end of a walk: nodes
	// or depth.
	Judge search.Limits
}

// Bounds of settings: the number of moves that a ply is drawn from, and
// centipawns.
const (
	maxMultiPV = 256
	maxBonus   = 1000
)

// Validate returns an error that wraps [ErrSettings] if the settings contradict
// each other.
func (s *Settings) Validate() error {
	switch {
	case s.Variant == nil:
		return fmt.Errorf("%w: no variant", ErrSettings)
	case s.MinPlies < 0 || s.MaxPlies < s.MinPlies || s.MaxPlies >= game.MaxGamePlies:
		return fmt.Errorf("%w: %d to %d plies, expected a range within 0 to %d", ErrSettings, s.MinPlies, s.MaxPlies, game.MaxGamePlies-1)
	case !Repeatable(&s.Moves) || !Repeatable(&s.Judge):
		return fmt.Errorf("%w: found limits %q for moves and %q for scores, expected nodes or depth: a search by time never comes out the same twice",
			ErrSettings, game.LimitsText(s.Moves), game.LimitsText(s.Judge))
	case s.Moves.MultiPV < 1 || s.Moves.MultiPV > maxMultiPV:
		return fmt.Errorf("%w: moves are drawn from the best %d, expected 1 to %d", ErrSettings, s.Moves.MultiPV, maxMultiPV)
	case !(s.Temperature > 0) || math.IsInf(s.Temperature, 0):
		return fmt.Errorf("%w: temperature is %v centipawns, expected more than 0", ErrSettings, s.Temperature)
	case s.MaxLoss < 0 || s.CaptureBonus < 0 || s.CaptureBonus > maxBonus || s.MaxScore <= 0:
		return fmt.Errorf("%w: a loss of %d, a bonus of %d and a score of %d centipawns, expected 0 or more, 0 to %d, and more than 0",
			ErrSettings, s.MaxLoss, s.CaptureBonus, s.MaxScore, maxBonus)
	}
	return nil
}

// Repeatable reports whether a search within l, by one thread, comes out the
// same whenever it is made.
func Repeatable(l *search.Limits) bool {
	return (l.Nodes > 0 || l.Depth > 0) && l.MoveTime == 0 && !l.Clock(chess.White) && !l.Clock(chess.Black)
}

// Verdict says what became of a walk.
type Verdict uint8

const (
	// Scored is a walk that went to its end, where the judge scored it.
	Scored Verdict = iota
	// Ended is a walk that ended the game.
	Ended
	// Lopsided is a walk given up because of Settings.MaxScore.
	Lopsided
	// Check is a walk that ended with the side to move in check, which
	// leaves it too little choice for an opening.
	Check
)

var verdictNames = [...]string{Scored: "scored", Ended: "ended", Lopsided: "lopsided", Check: "check"}

// String returns the verdict as it stands in journals.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

// Walk is a walk made.
type Walk struct {
	Number  int // from 0
	Verdict Verdict
	// End and Score, in centipawns from White's side, are set if Verdict is
	// Scored.
	End   chess.Position
	Score search.Score
}

// whiteScore turns a score of the side to move in p to White's side.
func whiteScore(p *chess.Position, s search.Score) search.Score {
	if p.SideToMove() == chess.Black {
		return -s
	}
	return s
}

// walk makes the walk of a number. What the players have seen before does not
// matter.
func (s *Settings) walk(ctx context.Context, number int, walker, judge game.Player) (Walk, error) {
	rng := rand.New(rand.NewPCG(s.Seed, uint64(number)))
	if err := walker.NewGame(); err != nil {
		return Walk{}, fmt.Errorf("walker: %w", err)
	}
	line := chess.NewLine(s.Variant.Start())
	asked, alone := 0, 0 // searches with a choice of moves, and those of them that found their move alone
	for range game.OpeningPlies(rng, s.MinPlies, s.MaxPlies) {
		res, err := walker.Search(ctx, line, s.Moves)
		if err := searchError(ctx, err); err != nil {
			return Walk{}, fmt.Errorf("walker in %s: %w", line.Pos().FEN(), err)
		}
		if s.Moves.MultiPV > 1 && line.Pos().CountLegal() > 1 {
			if asked++; len(res.Lines) < 2 {
				alone++
			}
		}
		if max(res.Score, -res.Score) > s.MaxScore {
			return Walk{Number: number, Verdict: Lopsided}, nil
		}
		m := s.draw(line.Pos(), &res, rng)
		if !line.Pos().IsLegal(m) {
			return Walk{}, fmt.Errorf("walker: %w: answered %04x in %s", game.ErrIllegal, uint16(m), line.Pos().FEN())
		}
		line.Push(m)
		if outcome, _ := line.Outcome(); outcome != chess.Ongoing {
			return Walk{Number: number, Verdict: Ended}, nil
		}
	}
	if asked > 0 && alone == asked {
		return Walk{}, fmt.Errorf("%w: walker: found its best move alone in all %d positions of a walk, expected the best %d to draw from: choose a player that reports them, as UCI engines with the option MultiPV do",
			ErrSettings, asked, s.Moves.MultiPV)
	}
	if line.Pos().InCheck() {
		return Walk{Number: number, Verdict: Check}, nil
	}
	return s.score(ctx, number, *line.Pos(), judge)
}

// score has the judge score the end of a walk, without its history, as a game
// from the book will have none.
func (s *Settings) score(ctx context.Context, number int, end chess.Position, judge game.Player) (Walk, error) {
	if err := judge.NewGame(); err != nil {
		return Walk{}, fmt.Errorf("judge: %w", err)
	}
	res, err := judge.Search(ctx, chess.NewLine(end), s.Judge)
	if err := searchError(ctx, err); err != nil {
		return Walk{}, fmt.Errorf("judge in %s: %w", end.FEN(), err)
	}
	return Walk{Number: number, Verdict: Scored, End: end, Score: whiteScore(&end, res.Score)}, nil
}

// searchError returns the error of a search that ended with err; one that ctx
// cut short has no answer to go by.
func searchError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// draw draws one of the best moves of a search in p, the better the likelier.
func (s *Settings) draw(p *chess.Position, res *search.Result, rng *rand.Rand) chess.Move {
	if len(res.Lines) == 0 {
		return res.Move
	}
	best := res.Lines[0].Score
	weights := make([]float64, len(res.Lines)) // their logarithms first
	most := math.Inf(-1)
	for i, l := range res.Lines {
		weights[i] = math.Inf(-1)
		loss := best - l.Score
		if loss > s.MaxLoss || len(l.PV) == 0 {
			continue
		}
		if p.IsCapture(l.PV[0]) {
			loss -= s.CaptureBonus
		}
		weights[i] = -float64(loss) / s.Temperature
		most = max(most, weights[i])
	}
	sum := 0.0
	for i, w := range weights {
		weights[i] = math.Exp(w - most) // at most 1, however low the temperature
		sum += weights[i]
	}
	left := rng.Float64() * sum
	for i, w := range weights {
		if left -= w; left < 0 {
			return res.Lines[i].PV[0]
		}
	}
	return res.Move // rounding alone comes here
}
