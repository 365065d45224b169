package nnue

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// ErrArchitecture says that an architecture cannot be built.
var ErrArchitecture = errors.New("unsupported network architecture")

// Limits of an architecture. They keep a file header from asking for absurd
// amounts of memory.
const (
	MaxWidth  = 2048 // of the transformer
	MaxStacks = 16
	MaxLayer  = kernel.MaxHidden // outputs of a hidden layer

	widthStep     = 16 // widths are multiples of this, with Pairwise of twice as many
	paddedStep    = 32 // rows of layer weights are padded to multiples of this
	minLayerScale = 16
	maxLayerScale = 128
	maxOutScale   = 1 << 10
	maxUnits      = 1 << 16
)

// Scales. ActivationScale is the byte that stands for an activation of 1, fixed
// by the range of a byte; the others are those of Fairy-Stockfish's networks,
// and of ours unless they say otherwise.
const (
	ActivationScale = kernel.MaxActivation

	usualLayerScale  = 64
	usualOutputScale = 16
	usualUnits       = 600
)

// BucketRule says how the layer stack, and with it the PSQT column, is chosen
// for a position. Its values are stored in files.
type BucketRule uint32

const (
	// BoardPieces takes bucket (pieces on the board - 1) * stacks / 32, at most
	// the last: Fairy-Stockfish's rule. In crazyhouse nearly all positions
	// fall into the last two of eight.
	BoardPieces BucketRule = 1
	// HandPieces takes the bucket from the pieces in both hands together: 0, 1,
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

// choose returns the bucket of a position, one of a number of stacks.
func (r BucketRule) choose(p *chess.Position, stacks int) int {
	if r == HandPieces {
		held := p.Hand(chess.White).Total() + p.Hand(chess.Black).Total()
		return handBucket[min(held, len(handBucket)-1)]
	}
	return min((p.Occupied().Count()-1)*stacks/32, stacks-1)
}

// handStacks is the number of stacks HandPieces chooses from, handBucket its
// choice for 0..9 pieces in hand.
const handStacks = 8

var handBucket = [10]int{0, 1, 2, 3, 4, 5, 5, 6, 6, 7}

// Activation turns the transformer's sums into the layers' input, bytes 0..127.
// Hidden layers always clip. Its values are stored in files.
type Activation uint32

const (
	// ClippedReLU is clamp(x, 0, 127).
	ClippedReLU Activation = 1
	// SCReLU is clamp(x, 0, 127)² / 127, rounded down.
	SCReLU Activation = 2
	// Pairwise multiplies the halves of an accumulator of n sums:
	// clamp(x[i], 0, 127) * clamp(x[n/2+i], 0, 127) / 127, rounded down, for i < n/2.
	// The layers have half as many inputs.
	Pairwise Activation = 3
)

// String returns the activation's usual name.
func (a Activation) String() string {
	switch a {
	case ClippedReLU:
		return "clipped ReLU"
	case SCReLU:
		return "SCReLU"
	case Pairwise:
		return "pairwise product"
	}
	return fmt.Sprintf("activation %d", uint32(a))
}

// Architecture is the shape of a network. Two networks with equal
// architectures have parameters of equal meaning. To make one, begin with
// Fairy, Narrow or HalfKP and change what shall differ.
//
//	per perspective: Features -> Width int16 and PSQT int32
//	Inputs() -> L2 -> L3 -> 1, one such stack of layers per bucket
type Architecture struct {
	Variant    string     `json:"variant"`    // name of the chess.Variant played
	Features   string     `json:"features"`   // canonical expression of the feature set
	Width      int        `json:"width"`      // transformer outputs per perspective, a multiple of 16
	PSQT       int        `json:"psqt"`       // piece-square columns: Stacks, or 0 for none
	Stacks     int        `json:"stacks"`     // layer stacks
	Buckets    BucketRule `json:"buckets"`    // which stack and column serve a position
	L2         int        `json:"l2"`         // outputs of the first hidden layer; 0: no such layer
	L3         int        `json:"l3"`         // outputs of the second
	Activation Activation `json:"activation"` // of the transformer's outputs

	// LayerScale is the integer that stands for a weight of 1 in the hidden
	// layers: a power of two, 16..128.
	LayerScale int `json:"layer_scale"`
	// OutputScale is how many units of the output and of the piece-square sums
	// make a raw unit.
	OutputScale int `json:"output_scale"`
	// Units is how many raw units stand for 1.0 of the float network.
	Units int `json:"units"`
}

// Fairy returns the one crazyhouse architecture Fairy-Stockfish loads:
// HalfKAv2, 512+8, 16, 32, 1, eight stacks chosen by pieces on the board.
func Fairy() Architecture { return FairyFor(chess.Crazyhouse) }

// FairyFor returns the architecture Fairy-Stockfish loads for a variant. It
// differs from variant to variant in the number of features only.
func FairyFor(v *chess.Variant) Architecture {
	return Architecture{
		Variant: v.Name, Features: features.HalfKAv2Name,
		Width: 512, PSQT: 8, Stacks: 8, Buckets: BoardPieces, L2: 16, L3: 32,
		Activation: ClippedReLU,
		LayerScale: usualLayerScale, OutputScale: usualOutputScale, Units: usualUnits,
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

// HalfKP returns the chess architecture of Stockfish 12 and 13: HalfKP, 256,
// 32, 32, 1, a single stack, no piece-square columns.
func HalfKP() Architecture {
	a := FairyFor(chess.Chess)
	a.Features = "HalfKP"
	a.Width, a.PSQT, a.Stacks, a.L2, a.L3 = 256, 0, 1, 32, 32
	return a
}

// String describes the architecture on one line, which no other architecture
// shares. Activation and scales are named where they are not the usual ones.
func (a Architecture) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %d", a.Variant, a.Features, a.Width)
	if a.PSQT != 0 {
		fmt.Fprintf(&b, "+%d", a.PSQT)
	}
	for _, outputs := range [...]int{a.L2, a.L3} {
		if outputs != 0 {
			fmt.Fprintf(&b, "-%d", outputs)
		}
	}
	fmt.Fprintf(&b, "-1 x%d by %s", a.Stacks, a.Buckets)
	if a.Activation != ClippedReLU {
		fmt.Fprintf(&b, ", %v", a.Activation)
	}
	for _, s := range [...]struct {
		name         string
		value, usual int
	}{
		{"layer scale", a.LayerScale, usualLayerScale},
		{"output scale", a.OutputScale, usualOutputScale},
		{"units", a.Units, usualUnits},
	} {
		if s.value != s.usual {
			fmt.Fprintf(&b, ", %s %d", s.name, s.value)
		}
	}
	return b.String()
}

// Validate reports the first field that is unknown or out of range, with what
// was found and what was expected. The error wraps ErrArchitecture.
func (a Architecture) Validate() error {
	_, err := a.Set()
	return err
}

// Set returns the feature set of a valid architecture, and else what Validate
// returns.
func (a Architecture) Set() (features.Set, error) {
	v, err := chess.ParseVariant(a.Variant)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArchitecture, err)
	}
	set, err := features.Parse(a.Features, v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArchitecture, err)
	}
	if canonical := set.String(); canonical != a.Features {
		return nil, fmt.Errorf("%w: found features %q, expected their canonical form %q",
			ErrArchitecture, a.Features, canonical)
	}
	if err := a.checkRanges(); err != nil {
		return nil, err
	}
	if err := a.checkChoices(); err != nil {
		return nil, err
	}
	if n := a.parameterBytes(set.Size()); n > maxParameters {
		return nil, fmt.Errorf("%w: found %d bytes of parameters in %v, expected %d at most",
			ErrArchitecture, n, a, maxParameters)
	}
	return set, nil
}

