package puzzles

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// A line that was written is read as what it was written from.
func TestEPD(t *testing.T) {
	for _, line := range []string{mateIn1, ladder, aWin, smother} {
		p := puzzle(t, line)
		if got := string(p.AppendEPD(nil)); got != line {
			t.Errorf("found %s, expected %s", got, line)
		}
	}
	p := puzzle(t, aWin)
	if p.Score != 900 || p.Mate != 0 || p.Nodes != 10_000 || p.Depth != 5 || p.Grade() != 3 || p.Kind() != "win by a move" || p.ID != "c; of all/2" {
		t.Errorf("%+v", p)
	}
	if p = puzzle(t, smother); p.Grade() != 0 || p.Kind() != "mate in 1" || !p.Best.IsDrop() {
		t.Errorf("%+v", p)
	}
	if uci := puzzle(t, strings.Replace(mateIn1, "Qg7#", "g1g7", 1)); uci != puzzle(t, mateIn1) {
		t.Errorf("found %+v with a move as UCI writes it", uci)
	}
}

func TestParseErrors(t *testing.T) {
	for old, wrong := range map[string]string{
		"bm Qg7#;":   "",
		"Qg7#":       "Qg7 Qg6",
		"bm Qg7#":    "bm Qg9",
		"g1":         "x",
		"dm 1":       "dm 0",
		"dm 1;":      "dm 65;",
		"acn 100":    "acn -1",
		"acd 2":      "acd 9999999999999999999",
		`"a/0"`:      "\"a\x01\"",
		"id":         "ce 40000; id",
		"7k/8":       "7k/9",
		`id "a/0";`:  `id "` + strings.Repeat("a", 251) + `";`,
		`id "a/0"; `: strings.Repeat("x", 3000),
		`id "a/0"`:   `noop ` + strings.Repeat("x", 3000),
	} {
		line := strings.Replace(mateIn1, old, wrong, 1)
		if line == mateIn1 {
			continue
		}
		if _, err := Parse(chess.Crazyhouse, line); !errors.Is(err, ErrBad) || len(err.Error()) > 300 {
			t.Errorf("%.100s: %v", line, err)
		}
	}
}

func TestRead(t *testing.T) {
	text := "# puzzles\n" + mateIn1 + "\r\n\n" + aWin
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(text)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for _, file := range []string{text, packed.String()} {
		list, err := Read(strings.NewReader(file), chess.Crazyhouse)
		if err != nil || string(EPD(list)) != mateIn1+"\n"+aWin+"\n" {
			t.Errorf("%s, %v", EPD(list), err)
		}
	}
	for file, want := range map[string]string{
		"":                               "no puzzles",
		text + "\n" + mateIn1:            "line 5",
		text + "\nnonsense":              "line 5",
		packed.String()[:packed.Len()/2]: "gzip",
	} {
		if _, err := Read(strings.NewReader(file), chess.Crazyhouse); !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, expected %q", file, err, want)
		}
	}
}

// FuzzParse feeds the parser anything: it must refuse it or read the same again from
// what it found.
func FuzzParse(f *testing.F) {
	for _, line := range []string{mateIn1, ladder, aWin, smother} {
		f.Add(line)
	}
	f.Add("k7/8/8/8/8/8/8/1R4K1[R] w A - bm R1a1;")
	f.Fuzz(func(t *testing.T, line string) {
		p, err := Parse(chess.Crazyhouse, line)
		if err != nil {
			return
		}
		text := string(p.AppendEPD(nil))
		if again, err := Parse(chess.Crazyhouse, text); err != nil || again != p {
			t.Fatalf("%q: written as %q, which is %+v, %v", line, text, again, err)
		}
	})
}
