package dataset

import (
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Input is games and samples that are the same whenever they are read.
type Input struct {
	Name   string // of the file, or the directory of a replay buffer
	open   func() (*Source, error)
	extent *Extent // of a replay buffer
}

// NewInput returns the input of a name: that of a file of samples, whose format its
// extension says, or replay:DIR. Formats that do not say which variant they are of
// are taken for v. Of a replay buffer it is the games of e; the buffer may grow
// but not delete them: reading then ends with ErrChanged. The error wraps ErrName.
func NewInput(name string, v *chess.Variant, e Extent) (Input, error) {
	f, err := FormatOf(name)
	if err != nil {
		return Input{}, err
	}
	if f == Replay {
		dir := strings.TrimPrefix(name, BufferPrefix)
		return Input{Name: dir, extent: &e, open: func() (*Source, error) { return openBuffer(dir, &e) }}, nil
	}
	return Input{Name: name, open: func() (*Source, error) { return Open(name, f, v, nil) }}, nil
}

// Inputs returns the inputs of names as [Files] returns them, each once, so that
// what is named twice is the same both times. Of replay buffers they are the games
// that known says of their directories, if it does.
func Inputs(names []string, v *chess.Variant, known map[string]Extent) ([]Input, error) {
	inputs := make([]Input, len(names))
	for i, name := range names {
		if before := slices.Index(names[:i], name); before >= 0 {
			inputs[i] = inputs[before]
			continue
		}
		var err error
		if inputs[i], err = NewInput(name, v, known[strings.TrimPrefix(name, BufferPrefix)]); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// Extent returns which games of a replay buffer an input is, once it was read to
// its end. It reports false if it is no replay buffer.
func (in Input) Extent() (Extent, bool) {
	if in.extent == nil {
		return Extent{}, false
	}
	return *in.extent, true
}