// checkRanges judges the fields that may be any number from a range.
func (a Architecture) checkRanges() error {
	for _, f := range []struct {
		name                   string
		value, least, most, of int
	}{
		{"width", a.Width, widthStep, MaxWidth, widthStep},
		{"stacks", a.Stacks, 1, MaxStacks, 1},
		{"first layer", a.L2, 0, MaxLayer, 1},
		{"second layer", a.L3, 0, MaxLayer, 1},
		{"output scale", a.OutputScale, 1, maxOutScale, 1},
		{"units", a.Units, 1, maxUnits, 1},
	} {
		if f.value < f.least || f.value > f.most || f.value%f.of != 0 {
			return fmt.Errorf("%w: found %s %d, expected a multiple of %d from %d to %d",
				ErrArchitecture, f.name, f.value, f.of, f.least, f.most)
		}
	}
	return nil
}

// checkChoices judges the fields of which few values are known or fit others.
func (a Architecture) checkChoices() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrArchitecture, fmt.Sprintf(format, args...))
	}
	switch {
	case a.PSQT != 0 && a.PSQT != a.Stacks:
		return refuse("found %d PSQT columns, expected %d, one per stack, or none", a.PSQT, a.Stacks)
	case a.L2 == 0 && a.L3 != 0:
		return refuse("found a second layer of %d without a first, expected none", a.L3)
	case a.Activation < ClippedReLU || a.Activation > Pairwise:
		return refuse("found %v, expected 1 (%v), 2 (%v) or 3 (%v)", a.Activation, ClippedReLU, SCReLU, Pairwise)
	case a.Activation == Pairwise && a.Width%(2*widthStep) != 0:
		return refuse("found width %d, expected a multiple of %d for the %v", a.Width, 2*widthStep, Pairwise)
	case a.LayerScale < minLayerScale || a.LayerScale > maxLayerScale || a.LayerScale&(a.LayerScale-1) != 0:
		return refuse("found layer scale %d, expected a power of two from %d to %d", a.LayerScale, minLayerScale, maxLayerScale)
	case a.Buckets != BoardPieces && a.Buckets != HandPieces:
		return refuse("found %v, expected 1 (%v) or 2 (%v)", a.Buckets, BoardPieces, HandPieces)
	case a.Buckets == HandPieces && a.Stacks != handStacks:
		return refuse("found %d stacks, expected %d to choose by %v", a.Stacks, handStacks, a.Buckets)
	}
	return nil
}

