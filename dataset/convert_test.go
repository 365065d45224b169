package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// TestConvert goes through every format and back.
func TestConvert(t *testing.T) {
	for _, tc := range []struct {
		in, through string
		variant     *chess.Variant
		want        string // what comes back as .plain
	}{
		{crazyhousePlain, "x.chain", chess.Crazyhouse, crazyhousePlain},
		{crazyhousePlain, "x.bin", chess.Crazyhouse, crazyhouseView},
		{crazyhouseBin, "x.chain", chess.Crazyhouse, crazyhouseView},
		{wholeGames, "x.chain", chess.Crazyhouse, wholeGames},
		{chessPlain, "x.chain", chess.Chess, chessPlain},
		{chessPlain, "x.binpack", chess.Chess, chessPlain},
	} {
		there, _ := convert(t, tc.in, tc.through, tc.variant, Conversion{Validate: true})
		back, c := convert(t, there, "back.plain", tc.variant, Conversion{})
		if !bytes.Equal(mustRead(t, back), mustRead(t, tc.want)) {
			t.Errorf("%s through %s is not %s", tc.in, tc.through, tc.want)
		}
		if n := int64(bytes.Count(mustRead(t, tc.want), []byte("\ne\n"))); c.Counts.Kept != uint64(n) {
			t.Errorf("%s: %d samples, expected %d", tc.in, c.Counts.Kept, n)
		}
	}
	for _, through := range []string{"x.txt", "x.compact", "x.bin256"} {
		there, _ := convert(t, chessPlain, through, chess.Chess, Conversion{SkipBad: true})
		samples, want := readAll(t, there, chess.Chess), readAll(t, chessPlain, chess.Chess)
		same := 0
		for i := range min(len(samples), len(want)) {
			if samples[i].Pos.Key() == want[i].Pos.Key() && samples[i].Move == want[i].Move {
				same++
			}
		}
		if same < len(want)*9/10 {
			t.Errorf("%s: %d of %d samples come back", through, same, len(want))
		}
	}
}

// TestConvertGames keeps games whole, unless they are filtered.
func TestConvertGames(t *testing.T) {
	name, list := writeGames(t, 30)
	copied, c := convert(t, name, "copy.chain", nil, Conversion{Validate: true})
	if !bytes.Equal(mustRead(t, copied), mustRead(t, name)) || c.Games != int64(len(list)) {
		t.Errorf("%d games copied, or other bytes", c.Games)
	}
	filter, err := sample.ParseFilter("min-ply=10,no-check")
	if err != nil {
		t.Fatal(err)
	}
	filtered, c := convert(t, name, "some.chain", nil, Conversion{Filter: filter})
	if c.Games != 0 || c.Counts.Early == 0 || c.Counts.InCheck == 0 {
		t.Errorf("%d games, %v", c.Games, c.Counts)
	}
	for _, s := range readAll(t, filtered, nil) {
		if s.Ply < 10 || s.Pos.InCheck() {
			t.Errorf("ply %d, in check %v", s.Ply, s.Pos.InCheck())
		}
	}
}

// TestCheckEnds: a check of all ends where nothing more can be read, as at a segment of a
// replay buffer that cannot.
func TestCheckEnds(t *testing.T) {
	dir := t.TempDir()
	_, games := chainFile(t, 30)
	addGames(t, dir, games)
	segments, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil || len(segments) < 2 {
		t.Fatalf("segments %q, error %v", segments, err)
	}
	if err := errors.Join(os.Remove(segments[1]), os.Mkdir(segments[1], 0o755)); err != nil {
		t.Fatal(err)
	}
	src := open(t, BufferPrefix+dir, chess.Crazyhouse)
	_, whole, bad, err := Check(t.Context(), src, true, func() {}, func(err error) { t.Fatalf("goes on after %v", err) })
	if err == nil || !strings.Contains(err.Error(), filepath.Base(segments[1])) || whole == 0 || bad != 1 {
		t.Errorf("%d whole games, %d bad, error %v, expected some, one and the segment's", whole, bad, err)
	}
}

// TestErrorsSayWhere: file, record, offset, FEN.
func TestErrorsSayWhere(t *testing.T) {
	plain := mustRead(t, crazyhousePlain)
	third := 0
	for range 2 {
		third += bytes.Index(plain[third:], []byte("\ne\n")) + 3
	}
	at := third + bytes.Index(plain[third:], []byte("move ")) + 5
	spoilt := slices.Concat(plain[:at], []byte("a1a8"), plain[at+bytes.IndexByte(plain[at:], '\n'):])
	name := filepath.Join(t.TempDir(), "spoilt.plain")
	if err := os.WriteFile(name, spoilt, 0o644); err != nil {
		t.Fatal(err)
	}
	src := open(t, name, chess.Crazyhouse)
	var c Conversion
	c.Validate = true
	to := target(t, "x.bin", src)
	err := to.Create(func(s *Sink) error { return c.Run(context.Background(), src, s) })
	fen, _, _ := strings.Cut(string(plain[third+4:]), "\n")
	if !errors.Is(err, sample.ErrIllegal) || !strings.Contains(err.Error(), fmt.Sprintf("spoilt.plain: record 2 at byte %d: illegal move: found a1a8 in %s", third, fen)) {
		t.Error(err)
	}
	if _, err := os.Stat(to.Name); err == nil {
		t.Error("the output exists")
	}
	var told []error
	samples, _, bad, err := Check(context.Background(), open(t, name, chess.Crazyhouse), true, func() {}, func(err error) { told = append(told, err) })
	if err != nil || samples != 2000 || bad != 1 || len(told) != 1 || !errors.Is(told[0], sample.ErrIllegal) {
		t.Errorf("%d samples, %d bad, %v, %v", samples, bad, told, err)
	}
	_, _, _, err = Check(context.Background(), open(t, name, chess.Crazyhouse), false, func() {}, nil)
	if !errors.Is(err, sample.ErrIllegal) {
		t.Error(err)
	}
}
