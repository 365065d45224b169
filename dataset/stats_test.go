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
	if once.Samples != n || once.Games != 54 || twice.Games != 108 || once.White+once.Drawn+once.Black != n {
		t.Errorf("%+v", once)
	}
	if d, exact := once.Duplicates(); !exact || d != n-int64(len(keys)) {
		t.Errorf("%d duplicates, expected %d", d, n-int64(len(keys)))
	}
	if d, _ := twice.Duplicates(); d != 2*n-int64(len(keys)) {
		t.Errorf("%d duplicates of a file read twice", d)
	}
	if once.Illegal != 0 || once.Partial != 0 || once.Drops == [5]int64{} || once.Captures == 0 || once.Castlings == 0 || once.InCheck == 0 {
		t.Errorf("%+v", once)
	}
	for name, counts := range map[string][]int64{
		"scores": once.Scores[:], "plies": once.Plies[:], "board": once.Board[:], "held": once.Held[:], "pawns in both hands": once.Hands[0][:],
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
	mean, magnitude := without.MeanScore()
	wantMean, wantMagnitude := with.MeanScore()
	if without.NoScore != 1 || without.Mates != with.Mates || without.Scores != with.Scores || mean != wantMean || magnitude != wantMagnitude {
		t.Errorf("%d without a score, %d mates, mean %g, expected 1, %d, %g", without.NoScore, without.Mates, mean, with.Mates, wantMean)
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
