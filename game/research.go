package game

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// A position of a game may be searched again after it, with higher limits. Its ply
// then has the score of that search. The limits text of the game names those limits
// and the plies:
//
//	nodes 100 research nodes 1500 plies AAgE
//
// The last word is one bit for each ply, the first one highest, up to the last that
// is set, in unpadded base64 of the URL alphabet. Without such plies it is left out,
// with the word before it. To readers that do not know of this the text is a text.
const (
	researchWord = " research "
	pliesWord    = " plies "

	// MaxResearchPlies bounds the plies of a game that has such a text: of more, it
	// may not fit a record.
	MaxResearchPlies = 1024
)

var researchBits = base64.RawURLEncoding.Strict()

// ResearchText returns the limits text of a game played by the limits text play, of
// which the given plies, below MaxResearchPlies, were searched again.
func ResearchText(play string, again search.Limits, plies []int) string {
	text := play + researchWord + LimitsText(again)
	if len(plies) == 0 {
		return text
	}
	var bits []byte
	for _, i := range plies {
		for len(bits) <= i/8 {
			bits = append(bits, 0)
		}
		bits[i/8] |= 0x80 >> (i % 8)
	}
	return text + pliesWord + researchBits.EncodeToString(bits)
}

// SplitResearch takes a limits text apart: the part that says how the game was played
// and, if positions were searched again, how those were, and the plies. A text with
// bits that ResearchText does not write has no plies.
func SplitResearch(limits string) (played string, plies []int) {
	played, word, _ := strings.Cut(limits, pliesWord)
	bits, err := researchBits.DecodeString(word)
	if !strings.Contains(played, researchWord) || err != nil || len(bits) == 0 || len(bits) > MaxResearchPlies/8 || bits[len(bits)-1] == 0 {
		return limits, nil
	}
	for i := range 8 * len(bits) {
		if bits[i/8]&(0x80>>(i%8)) != 0 {
			plies = append(plies, i)
		}
	}
	return played, plies
}

// SurpriseLimit is a score in centipawns. Those beyond it surprise no more than it does; a
// won game counts as this much.
const SurpriseLimit = 1000

// MostSurprising returns the plies, in order, that surprised the search most: as many
// as the share, 0 to 1, of those that may be trained on, and none that did not
// surprise at all or is beyond MaxResearchPlies. Of equals the earlier ones come first.
func MostSurprising(g *Game, share float64) []int {
	surprises := surprisesOf(g)
	var plies []int
	trained := 0
	for i, s := range surprises {
		if g.Plies[i].Train {
			trained++
		}
		if s > 0 && i < MaxResearchPlies {
			plies = append(plies, i)
		}
	}
	slices.SortStableFunc(plies, func(i, j int) int { return surprises[j] - surprises[i] })
	plies = plies[:min(len(plies), int(share*float64(trained)))]
	slices.Sort(plies)
	return plies
}

// surprisesOf returns, for every ply that may be trained on, how far its score is from
// what came after it, in 1/256 centipawns, and 0 for the others. What came after is
// the mean of later scores and of the result, each with a quarter of the weight that
// is left, so that the next ones count most. It ends before a ply without a score,
// whose move was not the search's: what follows does not speak about the search.
//
// It computes in integers, so it is the same on all machines.
func surprisesOf(g *Game) []int {
	surprises := make([]int, len(g.Plies))
	mover := g.Start.SideToMove()
	if len(g.Plies)%2 == 1 {
		mover = mover.Other()
	}
	after, known := resultScore(g.Outcome, mover), g.Outcome != chess.Ongoing // from the side to move
	for i := len(g.Plies) - 1; i >= 0; i-- {
		p := &g.Plies[i]
		after = -after
		if !p.HasScore {
			known = false
			continue
		}
		score := 256 * int(max(-SurpriseLimit, min(SurpriseLimit, p.Score)))
		if !known {
			after, known = score, true
			continue
		}
		if p.Train {
			surprises[i] = max(score-after, after-score)
		}
		after = (score + 3*after) / 4
	}
	return surprises
}

// resultScore returns what an outcome counts for a side, in 1/256 centipawns.
func resultScore(o chess.Outcome, c chess.Color) int {
	switch o {
	case chess.Win(c):
		return 256 * SurpriseLimit
	case chess.Win(c.Other()):
		return -256 * SurpriseLimit
	}
	return 0
}
