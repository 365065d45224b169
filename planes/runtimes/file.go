package runtimes

import (
	"errors"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// ErrVariant reports a net for another variant than asked for.
var ErrVariant = errors.New("net of another variant")

// File is the contents of a net's file, from which any number of nets can be
// opened, at the same time too. Its fields must not be changed.
type File struct {
	Model   *onnx.Model
	Meta    planes.Meta
	Variant *chess.Variant // that the net is for

	prefix string // of errors: the path, if there is one
}

// Read reads an ONNX file, of this program or another, as planes.Adopt does. Errors
// name the path.
func Read(path string) (*File, error) {
	m, err := onnx.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f, err := FromModel(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.prefix = path + ": "
	return f, nil
}

// FromModel is Read of a model in memory. The model is the File's from then on.
func FromModel(m *onnx.Model) (*File, error) {
	meta, err := planes.Adopt(m)
	if err != nil {
		return nil, err
	}
	v, err := chess.ParseVariant(meta.Variant)
	if err != nil {
		return nil, err
	}
	return &File{Model: m, Meta: meta, Variant: v}, nil
}

// CheckVariant returns an error that wraps ErrVariant if the net is not for v.
func (f *File) CheckVariant(v *chess.Variant) error {
	if f.Variant != v {
		return fmt.Errorf("%s%w: found %s, expected %s", f.prefix, ErrVariant, f.Variant, v)
	}
	return nil
}

// Open returns a net that evaluates positions with the runtime that the options
// name. The caller closes it. The error is that of Runtime.
func (f *File) Open(o Options) (*planes.Net, error) {
	r, err := f.Runtime(o)
	if err != nil {
		return nil, err
	}
	n, err := planes.NewNet(r, f.Meta)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s%w", f.prefix, err), r.Close())
	}
	return n, nil
}

// Runtime returns what Open's net runs on, which takes planes in place of
// positions. The error is that of Check or of the package that would run the net.
func (f *File) Runtime(o Options) (planes.Runtime, error) {
	kind, err := find(o.Name)
	if err != nil {
		return nil, err
	}
	r, err := kind.open(f, o)
	if err != nil {
		return nil, fmt.Errorf("%s%w", f.prefix, err)
	}
	return r, nil
}
