package dataset

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

func TestStats(t *testing.T) {
	all := readAll(t, wholeGames, chess.Crazyhouse)
	var once, twice Stats
	keys := make(map[uint64]bool)
	for i := range all {
		once.Add(&all[i], sample.InternalUnit)
		keys[all[i].Pos.Key()] = true
	}
	for range 2 {
		for i := range all {
			twice.Add(&all[i], sample.InternalUnit)
		}
	}
	n := int64(len(all))
	r, again := once.Report(), twice.Report()
	if r.Positions != n || r.Games != 54 || again.Games != 108 || r.WhiteWins+r.Draws+r.BlackWins != n {
		t.Errorf("%+v", r)
	}
	if r.DuplicatesEstimated || r.Duplicates != n-int64(len(keys)) {
		t.Errorf("%d duplicates, expected %d", r.Duplicates, n-int64(len(keys)))
	}
	if again.Duplicates != 2*n-int64(len(keys)) {
		t.Errorf("%d duplicates of a file read twice", again.Duplicates)
	}
	if r.Illegal != 0 || r.Partial != 0 || once.drops == [5]int64{} || r.Captures == 0 || r.Castlings == 0 || r.InCheck == 0 {
		t.Errorf("%+v", r)
	}
	for name, counts := range map[string][]int64{
		"scores": once.scores[:], "plies": once.plies[:], "board": once.board[:], "held": once.held[:], "pawns in both hands": once.hands[0][:],
	} {
		sum := int64(0)
		for _, c := range counts {
			sum += c
		}
		if sum != n && sum != 2*n {
			t.Errorf("%s: %d of %d", name, sum, n)
		}
	}
}

// TestStatsWithoutScore: samples without a score are no part of what is said of
// scores.
func TestStatsWithoutScore(t *testing.T) {
	all := readAll(t, wholeGames, chess.Crazyhouse)
	var with, without Stats
	for i := range all {
		with.Add(&all[i], sample.InternalUnit)
		without.Add(&all[i], sample.InternalUnit)
	}
	s := all[0]
	s.Score = sample.NoScore
	without.Add(&s, sample.InternalUnit)
	got, want := without.Report(), with.Report()
	if got.NoScore != 1 || got.Mates != want.Mates || without.scores != with.scores || got.MeanScore != want.MeanScore || got.MeanAbs != want.MeanAbs {
		t.Errorf("%d without a score, %d mates, mean %g, expected 1, %d, %g", got.NoScore, got.Mates, got.MeanScore, want.Mates, want.MeanScore)
	}
}

// TestDistinct counts more keys than are kept.
func TestDistinct(t *testing.T) {
	var d distinct
	const n, most = 300_000, 1 << 14
	rng := newRand(7)
	for range n {
		key := rng.Uint64()
		d.add(key, most)
		d.add(key, most)
	}
	if got := d.count(); len(d.keys) > most || got < n*97/100 || got > n*103/100 {
		t.Errorf("%d keys kept, %d counted of %d", len(d.keys), got, n)
	}
}

// TestGamesByLength: samples with rising plies and equal results are of two games if the
// lengths of their games differ, where these are known.
func TestGamesByLength(t *testing.T) {
	start := chess.Crazyhouse.Start()
	for _, test := range []struct {
		left [3]uint16 // plies to the end, at plies 1, 3 and 5
		want int64
	}{{[3]uint16{9, 7, 5}, 1}, {[3]uint16{9, 7, 15}, 2}, {[3]uint16{0, 0, 0}, 1}} {
		var s Stats
		for i, left := range test.left {
			s.Add(&sample.Sample{Pos: start, Ply: uint16(1 + 2*i), PliesLeft: left}, sample.CentipawnUnit)
		}
		if games := s.Report().Games; int64(games) != test.want {
			t.Errorf("%v plies left: found %d games, expected %d", test.left, games, test.want)
		}
	}
}
