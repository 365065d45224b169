package dataset

import (
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Sizes of the histograms of Stats.
const (
	scoreBin  = 50   // centipawns
	scoreTop  = 2000 // scores beyond it are counted at it
	plyBin    = 10
	plyBins   = 60
	scoreBins = 2*scoreTop/scoreBin + 1
	handTop   = 16
	handsTop  = 30
)

// Stats counts samples; Report returns the counts. The zero value is ready.
type Stats struct {
	sum              Report // the numbers counted one by one
	scoreSum, absSum float64
	distinct         distinct
	last             place

	scores [scoreBins]int64 // bin i is about (i-scoreTop/scoreBin)·scoreBin centipawns
	plies  [plyBins]int64   // the last bin is open
	// hands counts by kind how many pieces of it are in a hand, over both sides;
	// held by how many pieces are in both hands together. The last values are open.
	hands [5][handTop + 1]int64
	held  [handsTop + 1]int64
	board [65]int64 // by pieces on the board
	drops [5]int64  // by kind
}

// Add counts a sample whose score is in the given unit.
func (t *Stats) Add(s *sample.Sample, unit sample.Unit) {
	r, at := &t.sum, placeOf(s)
	if r.Positions == 0 || t.last.newGame(at) {
		r.Games++
	}
	t.last = at
	r.Positions++
	switch {
	case s.NoResult:
		r.NoResult++
	case at.result == 1:
		r.WhiteWins++
	case at.result == 0:
		r.Draws++
	default:
		r.BlackWins++
	}
	if s.HasScore() {
		t.addScore(sample.Convert(s.Score, unit, sample.CentipawnUnit))
	} else {
		r.NoScore++
	}
	t.plies[min(int(s.Ply)/plyBin, plyBins-1)]++
	r.MaxPly = max(r.MaxPly, int(s.Ply))
	t.addPosition(&s.Pos)
	t.addMove(s)
	t.distinct.add(s.Pos.Key(), mostDistinct)
}

func (t *Stats) addScore(cp search.Score) {
	if cp.IsMate() {
		t.sum.Mates++
	} else {
		magnitude := max(cp, -cp)
		t.scoreSum += float64(cp)
		t.absSum += float64(magnitude)
		t.sum.MaxAbs = max(t.sum.MaxAbs, int(magnitude))
	}
	cp = min(max(cp, -scoreTop), scoreTop)
	t.scores[(int(cp)+scoreTop+scoreBin/2)/scoreBin]++
}

func (t *Stats) addPosition(p *chess.Position) {
	total := 0
	for c := chess.White; c <= chess.Black; c++ {
		for kind := chess.Pawn; kind <= chess.Queen; kind++ {
			n := p.Hand(c).Count(kind)
			t.hands[kind][min(n, handTop)]++
			total += n
		}
	}
	t.held[min(total, handsTop)]++
	t.board[p.Occupied().Count()]++
	if p.InCheck() {
		t.sum.InCheck++
	}
	if p.Promoted() != 0 {
		t.sum.Promoted++
	}
}

func (t *Stats) addMove(s *sample.Sample) {
	m := s.Move
	if s.CheckLegal() != nil {
		t.sum.Illegal++
		return
	}
	if s.Partial {
		t.sum.Partial++
	}
	switch {
	case m.IsDrop():
		if !s.Partial {
			t.drops[m.DropType()]++
		}
		return
	case m.IsCastle():
		t.sum.Castlings++
		return
	case m.IsPromotion() && !s.Partial:
		t.sum.Promotions++
	}
	if s.Pos.IsCapture(m) {
		t.sum.Captures++
	}
}

// distinct counts different keys in bounded memory: it keeps those whose hash
// begins with shift zeros, and counts each as two to that power.
type distinct struct {
	keys  map[uint64]struct{}
	shift uint
}

// mostDistinct is how many keys Stats keeps.
const mostDistinct = 1 << 21

// add counts a key and keeps at most most.
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
