package nnue

import "github.com/crazyhouse-rl/selfplay/chess"

// Eval is everything a network says about a position. All values are from the
// side to move's point of view; Raw, Adjusted and Final are in
// Fairy-Stockfish's internal units, 208 to a pawn as it displays them.
type Eval struct {
	// Bucket is the index of the stack and column in use.
	Bucket int
	// PSQT [Architecture.PSQT] is the piece-square part for every column, half
	// the difference of both perspectives. Unit: 1/OutputScale of a raw unit.
	PSQT []int
	// Positional [Stacks] is the output of every stack, in the same unit.
	Positional []int
	// Raw is the network's value, (PSQT + Positional) / OutputScale in the
	// bucket.
	Raw int
	// Adjusted is the value Fairy-Stockfish searches with: the positional part
	// counts a little more where both sides' pieces are nearly equal.
	Adjusted int
	// Final is Fairy-Stockfish's static evaluation: Adjusted scaled by
	// material on the board and faded by the halfmove clock.
	Final int
	// Checksum is a hash of both accumulators before clipping, White's first.
	// It distinguishes errors in the features from errors in the layers.
	Checksum uint64
}

// Trace is an Eval with all values on the way to it, for tests, for debugging
// and for comparing a trainer's numbers layer by layer.
type Trace struct {
	Eval
	// Features, Accumulators [Width] and PSQTSums [PSQT] are indexed by
	// perspective, chess.White first; features are in no particular order.
	Features     [2][]int32
	Accumulators [2][]int16
	PSQTSums     [2][]int32
	// Transformed [Inputs()] is the input of the layers: the activations of both
	// accumulators, the side to move's first.
	Transformed []uint8
	// Stacks has the values inside every stack.
	Stacks []StackTrace
}

// StackTrace is the values inside one stack: sums before shift and clip,
// outputs after. Slices of a layer that the network lacks are empty.
type StackTrace struct {
	Sum1 []int32 // [L2]
	Out1 []uint8 // [L2]
	Sum2 []int32 // [L3]
	Out2 []uint8 // [L3]
	Out  int32   // unit 1/OutputScale of a raw unit
}

// Evaluate computes all values of p from nothing, in the plainest way: it is
// the definition that Accumulator is tested against. Divisions drop the
// fraction; sums are exact, without the 16-bit saturation of some builds of
// Fairy-Stockfish.
func (n *Network) Evaluate(p *chess.Position) Eval { return n.Trace(p).Eval }

// Trace is Evaluate with all intermediate values.
func (n *Network) Trace(p *chess.Position) Trace {
	var t Trace
	for c := range t.Features {
		t.Features[c] = n.set.Active(p, chess.Color(c), nil)
		t.Accumulators[c], t.PSQTSums[c] = n.transform(t.Features[c])
	}
	us := p.SideToMove()
	them := us.Other()
	for _, c := range [...]chess.Color{us, them} {
		t.Transformed = append(t.Transformed, n.arch.Activation.apply(t.Accumulators[c])...)
	}
	t.Bucket = n.arch.Bucket(p)
	t.Checksum = checksum(t.Accumulators)
	for i := range n.Stacks {
		t.Stacks = append(t.Stacks, n.forward(&n.Stacks[i], t.Transformed))
		t.Positional = append(t.Positional, int(t.Stacks[i].Out))
	}
	for i := range n.arch.PSQT {
		t.PSQT = append(t.PSQT, int(t.PSQTSums[us][i]-t.PSQTSums[them][i])/2)
	}
	psqt, positional := 0, t.Positional[t.Bucket]
	if n.arch.PSQT != 0 {
		psqt = t.PSQT[t.Bucket]
	}
	t.Raw = (psqt + positional) / n.arch.OutputScale
	t.Adjusted = adjust(p, psqt, positional, n.arch.OutputScale)
	t.Final = finish(p, t.Adjusted)
	return t
}

// transform sums the rows of the active features.
func (n *Network) transform(active []int32) (accumulator []int16, psqt []int32) {
	accumulator = append(accumulator, n.FTBias...)
	psqt = make([]int32, n.arch.PSQT)
	for _, f := range active {
		for i, w := range n.FTRow(int(f)) {
			accumulator[i] += w
		}
		for i, w := range n.PSQTRow(int(f)) {
			psqt[i] += w
		}
	}
	return accumulator, psqt
}

// apply returns the activations of an accumulator.
func (a Activation) apply(accumulator []int16) []uint8 {
	var clipped []int
	for _, x := range accumulator {
		clipped = append(clipped, min(max(int(x), 0), ActivationScale))
	}
	var out []uint8
	half := len(clipped) / 2
	for i, x := range clipped {
		switch {
		case a == ClippedReLU:
			out = append(out, uint8(x))
		case a == SCReLU:
			out = append(out, uint8(x*x/ActivationScale))
		case i < half:
			out = append(out, uint8(x*clipped[half+i]/ActivationScale))
		}
	}
	return out
}

