package onnx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/crazyhouse-rl/selfplay/internal/bounded"
)

// external is where the elements of a tensor are, outside the model's file.
type external struct {
	location       string // name of a file beside the model's
	offset, length int64  // length 0 means what the dimensions need
}

// setEntry takes a key of external_data and its value.
func (e *external) setEntry(key, value string) (err error) {
	switch key {
	case "location":
		e.location = value
	case "offset":
		e.offset, err = strconv.ParseInt(value, 10, 64)
	case "length":
		e.length, err = strconv.ParseInt(value, 10, 64)
	}
	if err != nil || e.offset < 0 || e.length < 0 {
		return fmt.Errorf("%w: external data: found %s %q, expected a number from 0", ErrFormat, key, value)
	}
	return nil
}

// ReadFile reads an ONNX file as Decode does, and elements of tensors from files in
// its directory, where newer exporters put them.
func ReadFile(path string) (*Model, error) {
	file, err := readAtMost(path, MaxFile)
	if err != nil {
		return nil, err
	}
	m, err := decode(file)
	if err != nil {
		return nil, err
	}
	beside, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer beside.Close()
	left := int64(MaxFile)
	for t := range m.outside() {
		if err := t.readExternal(beside, &left); err != nil {
			return nil, fmt.Errorf("onnx: tensor %q: %w", t.Name, err)
		}
	}
	return m, m.finish()
}

func readAtMost(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe would wait for its writer when opened
		return nil, fmt.Errorf("onnx: %w: %s: found a directory or a special file, expected a regular one", ErrFormat, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded.Read(f, int(most), fmt.Errorf("onnx: %w", ErrFormat))
}

// outside visits the tensors whose elements are in other files.
func (m *Model) outside() func(yield func(*Tensor) bool) {
	return func(yield func(*Tensor) bool) {
		for i := range m.Graph.Initializers {
			if t := &m.Graph.Initializers[i]; t.external != nil && !yield(t) {
				return
			}
		}
		for i := range m.Graph.Nodes {
			for j := range m.Graph.Nodes[i].Attributes {
				if t := m.Graph.Nodes[i].Attributes[j].Tensor; t != nil && t.external != nil && !yield(t) {
					return
				}
			}
		}
	}
}

// readExternal reads the elements from a directory, of which left bytes may still
// be read.
func (t *Tensor) readExternal(dir *os.Root, left *int64) error {
	e := t.external
	n, err := count(t.Dims)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	size := int64(n) * int64(elements[t.Type].size)
	if e.length != 0 && e.length != size {
		return fmt.Errorf("%w: found %d bytes of external data, expected %d", ErrFormat, e.length, size)
	}
	if *left -= size; *left < 0 {
		return fmt.Errorf("%w: found more than %d bytes of external data", ErrFormat, MaxFile)
	}
	info, err := dir.Stat(e.location)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: found a directory or a special file, expected a regular one", ErrFormat)
	}
	var f *os.File
	if err == nil {
		f, err = dir.Open(e.location)
	}
	if err != nil {
		return fmt.Errorf("external data: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size()-size < e.offset {
		return errors.Join(fmt.Errorf("%w: external data: found too little in %s, expected %d bytes from %d", ErrFormat, e.location, size, e.offset), err)
	}
	raw := make([]byte, size)
	if _, err := f.ReadAt(raw, e.offset); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("external data: %w", err)
	}
	t.setRaw(raw)
	t.external = nil
	return nil
}
