package nnue

import (
	"errors"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// ErrArchitecture says that an architecture cannot be built.
var ErrArchitecture = errors.New("unsupported network architecture")

// Limits of an architecture. They keep a file header from asking for absurd
// amounts of memory.
const (
	MaxWidth  = 2048 // of the transformer
	MaxStacks = 16
	MaxLayer  = 128 // outputs of a hidden layer

	widthStep  = 16 // widths are multiples of this
	paddedStep = 32 // rows of layer weights are padded to multiples of this
)

// BucketRule says how the layer stack, and with it the PSQT column, is chosen
// for a position. Its values are stored in files.
type BucketRule uint32

const (
	// BoardPieces takes bucket (men on the board - 1) * stacks / 32, at most
	// the last: Fairy-Stockfish's rule. In crazyhouse nearly all positions
	// fall into the last two of eight.
	BoardPieces BucketRule = 1
	// HandPieces takes the bucket from the men in both hands together: 0, 1,
	// 2, 3, 4, 5-6, 7-8, 9 or more. It needs eight stacks and splits
	// crazyhouse positions far more evenly.
	HandPieces BucketRule = 2
)

// String returns the rule in words.
func (r BucketRule) String() string {
	switch r {
	case BoardPieces:
		return "pieces on board"
	case HandPieces:
		return "pieces in hand"
	}
	return fmt.Sprintf("bucket rule %d", uint32(r))
}

// handBucket gives the bucket of HandPieces for 0..9 men in hand.
var handBucket = [10]int{0, 1, 2, 3, 4, 5, 5, 6, 6, 7}

// Architecture is the shape of a network. Two networks with equal
// architectures have parameters of equal meaning.
//
//	per perspective: Features -> Width int16 and Stacks int32 (PSQT)
//	2*Width -> L2 -> L3 -> 1, one such stack of layers per bucket
type Architecture struct {
	Variant  string     // name of the chess.Variant played
	Features string     // canonical name of the feature set
	Width    int        // transformer outputs per perspective, a multiple of 16
	Stacks   int        // layer stacks, and PSQT columns
	Buckets  BucketRule // which stack and column serve a position
	L2, L3   int        // outputs of the first and second layer
}

// Fairy returns the one crazyhouse architecture Fairy-Stockfish loads:
// HalfKAv2, 512+8, 16, 32, 1, eight stacks chosen by pieces on the board.
func Fairy() Architecture { return FairyFor(chess.Crazyhouse) }

// FairyFor returns the architecture Fairy-Stockfish loads for a variant. It
// differs from variant to variant in the number of features only.
func FairyFor(v *chess.Variant) Architecture {
	return Architecture{
		Variant: v.Name, Features: features.HalfKAv2Name,
		Width: 512, Stacks: 8, Buckets: BoardPieces, L2: 16, L3: 32,
	}
}

// Narrow returns a crazyhouse architecture of our own, quick to train and to
// evaluate: HalfKAv2 with the given transformer width, a multiple of 16, and
// eight stacks of 16, 32, 1 chosen by pieces in hand.
func Narrow(width int) Architecture {
	a := Fairy()
	a.Width, a.Buckets = width, HandPieces
	return a
}

// String describes the architecture on one line.
func (a Architecture) String() string {
	return fmt.Sprintf("%s %s %d+%d-%d-%d-1 x%d by %s",
		a.Variant, a.Features, a.Width, a.Stacks, a.L2, a.L3, a.Stacks, a.Buckets)
}

// Validate reports the first field that is unknown or out of range. The error
// wraps ErrArchitecture.
func (a Architecture) Validate() error {
	_, err := a.resolve()
	return err
}

// resolve validates a and returns its feature set.
func (a Architecture) resolve() (features.HalfKAv2, error) {
	var set features.HalfKAv2
	v, err := chess.ParseVariant(a.Variant)
	if err != nil {
		return set, fmt.Errorf("%w: %w", ErrArchitecture, err)
	}
	parsed, err := features.Parse(a.Features, v)
	if err != nil {
		return set, fmt.Errorf("%w: %w", ErrArchitecture, err)
	}
	set, ok := parsed.(features.HalfKAv2)
	if !ok {
		return set, fmt.Errorf("%w: features: found %q, expected %q", ErrArchitecture, a.Features, features.HalfKAv2Name)
	}
	for _, f := range []struct {
		name                   string
		value, least, most, of int
	}{
		{"width", a.Width, widthStep, MaxWidth, widthStep},
		{"stacks", a.Stacks, 1, MaxStacks, 1},
		{"first layer", a.L2, 1, MaxLayer, 1},
		{"second layer", a.L3, 1, MaxLayer, 1},
	} {
		if f.value < f.least || f.value > f.most || f.value%f.of != 0 {
			return set, fmt.Errorf("%w: found %s %d, expected a multiple of %d from %d to %d",
				ErrArchitecture, f.name, f.value, f.of, f.least, f.most)
		}
	}
	switch {
	case a.Buckets != BoardPieces && a.Buckets != HandPieces:
		return set, fmt.Errorf("%w: found %v, expected 1 or 2", ErrArchitecture, a.Buckets)
	case a.Buckets == HandPieces && a.Stacks != 8:
		return set, fmt.Errorf("%w: found %d stacks, expected 8 to choose by %v", ErrArchitecture, a.Stacks, a.Buckets)
	}
	return set, nil
}

// Bucket returns the index of the stack and PSQT column for a position,
// 0..Stacks-1.
func (a Architecture) Bucket(p *chess.Position) int {
	if a.Buckets == HandPieces {
		held := p.Hand(chess.White).Total() + p.Hand(chess.Black).Total()
		return handBucket[min(held, len(handBucket)-1)]
	}
	return min((p.Occupied().Count()-1)*a.Stacks/32, a.Stacks-1)
}

// L2Stride returns the length of a row of Stack.L2Weights: L2 padded to a
// multiple of 32.
func (a Architecture) L2Stride() int { return padded(a.L2) }

// L3Stride returns the length of Stack.OutWeights: L3 padded to a multiple of
// 32.
func (a Architecture) L3Stride() int { return padded(a.L3) }

func padded(n int) int { return (n + paddedStep - 1) / paddedStep * paddedStep }

// transformerBytes returns the size of the transformer's parameters in a file.
func (a Architecture) transformerBytes(featureCount int) int64 {
	return 2*int64(a.Width) + int64(featureCount)*(2*int64(a.Width)+4*int64(a.Stacks))
}

// stackBytes returns the size of one stack's parameters in a file.
func (a Architecture) stackBytes() int64 {
	return int64(4*a.L2 + a.L2*2*a.Width + 4*a.L3 + a.L3*a.L2Stride() + 4 + a.L3Stride())
}
