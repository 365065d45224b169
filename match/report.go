package match

import (
	"fmt"
	"math"
	"strings"

	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// String returns the result as users of match runners know it, several lines
// with a newline after each: for two players the estimates of the first, for
// more a table and a line for every encounter.
func (r Result) String() string {
	var b strings.Builder
	if len(r.Players) == 2 {
		r.writeDuel(&b)
	} else {
		r.writeTable(&b)
		r.writeEncounters(&b)
	}
	r.writeTroubles(&b)
	return b.String()
}

func (r *Result) writeDuel(b *strings.Builder) {
	e := &r.Encounters[0]
	fmt.Fprintf(b, "Results of %s vs %s (%s):\n", r.Players[e.A], r.Players[e.B], r.Conditions)
	fmt.Fprintf(b, "Elo: %v, nElo: %v\n", e.Elo, e.NElo)
	fmt.Fprintf(b, "LOS: %.2f %%, DrawRatio: %s, PairsRatio: %s\n",
		100*e.LOS, percent(e.Pairs.DrawRatio()), ratio(e.Pairs.PairsRatio()))
	fmt.Fprintf(b, "Games: %d, Wins: %d, Losses: %d, Draws: %d, Points: %.1f (%s)\n", e.Games.Games(),
		e.Games[rating.Wins], e.Games[rating.Losses], e.Games[rating.Draws], e.Games.Points(), percent(e.Games.Score()))
	five := e.Pairs.Five()
	fmt.Fprintf(b, "Ptnml(0-2): [%d, %d, %d, %d, %d], WL/DD Ratio: %s\n",
		five[0], five[1], five[2], five[3], five[4], ratio(e.Pairs.BiasRatio()))
	if r.SPRT != nil {
		r.writeTest(b)
	}
	if n := e.Ahead.Pairs(); n > 0 {
		fmt.Fprintf(b, "Not counted: %d more finished pairs (%.1f points of %d)\n", n, e.Ahead.Games().Points(), 2*n)
	}
}

func (r *Result) writeTest(b *strings.Builder) {
	lower, upper := r.SPRT.Bounds()
	reached := r.LLR / upper
	if r.LLR < 0 {
		reached = r.LLR / lower
	}
	scale := "logistic"
	if r.SPRT.Normalized {
		scale = "normalised"
	}
	fmt.Fprintf(b, "LLR: %.2f (%.1f%%) (%.2f, %.2f) [%.2f, %.2f] %s\n",
		r.LLR, 100*math.Abs(reached), lower, upper, r.SPRT.Elo0, r.SPRT.Elo1, scale)
	if elo, nElo, ok := r.Unbiased(); ok {
		fmt.Fprintf(b, "SPRT: %v accepted. Median-unbiased after the stop: Elo: %v, nElo: %v\n", r.Verdict, elo, nElo)
	}
}

// Unbiased returns the median-unbiased estimates of a match of two players
// that its sequential test has stopped; it is false for any other.
func (r *Result) Unbiased() (elo, nElo rating.Estimate, ok bool) {
	if r.SPRT == nil || r.Verdict == rating.Continue {
		return elo, nElo, false
	}
	elo, nElo = r.SPRT.Unbiased(r.Encounters[0].Pairs)
	return elo, nElo, true
}

func (r *Result) writeTable(b *strings.Builder) {
	width := len("Name")
	for _, name := range r.Players {
		width = max(width, len([]rune(name)))
	}
	fmt.Fprintf(b, "Results of %d players (%s):\n", len(r.Players), r.Conditions)
	fmt.Fprintf(b, "%4s %-*s %8s %7s %8s %7s %7s %8s %8s  %s\n", "Rank", width, "Name", "Elo", "+/-", "nElo", "+/-", "Games", "Score", "Draw", "Ptnml(0-2)")
	for i := range r.Standings {
		s := &r.Standings[i]
		elo, eloMargin := columns(s.Elo)
		nElo, nEloMargin := columns(s.NElo)
		five := s.Pairs.Five()
		fmt.Fprintf(b, "%4d %-*s %8s %7s %8s %7s %7d %8s %8s  [%d, %d, %d, %d, %d]\n", s.Rank, width, s.Name,
			elo, eloMargin, nElo, nEloMargin, s.Games.Games(), percent(s.Games.Score()), percent(share(s.Games[rating.Draws], s.Games.Games())),
			five[0], five[1], five[2], five[3], five[4])
	}
}

// columns returns value and margin of an estimate.
func columns(e rating.Estimate) (value, margin string) {
	value, margin = "n/a", "n/a"
	if e.Valid {
		value = fmt.Sprintf("%.1f", e.Value)
	}
	if m, ok := e.Margin(); ok {
		margin = fmt.Sprintf("%.1f", m)
	}
	return value, margin
}

func (r *Result) writeEncounters(b *strings.Builder) {
	ahead := 0
	for i := range r.Encounters {
		e := &r.Encounters[i]
		ahead += e.Ahead.Pairs()
		fmt.Fprintf(b, "%s vs %s: +%d -%d =%d, Elo %v\n", r.Players[e.A], r.Players[e.B],
			e.Games[rating.Wins], e.Games[rating.Losses], e.Games[rating.Draws], e.Elo)
	}
	if ahead > 0 {
		fmt.Fprintf(b, "Not counted: %d more finished pairs\n", ahead)
	}
}

// writeTroubles says what a reader should know before trusting the figures.
func (r *Result) writeTroubles(b *strings.Builder) {
	for i := range r.Standings {
		if f := r.Standings[i].Failures; f.Total() > 0 {
			fmt.Fprintf(b, "%s failed in %d games: %d on time, %d by illegal moves, %d otherwise\n",
				r.Standings[i].Name, f.Total(), f.Time, f.Illegal, f.Crash)
		}
	}
	games, a := 2*r.Pairs(), &r.Adjudication
	if a.Score+a.Length+a.Tested == 0 {
		return
	}
	fmt.Fprintf(b, "Adjudicated: %s by score, %s by length", percent(share(a.Score, games)), percent(share(a.Length, games)))
	if a.Tested > 0 {
		fmt.Fprintf(b, "; of %d games played out all the same, %d ended otherwise (%s)", a.Tested, a.Wrong, percent(share(a.Wrong, a.Tested)))
	}
	fmt.Fprintln(b)
}

func share(part, whole int) (float64, bool) {
	if whole == 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

func percent(x float64, ok bool) string {
	if !ok {
		return "n/a"
	}
	return fmt.Sprintf("%.2f %%", 100*x)
}

func ratio(x float64, ok bool) string {
	if !ok {
		return "n/a"
	}
	return fmt.Sprintf("%.2f", x)
}
