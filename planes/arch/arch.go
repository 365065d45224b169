// Package arch holds the architectures of plane nets as values: their text form,
// parameters, cost, first weights, and the ONNX model of a net.
//
// Every net has a stem, a trunk of blocks and two heads. conv is a convolution
// without bias that keeps the board's size, norm a batch normalisation.
//
//	stem      conv 3×3 34→C, norm, ReLU
//	residual  conv 3×3 C→C, norm, ReLU, conv 3×3 C→C, norm, [SE], add the block's input, ReLU
//	mobile    [SE]; conv 1×1 C→E, norm, ReLU, conv 3×3 on each channel, norm, ReLU,
//	          conv 1×1 E→C, norm, add the block's input after SE
//	SE        squeeze and excitation: mean over the board, C→C/r, ReLU, C→C, sigmoid, multiply
//	policy    conv k×k C→C, norm, ReLU, conv k×k C→81, flattened to 5184 logits
//	value     conv 1×1 C→V, norm, ReLU, flattened, [64·V→H, ReLU]; from there
//	          →1, tanh: value; or →3, softmax: loss, draw, win, with value = win − loss;
//	          →1, sigmoid: plies left
//
// The blocks are CrazyAra's: residual nets in the manner of AlphaZero's, and the
// mobile ones of its RISEv2, whose squeeze and excitation stands before the block.
package arch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// Errors, wrapped with what was found.
var (
	ErrArchitecture = errors.New("bad architecture")
	ErrModel        = errors.New("not a net of this package")
)

// Kind is the kind of the blocks of the trunk.
type Kind string

// Kinds of blocks, see the package comment.
const (
	Residual Kind = "residual"
	Mobile   Kind = "mobile"
)

// Architecture describes a net. The zero value is none; see Parse.
type Architecture struct {
	Kind     Kind
	Blocks   int // 1 to 64
	Channels int // C, 1 to 1024

	// Block i, counted from 0, of a mobile net has E = Expansion +
	// i·ExpansionStep channels between its convolutions. 0 in others.
	Expansion, ExpansionStep int

	SEBlocks int // how many blocks, the last ones, have squeeze and excitation (SE)
	SERatio  int // r, a divisor of C; 0 without SE

	PolicyKernel  int  // k, 1 or 3
	ValueChannels int  // V, 1 to 256
	ValueHidden   int  // H, up to 4096; 0: no such layer
	WDL           bool // the value is from probabilities of loss, draw and win
	PliesLeft     bool
}

// named are the architectures with a name. Default is the first.
var named = []struct {
	name string
	Architecture
}{
	{"4x48", Architecture{Kind: Residual, Blocks: 4, Channels: 48, PolicyKernel: 1, ValueChannels: 8, ValueHidden: 64, WDL: true, PliesLeft: true}},
	{"2x32", Architecture{Kind: Residual, Blocks: 2, Channels: 32, PolicyKernel: 1, ValueChannels: 8, ValueHidden: 32, WDL: true, PliesLeft: true}},
	{"4x64", Architecture{Kind: Residual, Blocks: 4, Channels: 64, PolicyKernel: 1, ValueChannels: 8, ValueHidden: 64, WDL: true, PliesLeft: true}},
	{"5x64", Architecture{Kind: Residual, Blocks: 5, Channels: 64, PolicyKernel: 3, ValueChannels: 8, ValueHidden: 256}},
	{"6x96", Architecture{Kind: Residual, Blocks: 6, Channels: 96, PolicyKernel: 1, ValueChannels: 8, ValueHidden: 128, WDL: true, PliesLeft: true}},
	{"risev2", Architecture{Kind: Mobile, Blocks: 13, Channels: 256, Expansion: 128, ExpansionStep: 64, SEBlocks: 5, SERatio: 2, PolicyKernel: 3, ValueChannels: 8, ValueHidden: 256}},
}

// Default is the name of the architecture for a CPU.
const Default = "4x48"

// Names returns the names that Parse knows, the default first.
func Names() []string {
	var names []string
	for _, n := range named {
		names = append(names, n.name)
	}
	return names
}

// Parse reads an architecture from words: a name of Names, or a kind and
// BLOCKSxCHANNELS, and then what differs:
//
//	expansion=128+64   channels between a mobile block's convolutions, first + step
//	gates=5/2          blocks with SE / ratio of its narrow layer
//	policy=3           size of the policy head's convolutions
//	value=8/64         channels / hidden neurons of the value head
//	heads=wdl,plies    value or wdl, and plies
//
// What is not said, after a kind, is as in the default, or for mobile nets
// expansion=2·C and the rest as in risev2. The error wraps ErrArchitecture.
func Parse(text string) (Architecture, error) {
	a, rest, err := parseStart(strings.Fields(text))
	if err != nil {
		return a, fmt.Errorf("%w: %q: %w", ErrArchitecture, text, err)
	}
	for _, word := range rest {
		key, value, _ := strings.Cut(word, "=")
		if err := a.set(key, value); err != nil {
			return a, fmt.Errorf("%w: %q: %s: %w", ErrArchitecture, text, word, err)
		}
	}
	return a, a.Check()
}

