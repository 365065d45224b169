package match

import (
	"fmt"
	"math"
	"strings"

	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// Result is what a match has shown so far, from A's point of view. All figures
// rest on Pairs, the finished pairs counted from pair 0 without gaps up to the
// one after which the sequential test decided, if it did.
type Result struct {
	A string `json:"a"` // names of the players
	B string `json:"b"`
	// Conditions says what was played, for a reader: variant, limits, openings.
	Conditions string `json:"conditions"`

	Pairs rating.Pentanomial `json:"pairs"`
	Games rating.Trinomial   `json:"games"` // the games of Pairs: losses, draws, wins
	Elo   rating.Estimate    `json:"elo"`   // of a stopped test if Verdict is not Continue: a little too far out
	NElo  rating.Estimate    `json:"nelo"`
	LOS   float64            `json:"los"` // likelihood of superiority in [0,1]

	SPRT    *rating.SPRT    `json:"sprt,omitempty"` // nil: a match of fixed length
	LLR     float64         `json:"llr"`            // 0 without SPRT
	Verdict rating.Decision `json:"verdict"`        // Continue: not decided

	// Ahead are finished pairs that no figure above includes: they were
	// running when the test decided, or lie past a pair not yet finished.
	Ahead rating.Pentanomial `json:"ahead"`

	// Failures counts the games of Pairs that A, then B, lost by failing:
	// crash, illegal move or no move in time.
	Failures [2]int `json:"failures"`
	// Endings counts the games of Pairs by the reason they ended.
	Endings map[string]int `json:"endings"`
}

// tally counts finished pairs, given in any order, into a Result.
type tally struct {
	result Result
	ahead  map[int]Pair // finished, not in result.Pairs
}

func newTally(r Result) *tally {
	r.Endings = make(map[string]int)
	return &tally{result: r, ahead: make(map[int]Pair)}
}

// add counts a pair. It must not have been added before.
func (t *tally) add(p Pair) {
	t.ahead[p.Number] = p
	for !t.decided() {
		next := t.result.Pairs.Pairs()
		pair, ok := t.ahead[next]
		if !ok {
			return
		}
		delete(t.ahead, next)
		t.count(&pair)
	}
}

func (t *tally) decided() bool { return t.result.Verdict != rating.Continue }

func (t *tally) count(p *Pair) {
	r := &t.result
	r.Pairs.Add(p.Outcome(0), p.Outcome(1))
	for _, g := range p.Games {
		r.Endings[g.Reason]++
		switch g.Failed {
		case "A":
			r.Failures[0]++
		case "B":
			r.Failures[1]++
		}
	}
	if r.SPRT != nil {
		r.LLR = r.SPRT.LLR(r.Pairs)
		r.Verdict = r.SPRT.Status(r.LLR)
	}
}

// snapshot returns the result so far; it shares nothing with later ones.
func (t *tally) snapshot() Result {
	r := t.result
	r.Games = r.Pairs.Games()
	r.Elo, r.NElo, r.LOS = r.Pairs.Elo(), r.Pairs.NElo(), r.Pairs.LOS()
	r.Endings = make(map[string]int, len(t.result.Endings))
	for reason, n := range t.result.Endings {
		r.Endings[reason] = n
	}
	for _, p := range t.ahead {
		r.Ahead.Add(p.Outcome(0), p.Outcome(1))
	}
	return r
}

// String returns the table that users of match runners know, several lines
// with a newline after each.
func (r Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Results of %s vs %s (%s):\n", r.A, r.B, r.Conditions)
	fmt.Fprintf(&b, "Elo: %v, nElo: %v\n", r.Elo, r.NElo)
	fmt.Fprintf(&b, "LOS: %.2f %%, DrawRatio: %s, PairsRatio: %s\n",
		100*r.LOS, percent(r.Pairs.DrawRatio()), ratio(r.Pairs.PairsRatio()))
	fmt.Fprintf(&b, "Games: %d, Wins: %d, Losses: %d, Draws: %d, Points: %.1f (%s)\n", r.Games.Games(),
		r.Games[rating.Wins], r.Games[rating.Losses], r.Games[rating.Draws], r.Games.Points(), percent(r.Games.Score()))
	five := r.Pairs.Five()
	fmt.Fprintf(&b, "Ptnml(0-2): [%d, %d, %d, %d, %d], WL/DD Ratio: %s\n",
		five[0], five[1], five[2], five[3], five[4], ratio(r.Pairs.BiasRatio()))
	if r.SPRT != nil {
		r.writeTest(&b)
	}
	if r.Failures != [2]int{} {
		fmt.Fprintf(&b, "Failures: %s %d, %s %d\n", r.A, r.Failures[0], r.B, r.Failures[1])
	}
	if n := r.Ahead.Pairs(); n > 0 {
		fmt.Fprintf(&b, "Not counted: %d more finished pairs (%.1f points of %d)\n", n, r.Ahead.Games().Points(), 2*n)
	}
	return b.String()
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
	if r.Verdict != rating.Continue {
		fmt.Fprintf(b, "SPRT: %v accepted; the estimates are from a stopped test\n", r.Verdict)
	}
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
