package planes

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// ErrMeta reports that a net does not fit what it is used for.
var ErrMeta = errors.New("net does not fit")

// Normalisations of the planes, as a net's metadata name them.
const (
	// Scaled is what Encode writes.
	Scaled = "hand/32 move/500 clock/40"
	// ScaledClamped is that limited to 1 by Clamp.
	ScaledClamped = Scaled + " clamped"
)

// Forms of the policy output, as a net's metadata name them.
const (
	PolicyCells  = "81x8x8" // by cell, see Cell
	PolicyLabels = "2272"   // by label, see Label
)

// Meta states what the inputs and outputs of a net mean. It is stored in the
// metadata of an ONNX file.
type Meta struct {
	Variant       string // as chess.Variant names itself
	Encoder       string // EncoderVersion
	Normalisation string // Scaled or ScaledClamped
	PolicyMap     string // PolicyCells, PolicyLabels, or "": the output's length decides
	// Probabilities is true if the policy output is a softmax over all its
	// entries, in place of logits.
	Probabilities bool
}

// Keys of the metadata.
const (
	keyVariant       = "selfplay.variant"
	keyEncoder       = "selfplay.encoder"
	keyNormalisation = "selfplay.normalisation"
	keyPolicyMap     = "selfplay.policy_map"
	keyProbabilities = "selfplay.policy_is_softmax"
)

// NewMeta returns the Meta of nets on what Encode writes, with logits by cell.
func NewMeta(v *chess.Variant) Meta {
	return Meta{Variant: v.Name, Encoder: EncoderVersion, Normalisation: Scaled, PolicyMap: PolicyCells}
}

// ReadMeta reads the metadata of an ONNX file. A key that is missing, as all are in
// other programs' files, has the value of NewMeta for crazyhouse, but for the
// policy map: it is left empty, and the length of the output decides. The error
// wraps ErrMeta.
func ReadMeta(model *onnx.Model) (Meta, error) {
	m := NewMeta(chess.Crazyhouse)
	m.PolicyMap = ""
	for key, field := range map[string]*string{
		keyVariant: &m.Variant, keyEncoder: &m.Encoder, keyNormalisation: &m.Normalisation, keyPolicyMap: &m.PolicyMap,
	} {
		if text, ok := model.Property(key); ok {
			*field = text
		}
	}
	if text, ok := model.Property(keyProbabilities); ok {
		b, err := strconv.ParseBool(text)
		if err != nil {
			return Meta{}, fmt.Errorf("%w: %s: found %q, expected true or false", ErrMeta, keyProbabilities, text)
		}
		m.Probabilities = b
	}
	_, err := m.check()
	return m, err
}

// Properties returns the metadata that ReadMeta reads back.
func (m Meta) Properties() []onnx.Property {
	return []onnx.Property{
		{Key: keyVariant, Value: m.Variant},
		{Key: keyEncoder, Value: m.Encoder},
		{Key: keyNormalisation, Value: m.Normalisation},
		{Key: keyPolicyMap, Value: m.PolicyMap},
		{Key: keyProbabilities, Value: strconv.FormatBool(m.Probabilities)},
	}
}

// check returns the variant, or an error if a Net cannot work with m.
func (m *Meta) check() (*chess.Variant, error) {
	v, err := chess.ParseVariant(m.Variant)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMeta, err)
	}
	for _, f := range []struct {
		name, found string
		known       []string
	}{
		{"encoder", m.Encoder, []string{EncoderVersion}},
		{"normalisation", m.Normalisation, []string{Scaled, ScaledClamped}},
		{"policy map", m.PolicyMap, []string{PolicyCells, PolicyLabels, ""}},
	} {
		if !slices.Contains(f.known, f.found) {
			return nil, fmt.Errorf("%w: %s: found %q, expected one of %q", ErrMeta, f.name, f.found, f.known)
		}
	}
	return v, nil
}
