package plycode

import (
	"slices"

	"github.com/crazyhouse-rl/selfplay/search"
)

// MaxPolicyBytes is the most that the policy of a ply takes up; the rest of a ply
// takes less than 8 bytes.
const MaxPolicyBytes = 192

// Widths of the fields of a policy.
const (
	surpriseBits = 8
	orderBits    = 4
	weightBits   = 16

	countOrder = 4 // of the code of the number of moves
	maxMoves   = 8 * MaxPolicyBytes
)

// orders finds the shortest order of an Exp-Golomb code for a series of numbers.
type orders [MaxOrder + 1]int

func (o *orders) add(v uint32) {
	for k := range o {
		o[k] += golombLen(v, uint(k))
	}
}

// best returns the order that takes fewest bits, the lowest of equals, and those
// bits.
func (o *orders) best() (order uint, length int) {
	length = slices.Min(o[:])
	return uint(slices.Index(o[:], length)), length
}

// writePolicy appends as many moves of p, the heaviest first, as fit into the
// limit in bytes.
func (e *Encoder) writePolicy(p *search.Policy, limit int) error {
	if !p.Sorted() {
		return e.malformed("policy of %d moves, expected heaviest first, none without weight or twice", len(p.Moves))
	}
	n, order, err := e.fitting(p, 8*limit)
	if err != nil {
		return err
	}
	e.w.golomb(uint32(n), countOrder)
	if n == 0 {
		return nil
	}
	e.w.write(uint32(search.RoundSurprise(float64(p.Surprise))/search.SurpriseStep), surpriseBits)
	e.w.write(uint32(order), orderBits)
	e.w.write(uint32(p.Moves[0].Weight), weightBits)
	for i, m := range p.Moves[:n] {
		if i > 0 {
			e.w.golomb(uint32(p.Moves[i-1].Weight-m.Weight), order)
		}
		writeMove(&e.w, &e.pos, m.Move)
	}
	return nil
}

// fitting returns how many moves of p fit into a number of bits, and the order of
// the code of their weights.
func (e *Encoder) fitting(p *search.Policy, limit int) (n int, order uint, err error) {
	var steps orders
	moves := 0
	for i, m := range p.Moves {
		if !e.pos.IsLegal(m.Move) {
			return 0, 0, e.illegal(m.Move)
		}
		e.scratch.b, e.scratch.free = e.scratch.b[:0], 0
		writeMove(&e.scratch, &e.pos, m.Move)
		moves += 8*len(e.scratch.b) - int(e.scratch.free)
		if i > 0 {
			steps.add(uint32(p.Moves[i-1].Weight - m.Weight))
		}
		k, length := steps.best()
		if golombLen(uint32(i+1), countOrder)+surpriseBits+orderBits+weightBits+moves+length > limit {
			break
		}
		n, order = i+1, k
	}
	return n, order, nil
}

// policy reads what writePolicy wrote.
func (d *Decoder) policy() (*search.Policy, error) {
	from := d.r.pos
	count, ok := d.r.golomb(countOrder)
	if !ok || count > maxMoves {
		return nil, d.malformed("policy of %d moves, expected at most %d", count, maxMoves)
	}
	p := &search.Policy{}
	if count == 0 {
		return p, nil
	}
	p.Surprise = float32(d.r.read(surpriseBits)) * search.SurpriseStep
	order := uint(d.r.read(orderBits))
	weight := d.r.read(weightBits)
	p.Moves = make([]search.MoveWeight, count)
	var steps orders
	for i := range p.Moves {
		if i > 0 {
			step, ok := d.r.golomb(order)
			if !ok || step >= weight {
				return nil, d.malformed("weight %d below %d", step, weight)
			}
			weight -= step
			steps.add(step)
		}
		m, err := d.move()
		if err != nil {
			return nil, err
		}
		p.Moves[i] = search.MoveWeight{Move: m, Weight: uint16(weight)}
		if d.r.over() || d.r.pos-from > 8*MaxPolicyBytes {
			return nil, d.malformed("policy of more than %d bytes, or cut short", MaxPolicyBytes)
		}
	}
	if best, _ := steps.best(); best != order || !p.Sorted() {
		return nil, d.malformed("policy of %d moves with order %d, expected heaviest first, none without weight or twice, and order %d", count, order, best)
	}
	return p, nil
}
