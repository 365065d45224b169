package configs

import (
	"cmp"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
)

// Net is the architecture that is trained, of loops (under the key net) as of
// runs on given data.
type Net struct {
	Kind string `yaml:"kind" usage:"of the net: nnue, or planes for a convolutional one"`

	// Of kind nnue.
	Features   string `yaml:"features" usage:"feature set: HalfKAv2, HalfKP, KingAll, All, … or sums and products such as 'All + Hand'"`
	Width      int    `yaml:"width" usage:"transformer outputs per perspective, a multiple of 16"`
	L2         int    `yaml:"l2" usage:"outputs of the first hidden layer; 0: none"`
	L3         int    `yaml:"l3" usage:"outputs of the second hidden layer; 0: none"`
	Stacks     int    `yaml:"stacks" usage:"layer stacks"`
	Buckets    string `yaml:"buckets" usage:"what chooses the stack: board or hand, the pieces there"`
	PSQT       bool   `yaml:"psqt" usage:"piece-square columns"`
	Activation string `yaml:"activation" usage:"of the transformer: crelu, screlu or pairwise, the product of its halves"`

	// Of kind planes.
	Planes   string `yaml:"planes" usage:"net of kind planes: 4x48, 2x32, … or words such as 'mobile 4x64 gates=2/4 heads=wdl,plies'"`
	Blocks   int    `yaml:"blocks" usage:"its blocks; 0: as planes says"`
	Channels int    `yaml:"channels" usage:"channels of its trunk; 0: as planes says"`
}

// Kinds of nets.
const (
	NNUE   = nets.KindNNUE
	Planes = nets.KindPlanes
)

// activations are those of transformers, by their names in settings.
var activations = map[string]nnue.Activation{
	"crelu": nnue.ClippedReLU, "screlu": nnue.SCReLU, "pairwise": nnue.Pairwise,
}

// Shape returns the architecture of kind planes that the settings ask for. Errors
// wrap ErrInvalid.
func (n Net) Shape() (arch.Architecture, error) {
	a, err := arch.Parse(n.Planes)
	if err == nil && (n.Blocks != 0 || n.Channels != 0) {
		a.Blocks, a.Channels = cmp.Or(n.Blocks, a.Blocks), cmp.Or(n.Channels, a.Channels)
		err = a.Check()
	}
	if err != nil {
		return a, fmt.Errorf("%w: planes: %w", ErrInvalid, err)
	}
	return a, nil
}

// Text returns the architecture for a variant in words. The error is that of
// Architecture or Shape, or says that there is no such kind.
func (n Net) Text(variant string) (string, error) {
	switch n.Kind {
	case NNUE:
		a, err := n.Architecture(variant)
		return a.String(), err
	case Planes:
		a, err := n.Shape()
		return a.String(), err
	}
	return "", fmt.Errorf("%w: kind: found %q, expected %s or %s", ErrInvalid, n.Kind, NNUE, Planes)
}

// Size returns what tells the nets of a loop that grow apart: features, width and
// activation, or of kind planes their name, as LoopNet.Growth has them.
func (n Net) Size() string {
	if n.Kind == Planes {
		return n.Planes
	}
	return fmt.Sprintf("%s %d %s", n.Features, n.Width, n.Activation)
}

// Architecture returns the architecture of kind nnue for a variant that the settings
// ask for, with the scales of Fairy-Stockfish's nets. Features are understood in any
// spelling that features.Parse reads. Errors wrap ErrInvalid, and
// nnue.ErrArchitecture if each setting by itself is known.
func (n Net) Architecture(variant string) (nnue.Architecture, error) {
	a := nnue.Fairy()
	a.Variant, a.Features = variant, n.Features
	a.Width, a.L2, a.L3, a.Stacks, a.PSQT = n.Width, n.L2, n.L3, n.Stacks, 0
	if n.PSQT {
		a.PSQT = n.Stacks
	}
	switch n.Buckets {
	case "board":
		a.Buckets = nnue.BoardPieces
	case "hand":
		a.Buckets = nnue.HandPieces
	default:
		return a, fmt.Errorf("%w: buckets: found %q, expected board or hand", ErrInvalid, n.Buckets)
	}
	var known bool
	if a.Activation, known = activations[n.Activation]; !known {
		return a, fmt.Errorf("%w: activation: found %q, expected crelu, screlu or pairwise", ErrInvalid, n.Activation)
	}
	if v, err := chess.ParseVariant(variant); err == nil { // else Validate says so
		set, err := features.Parse(n.Features, v)
		if err != nil {
			return a, fmt.Errorf("%w: features: %w", ErrInvalid, err)
		}
		a.Features = set.String()
	}
	if err := a.Validate(); err != nil {
		return a, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return a, nil
}
