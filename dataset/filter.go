package dataset

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrFilter says that a filter cannot be read.
var ErrFilter = errors.New("bad filter")

// Filter says which samples to leave out. The zero Filter leaves out none.
type Filter struct {
	Check    bool         // the side to move is in check
	Capture  bool         // the move captures or promotes
	Draw     bool         // the game was drawn
	Partial  bool         // the piece dropped or promoted to is not known
	Illegal  bool         // the move is not legal
	MinPly   int          // earlier in the game
	MaxPly   int          // later in the game, unless 0
	MaxScore search.Score // the score is beyond ±MaxScore centipawns, unless 0
	Keep     float64      // share of the others to keep at random, from 0 to 1; 0 is all
}

// FilterHelp describes what ParseFilter reads.
const FilterHelp = "comma-separated: no-check, no-capture (nor promotion), no-draw, no-partial, no-illegal, min-ply=N, max-ply=N, max-score=CP, keep=SHARE"

// ParseFilter reads a list such as "no-check,max-score=3000". The error wraps
// ErrFilter.
func ParseFilter(text string) (Filter, error) {
	var f Filter
	if text == "" {
		return f, nil
	}
	switches := map[string]*bool{
		"no-check": &f.Check, "no-capture": &f.Capture, "no-draw": &f.Draw, "no-partial": &f.Partial, "no-illegal": &f.Illegal,
	}
	numbers := map[string]*int{"min-ply": &f.MinPly, "max-ply": &f.MaxPly, "max-score": (*int)(&f.MaxScore)}
	for word := range strings.SplitSeq(text, ",") {
		name, value, valued := strings.Cut(strings.TrimSpace(word), "=")
		var err error
		switch {
		case switches[name] != nil && !valued:
			*switches[name] = true
		case numbers[name] != nil && valued:
			const most = 1 << 20
			if *numbers[name], err = strconv.Atoi(value); err != nil || *numbers[name] < 0 || *numbers[name] > most {
				return f, fmt.Errorf("%w: %s: found %q, expected a number from 0 to %d", ErrFilter, name, value, most)
			}
		case name == "keep" && valued:
			if f.Keep, err = strconv.ParseFloat(value, 64); err != nil || !(f.Keep > 0 && f.Keep <= 1) {
				return f, fmt.Errorf("%w: keep: found %q, expected a share above 0, at most 1", ErrFilter, value)
			}
		default:
			return f, fmt.Errorf("%w: found %q, expected %s", ErrFilter, word, FilterHelp)
		}
	}
	return f, nil
}

// Reason is why a sample is left out.
type Reason uint8

// The reasons, in the order in which they are looked at.
const (
	Kept Reason = iota
	ByPly
	ByScore
	ByResult
	ByPartial
	ByIllegal
	ByCheck
	ByCapture
	ByChance
	reasons
)

// String returns the reason in words.
func (r Reason) String() string {
	return [...]string{"kept", "ply", "score", "draw", "partial move", "illegal move", "in check", "capture or promotion", "chance"}[r]
}

// Counts says how many samples were left out for each reason, or Kept.
type Counts [reasons]int64

// Against returns the first reason that f has against s, whose score is in the
// given unit, or Kept. The rng is used if Keep is set.
func (f *Filter) Against(s *sample.Sample, unit sample.Unit, rng *rand.Rand) Reason {
	switch {
	case int(s.Ply) < f.MinPly || f.MaxPly != 0 && int(s.Ply) > f.MaxPly:
		return ByPly
	case f.MaxScore != 0 && beyond(sample.Convert(s.Score, unit, sample.CentipawnUnit), f.MaxScore):
		return ByScore
	case f.Draw && s.Result == 0:
		return ByResult
	case f.Partial && s.Partial:
		return ByPartial
	case f.Illegal && CheckLegal(s) != nil:
		return ByIllegal
	case f.Check && s.Pos.InCheck():
		return ByCheck
	case f.Capture && (s.Move.IsPromotion() || s.Pos.IsCapture(s.Move)):
		return ByCapture
	case f.Keep != 0 && rng.Float64() >= f.Keep:
		return ByChance
	}
	return Kept
}

func beyond(score, limit search.Score) bool { return score > limit || score < -limit }

// ErrIllegal says that the move of a sample is not legal.
var ErrIllegal = errors.New("illegal move")

// CheckLegal fails if the move of s is not legal, or, where its piece is not
// known, would not be with any piece. The error wraps ErrIllegal and has the FEN.
func CheckLegal(s *sample.Sample) error {
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
	return fmt.Errorf("%w: found %s in %s", ErrIllegal, sample.AppendMove(nil, &s.Pos, s.Move, s.Partial), s.Pos.FEN())
}
