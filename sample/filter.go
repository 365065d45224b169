package sample

import (
	"errors"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrFilter says that a filter cannot be read or has a number out of range.
var ErrFilter = errors.New("bad filter")

// Filter says which samples not to train on, besides the opening and random
// moves of games, which never serve. The zero Filter keeps all others. Scores are
// centipawns.
type Filter struct {
	// RequireGame leaves out samples of no whole game: of files of samples, and
	// of chains in .chain files. Whether their moves were played is not known.
	RequireGame  bool
	MinPly       int          // earlier in the game
	MaxPly       int          // later in the game, unless 0
	RequireScore bool         // without a score
	MaxScore     search.Score // with a score beyond ±MaxScore, unless 0; NoScore never is
	SkipPartial  bool         // the piece dropped or promoted to is not known
	SkipIllegal  bool         // the move is not legal
	SkipInCheck  bool         // the side to move is in check
	// SkipCaptures leaves out positions whose best move is a capture or a
	// promotion: their evaluation is the search's business. Drops are quiet.
	SkipCaptures bool
	// QuietLeaf replaces the positions that SkipInCheck and SkipCaptures, which then
	// mean nothing, would leave out: each by the quiet position that its move and
	// further captures lead to. Those that lead to none are left out.
	QuietLeaf bool
	SkipDraws bool // the game was drawn
	// ThinPly leaves out positions of the opening at random: a position k plies
	// from the start of the game is kept with probability (k+1)/ThinPly.
	ThinPly int
	Keep    float64 // share of the others to keep at random, from 0 to 1; 0 is all
	// SkipDuplicates leaves out positions that an earlier sample kept has had:
	// the same board, hands and rights.
	SkipDuplicates bool
}

// Validate refuses numbers that are out of range. The error wraps ErrFilter.
func (f *Filter) Validate() error {
	if f.MinPly < 0 || f.MaxPly < 0 || f.ThinPly < 0 || f.MaxScore < 0 {
		return fmt.Errorf("%w: plies %d to %d, thinned to ply %d, scores to %d, expected numbers from 0", ErrFilter, f.MinPly, f.MaxPly, f.ThinPly, f.MaxScore)
	}
	if !(f.Keep >= 0 && f.Keep <= 1) {
		return fmt.Errorf("%w: found share %g to keep, expected 0 to 1", ErrFilter, f.Keep)
	}
	return nil
}

// Selection applies a Filter to samples, one after another.
type Selection struct {
	Filter Filter
	// Chance returns a number from 0 to less than 1 for a reason, Thinned or
	// Skipped, that leaves out at random. It is called only where the filter
	// asks for such a reason and no other speaks against the sample.
	Chance func(Reason) float64

	seen map[uint64]struct{} // keys of the positions kept, with SkipDuplicates
}

// Against returns the first reason, in the order of the reasons, against a sample
// with a score in the given unit, or Kept. Whole says that it is of a whole game. With
// QuietLeaf s may be another position afterwards, and was counted for what it was.
func (x *Selection) Against(s *Sample, unit Unit, whole bool) Reason {
	f := &x.Filter
	if f.RequireGame && !whole {
		return NotWhole
	}
	if why := f.againstPly(int(s.Ply), Convert(s.Score, unit, CentipawnUnit)); why != Kept {
		return why
	}
	switch {
	case f.SkipPartial && s.Partial:
		return Partial
	case f.SkipIllegal && s.CheckLegal() != nil:
		return Illegal
	case f.SkipInCheck && !f.QuietLeaf && s.Pos.InCheck():
		return InCheck
	case f.SkipCaptures && !f.QuietLeaf && IsCapture(&s.Pos, s.Move):
		return Capture
	case f.SkipDraws && s.Result == 0 && !s.NoResult:
		return Drawn
	}
	if why := f.AgainstByChance(int(s.Ply), x.Chance); why != Kept {
		return why
	}
	if !f.Replace(s) {
		return Unquiet
	}
	if f.SkipDuplicates && !x.isNew(s.Pos.Key()) {
		return Duplicate
	}
	return Kept
}

// againstPly is Against for the reasons that take no position.
func (f *Filter) againstPly(ply int, score search.Score) Reason {
	switch {
	case ply < f.MinPly:
		return Early
	case f.MaxPly != 0 && ply > f.MaxPly:
		return Late
	case score == NoScore:
		if f.RequireScore {
			return Unscored
		}
	case f.MaxScore != 0 && (score > f.MaxScore || score < -f.MaxScore):
		return LargeScore
	}
	return Kept
}

// AgainstByChance is Against for the reasons that leave out at random, for a
// sample at the given ply; see Selection.Chance.
func (f *Filter) AgainstByChance(ply int, chance func(Reason) float64) Reason {
	switch {
	case ply < f.ThinPly && chance(Thinned) >= float64(ply+1)/float64(f.ThinPly):
		return Thinned
	case f.Keep != 0 && chance(Skipped) >= f.Keep:
		return Skipped
	}
	return Kept
}

// isNew reports whether no position of the key was kept before, and notes it.
func (x *Selection) isNew(key uint64) bool {
	if x.seen == nil {
		x.seen = make(map[uint64]struct{})
	}
	known := len(x.seen)
	x.seen[key] = struct{}{}
	return len(x.seen) > known
}

// Traits is what a Filter asks of a position and the move played there.
type Traits struct {
	InCheck bool
	Capture bool // or a promotion
}

// TraitsOf returns the traits of the position in which m is played.
func TraitsOf(pos *chess.Position, m chess.Move) Traits {
	return Traits{InCheck: pos.InCheck(), Capture: IsCapture(pos, m)}
}

// Passes reports whether no reason speaks against ply i, whose position has the
// given traits, of a game that ended so, and that ply may be trained on. It is
// Selection.Against without the position, and without the reasons that depend on
// chance, on other samples or on what Replace makes of the sample.
func (f *Filter) Passes(ply *game.Ply, i int, t Traits, o chess.Outcome) bool {
	return ply.Train && f.againstPly(i, scoreOf(ply)) == Kept &&
		(f.QuietLeaf || !(f.SkipInCheck && t.InCheck) && !(f.SkipCaptures && t.Capture)) && !(f.SkipDraws && o == chess.Draw)
}

// IsCapture reports whether m captures or promotes. NoMove does not.
func IsCapture(pos *chess.Position, m chess.Move) bool {
	return m != chess.NoMove && (m.IsPromotion() || pos.IsCapture(m))
}

// ErrIllegal says that the move of a sample is not legal.
var ErrIllegal = errors.New("illegal move")

// CheckLegal fails if the move of s is not legal, or, where its piece is not
// known, would not be with any piece. The error wraps ErrIllegal and has the FEN.
func (s *Sample) CheckLegal() error {
	if s.Pos.IsLegal(s.Move) {
		return nil
	}
	if s.Partial && s.Move.IsDrop() {
		for t := chess.Pawn; t <= chess.Queen; t++ {
			if s.Pos.IsLegal(chess.NewDrop(t, s.Move.To())) {
				return nil
			}
		}
	}
	return fmt.Errorf("%w: found %s in %s", ErrIllegal, AppendMove(nil, &s.Pos, s.Move, s.Partial), s.Pos.FEN())
}
