// Package strength makes a search play weaker than it can: it bounds the nodes of a
// search, has it find several moves, and draws one of them, the better the likelier.
// The levels and what they measured are in one table here; how they were measured
// is in docs/experiments/strength-limit.md.
package strength

import (
	"fmt"
	"math"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/search"
)

// FullSkill is the skill level without a limit. Those below it, from 0, have one.
const FullSkill = 20

// mostLines bounds Limit.Lines.
const mostLines = 30

// surest bounds the scores that are compared, so that mates too are comparable, in
// centipawns.
const surest = 3000

// Limit is how a player is limited.
type Limit struct {
	// Nodes bounds a search.
	Nodes uint64
	// Lines is how many moves are found, of which one is drawn.
	Lines int
	// Spread is how many centipawns worse a move is that is drawn e times less
	// often than the best; 0 is always the best.
	Spread float64
}

// level is a skill level: its limit and the rating that it was measured at with the
// program's net and alpha-beta search, on the scale of configs/ladder.yaml.
type level struct {
	elo int
	Limit
}

// MinElo and MaxElo are the ratings of the weakest and strongest limited player.
func MinElo() int { return levels[0].elo }
func MaxElo() int { return levels[FullSkill-1].elo }

// Check reports a rating that no limit gives.
func Check(elo int) error {
	if elo < MinElo() || elo > MaxElo() {
		return fmt.Errorf("found rating %d, expected %d to %d", elo, MinElo(), MaxElo())
	}
	return nil
}

// EloOf returns the rating of a skill level below FullSkill.
func EloOf(skill int) int { return levels[skill].elo }

// ForElo returns the limit of a rating from MinElo to MaxElo: that of a level, or
// one between those of two.
func ForElo(elo int) Limit {
	i := 1
	for i < FullSkill-1 && levels[i].elo < elo {
		i++
	}
	low, high := levels[i-1], levels[i]
	part := float64(elo-low.elo) / float64(high.elo-low.elo)
	part = max(0, min(part, 1))
	between := func(a, b float64) float64 { return a + part*(b-a) }
	return Limit{
		Nodes:  uint64(math.Round(math.Exp(between(math.Log(float64(low.Nodes)), math.Log(float64(high.Nodes)))))),
		Lines:  int(math.Round(between(float64(low.Lines), float64(high.Lines)))),
		Spread: between(low.Spread, high.Spread),
	}
}

// Apply returns the limits of a search that a limited player is asked for.
func (l Limit) Apply(lim search.Limits) search.Limits {
	if lim.Nodes == 0 || lim.Nodes > l.Nodes {
		lim.Nodes = l.Nodes
	}
	lim.MultiPV = max(lim.MultiPV, l.Lines)
	return lim
}

// Choose draws a move among those that a search with the limits of Apply has found,
// and returns the result as it is for that move, with as many lines as were asked
// for. The same position, number of plies before it and seed give the same draw.
func (l Limit) Choose(r search.Result, line *chess.Line, asked int, seed uint64) search.Result {
	if n := min(len(r.Lines), l.Lines); n > 1 && l.Spread > 0 {
		random := splitmix.Source(seed ^ splitmix.Hash(line.Pos().Key()) ^ splitmix.Mix(uint64(line.Len())))
		i := l.draw(r.Lines[:n], float64(random.Uint64()>>11)/(1<<53))
		if i > 0 {
			chosen := r.Lines[i]
			copy(r.Lines[1:i+1], r.Lines[:i])
			r.Lines[0] = chosen
			r.Move, r.Score, r.Bound, r.PV, r.Ponder = chosen.PV[0], chosen.Score, chosen.Bound, chosen.PV, chess.NoMove
			if len(r.PV) > 1 {
				r.Ponder = r.PV[1]
			}
		}
	}
	r.Lines = r.Lines[:min(len(r.Lines), asked)]
	if asked < 2 {
		r.Lines = nil
	}
	return r
}

// draw returns the number of the line that x, at least 0 and below 1, falls upon.
func (l Limit) draw(found []search.RootLine, x float64) int {
	var weights [mostLines]float64
	best := clip(found[0].Score)
	sum := 0.0
	for i, f := range found {
		weights[i] = math.Exp((clip(f.Score) - best) / l.Spread)
		sum += weights[i]
	}
	x *= sum
	for i := range found {
		if x -= weights[i]; x < 0 {
			return i
		}
	}
	return 0
}

func clip(s search.Score) float64 { return float64(max(-surest, min(s, surest))) }
