package pool

import (
	"errors"
	"fmt"
	"math"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrConfig says that a setting is out of range.
var ErrConfig = errors.New("unusable data settings")

// Filter says which samples not to train on, beside the opening and random moves
// of games, which never serve. The zero Filter keeps all others.
type Filter struct {
	sample.Filter
	// ThinPly leaves out positions of the opening at random: a position k plies
	// from the start of the game is kept with probability (k+1)/ThinPly.
	ThinPly    int
	SkipDraws  bool    // the game was drawn
	RandomSkip float64 // leaves out RandomSkip positions for each kept
	// SkipDuplicates leaves out positions that an earlier sample kept has had:
	// the same board, hands and rights.
	SkipDuplicates bool
	// RequireGame leaves out positions of no whole game: of files of samples, and
	// of chains in .chain files. Whether their moves were played is not known.
	RequireGame bool
}

func (f *Filter) validate() error {
	if f.MinPly < 0 || f.ThinPly < 0 || f.MaxScore < 0 {
		return fmt.Errorf("%w: first ply %d, thinned to ply %d, scores to %d, expected numbers from 0", ErrConfig, f.MinPly, f.ThinPly, f.MaxScore)
	}
	if !(f.RandomSkip >= 0 && f.RandomSkip <= math.MaxUint32) {
		return fmt.Errorf("%w: found %g positions to skip for each kept, expected a number from 0", ErrConfig, f.RandomSkip)
	}
	return nil
}

// Counts says what became of the samples, each counted under the first reason, in
// the order of the fields, that speaks against it.
type Counts struct {
	Samples    uint64 `json:"samples"`               // all
	Untrained  uint64 `json:"untrained,omitempty"`   // opening and random moves
	NoGame     uint64 `json:"no_game,omitempty"`     // Filter.RequireGame
	Early      uint64 `json:"early,omitempty"`       // Filter.MinPly
	NoScore    uint64 `json:"no_score,omitempty"`    // Filter.RequireScore
	LargeScore uint64 `json:"large_score,omitempty"` // Filter.MaxScore
	InCheck    uint64 `json:"in_check,omitempty"`    // Filter.SkipInCheck
	Captures   uint64 `json:"captures,omitempty"`    // Filter.SkipCaptures
	Draws      uint64 `json:"draws,omitempty"`       // Filter.SkipDraws
	Thinned    uint64 `json:"thinned,omitempty"`     // Filter.ThinPly
	Skipped    uint64 `json:"skipped,omitempty"`     // Filter.RandomSkip
	Duplicates uint64 `json:"duplicates,omitempty"`  // Filter.SkipDuplicates
	Kept       uint64 `json:"kept"`

	Games      uint64 `json:"games"`                // games begun
	Unreadable uint64 `json:"unreadable,omitempty"` // records of files that are damaged
	Unmirrored uint64 `json:"unmirrored,omitempty"` // of those kept, with rights to castle, if there is mirroring

	// Damage says of the first records and ends of files that were not read where
	// they are and why.
	Damage []string `json:"damage,omitempty"`
}

// of completes the counts of a filter by what was counted while reading.
func (c *Counts) of(read *Counts) {
	c.Samples, c.Untrained, c.Games = read.Samples, read.Untrained, read.Games
	c.Unreadable, c.Damage = read.Unreadable, read.Damage
}

// noScore stands in files of samples for a search that gave no score: VALUE_NONE
// of Stockfish.
const noScore = 32002

// against returns the count of the first reason against a sample, or nil. Chance
// is a number of the sample's own, the same at every reading.
func (f *Filter) against(c *Counts, e *entry, chance uint64, seen keySet) *uint64 {
	s := e.Sample
	switch {
	case f.RequireGame && !e.whole:
		return &c.NoGame
	case int(s.Ply) < f.MinPly:
		return &c.Early
	case f.RequireScore && !e.scored:
		return &c.NoScore
	case f.MaxScore != 0 && (s.Score > f.MaxScore || s.Score < -f.MaxScore):
		return &c.LargeScore
	case f.SkipInCheck && s.Pos.InCheck():
		return &c.InCheck
	case f.SkipCaptures && s.Move != chess.NoMove && (s.Move.IsPromotion() || s.Pos.IsCapture(s.Move)):
		return &c.Captures
	case f.SkipDraws && s.Result == 0:
		return &c.Draws
	case int(s.Ply) < f.ThinPly && share(splitmix.Hash(chance)) >= float64(s.Ply+1)/float64(f.ThinPly):
		return &c.Thinned
	case f.RandomSkip > 0 && share(splitmix.Hash(chance+1))*(1+f.RandomSkip) >= 1:
		return &c.Skipped
	case f.SkipDuplicates && !seen.add(s.Pos.Key()):
		return &c.Duplicates
	}
	return nil
}

// isScored reports whether a score read from a file is one.
func isScored(s search.Score) bool { return s != noScore }

// share turns a random number into one from 0 to less than 1.
func share(x uint64) float64 { return float64(x>>11) / (1 << 53) }

// keySet is the keys of positions kept.
type keySet map[uint64]struct{}

// add reports whether key is new to the set, and puts it in.
func (k keySet) add(key uint64) bool {
	known := len(k)
	k[key] = struct{}{}
	return len(k) > known
}
