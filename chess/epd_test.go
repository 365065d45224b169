package chess

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
)

const epdStart = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq -"

func TestParseEPD(t *testing.T) {
	for line, want := range map[string]struct {
		clocks     string
		operations map[string]string
	}{
		"":                                   {"0 1", nil},
		" 3 12":                              {"3 12", nil},
		" 3 12;":                             {"3 12", nil},
		" 3":                                 {"3 1", nil},
		" hmvc 3; fmvn 12;":                  {"3 12", nil},
		" fmvn 12; hmvc 3":                   {"3 12", nil},
		" 1 2 hmvc 3;":                       {"3 2", nil},
		"\t3\t12\tbm e4;;":                   {"3 12", map[string]string{"bm": "e4"}},
		` ce -35; id "one; two"; c0 "a b";`:  {"0 1", map[string]string{"ce": "-35", "id": "one; two", "c0": "a b"}},
		" 5 9 bm Nf3 e4; id \"no end of it;": {"5 9", map[string]string{"bm": "Nf3 e4", "id": "no end of it;"}},
		" noop; ce 1; ce 2":                  {"0 1", map[string]string{"noop": "", "ce": "2"}},
	} {
		p, operations, err := ParseEPD(Crazyhouse, epdStart+line)
		if err != nil || p.FEN() != epdStart+" "+want.clocks || !maps.Equal(operations, want.operations) {
			t.Errorf("%q: %s, operations %q, %v; expected clocks %s and %q", line, p.FEN(), operations, err, want.clocks, want.operations)
		}
	}
	for line, field := range map[string]string{
		"":                        "fields",
		"8/8/8 w":                 "fields",
		"8/8/8 w - -":             "board",
		epdStart + " hmvc x;":     "halfmove clock",
		epdStart + " fmvn -1; ":   "move number",
		strings.Repeat("x ", 1e5): "board",
	} {
		var bad *FENError
		if _, _, err := ParseEPD(Crazyhouse, line); !errors.As(err, &bad) || bad.Field != field || len(err.Error()) > 200 {
			t.Errorf("%.40q: %v, expected something about the %s", line, err, field)
		}
	}
}

// FuzzEPD feeds the parser anything: it must refuse it or read the same again
// from what it found.
func FuzzEPD(f *testing.F) {
	for _, rest := range []string{"", " 3 12", ` ce 3; id "a; b"`, " hmvc 3; fmvn x", "\t1\t2;"} {
		f.Add(epdStart + rest)
	}
	f.Fuzz(func(t *testing.T, line string) {
		p, operations, err := ParseEPD(Crazyhouse, line)
		if err != nil {
			return
		}
		if same, err := ParseFEN(Crazyhouse, p.FEN()); err != nil || same.FEN() != p.FEN() {
			t.Fatalf("%q: found %s, which is %s, %v", line, p.FEN(), same.FEN(), err)
		}
		if strings.Contains(line, `"`) {
			return // not written as it was read
		}
		text := p.FEN()
		for name, operand := range operations {
			text += fmt.Sprintf(" %s \"%s\";", name, operand)
		}
		again, found, err := ParseEPD(Crazyhouse, text)
		if err != nil || again.FEN() != p.FEN() || !maps.Equal(found, operations) {
			t.Fatalf("%q: written as %q, which is %s, operations %q, %v", line, text, again.FEN(), found, err)
		}
	})
}
