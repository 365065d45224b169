package game

import (
	"errors"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// TestQuickNodes: a position in check and one whose move captures or promotes have one
// search of QuickNodes and are not to train on; the others have two, of as many nodes
// together as Limits has.
func TestQuickNodes(t *testing.T) {
	cfg := Config{Limits: Both(search.Limits{Nodes: 100}), QuickNodes: 30, MaxPlies: 300}
	quick := 0
	for seed := range uint64(5) {
		p := &fakePlayer{}
		o, err := RandomOpening(chess.Crazyhouse.Start(), newRand(seed), 4, 9, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := play(t, p, p, o, cfg, seed)
		if g.Limits != "nodes 100 quick nodes 30" {
			t.Errorf("limits %q", g.Limits)
		}
		var want []uint64
		line := chess.NewLine(g.Start)
		for i, ply := range g.Plies {
			pos, m := line.Pos(), ply.Move
			worth := !pos.InCheck() && !pos.IsCapture(m) && !m.IsPromotion()
			if i >= len(o.Moves) {
				want = append(want, 30)
				if worth {
					want = append(want, 70)
				} else {
					quick++
				}
				if ply.Train != worth {
					t.Errorf("game %d, ply %d: to train on %v, expected %v", seed, i, ply.Train, worth)
				}
			}
			line.Push(m)
		}
		var got []uint64
		for _, l := range p.limits {
			got = append(got, l.Nodes)
		}
		if !slices.Equal(got, want) {
			t.Errorf("game %d: searches of %v nodes, expected %v", seed, got, want)
		}
	}
	if quick < 20 {
		t.Errorf("%d quick searches, too few to tell", quick)
	}
	cfg.QuickNodes = 100
	if _, err := Play(t.Context(), &fakePlayer{}, &fakePlayer{}, crazyhouseStart(), cfg, newRand(1)); !errors.Is(err, ErrConfig) {
		t.Errorf("as many quick nodes as others: error %v", err)
	}
}