// Bucket returns the index of the stack and PSQT column for a position,
// 0..Stacks-1.
func (a Architecture) Bucket(p *chess.Position) int { return a.Buckets.choose(p, a.Stacks) }

// Inputs returns the number of inputs of the layers: both perspectives.
func (a Architecture) Inputs() int { return 2 * a.Outputs() }

// Outputs returns the number of the transformer's outputs per perspective, after
// its activation: Width, or with Pairwise half of it.
func (a Architecture) Outputs() int {
	if a.Activation == Pairwise {
		return a.Width / 2
	}
	return a.Width
}

// L2Stride returns the length of a row of Stack.L2Weights: L2 padded to a
// multiple of 32.
func (a Architecture) L2Stride() int { return padded(a.L2) }

// OutInputs returns the number of inputs of the output layer: the outputs of
// the last hidden layer, or of the transformer where there is none.
func (a Architecture) OutInputs() int {
	switch {
	case a.L3 != 0:
		return a.L3
	case a.L2 != 0:
		return a.L2
	}
	return a.Inputs()
}

// OutStride returns the length of Stack.OutWeights: OutInputs padded to a
// multiple of 32.
func (a Architecture) OutStride() int { return padded(a.OutInputs()) }

// shift is the logarithm of LayerScale, by which sums of hidden layers are
// shifted.
func (a Architecture) shift() int { return bits.TrailingZeros(uint(a.LayerScale)) }

func padded(n int) int { return (n + paddedStep - 1) / paddedStep * paddedStep }

// Parameters returns how many parameters a net of this architecture has, by the size of its
// feature set.
func (a Architecture) Parameters(featureCount int) int {
	stack := a.L2*(a.Inputs()+1) + a.L3*(a.L2+1) + a.OutInputs() + 1
	return a.Width + featureCount*(a.Width+a.PSQT) + a.Stacks*stack
}

// transformerBytes returns the size of the transformer's parameters in a file.
func (a Architecture) transformerBytes(featureCount int) int64 {
	return 2*int64(a.Width) + int64(featureCount)*(2*int64(a.Width)+4*int64(a.PSQT))
}

// stackBytes returns the size of one stack's parameters in a file.
func (a Architecture) stackBytes() int64 {
	return int64(4*a.L2 + a.L2*a.Inputs() + 4*a.L3 + a.L3*a.L2Stride() + 4 + a.OutStride())
}

// parameterBytes returns the size of all parameters in a file.
func (a Architecture) parameterBytes(featureCount int) int64 {
	return a.transformerBytes(featureCount) + int64(a.Stacks)*a.stackBytes()
}