// parseStart reads the words before the first that has a key.
func parseStart(text []string) (a Architecture, rest []string, err error) {
	if len(text) == 0 {
		return a, nil, errors.New("found nothing, expected a name or a kind")
	}
	for _, n := range named {
		if n.name == text[0] {
			return n.Architecture, text[1:], nil
		}
	}
	a.Kind = Kind(text[0])
	if a.Kind != Residual && a.Kind != Mobile {
		known := append(Names(), string(Residual), string(Mobile))
		return a, nil, fmt.Errorf("found %q, expected one of %s; nearest: %s", text[0], strings.Join(known, ", "), words.Nearest(text[0], known))
	}
	if len(text) == 1 || !pair(text[1], "x", &a.Blocks, &a.Channels) {
		return a, nil, errors.New("expected BLOCKSxCHANNELS after the kind")
	}
	like, _, _ := parseStart([]string{Default})
	if a.Kind == Mobile {
		like, _, _ = parseStart([]string{"risev2"})
		like.Expansion, like.ExpansionStep = 2*a.Channels, 0
		like.SEBlocks, like.SERatio = 0, 0
	}
	like.Kind, like.Blocks, like.Channels = a.Kind, a.Blocks, a.Channels
	return like, text[2:], nil
}

// pair reads two numbers that are not negative.
func pair(text, separator string, first, second *int) bool {
	one, other, ok := strings.Cut(text, separator)
	a, err := strconv.ParseUint(one, 10, 16)
	b, err2 := strconv.ParseUint(other, 10, 16)
	*first, *second = int(a), int(b)
	return ok && err == nil && err2 == nil
}

func (a *Architecture) set(key, value string) error {
	ok := true
	switch key {
	case "expansion":
		ok = pair(value, "+", &a.Expansion, &a.ExpansionStep)
	case "gates":
		ok = pair(value, "/", &a.SEBlocks, &a.SERatio)
	case "policy":
		n, err := strconv.ParseUint(value, 10, 16)
		a.PolicyKernel, ok = int(n), err == nil
	case "value":
		ok = pair(value, "/", &a.ValueChannels, &a.ValueHidden)
	case "heads":
		heads := strings.Split(value, ",")
		a.WDL, a.PliesLeft = heads[0] == "wdl", len(heads) == 2
		ok = (a.WDL || heads[0] == "value") && (len(heads) == 1 || len(heads) == 2 && heads[1] == "plies")
	default:
		return errors.New("expected expansion=, gates=, policy=, value= or heads=")
	}
	if !ok {
		return fmt.Errorf("found %q, expected the form of the example in %q", value, example[key])
	}
	return nil
}

var example = map[string]string{
	"expansion": "expansion=128+64", "gates": "gates=5/2", "policy": "policy=3", "value": "value=8/64", "heads": "heads=wdl,plies",
}

// String returns the text that Parse reads back, with everything said.
func (a Architecture) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %dx%d", a.Kind, a.Blocks, a.Channels)
	if a.Kind == Mobile {
		fmt.Fprintf(&b, " expansion=%d+%d", a.Expansion, a.ExpansionStep)
	}
	if a.SEBlocks > 0 {
		fmt.Fprintf(&b, " gates=%d/%d", a.SEBlocks, a.SERatio)
	}
	head, plies := "value", ""
	if a.WDL {
		head = "wdl"
	}
	if a.PliesLeft {
		plies = ",plies"
	}
	fmt.Fprintf(&b, " policy=%d value=%d/%d heads=%s%s", a.PolicyKernel, a.ValueChannels, a.ValueHidden, head, plies)
	return b.String()
}

// Check reports an architecture that cannot be. The error wraps ErrArchitecture.
func (a Architecture) Check() error {
	if a.Kind != Residual && a.Kind != Mobile {
		return fmt.Errorf("%w: kind: found %q, expected %s or %s", ErrArchitecture, a.Kind, Residual, Mobile)
	}
	first, last, widest := a.Expansion, a.Expansion+(a.Blocks-1)*a.ExpansionStep, 8192
	narrowest := 1
	if a.Kind != Mobile {
		narrowest, widest = 0, 0
	}
	for _, f := range []struct {
		name            string
		found, min, max int
	}{
		{"blocks", a.Blocks, 1, 64},
		{"channels", a.Channels, 1, 1024},
		{"gates", a.SEBlocks, 0, a.Blocks},
		{"value channels", a.ValueChannels, 1, 256},
		{"value hidden neurons", a.ValueHidden, 0, 4096},
		{"expansion of the first block", first, narrowest, widest},
		{"expansion of the last block", last, narrowest, widest},
	} {
		if f.found < f.min || f.found > f.max {
			return fmt.Errorf("%w: %s: found %d, expected %d..%d", ErrArchitecture, f.name, f.found, f.min, f.max)
		}
	}
	if a.PolicyKernel != 1 && a.PolicyKernel != 3 {
		return fmt.Errorf("%w: policy kernel: found %d, expected 1 or 3", ErrArchitecture, a.PolicyKernel)
	}
	if a.SEBlocks == 0 && a.SERatio != 0 || a.SEBlocks > 0 && (a.SERatio < 1 || a.Channels%a.SERatio != 0) {
		return fmt.Errorf("%w: gate ratio: found %d with %d gates, expected a divisor of %d channels, or 0 and 0", ErrArchitecture, a.SERatio, a.SEBlocks, a.Channels)
	}
	return nil
}
