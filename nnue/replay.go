package nnue

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// replayStarts are walked to a depth: open and closed middlegames of crazyhouse,
// one with many pieces in hand.
var replayStarts = []struct {
	fen   string
	depth int
}{
	{"r2q1rk1/ppp2pp1/1bnpbn1p/4p3/2B1P3/2NP1N1P/PPP2PP1/R1BQ1RK1[QPPnbrr] w - - 0 10", 2},
	{"r1bqk2r/pppp1ppp/2n1p3/4P3/1b1Pn3/2NB1N2/PPP2PPP/R1BQK2R[] b KQkq - 0 1", 3},
	{"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R[Pn] w KQkq - 0 1", 3},
	{"r2qk2r/ppp2ppp/2np1n2/2b1p1B1/2B1P1b1/2NP1N2/PPP2PPP/R2QK2R[Pp] w KQkq - 0 7", 3},
}

// Replay measures how fast a crazyhouse network is evaluated at every one of
// 651,539 nodes of fixed game trees, in several ways that share their results.
// One goroutine may use it.
type Replay struct {
	acc   *Accumulator
	nodes int
	// record is what Sums and Values replay, once Keep has made it. For each tree -1 and both
	// perspectives' active features at the root, as a number and a list. Then
	// for each node, in the order of the walk, one word of ply, side to move
	// (from bit 8) and bucket (from bit 16), and for each perspective two
	// numbers and two lists: what the move switches on and off. Where it moves
	// the own king that perspective has all its active features and -1.
	record []int32
	blank  kernel.Row // the biases
	rows   [][2]kernel.Row
	active []int32
}

// NewReplay walks the trees to count their nodes. The network must be crazyhouse's.
func NewReplay(n *Network) (*Replay, error) {
	if n.arch.Variant != chess.Crazyhouse.Name {
		return nil, fmt.Errorf("%w: found a net for %s, expected one for crazyhouse", ErrArchitecture, n.arch.Variant)
	}
	r := &Replay{acc: NewAccumulator(n), blank: n.rows.Blank(1)[0]}
	copy(r.blank.Lanes(), n.FTBias)
	for _, s := range replayStarts {
		p := r.start(s.fen)
		r.walk(&p, 1, s.depth, func(_, _ *chess.Position, _ chess.Move, _ int) { r.nodes++ })
	}
	return r, nil
}

// Keep records the changes that Sums, Values and Record need.
func (r *Replay) Keep() {
	deepest := 0
	r.record, r.rows = r.record[:0], r.rows[:0]
	for _, s := range replayStarts {
		deepest = max(deepest, s.depth)
		r.record = append(r.record, -1)
		p := r.start(s.fen)
		for c := range chess.Color(2) {
			r.collect(&p, c)
			r.record = append(append(r.record, int32(len(r.active))), r.active...)
		}
		r.walk(&p, 1, s.depth, r.note)
	}
	for range deepest + 1 {
		r.rows = append(r.rows, [2]kernel.Row(r.acc.net.rows.Blank(2)))
	}
}

// start returns a root; the FENs are constants.
func (r *Replay) start(fen string) chess.Position {
	p, err := chess.ParseFEN(chess.Crazyhouse, fen)
	if err != nil {
		panic(err)
	}
	return p
}

// walk visits every node below p to a depth.
func (r *Replay) walk(p *chess.Position, ply, depth int, visit func(parent, p *chess.Position, m chess.Move, ply int)) {
	var moves chess.MoveList
	p.Legal(&moves)
	for _, m := range moves.Slice() {
		child := *p
		child.Make(m)
		visit(p, &child, m, ply)
		if depth > 1 {
			r.walk(&child, ply+1, depth-1, visit)
		}
	}
}

// collect sets active to the features of a perspective.
func (r *Replay) collect(p *chess.Position, c chess.Color) {
	r.active = r.acc.net.set.Active(p, c, r.active[:0])
}

