package mcts

import "math"

// formula weighs the moves of one node, by PUCT: the mean of a move plus
// weight · prior / (1 + visits), where weight grows with the node's visits.
type formula struct {
	weight float32 // c(N)·√N
	unseen float32 // mean of moves not tried
}

// formulaOf returns the formula of n: tried is the number of its tried moves, with
// repetitions, explored the sum of their priors.
func (o *Options) formulaOf(n *node, tried uint32, explored, fpu float64) formula {
	c := o.CPuct + math.Log((float64(tried)+o.CPuctBase+1)/o.CPuctBase)
	return formula{
		weight: float32(c * math.Sqrt(float64(max(tried, 1)))),
		unseen: n.mean - float32(fpu*math.Sqrt(explored)),
	}
}

func (f formula) score(mean, prior float32, visits uint32) float32 {
	return mean + f.weight*prior/float32(1+visits)
}

// choose returns the index of the move of n to try next, which is at most
// n.shown: as moves stand in the order of their priors, none behind the first
// untried one can be better. A move known to win is taken at once, one known to
// lose only if all are.
func (t *tree) choose(n *node) int {
	kids, choices := t.kidsOf(n), t.choicesOf(n)
	tried, explored := uint32(0), float32(0)
	for i := range kids {
		if v := kids[i].visits + kids[i].flying; v > 0 {
			tried += v
			explored += choices[i].prior.float()
		}
	}
	f := t.opts.formulaOf(n, tried, float64(explored), t.opts.FPU)
	best, bestScore := -1, float32(math.Inf(-1))
	for i := range kids {
		k := &kids[i]
		mean := f.unseen
		if k.node != noNode {
			child := t.node(k.node)
			switch child.proof {
			case lost:
				return i
			case won:
				continue
			}
			if k.visits > 0 {
				mean = -child.mean
			}
		}
		if s := f.score(mean, choices[i].prior.float(), k.visits+k.flying); s > bestScore {
			best, bestScore = i, s
		}
	}
	if int(n.shown) < int(n.count) {
		if s := f.score(f.unseen, choices[n.shown].prior.float(), 0); best < 0 || s > bestScore {
			best = int(n.shown)
		}
	}
	return max(best, 0)
}

// refresh computes mean, visits and proof of n from its own value and its kids.
func (t *tree) refresh(n *node) {
	kids := t.kidsOf(n)
	visits, weight := n.own, float64(n.own)
	sum := weight * float64(n.value)
	squares := weight * float64(n.value) * float64(n.value)
	shortest, longest := -1, -1
	open, even := int(n.shown) < int(n.count), false
	for i := range kids {
		k := &kids[i]
		visits += k.visits
		if k.node == noNode {
			open = true
			continue
		}
		child := t.node(k.node)
		switch child.proof {
		case lost:
			if d := int(child.distance) + 1; shortest < 0 || d < shortest {
				shortest = d
			}
		case won:
			longest = max(longest, int(child.distance)+1)
			continue // nobody plays it
		case drawn:
			even = true
		default:
			open = true
		}
		w := float64(k.visits)
		weight += w
		sum -= w * float64(child.mean)
		squares += w * float64(child.square)
	}
	n.visits = visits
	if weight > 0 {
		n.mean, n.square = float32(sum/weight), float32(squares/weight)
	}
	switch {
	case shortest >= 0:
		n.prove(won, shortest)
	case open:
	case even:
		n.prove(drawn, 0)
	default:
		n.prove(lost, longest)
	}
}

// prove notes what is certain about n.
func (n *node) prove(p proof, distance int) {
	n.proof, n.distance = p, uint16(distance)
	switch p {
	case won:
		n.mean, n.square = 1, 1
	case lost:
		n.mean, n.square = -1, 1
	case drawn:
		n.mean, n.square = 0, 0
	}
}
