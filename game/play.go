package game

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Player is what plays a game: an engine of this module or another program.
type Player interface {
	// NewGame is called before the first Search of every game.
	NewGame() error
	// Search returns a legal move for the side to move at the end of line,
	// which it must not change. The result's score is from that side. An error
	// that wraps ErrResigned gives the game up.
	Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error)
}

var (
	// ErrAbandoned says that a game was broken off because its context ended.
	ErrAbandoned = errors.New("game: abandoned")
	// ErrOpening says that an opening has an illegal move, ends the game, or
	// could not be found.
	ErrOpening = errors.New("game: bad opening")
	// ErrResigned is what a player's Search returns, wrapped or not, in place of a
	// move to resign the game.
	ErrResigned = errors.New("game: player resigns")
	// ErrConfig says that the settings of Play contradict each other.
	ErrConfig = errors.New("game: bad settings")
)

// Fault is the error of a player that knows by which reason it loses the game,
// such as [TimeForfeit], [NoAnswer] or [IllegalMove]. Other errors of players are
// an [EngineFailure].
type Fault struct {
	Reason chess.Reason
	Err    error
}

// Error is that of the cause.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// PlayerError says that a player failed and in which place. It wraps ErrIllegal
// if the player answered with an illegal move, else what the player returned.
type PlayerError struct {
	Color chess.Color // the player's side
	Ply   int         // plies made before
	Err   error
}

// Error names the side and the ply.
func (e *PlayerError) Error() string {
	return fmt.Sprintf("game: %v to move at ply %d: %v", e.Color, e.Ply, e.Err)
}

// Unwrap returns the cause.
func (e *PlayerError) Unwrap() error { return e.Err }

// Noise replaces moves by random ones, for variety in self-play.
type Noise struct {
	Plies int     // only before this ply of the game, opening moves counted
	Prob  float64 // share of the moves there that is random, 0 to 1
}

// Config says how Play plays. Scores are centipawns.
type Config struct {
	// Limits go to the searches of White and Black. Limits[c].Time[c] and
	// Limits[c].Inc[c], if set, are the clock of colour c: it runs down by the
	// time each search takes, and a player that oversteps it by more than
	// TimeMargin forfeits. Every search knows both clocks.
	Limits     [2]search.Limits
	TimeMargin time.Duration
	// QuickNodes, unless 0, is how many nodes every search has at first. One of a
	// position in check ends there, and so does one whose best move captures or
	// promotes; their plies are not to train on. The others go on to the nodes of
	// Limits, which must be more for both sides.
	QuickNodes uint64
	// A player that takes longer than its MoveTime by more than MoveTimeMargin
	// forfeits; 0 is never.
	MoveTimeMargin time.Duration

	// MaxPlies ends the game as a draw, opening moves counted; 0 means
	// MaxGamePlies.
	MaxPlies int

	// A game is won once WinPlies successive scores, so both players', saw
	// the same side ahead by at least WinScore, unless check is
	// pending: attacks in crazyhouse turn round suddenly. Either of them 0 is
	// never.
	WinScore search.Score
	WinPlies int
	// A player has resigned once it saw itself behind by at least ResignScore
	// in ResignMoves successive moves of its own, whatever the other thinks.
	// Either of them 0 is never.
	ResignScore search.Score
	ResignMoves int
	// A game is drawn once DrawPlies successive scores, those of the first
	// DrawMinPly plies not counted, were within ±DrawScore. DrawPlies 0 is
	// never; DrawScore 0 asks for scores of exactly 0.
	DrawScore             search.Score
	DrawPlies, DrawMinPly int
	// NoAdjudicateShare of the games, 0 to 1, is played to the end all the
	// same, which shows how often the adjudication is wrong.
	NoAdjudicateShare float64

	Noise Noise

	// KeepPV fills Game.PVs.
	KeepPV bool

	// OnPly, if set, is called after every ply of a search, before the game goes on, with
	// the line that the search expected, its own move first. It must change neither.
	OnPly func(line *chess.Line, ply Ply, pv []chess.Move)
}

