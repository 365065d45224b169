package configs

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/player"
)

// LoopNet is the architecture that a loop trains, which may grow with its data.
type LoopNet struct {
	Net `yaml:",inline"`

	// Growth says which features, width and activation a fresh net has instead when as
	// many positions are stored, as in "5M: HalfKAv2 128; 40M: 512 pairwise", the fewest
	// first; without features or activation, those of before. Of kind planes it says what
	// Planes says, as in "2M: 4x48". Empty: none. Without train.renew_growth there are no
	// fresh nets, and none grows.
	Growth string `yaml:"growth"`
}

// Stage is an architecture of a net that grows.
type Stage struct {
	Positions  uint64 `json:"positions"`            // stored, at least
	Features   string `json:"features,omitempty"`   // of kind nnue
	Width      int    `json:"width,omitempty"`      // of kind nnue
	Activation string `json:"activation,omitempty"` // of kind nnue; empty: that of the first net
	Planes     string `json:"planes,omitempty"`     // of kind planes
}

// Of returns the architecture of a net of this stage that is else as n.
func (s Stage) Of(n Net) Net {
	if n.Kind == Planes {
		n.Planes, n.Blocks, n.Channels = s.Planes, 0, 0
	} else {
		n.Features, n.Width, n.Activation = s.Features, s.Width, cmp.Or(s.Activation, n.Activation)
	}
	return n
}

// Stages reads Growth. Errors wrap ErrInvalid.
func (n LoopNet) Stages() ([]Stage, error) {
	stages, err := parseStages(n.Growth, n.parseStage, func(last, s Stage) error {
		if s.Positions <= last.Positions {
			return fmt.Errorf("found %d positions, expected more than the %d before", s.Positions, last.Positions)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: growth: %w", ErrInvalid, err)
	}
	if n.Kind == Planes {
		return stages, nil
	}
	features, activation := n.Features, n.Activation
	for i := range stages {
		features, activation = cmp.Or(stages[i].Features, features), cmp.Or(stages[i].Activation, activation)
		stages[i].Features, stages[i].Activation = features, activation
	}
	return stages, nil
}

// parseStages reads what stands between semicolons, each stage following the last one
// as follows has it.
func parseStages[S any](list string, parse func(string) (S, error), follows func(last, s S) error) ([]S, error) {
	if list == "" {
		return nil, nil
	}
	var stages []S
	for text := range strings.SplitSeq(list, ";") {
		s, err := parse(strings.TrimSpace(text))
		if err == nil && len(stages) > 0 {
			err = follows(stages[len(stages)-1], s)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		stages = append(stages, s)
	}
	return stages, nil
}

// parseStage reads "5M: HalfKAv2 128 crelu", where features and activation may be left
// out; of kind planes "2M: 4x48".
func (n LoopNet) parseStage(text string) (s Stage, err error) {
	expected := "POSITIONS: [FEATURES] WIDTH [ACTIVATION], such as 5M: HalfKAv2 128 or 40M: 512 pairwise"
	if n.Kind == Planes {
		expected = "POSITIONS: NET, such as 2M: 4x48"
	}
	count, net, found := strings.Cut(text, ":")
	net = strings.TrimSpace(net)
	if !found || n.Kind == Planes && net == "" {
		return s, errors.New("expected " + expected)
	}
	if s.Positions, err = player.ParseCount(strings.TrimSpace(count)); err != nil {
		return s, err
	}
	if n.Kind == Planes {
		s.Planes = net
		return s, nil
	}
	rest, last := cutLast(net)
	if _, known := activations[last]; known {
		s.Activation = last
		rest, last = cutLast(rest)
	}
	if s.Width, err = strconv.Atoi(last); err != nil {
		return s, fmt.Errorf("found the width %q, expected %s", last, expected)
	}
	s.Features = rest
	return s, nil
}

// cutLast splits off the last word.
func cutLast(text string) (rest, last string) {
	at := strings.LastIndexByte(text, ' ')
	return strings.TrimSpace(text[:at+1]), text[at+1:]
}

// At returns the architecture of a fresh net when as many positions are stored: that of
// the last stage reached. Growth must be readable.
func (n LoopNet) At(positions uint64) Net {
	stages, _ := n.Stages()
	net := n.Net
	for _, s := range stages {
		if s.Positions <= positions {
			net = s.Of(n.Net)
		}
	}
	return net
}

// All returns every architecture that the loop may train, the first one first. Errors
// wrap ErrInvalid.
func (n LoopNet) All() ([]Net, error) {
	stages, err := n.Stages()
	all := []Net{n.Net}
	for _, s := range stages {
		all = append(all, n.At(s.Positions))
	}
	return all, err
}

// checkGrowth reports what is wrong with a net that grows.
func (n LoopNet) checkGrowth(variant string) error {
	all, err := n.All()
	if err != nil {
		return err
	}
	for _, stage := range all[1:] {
		if _, err := stage.Text(variant); err != nil {
			return fmt.Errorf("growth: %s: %w", stage.Size(), err)
		}
	}
	return nil
}
