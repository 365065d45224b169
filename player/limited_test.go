package player

import (
	"reflect"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// TestElo: a limited player searches no more than its limit, reports only the lines
// asked for, plays the same moves again by the same seed and others by others.
func TestElo(t *testing.T) {
	for _, net := range []string{"material,elo=%", "mcts:uniform,hash=4,elo=%"} {
		first := net[:len(net)-1] + "-300"
		play := func(text string) []chess.Move {
			m, err := parseAll(t, text)[0].Load(t.Context(), chess.Crazyhouse, Defaults{HashMB: 4})
			if err != nil {
				t.Fatal(err)
			}
			opened, err := m.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			p := opened.(Own)
			most := 0
			p.Report(func(i search.Info) { most = max(most, i.MultiPV) })
			line := chess.NewLine(chess.Crazyhouse.Start())
			for range 12 {
				r, err := p.Search(t.Context(), line, search.Limits{Nodes: 1e6, MultiPV: 2})
				if err != nil || !line.Pos().IsLegal(r.Move) || r.PV[0] != r.Move || len(r.Lines) != 2 {
					t.Fatalf("%s: %+v, error %v", text, r, err)
				}
				if r.Nodes > 2500 {
					t.Errorf("%s: %d nodes", text, r.Nodes)
				}
				line.Push(r.Move)
			}
			if most > 2 {
				t.Errorf("%s: reported line %d of two", text, most)
			}
			return line.Moves()
		}
		moves := play(first)
		if again := play(first); !reflect.DeepEqual(again, moves) {
			t.Errorf("%s: played %v, then %v", first, moves, again)
		}
		if other := play(first + ",seed=1"); reflect.DeepEqual(other, moves) {
			t.Errorf("%s: another seed changes nothing", first)
		}
	}
}

// TestQuietWhenLimited: a limited player says how quiet a position is as it does at full
// strength, and only one that can at full strength says so.
func TestQuietWhenLimited(t *testing.T) {
	line := chess.NewLine(chess.Crazyhouse.Start())
	for _, tc := range []struct {
		net   string
		quiet bool
	}{{"material", true}, {"mcts:uniform,hash=4", false}} {
		var said [2][2]search.Score
		for i, text := range []string{tc.net, tc.net + ",elo=-300"} {
			m, err := parseAll(t, text)[0].Load(t.Context(), chess.Crazyhouse, Defaults{HashMB: 4})
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			q, ok := p.(search.Quieter)
			if ok != tc.quiet {
				t.Fatalf("%s: says how quiet a position is: %v, expected %v", text, ok, tc.quiet)
			}
			if ok {
				said[i][0], said[i][1] = q.Quiet(line)
			}
		}
		if said[0] != said[1] {
			t.Errorf("%s: says %v, limited %v", tc.net, said[0], said[1])
		}
	}
}

func TestSearchWDL(t *testing.T) {
	if ab, tree := AlphaBeta.WDL(300), TreeSearch.WDL(300); ab.Win >= tree.Win || ab.Expected() < 0.6 {
		t.Errorf("300 centipawns of alpha-beta are %+v, of tree search %+v", ab, tree)
	}
}