// Validate returns an error that wraps [ErrConfig] if settings are out of their range
// or contradict each other.
func (c *Config) Validate() error {
	switch {
	case c.MaxPlies < 0 || c.MaxPlies > MaxGamePlies:
		return fmt.Errorf("%w: found a limit of %d plies, expected 0 to %d", ErrConfig, c.MaxPlies, MaxGamePlies)
	case c.WinPlies < 0 || c.WinScore < 0:
		return fmt.Errorf("%w: found adjudication of wins after %d plies at %d centipawns, expected neither negative", ErrConfig, c.WinPlies, c.WinScore)
	case c.ResignMoves < 0 || c.ResignScore < 0:
		return fmt.Errorf("%w: found resignation after %d moves at %d centipawns, expected neither negative", ErrConfig, c.ResignMoves, c.ResignScore)
	case c.DrawPlies < 0 || c.DrawScore < 0:
		return fmt.Errorf("%w: found adjudication of draws after %d plies at %d centipawns, expected neither negative", ErrConfig, c.DrawPlies, c.DrawScore)
	case !(c.NoAdjudicateShare >= 0 && c.NoAdjudicateShare <= 1):
		return fmt.Errorf("%w: found a share of %v games that are played out, expected 0 to 1", ErrConfig, c.NoAdjudicateShare)
	case !(c.Noise.Prob >= 0 && c.Noise.Prob <= 1):
		return fmt.Errorf("%w: found random moves with probability %v, expected 0 to 1", ErrConfig, c.Noise.Prob)
	case c.TimeMargin < 0 || c.MoveTimeMargin < 0:
		return fmt.Errorf("%w: found margins of %v for a clock and %v for a move, expected neither negative", ErrConfig, c.TimeMargin, c.MoveTimeMargin)
	}
	for _, l := range c.Limits {
		if c.QuickNodes > 0 && l.Nodes <= c.QuickNodes {
			return fmt.Errorf("%w: found quick searches of %d nodes, expected fewer than the %d of the others", ErrConfig, c.QuickNodes, l.Nodes)
		}
		if l.MovesToGo != 0 {
			return fmt.Errorf("%w: found %d moves to go, expected 0: a game has one time control", ErrConfig, l.MovesToGo)
		}
	}
	return nil
}

// Play plays a game from the opening to its end by the rules, by adjudication,
// on time or at the ply limit. With players that answer the same to the same,
// the game depends on opening, cfg and rng alone, but for the times in it. The
// caller fills in the id and provenance of the game returned; Limits is set.
//
// If the context ends, the error wraps ErrAbandoned; if a player fails or
// answers with an illegal move, it is a *PlayerError. In both cases the
// game comes back as far as it went, without an outcome.
func Play(ctx context.Context, white, black Player, opening Opening, cfg Config, rng *rand.Rand) (*Game, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.MaxPlies == 0 {
		cfg.MaxPlies = MaxGamePlies
	}
	t := &gameInProgress{
		cfg: cfg, rng: rng, players: [2]Player{white, black},
		line: chess.NewLine(opening.Start),
		g: &Game{
			Variant: opening.Start.Variant(), Start: opening.Start, Limits: QuickText(limitsText(cfg.Limits), cfg.QuickNodes),
			Outcome: chess.Ongoing, Reason: Abandoned,
		},
		playOut: rng.Float64() < cfg.NoAdjudicateShare,
	}
	for c := range t.clocks {
		t.clocks[c], t.incs[c] = cfg.Limits[c].Time[c], cfg.Limits[c].Inc[c]
		t.g.TimeControls[c] = TimeControl(cfg.Limits[c], chess.Color(c))
	}
	if err := t.open(opening.Moves); err != nil {
		return nil, err
	}
	for c, p := range t.players {
		if err := p.NewGame(); err != nil {
			return t.g, t.failure(chess.Color(c), fmt.Errorf("new game: %w", err))
		}
	}
	for t.g.Outcome == chess.Ongoing {
		if err := t.turn(ctx); err != nil {
			return t.g, err
		}
	}
	return t.g, nil
}

// gameInProgress is what Play knows of a game before its end.
type gameInProgress struct {
	cfg     Config
	rng     *rand.Rand
	players [2]Player
	clocks  [2]time.Duration
	incs    [2]time.Duration
	line    *chess.Line
	g       *Game
	pv      []chess.Move // of the newest search
	ahead   streak       // successive scores that agree on a winner
	behind  [2]int       // successive scores of each side's own that would have it resign
	level   streak       // successive scores near zero
	playOut bool         // go on after the adjudication's verdict
}

// streak counts successive plies of which the same can be said.
type streak struct {
	of  chess.Outcome
	len int
}

