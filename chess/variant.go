package chess

import (
	"fmt"
	"strings"
)

// Variant is the row of properties in which one game differs from another.
// Compare variants by pointer; a program has only those of Variants.
type Variant struct {
	// Name is the name in UCI's option UCI_Variant and on the command line.
	Name string
	// StartFEN is the position a game begins from.
	StartFEN string
	// CapturesToHand gives a captured piece to the capturer, who may drop it
	// instead of moving. A promoted piece is marked and captured as a pawn.
	CapturesToHand bool
	// FiftyMoveRule draws the game when the halfmove clock reaches 100.
	FiftyMoveRule bool
	// InsufficientMaterial draws the game when neither side can ever mate.
	InsufficientMaterial bool

	index uint8 // in variants
}

// The variants. Threefold repetition draws in both. Crazyhouse follows the
// rules of lichess, which know neither a fifty-move rule nor insufficient
// material.
var (
	Crazyhouse = &Variant{
		Name:           "crazyhouse",
		StartFEN:       "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1",
		CapturesToHand: true,
		index:          0,
	}
	Chess = &Variant{
		Name:                 "chess",
		StartFEN:             "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
		FiftyMoveRule:        true,
		InsufficientMaterial: true,
		index:                1,
	}
)

// variants holds every variant at its index.
var variants = [2]*Variant{Crazyhouse, Chess}

// Variants returns every variant there is.
func Variants() []*Variant { return append([]*Variant(nil), variants[:]...) }

// ParseVariant returns the variant of the given name, in any case. The error
// wraps ErrUnknownVariant and lists the names.
func ParseVariant(name string) (*Variant, error) {
	names := make([]string, len(variants))
	for i, v := range variants {
		if strings.EqualFold(name, v.Name) {
			return v, nil
		}
		names[i] = v.Name
	}
	return nil, fmt.Errorf("chess: %w: found %s, expected %s", ErrUnknownVariant, quote(name), strings.Join(names, " or "))
}

// String returns the name of v.
func (v *Variant) String() string { return v.Name }

// Start returns the position a game of v begins from.
func (v *Variant) Start() Position {
	p, err := ParseFEN(v, v.StartFEN)
	if err != nil {
		panic("chess: start position of " + v.Name + ": " + err.Error())
	}
	return p
}