// forward runs one stack.
func (n *Network) forward(s *Stack, in []uint8) (t StackTrace) {
	a := n.arch
	last := in
	if a.L2 != 0 {
		t.Sum1 = affine(s.L1Bias, s.L1Weights, a.Inputs(), last)
		t.Out1 = clip(t.Sum1, a.LayerScale)
		last = t.Out1
	}
	if a.L3 != 0 {
		t.Sum2 = affine(s.L2Bias, s.L2Weights, a.L2Stride(), last)
		t.Out2 = clip(t.Sum2, a.LayerScale)
		last = t.Out2
	}
	t.Out = affine([]int32{s.OutBias}, s.OutWeights, a.OutStride(), last)[0]
	return t
}

// affine returns bias + weights * in, for weights in rows of a given stride.
func affine(bias []int32, weights []int8, stride int, in []uint8) []int32 {
	sums := append([]int32(nil), bias...)
	for o := range sums {
		for i, x := range in {
			sums[o] += int32(weights[o*stride+i]) * int32(x)
		}
	}
	return sums
}

// clip turns the sums of a hidden layer into activations. The scale is a power
// of two, so that dividing down is a shift.
func clip(sums []int32, scale int) []uint8 {
	out := make([]uint8, len(sums))
	for i, s := range sums {
		out[i] = uint8(min(max(int(s), 0)/scale, ActivationScale))
	}
	return out
}

// checksum repeats FNV-1a's step, with 16-bit entries in place of bytes, from a
// basis of its own: 1469598103934665603, not FNV-1a's 14695981039346656037.
func checksum(accumulators [2][]int16) uint64 {
	h := uint64(1469598103934665603)
	for _, a := range accumulators {
		for _, v := range a {
			h = (h ^ uint64(uint16(v))) * 1099511628211
		}
	}
	return h
}

// PieceValue returns the value of a piece, pawn to queen, in raw units: that of
// Fairy-Stockfish's classical evaluation in the middlegame, from which training
// may begin the piece-square columns.
func PieceValue(t chess.PieceType) int { return pieceValues[t] }

var pieceValues = [...]int{chess.Pawn: 126, chess.Knight: 781, chess.Bishop: 825, chess.Rook: 1276, chess.Queen: 2538}

// nonPawnMaterial sums the pieces on the board other than pawns and king.
func nonPawnMaterial(p *chess.Position, c chess.Color) int {
	sum := 0
	for t := chess.Knight; t <= chess.Queen; t++ {
		sum += pieceValues[t] * p.Pieces(c, t).Count()
	}
	return sum
}

// adjust mixes both parts as Fairy-Stockfish's search does: with material
// balanced to within bishop for knight, the positional part weighs more.
func adjust(p *chess.Position, psqt, positional, scale int) int {
	entertainment := 0
	difference := nonPawnMaterial(p, chess.White) - nonPawnMaterial(p, chess.Black)
	if limit := pieceValues[chess.Bishop] - pieceValues[chess.Knight]; max(difference, -difference) <= limit {
		entertainment = 7
	}
	return ((128-entertainment)*psqt + (128+entertainment)*positional) / 128 / scale
}

// largestFinal bounds a static evaluation below the values of forced mates.
const largestFinal = 31507

// finish scales an adjusted value to the static evaluation.
func finish(p *chess.Position, adjusted int) int {
	pawns := p.ByType(chess.Pawn).Count()
	material := nonPawnMaterial(p, chess.White) + nonPawnMaterial(p, chess.Black)
	scale := 903 + 32*pawns + 32*material/1024
	v := adjusted * scale / 1024
	if p.Chess960() {
		v += corneredBishops(p)
	}
	v = v * (100 - p.HalfmoveClock()) / 100
	return min(max(v, -largestFinal), largestFinal)
}

// corneredBishops is the correction for bishops locked in a corner by a pawn of
// their own, which only Chess960 start positions know; the network has not seen
// them. Side to move's point of view.
func corneredBishops(p *chess.Position) int {
	sum := 0
	for _, c := range [...]struct {
		corner, pawn, block chess.Square
		colour              chess.Color
	}{
		{0, 9, 17, chess.White},   // a1, b2, b3
		{7, 14, 22, chess.White},  // h1, g2, g3
		{56, 49, 41, chess.Black}, // a8, b7, b6
		{63, 54, 46, chess.Black}, // h8, g7, g6
	} {
		if p.PieceAt(c.corner) != chess.MakePiece(c.colour, chess.Bishop) ||
			p.PieceAt(c.pawn) != chess.MakePiece(c.colour, chess.Pawn) {
			continue
		}
		penalty := 150
		if p.PieceAt(c.block) != chess.NoPiece {
			penalty = 200
		}
		if c.colour == p.SideToMove() {
			penalty = -penalty
		}
		sum += penalty
	}
	return sum
}