// add counts a ply of which o can be said; Ongoing says nothing.
func (s *streak) add(o chess.Outcome) {
	if o != s.of {
		*s = streak{of: o}
	}
	if o != chess.Ongoing {
		s.len++
	}
}

// open makes the opening moves.
func (t *gameInProgress) open(moves []chess.Move) error {
	if len(moves) >= t.cfg.MaxPlies {
		return fmt.Errorf("%w: %d plies, expected fewer than the limit %d", ErrOpening, len(moves), t.cfg.MaxPlies)
	}
	for i, m := range moves {
		if !t.line.Pos().IsLegal(m) {
			return fmt.Errorf("%w: ply %d: move %04x is not legal in %s", ErrOpening, i, uint16(m), t.line.Pos().FEN())
		}
		t.push(Ply{Move: m})
	}
	if outcome, reason := t.line.Outcome(); outcome != chess.Ongoing {
		return fmt.Errorf("%w: it ends the game by %s", ErrOpening, ReasonText(reason))
	}
	return nil
}

func (t *gameInProgress) push(p Ply) {
	t.g.Plies = append(t.g.Plies, p)
	t.line.Push(p.Move)
}

// turn has the side to move make one ply and sees whether that ends the game.
func (t *gameInProgress) turn(ctx context.Context) error {
	if ctx.Err() != nil {
		return t.abandon(ctx)
	}
	mover := t.line.Pos().SideToMove()
	var ply Ply
	if t.noisy() {
		ply = Ply{Move: RandomMove(t.line.Pos(), t.rng)}
	} else {
		var err error
		if ply, err = t.ask(ctx, mover); err != nil || t.g.Outcome != chess.Ongoing {
			return err
		}
	}
	t.push(ply)
	if t.cfg.OnPly != nil && ply.HasScore {
		t.cfg.OnPly(t.line, ply, t.pv)
	}
	t.judge(mover, ply)
	return nil
}

// ask has the mover search. If it resigns or oversteps its time, that ends the game.
func (t *gameInProgress) ask(ctx context.Context, mover chess.Color) (Ply, error) {
	lim := t.limits(mover)
	began := time.Now()
	res, quiet, err := t.search(ctx, mover, lim)
	took := time.Since(began)
	if ctx.Err() != nil { // even if there is an answer: it was cut short
		return Ply{}, t.abandon(ctx)
	}
	if errors.Is(err, ErrResigned) {
		t.g.Forfeit(mover, Resigned)
		t.g.Adjudged = t.g.Outcome
		return Ply{}, nil
	}
	if err != nil {
		return Ply{}, t.failure(mover, err)
	}
	if !t.line.Pos().IsLegal(res.Move) {
		return Ply{}, t.failure(mover, fmt.Errorf("%w: answered %04x in %s", ErrIllegal, uint16(res.Move), t.line.Pos().FEN()))
	}
	// The player's own figure leaves out what the transport costs.
	if res.Elapsed > 0 {
		took = min(took, res.Elapsed)
	}
	if t.overstepped(mover, &lim, took) {
		t.g.Forfeit(mover, TimeForfeit)
		return Ply{}, nil
	}
	t.pv = res.PV
	if t.cfg.KeepPV {
		t.g.PVs = append(t.g.PVs, make([][]chess.Move, len(t.g.Plies)-len(t.g.PVs)+1)...)
		t.g.PVs[len(t.g.Plies)] = res.PV
	}
	return Ply{
		Move:     res.Move,
		Score:    max(-search.MateScore, min(search.MateScore, res.Score)),
		Depth:    uint8(max(0, min(255, res.Depth))),
		SelDepth: uint8(max(0, min(255, res.SelDepth))),
		HasScore: true, Train: quiet,
		Policy: search.NewPolicy(&res),
		Nodes:  res.Nodes, Elapsed: res.Elapsed, Clock: t.clocks[mover],
	}, nil
}

// search has the mover search. Quiet is false for a position whose search ended at
// QuickNodes.
func (t *gameInProgress) search(ctx context.Context, mover chess.Color, lim search.Limits) (res search.Result, quiet bool, err error) {
	p, nodes := t.players[mover], lim.Nodes
	if t.cfg.QuickNodes == 0 {
		res, err = p.Search(ctx, t.line, lim)
		return res, true, err
	}
	lim.Nodes = t.cfg.QuickNodes
	quick, err := p.Search(ctx, t.line, lim)
	pos, m := t.line.Pos(), quick.Move
	if err != nil || ctx.Err() != nil || pos.InCheck() || !pos.IsLegal(m) || m.IsPromotion() || pos.IsCapture(m) {
		return quick, false, err
	}
	lim.Nodes = nodes - t.cfg.QuickNodes
	res, err = p.Search(ctx, t.line, lim)
	res.Nodes += quick.Nodes
	res.Elapsed += quick.Elapsed
	return res, true, err
}

