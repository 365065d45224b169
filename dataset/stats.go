package dataset

import (
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Sizes of the histograms of Stats.
const (
	ScoreBin  = 50   // centipawns
	ScoreTop  = 2000 // scores beyond it are counted at it
	PlyBin    = 10
	plyBins   = 60
	scoreBins = 2*ScoreTop/ScoreBin + 1
	handTop   = 16
	handsTop  = 30
)

// Stats counts samples. The zero value is ready.
type Stats struct {
	Samples int64
	Games   int64 // as far as plies and results tell them apart
	White   int64 // samples of games won by White, of drawn games, and won by Black
	Drawn   int64
	Black   int64

	Scores   [scoreBins]int64 // bin i is about (i-ScoreTop/ScoreBin)·ScoreBin centipawns
	Mates    int64
	NoScore  int64 // samples without a score, which Scores leaves out
	scoreSum float64
	absSum   float64
	Largest  search.Score // greatest magnitude, centipawns, mates apart

	Plies  [plyBins]int64 // the last bin is open
	MaxPly uint16

	// Hands counts by kind how many of it are in a hand, over both sides; Held by
	// how many pieces are in both hands together. The last values are open.
	Hands [5][handTop + 1]int64
	Held  [handsTop + 1]int64
	Board [65]int64 // by pieces on the board

	Drops      [5]int64 // by kind
	Captures   int64
	Promotions int64
	Castlings  int64
	Partial    int64 // drops and promotions of unknown pieces, not among those above
	Illegal    int64
	InCheck    int64
	Marked     int64 // positions with promoted pieces

	distinct distinct
	last     place
}

// Add counts a sample whose score is in the given unit.
func (t *Stats) Add(s *sample.Sample, unit sample.Unit) {
	at := placeOf(s)
	if t.Samples == 0 || t.last.newGame(at) {
		t.Games++
	}
	t.last = at
	t.Samples++
	switch at.result {
	case 1:
		t.White++
	case 0:
		t.Drawn++
	default:
		t.Black++
	}
	if s.HasScore() {
		t.addScore(sample.Convert(s.Score, unit, sample.CentipawnUnit))
	} else {
		t.NoScore++
	}
	t.Plies[min(int(s.Ply)/PlyBin, plyBins-1)]++
	t.MaxPly = max(t.MaxPly, s.Ply)
	t.addPosition(&s.Pos)
	t.addMove(s)
	t.distinct.add(s.Pos.Key(), mostDistinct)
}

func (t *Stats) addScore(cp search.Score) {
	if cp.IsMate() {
		t.Mates++
	} else {
		t.scoreSum += float64(cp)
		t.absSum += float64(max(cp, -cp))
		t.Largest = max(t.Largest, cp, -cp)
	}
	cp = min(max(cp, -ScoreTop), ScoreTop)
	t.Scores[(int(cp)+ScoreTop+ScoreBin/2)/ScoreBin]++
}

func (t *Stats) addPosition(p *chess.Position) {
	total := 0
	for c := chess.White; c <= chess.Black; c++ {
		for kind := chess.Pawn; kind <= chess.Queen; kind++ {
			n := p.Hand(c).Count(kind)
			t.Hands[kind][min(n, handTop)]++
			total += n
		}
	}
	t.Held[min(total, handsTop)]++
	t.Board[p.Occupied().Count()]++
	if p.InCheck() {
		t.InCheck++
	}
	if p.Promoted() != 0 {
		t.Marked++
	}
}

func (t *Stats) addMove(s *sample.Sample) {
	m := s.Move
	if s.CheckLegal() != nil {
		t.Illegal++
		return
	}
	if s.Partial {
		t.Partial++
	}
	switch {
	case m.IsDrop():
		if !s.Partial {
			t.Drops[m.DropType()]++
		}
		return
	case m.IsCastle():
		t.Castlings++
		return
	case m.IsPromotion() && !s.Partial:
		t.Promotions++
	}
	if s.Pos.IsCapture(m) {
		t.Captures++
	}
}

// MeanScore returns the mean of the scores and of their magnitudes in centipawns,
// mates left out.
func (t *Stats) MeanScore() (mean, magnitude float64) {
	n := float64(max(t.Samples-t.NoScore-t.Mates, 1))
	return t.scoreSum / n, t.absSum / n
}

// Duplicates returns how many samples have a position that came before; clocks do
// not count. It is exact up to some two million positions, and beyond an
// estimate from a random share of them.
func (t *Stats) Duplicates() (n int64, exact bool) {
	return t.Samples - min(t.distinct.count(), t.Samples), t.distinct.shift == 0
}

// distinct counts different keys in bounded memory: it keeps those whose hash ends
// in so many zeros, and counts each for two to that power.
type distinct struct {
	keys  map[uint64]struct{}
	shift uint
}

// mostDistinct is how many keys Stats keeps.
const mostDistinct = 1 << 21

// add counts a key and keeps at most that many.
func (d *distinct) add(key uint64, most int) {
	if d.keys == nil {
		d.keys = make(map[uint64]struct{})
	}
	key *= 0x9E3779B97F4A7C15 // Zobrist keys are random, hands of one kind less so
	if uint(bits.LeadingZeros64(key)) < d.shift {
		return
	}
	d.keys[key] = struct{}{}
	for len(d.keys) > most {
		d.shift++
		for k := range d.keys {
			if uint(bits.LeadingZeros64(k)) < d.shift {
				delete(d.keys, k)
			}
		}
	}
}

func (d *distinct) count() int64 { return int64(len(d.keys)) << d.shift }
