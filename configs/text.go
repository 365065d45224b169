package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// What files of settings may be. The YAML library takes a gigabyte for 30 KB of
// opening brackets, and time with the square of a collection's size.
const (
	maxFile  = 1 << 20 // bytes
	maxMarks = 40_000  // of what ends a token: an upper bound of values, twice or so
	maxDepth = 16      // collections inside one another
)

// ReadFile reads a file of settings of at most 1 MiB. Files that never end are
// refused like larger ones, with an error that wraps ErrInvalid.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%w: %s: found more than %d bytes, expected a file of settings", ErrInvalid, path, maxFile)
	}
	return text, nil
}

// unmarshal decodes YAML that is small and flat enough for settings. Errors do not
// quote the text, in which there may be what nobody should see.
func unmarshal(text []byte, to any, options ...yaml.DecodeOption) error {
	if err := checkText(text); err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(text), options...)
	var rest any
	switch err := d.Decode(to); {
	case errors.Is(err, io.EOF):
		return nil // nothing is set
	case err != nil:
		return errors.New(yaml.FormatError(err, false, false))
	case !errors.Is(d.Decode(&rest), io.EOF):
		return errors.New("found a second document after a line ---, expected one")
	}
	return nil
}

// checkText refuses text whose decoding could take more memory or time than a small
// multiple of its size.
func checkText(text []byte) error {
	if len(text) > maxFile {
		return fmt.Errorf("found %d bytes, expected at most %d", len(text), maxFile)
	}
	marks := 0
	for i, c := range text {
		switch c {
		case '\n', '\r', ',', ':', '[', ']', '{', '}', '?', '&', '*', '!':
			marks++
		case ' ', '\t':
			if i > 0 && text[i-1] == '-' {
				marks++
			}
		}
	}
	if marks > maxMarks {
		return fmt.Errorf("found more than %d lines, commas and colons, expected a file of settings", maxMarks)
	}
	inside, entries := 0, 0 // flow collections that are open, block collections begun one right after another
	for _, t := range lexer.Tokenize(string(text)) {
		switch t.Type {
		case token.SequenceEntryType, token.MappingKeyType:
			entries++
		default:
			entries = 0
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			inside++
		case token.MappingEndType, token.SequenceEndType:
			inside--
		case token.OctetIntegerType:
			if !strings.Contains(t.Value, "0o") { // 012, which is 10
				return fmt.Errorf("[%d:%d] found a number that begins with 0, expected it without (quote a text of digits)", t.Position.Line, t.Position.Column)
			}
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType:
			return fmt.Errorf("[%d:%d] found an anchor, an alias or a tag, expected plain values (quote a text that begins with &, * or !)", t.Position.Line, t.Position.Column)
		}
		if max(inside, entries) > maxDepth {
			return fmt.Errorf("[%d:%d] found more than %d collections inside one another, expected a file of settings", t.Position.Line, t.Position.Column, maxDepth)
		}
	}
	return nil
}