func (t *gameInProgress) abandon(ctx context.Context) error {
	return fmt.Errorf("%w at ply %d: %w", ErrAbandoned, len(t.g.Plies), context.Cause(ctx))
}

// failure notes by which reason the side to move loses because of err. The
// caller of Play decides whether it does.
func (t *gameInProgress) failure(c chess.Color, err error) error {
	t.g.Reason = EngineFailure
	if fault, ok := errors.AsType[*Fault](err); ok {
		t.g.Reason = fault.Reason
	} else if errors.Is(err, ErrIllegal) {
		t.g.Reason = IllegalMove
	}
	return &PlayerError{c, len(t.g.Plies), err}
}

func (t *gameInProgress) noisy() bool {
	n := t.cfg.Noise
	return len(t.g.Plies) < n.Plies && t.rng.Float64() < n.Prob
}

// limits returns the limits of the mover's next search, clocks as they stand.
func (t *gameInProgress) limits(mover chess.Color) search.Limits {
	lim := t.cfg.Limits[mover]
	lim.Time, lim.Inc = t.clocks, t.incs
	return lim
}

// overstepped takes the time a move took off the mover's clock, if it has one,
// and reports whether it took too much.
func (t *gameInProgress) overstepped(mover chess.Color, lim *search.Limits, took time.Duration) bool {
	if margin := t.cfg.MoveTimeMargin; margin > 0 && lim.MoveTime > 0 && took > lim.MoveTime+margin {
		return true
	}
	if !lim.Clock(mover) {
		return false
	}
	left := t.clocks[mover] - took
	// A clock at zero would be no clock at all.
	t.clocks[mover] = max(max(0, left)+t.incs[mover], time.Millisecond)
	return left < -t.cfg.TimeMargin
}

// judge ends the game if the ply just made does so: by the rules first, by
// score next, by length last.
func (t *gameInProgress) judge(mover chess.Color, ply Ply) {
	outcome, reason := t.line.Outcome()
	if outcome == chess.Ongoing {
		verdict, by := t.adjudicate(mover, ply)
		if t.g.Adjudged == chess.Ongoing {
			t.g.Adjudged = verdict
		}
		if !t.playOut {
			outcome, reason = verdict, by
		}
	}
	if outcome == chess.Ongoing && len(t.g.Plies) >= t.cfg.MaxPlies {
		outcome, reason = chess.Draw, PlyLimit
	}
	if outcome != chess.Ongoing {
		t.g.Outcome, t.g.Reason = outcome, reason
	}
}

// adjudicate counts the score of the ply just made and returns the verdict, if
// there is one.
func (t *gameInProgress) adjudicate(mover chess.Color, ply Ply) (chess.Outcome, chess.Reason) {
	ahead, level := chess.Ongoing, chess.Ongoing
	if ply.HasScore {
		switch {
		case t.cfg.WinScore == 0:
		case ply.Score >= t.cfg.WinScore:
			ahead = chess.Win(mover)
		case ply.Score <= -t.cfg.WinScore:
			ahead = chess.Win(mover.Other())
		}
		if ply.Score <= t.cfg.DrawScore && ply.Score >= -t.cfg.DrawScore && len(t.g.Plies) > t.cfg.DrawMinPly {
			level = chess.Draw
		}
	}
	t.ahead.add(ahead)
	t.level.add(level)
	t.behind[mover]++
	if !ply.HasScore || ply.Score > -t.cfg.ResignScore {
		t.behind[mover] = 0
	}
	switch {
	case t.cfg.WinPlies > 0 && t.ahead.len >= t.cfg.WinPlies && !t.line.Pos().InCheck():
		return t.ahead.of, AdjudicatedWin
	case t.cfg.ResignScore > 0 && t.cfg.ResignMoves > 0 && t.behind[mover] >= t.cfg.ResignMoves:
		return chess.Win(mover.Other()), Resigned
	case t.cfg.DrawPlies > 0 && t.level.len >= t.cfg.DrawPlies:
		return chess.Draw, AdjudicatedDraw
	}
	return chess.Ongoing, chess.NoReason
}
