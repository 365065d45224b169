package mcts

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// halving plans the root's playouts by sequential halving: some moves are tried
// equally often, the worse half of them is dropped, and so on until two are left.
type halving struct {
	opts   Gumbel
	budget uint64    // playouts in all
	spent  uint64    // playouts counted or waiting
	noise  []float64 // Gumbel noise of every root move, 0 without randomness
	logits []float64
	moves  []int    // considered, best first as of the last halving
	tries  []uint32 // of every root move in this phase
	each   uint32   // playouts of each move considered in this phase
	phases int      // of the whole plan
}

// newHalving begins a plan of so many playouts from the root of t.
func newHalving(t *tree, budget uint64) *halving {
	h := &halving{opts: t.opts.Gumbel, budget: budget}
	n := t.node(t.root)
	for i, c := range t.choicesOf(n) {
		g := 0.0
		if t.opts.Rand != nil {
			g = -math.Log(t.opts.Rand.ExpFloat64())
		}
		h.noise = append(h.noise, g)
		h.logits = append(h.logits, math.Log(float64(c.prior.float())))
		if t.allowed[i] {
			h.moves = append(h.moves, i)
		}
	}
	h.tries = make([]uint32, n.count)
	slices.SortStableFunc(h.moves, func(a, b int) int {
		return cmp.Compare(h.noise[b]+h.logits[b], h.noise[a]+h.logits[a])
	})
	h.moves = h.moves[:min(uint64(len(h.moves)), uint64(h.opts.Actions), max(budget, 1))]
	h.phases = max(1, bits.Len(uint(len(h.moves)-1)))
	h.begin()
	return h
}

// begin shares the playouts of a phase out.
func (h *halving) begin() {
	clear(h.tries)
	h.each = uint32(max(1, h.budget/uint64(h.phases*len(h.moves))))
}

// next returns the index of the root's move to try next, -1 if what is waiting
// has to be counted first.
func (h *halving) next(t *tree) int {
	kids := t.kidsOf(t.node(t.root))
	best, least := -1, h.each
	for _, i := range h.moves {
		if h.tries[i] < least && !t.refuted(kids[i]) {
			best, least = i, h.tries[i]
		}
	}
	return best
}

// took notes that a playout began with move i.
func (h *halving) took(i int) {
	h.tries[i]++
	h.spent++
}

// advance ends a phase: it drops the worse half of the moves. It may be called
// once nothing is waiting and next has returned -1.
func (h *halving) advance(t *tree) {
	sigma := h.sigma(t)
	slices.SortStableFunc(h.moves, func(a, b int) int { return cmp.Compare(sigma.rank(t, b), sigma.rank(t, a)) })
	if len(h.moves) > 2 {
		h.moves = h.moves[:(len(h.moves)+1)/2]
	}
	if t.refuted(t.kidsOf(t.node(t.root))[h.moves[0]]) {
		h.refill(t)
	}
	h.begin()
}

// refill considers, once all moves considered are known to lose, those that are
// not.
func (h *halving) refill(t *tree) {
	kids := t.kidsOf(t.node(t.root))
	h.moves = h.moves[:0]
	for i := range kids {
		if t.allowed[i] && !t.refuted(kids[i]) && len(h.moves) < h.opts.Actions {
			h.moves = append(h.moves, i)
		}
	}
	if len(h.moves) == 0 {
		h.moves = append(h.moves, slices.Index(t.allowed, true))
	}
}

// refuted reports whether the move behind k is known to lose.
func (t *tree) refuted(k kid) bool { return k.node != noNode && t.node(k.node).proof == won }

// transform turns means of moves into what is added to their logits: σ of the
// paper.
type transform struct {
	plan  *halving
	scale float64
	mixed float64 // mean that stands for moves never tried
}

func (h *halving) sigma(t *tree) transform {
	n := t.node(t.root)
	kids := t.kidsOf(n)
	most, tried := uint32(0), 0.0
	mass, sum := 0.0, 0.0
	for i, k := range kids {
		if k.visits == 0 {
			continue
		}
		most = max(most, k.visits)
		tried += float64(k.visits)
		p := math.Exp(h.logits[i])
		mass += p
		sum -= p * float64(t.node(k.node).mean)
	}
	mixed := float64(n.value)
	if mass > 0 {
		mixed = (mixed + tried*sum/mass) / (1 + tried)
	}
	return transform{h, (h.opts.Visit + float64(most)) * h.opts.Scale, mixed}
}

// rank returns logit and σ(q) of move i with its noise; the move to play has the
// greatest.
func (s transform) rank(t *tree, i int) float64 { return s.plan.noise[i] + s.logit(t, i) }

// logit returns the improved logit of move i, -Inf if it is known to lose and
// +Inf if it is known to win.
func (s transform) logit(t *tree, i int) float64 {
	k := t.kidsOf(t.node(t.root))[i]
	q := s.mixed
	if k.node != noNode {
		child := t.node(k.node)
		switch child.proof {
		case won:
			return math.Inf(-1)
		case lost:
			return math.Inf(1)
		}
		if k.visits > 0 {
			q = -float64(child.mean)
		}
	}
	return s.plan.logits[i] + s.scale*(q+1)/2
}

// policy returns the improved probabilities of the root's moves, which are a
// distribution unless every move is proven.
func (h *halving) policy(t *tree) []float64 {
	s := h.sigma(t)
	p := make([]float64, len(h.logits))
	top := math.Inf(-1)
	for i := range p {
		p[i] = math.Inf(-1)
		if t.allowed[i] {
			p[i] = s.logit(t, i)
		}
		top = max(top, p[i])
	}
	sum := 0.0
	for i := range p {
		p[i] = math.Exp(p[i] - top)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