func (r *Replay) note(parent, p *chess.Position, m chess.Move, ply int) {
	a := r.acc
	arch := &a.net.arch
	bucket := arch.Buckets.choose(p, arch.Stacks)
	r.record = append(r.record, int32(ply)|int32(p.SideToMove())<<8|int32(bucket)<<16)
	change := features.Changed(parent, m)
	for c := range chess.Color(2) {
		if a.anchored && change.Refresh(c) {
			r.collect(p, c)
			r.record = append(append(r.record, int32(len(r.active)), -1), r.active...)
			continue
		}
		added, removed := a.changes(&change, parent, p, c)
		r.record = append(r.record, int32(len(added)), int32(len(removed)))
		r.record = append(append(r.record, added...), removed...)
	}
}

// Nodes returns the number of nodes in the trees.
func (r *Replay) Nodes() int { return r.nodes }

// Record returns what Sums and Values work through, for a program elsewhere to
// do the same; the layout stands at the field.
func (r *Replay) Record() []int32 { return r.record }

// Sums brings both accumulators up to date at every node from recorded changes.
func (r *Replay) Sums() { r.replay(func(*[2]kernel.Row, chess.Color, int) {}) }

// Values is Sums and evaluates every node. It returns the sum of the values.
func (r *Replay) Values() (sum int) {
	r.replay(func(rows *[2]kernel.Row, us chess.Color, bucket int) { sum += r.acc.forward(rows, us, bucket) })
	return sum
}

func (r *Replay) replay(visit func(rows *[2]kernel.Row, us chess.Color, bucket int)) {
	table := r.acc.net.rows
	for rec := r.record; len(rec) > 0; {
		head := rec[0]
		rec = rec[1:]
		if head < 0 {
			for c := range 2 {
				n := rec[0]
				table.Apply(r.rows[0][c], r.blank, rec[1:1+n], nil)
				rec = rec[1+n:]
			}
			continue
		}
		ply := head & 0xff
		rows := &r.rows[ply]
		for c := range 2 {
			added, removed := rec[0], rec[1]
			rec = rec[2:]
			if removed < 0 {
				table.Apply(rows[c], r.blank, rec[:added], nil)
				rec = rec[added:]
				continue
			}
			table.Apply(rows[c], r.rows[ply-1][c], rec[:added], rec[added:added+removed])
			rec = rec[added+removed:]
		}
		visit(rows, chess.Color(head>>8&1), int(head>>16))
	}
}

// Live is Values with everything a search does for them: moves generated and
// made, changes found, the cache asked where a king moves.
func (r *Replay) Live() (sum int) {
	for _, s := range replayStarts {
		p := r.start(s.fen)
		r.acc.Reset(&p)
		sum += r.live(&p, s.depth)
	}
	return sum
}

func (r *Replay) live(p *chess.Position, depth int) (sum int) {
	var moves chess.MoveList
	p.Legal(&moves)
	var child chess.Position
	for _, m := range moves.Slice() {
		r.acc.Push(p, m)
		child = *p
		child.Make(m)
		sum += r.acc.Raw(&child)
		if depth > 1 {
			sum += r.live(&child, depth-1)
		}
		r.acc.Pop()
	}
	return sum
}

// Refresh is Live with both accumulators collected anew at every node, from the
// cache of the last position with the king on that square or from nothing.
func (r *Replay) Refresh(cached bool) (sum int) {
	a := r.acc
	rows := &a.plies[0].rows
	for _, s := range replayStarts {
		p := r.start(s.fen)
		a.Reset(&p)
		r.walk(&p, 1, s.depth, func(_, p *chess.Position, _ chess.Move, _ int) {
			for c := range chess.Color(2) {
				if cached {
					a.refresh(p, c)
				} else {
					r.collect(p, c)
					a.net.rows.Apply(rows[c], r.blank, r.active, nil)
				}
			}
			sum += a.forward(rows, p.SideToMove(), a.net.arch.Buckets.choose(p, a.net.arch.Stacks))
		})
	}
	return sum
}
