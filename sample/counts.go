package sample

// Reason is why a sample is left out.
type Reason uint8

// The reasons, in the order in which they are looked at: a sample is counted once,
// under the first that speaks against it.
const (
	Kept       Reason = iota
	Untrained         // an opening or random move
	NotWhole          // Filter.RequireGame
	Early             // Filter.MinPly
	Late              // Filter.MaxPly
	Unscored          // Filter.RequireScore
	LargeScore        // Filter.MaxScore
	Partial           // Filter.SkipPartial
	Illegal           // Filter.SkipIllegal
	InCheck           // Filter.SkipInCheck
	Decided           // the game is as good as over, to who plays it
	Capture           // Filter.SkipCaptures
	Unquiet           // evaluation and quiescence search differ, to who plays it
	Drawn             // Filter.SkipDraws
	Thinned           // Filter.ThinPly
	Skipped           // Filter.Keep
	Duplicate         // Filter.SkipDuplicates
	reasons
)

// reasonWords are the words for each reason, and for the samples it leaves out.
var reasonWords = [reasons]struct{ short, long string }{
	Kept:       {"kept", "kept"},
	Untrained:  {"random or opening", "opening, random and quick moves"},
	NotWhole:   {"no whole game", "of no whole game"},
	Early:      {"ply", "early plies"},
	Late:       {"ply", "late plies"},
	Unscored:   {"no score", "no score"},
	LargeScore: {"score", "score beyond the limit"},
	Partial:    {"partial move", "piece of the move not known"},
	Illegal:    {"illegal move", "illegal moves"},
	InCheck:    {"in check", "in check"},
	Decided:    {"decided", "as good as decided"},
	Capture:    {"capture or promotion", "best move captures or promotes"},
	Unquiet:    {"not quiet", "not quiet"},
	Drawn:      {"draw", "drawn games"},
	Thinned:    {"thinned", "thinned opening"},
	Skipped:    {"chance", "random skip"},
	Duplicate:  {"seen before", "duplicates"},
}

// String returns the reason in a word or two. Early and Late have the same.
func (r Reason) String() string { return reasonWords[r].short }

// Samples returns the words for the samples that are left out for the reason.
func (r Reason) Samples() string { return reasonWords[r].long }

// Counts says what became of samples. The fields are in the order of the reasons.
type Counts struct {
	Samples    uint64 `json:"samples"` // all
	Untrained  uint64 `json:"untrained,omitempty"`
	NoGame     uint64 `json:"no_game,omitempty"`
	Early      uint64 `json:"early,omitempty"`
	Late       uint64 `json:"late,omitempty"`
	NoScore    uint64 `json:"no_score,omitempty"`
	LargeScore uint64 `json:"large_score,omitempty"`
	Partial    uint64 `json:"partial,omitempty"`
	Illegal    uint64 `json:"illegal,omitempty"`
	InCheck    uint64 `json:"in_check,omitempty"`
	Decided    uint64 `json:"decided,omitempty"`
	Captures   uint64 `json:"captures,omitempty"`
	Unquiet    uint64 `json:"unquiet,omitempty"`
	Draws      uint64 `json:"draws,omitempty"`
	Thinned    uint64 `json:"thinned,omitempty"`
	Skipped    uint64 `json:"skipped,omitempty"`
	Duplicates uint64 `json:"duplicates,omitempty"`
	Kept       uint64 `json:"kept"`
}

// each returns the counts by reason.
func (c *Counts) each() [reasons]*uint64 {
	return [...]*uint64{
		Kept: &c.Kept, Untrained: &c.Untrained, NotWhole: &c.NoGame, Early: &c.Early, Late: &c.Late,
		Unscored: &c.NoScore, LargeScore: &c.LargeScore, Partial: &c.Partial, Illegal: &c.Illegal,
		InCheck: &c.InCheck, Decided: &c.Decided, Capture: &c.Captures, Unquiet: &c.Unquiet, Drawn: &c.Draws,
		Thinned: &c.Thinned, Skipped: &c.Skipped, Duplicate: &c.Duplicates,
	}
}

// Count counts a sample.
func (c *Counts) Count(why Reason) {
	c.Samples++
	*c.each()[why]++
}

// Move counts n samples that were counted under one reason under another.
func (c *Counts) Move(n uint64, from, to Reason) {
	all := c.each()
	*all[from] -= n
	*all[to] += n
}

// Add adds the counts of other to c.
func (c *Counts) Add(other *Counts) {
	c.Samples += other.Samples
	sums, all := c.each(), other.each()
	for why, n := range all {
		*sums[why] += *n
	}
}

// LeftOut calls yield for every reason that left out samples, with their number,
// in order, until it returns false.
func (c *Counts) LeftOut(yield func(Reason, uint64) bool) {
	for why, n := range c.each() {
		if why := Reason(why); why != Kept && *n > 0 && !yield(why, *n) {
			return
		}
	}
}
