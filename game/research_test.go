package game

import (
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// TestResearchText: plies read back are those written, whatever they are, and a game
// with the longest such text has a record from which the text comes back.
func TestResearchText(t *testing.T) {
	rng := newRand(1)
	again := search.Limits{Nodes: 1<<64 - 1}
	played := LimitsText(again)
	for n := range 300 {
		var plies []int
		for i := range MaxResearchPlies {
			if rng.IntN(300) < n {
				plies = append(plies, i)
			}
		}
		text := ResearchText(played, again, plies)
		if front, got := SplitResearch(text); front != ResearchText(played, again, nil) || !slices.Equal(got, plies) {
			t.Fatalf("%q: read as %q and %v, expected %v", text, front, got, plies)
		}
	}
	g := randomGame(chess.Crazyhouse.Start(), rng, 40)
	g.Limits = ResearchText(played, again, []int{3, MaxResearchPlies - 1})
	got, err := Decode(mustEncode(t, g))
	if err != nil || got.Limits != g.Limits {
		t.Errorf("found %q, error %v, expected %q", got.Limits, err, g.Limits)
	}
	if got := ResearchText("nodes 100", search.Limits{Nodes: 1500}, []int{0, 9, 15}); got != "nodes 100 research nodes 1500 plies gEE" {
		t.Errorf("found %q", got)
	}
}

// TestOtherLimitsTexts: a text that ResearchText does not write has no plies and stays
// whole.
func TestOtherLimitsTexts(t *testing.T) {
	for _, text := range []string{
		"", "nodes 100", "nodes 100 plies gEE", "nodes 100 research nodes 1500", "nodes 100 research nodes 1500 plies ",
		"nodes 1 research nodes 2 plies gEE=", "nodes 1 research nodes 2 plies gEF", "nodes 1 research nodes 2 plies gAA",
		"nodes 1 research nodes 2 plies gEE plies gEE", "nodes 1 research nodes 2 plies ?", "nodes 1 research nodes 2 plies \xff",
		"nodes 1 research nodes 2 plies " + strings.Repeat("_", 172),
	} {
		if played, plies := SplitResearch(text); played != text || plies != nil {
			t.Errorf("%q: read as %q and %v", text, played, plies)
		}
	}
}

// scored returns a game of made-up moves with the given scores, from White's side;
// a ply of noScore has none.
func scored(o chess.Outcome, forWhite ...search.Score) *Game {
	g := &Game{Variant: chess.Crazyhouse, Start: chess.Crazyhouse.Start(), Outcome: o}
	for i, s := range forWhite {
		if i%2 == 1 && s != noScore {
			s = -s
		}
		p := Ply{Score: s, HasScore: true, Train: true}
		if s == noScore {
			p = Ply{}
		}
		g.Plies = append(g.Plies, p)
	}
	return g
}

const noScore search.Score = 12345

func TestSurprises(t *testing.T) {
	for name, c := range map[string]struct {
		game *Game
		want []int // centipawns
	}{
		"all agree":           {scored(chess.WhiteWins, 1000, 1500, 3000, 1000), []int{0, 0, 0, 0}},
		"the loser hoped":     {scored(chess.BlackWins, -1000, -1000, 1000, -1000), []int{500 - 125, 500, 2000, 0}},
		"drawn":               {scored(chess.Draw, 0, 400), []int{100, 400}},
		"last move is random": {scored(chess.WhiteWins, 100, 300, noScore), []int{200, 0, 0}},
		"random in between":   {scored(chess.WhiteWins, 0, 200, noScore, -400, 1000), []int{200, 0, 0, 1400, 0}},
		"black first":         {blackFirst(scored(chess.BlackWins, 1000, 1000)), []int{0, 0}},
		"not to be trained":   {untrained(scored(chess.BlackWins, 500, -1000)), []int{0, 0}},
		"no outcome":          {scored(chess.Ongoing, 500, -1000), []int{1500, 0}},
		"nothing":             {scored(chess.Draw), []int{}},
	} {
		got := surprisesOf(c.game)
		for i := range got {
			got[i] /= 256
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, expected %v", name, got, c.want)
		}
	}
}

func blackFirst(g *Game) *Game {
	g.Start, _ = chess.ParseFEN(chess.Crazyhouse, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] b KQkq - 0 1")
	return g
}

func untrained(g *Game) *Game {
	for i := range g.Plies {
		g.Plies[i].Train = false
	}
	return g
}

// TestMostSurprising: as many as asked for, in order, none less surprising than one
// left out.
func TestMostSurprising(t *testing.T) {
	rng := newRand(3)
	for range 200 {
		scores := make([]search.Score, 1+rng.IntN(60))
		for i := range scores {
			if scores[i] = search.Score(rng.IntN(5)*200 - 400); rng.IntN(10) == 0 {
				scores[i] = noScore
			}
		}
		g := scored(chess.Outcome(1+rng.IntN(3)), scores...)
		all := surprisesOf(g)
		trained, able := 0, 0
		for i, p := range g.Plies {
			if p.Train {
				trained++
			}
			if all[i] > 0 {
				able++
			}
		}
		share := rng.Float64()
		plies := MostSurprising(g, share)
		if want := min(able, int(share*float64(trained))); len(plies) != want || !slices.IsSorted(plies) {
			t.Fatalf("%v of %d plies, expected %d in order", plies, trained, want)
		}
		for i, s := range all {
			if slices.Contains(plies, i) {
				continue
			}
			for _, j := range plies {
				if all[j] < s || all[j] == s && j > i {
					t.Fatalf("ply %d with %d is taken, ply %d with %d is not", j, all[j], i, s)
				}
			}
		}
	}
}
