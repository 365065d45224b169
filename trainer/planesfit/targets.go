package planesfit

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// targets are the legal moves of the positions of a part, and what the search made
// of them.
type targets struct {
	from   []int     // of each position, where its moves begin
	cells  []int     // of each move, its place in an image of logits
	wanted []float64 // its share; all 0 if that is not known
	known  []bool    // of each position, whether it is
	moves  chess.MoveList
	plane  [planes.Size]float32
}

// load writes the planes of samples to images and lists their moves.
func (w *work) load(samples []sample.Sample) {
	t := &w.targets
	t.from, t.cells, t.wanted, t.known = t.from[:0], t.cells[:0], t.wanted[:0], t.known[:0]
	for i := range samples {
		s := &samples[i]
		planes.Encode(t.plane[:], &s.Pos, int(s.Repetitions))
		for square := range squares {
			to := w.planes.Data[w.planes.At(i, square/8, square%8):]
			for c := range planes.Channels {
				to[c] = t.plane[c*squares+square]
			}
		}
		t.add(s, w.logits)
	}
	t.from = append(t.from, len(t.cells))
}

// add lists the moves of one position.
func (t *targets) add(s *sample.Sample, logits kernel.FloatImages) {
	from := len(t.cells)
	t.from = append(t.from, from)
	t.moves.N = 0
	s.Pos.Legal(&t.moves)
	moves := t.moves.Moves[:t.moves.N]
	sum := 0.0
	for _, m := range moves {
		cell := planes.Cell(&s.Pos, m)
		t.cells = append(t.cells, logits.At(0, cell%squares/8, cell%8)+cell/squares)
		weight := shareOf(s, m)
		t.wanted = append(t.wanted, weight)
		sum += weight
	}
	t.known = append(t.known, sum > 0)
	for i := from; sum > 0 && i < len(t.wanted); i++ {
		t.wanted[i] /= sum
	}
}

// shareOf returns the weight of a move in the search's distribution.
func shareOf(s *sample.Sample, m chess.Move) float64 {
	if s.Policy == nil {
		if m == s.Move && !s.Partial {
			return 1
		}
		return 0
	}
	for _, w := range s.Policy.Moves {
		if w.Move == m {
			return float64(w.Weight)
		}
	}
	return 0
}

// sampleWeights writes to dst how much each sample counts: 1 on average, a share of
// it in proportion to what surprised the search.
func sampleWeights(dst []float64, samples []sample.Sample, share float64) {
	sum := 0.0
	for i := range samples {
		sum += surprise(&samples[i])
	}
	for i := range samples {
		dst[i] = 1
		if sum > 0 {
			dst[i] = 1 - share + share*surprise(&samples[i])*float64(len(samples))/sum
		}
	}
}

// surprise is that of a sample's policy; what is no number above 0 counts as 0.
func surprise(s *sample.Sample) float64 {
	if s.Policy == nil || !(s.Policy.Surprise > 0) {
		return 0
	}
	return float64(s.Policy.Surprise)
}
