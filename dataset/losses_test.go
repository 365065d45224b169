package dataset

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/sampletest"
)

// A source knows whether its games were read position by position.
func TestParted(t *testing.T) {
	games, _ := writeGames(t, 3)
	for _, tc := range []struct {
		in, out string
		filter  sample.Filter
		want    bool
	}{
		{games, "x.chain", sample.Filter{}, false},
		{games, "x.chain", sample.Filter{MinPly: 6}, true},
		{games, "x.plain", sample.Filter{}, true},
		{crazyhousePlain, "x.chain", sample.Filter{}, false},
	} {
		src := open(t, tc.in, chess.Crazyhouse)
		to := target(t, tc.out, src)
		c := Conversion{Filter: tc.filter}
		if err := to.Create(func(s *Sink) error { return c.Run(t.Context(), src, s) }); err != nil {
			t.Fatal(err)
		}
		if src.Parted() != tc.want {
			t.Errorf("%s to %s, %+v: parted %t, expected %t", tc.in, tc.out, tc.filter, src.Parted(), tc.want)
		}
	}
}

// Of a .binpack that is cut off all whole samples are used, and what is left is reported.
func TestCutBinpack(t *testing.T) {
	whole, _ := convert(t, chessPlain, "x.binpack", chess.Chess, Conversion{})
	data := mustRead(t, whole)
	cut := filepath.Join(t.TempDir(), "cut.binpack")
	if err := os.WriteFile(cut, data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	want := readAll(t, whole, chess.Chess)
	plain, c := convert(t, cut, "x.plain", chess.Chess, Conversion{})
	got := readAll(t, plain, chess.Chess)
	if n := len(got); n < len(want)/4 || n >= len(want) || uint64(n) != c.Counts.Kept || !slices.Equal(sorted(got), sorted(want[:n])) {
		t.Errorf("%d samples converted, expected the first of %d", n, len(want))
	}
	s, err := OpenSet(t.Context(), SetConfig{Variant: chess.Chess}, fileInput(t, cut))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	src := open(t, cut, chess.Chess)
	if _, err := sampletest.Read(src); err != nil || src.Trailing() == 0 {
		t.Errorf("error %v, %d bytes left, expected some", err, src.Trailing())
	}
	if s.Len() != uint64(len(got)) || len(s.Counts.Damage) != 1 || !strings.Contains(s.Counts.Damage[0], "no whole record") {
		t.Errorf("%d samples to train on, expected %d; damage %q", s.Len(), len(got), s.Counts.Damage)
	}
}

// Where no newest part is laid aside, games take no memory beside that of the samples.
func TestMemoryOfGames(t *testing.T) {
	const games = 1 << 16
	one := sample.From(randomGame(newRand(1), 1), sample.RulesClock, nil)[0]
	all := slices.Repeat([]sample.Sample{one}, games) // plies do not rise: a game each
	allocated := func(newest float64) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := Read(t.Context(), SetConfig{Variant: chess.Crazyhouse, Memory: 1, Newest: newest}, listInput(all))
		runtime.ReadMemStats(&after)
		if err != nil || d.Counts.Games != games {
			t.Fatalf("%+v, error %v", d, err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if none, some := allocated(0), allocated(0.5); none+games*24 > some {
		t.Errorf("%d bytes without a newest part, %d with one, expected %d less at least", none, some, games*24)
	}
}

// A file that other files were appended to after a writer was stopped keeps them when it
// is appended to.
func TestAppendAfterStoppedWriter(t *testing.T) {
	games, _ := writeGames(t, 4)
	large, _ := chainFile(t, 60)
	one, torn := mustRead(t, games), mustRead(t, large)
	name := filepath.Join(t.TempDir(), "all.chain")
	joined, _ := writeGames(t, 4)
	before := slices.Concat(one, torn[:len(torn)/2], mustRead(t, joined))
	if err := os.WriteFile(name, before, 0o644); err != nil {
		t.Fatal(err)
	}
	src := open(t, games, nil)
	to := Target{Name: name, Variant: chess.Crazyhouse, Unit: sample.CentipawnUnit, Append: true, Note: func(text string) { t.Error(text) }}
	var c Conversion
	if err := to.Create(func(s *Sink) error { return c.Run(t.Context(), src, s) }); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mustRead(t, name), slices.Concat(before, one)) {
		t.Error("blocks that were there are gone")
	}
}
