package dataset

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// TestSplit: every game is on one side, by its content alone.
func TestSplit(t *testing.T) {
	name, list := writeGames(t, 200)
	split := func(in, ext string, every uint64) (rest, held string, n SplitCounts) {
		src := open(t, in, chess.Crazyhouse)
		a, b := target(t, "a"+ext, src), target(t, "b"+ext, src)
		err := a.Create(func(a *Sink) error {
			return b.Create(func(b *Sink) (err error) {
				n, err = Split(context.Background(), src, a, b, every, nil)
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return a.Name, b.Name, n
	}
	rest, held, n := split(name, ".chain", sample.HeldOutEvery)
	got := slices.Concat(ids(t, rest), ids(t, held))
	slices.Sort(got)
	if n.Games != int64(len(list)) || n.HeldOut == 0 || !slices.Equal(got, ids(t, name)) {
		t.Errorf("%+v of %d games", n, len(list))
	}
	for _, id := range ids(t, held) {
		if !sample.HeldOut(id) {
			t.Errorf("%s is not held out in the loop", id)
		}
	}
	rest, held, n = split(wholeGames, ".plain", 4)
	if n.Games != 54 || n.HeldOut < 5 || n.HeldOut > 25 {
		t.Errorf("%+v of 54 games", n)
	}
	restOf := readAll(t, rest, chess.Crazyhouse)
	heldOf := readAll(t, held, chess.Crazyhouse)
	if !slices.Equal(sorted(slices.Concat(restOf, heldOf)), sorted(readAll(t, wholeGames, chess.Crazyhouse))) {
		t.Error("samples are lost")
	}
	firsts := 0
	for _, s := range heldOf {
		if s.Ply == 0 {
			firsts++
		}
	}
	if firsts != int(n.HeldOut) {
		t.Errorf("%d first plies in %d games", firsts, n.HeldOut)
	}
}

// sides draws an epoch of a set and returns the positions that were drawn and those held out.
func sides(t *testing.T, s *Set) (drawn, held map[string]bool) {
	t.Helper()
	batch := make([]sample.Sample, s.Len())
	if err := s.Draw(nil, batch); err != nil {
		t.Fatal(err)
	}
	names := func(samples []sample.Sample) map[string]bool {
		all := map[string]bool{}
		for i := range samples {
			all[samples[i].Pos.FEN()] = true
		}
		return all
	}
	return names(batch), names(s.HeldOut(make([]sample.Sample, s.cfg.Measured)))
}

// Of a file of chains every line is a game, all of whose positions are on one side, and
// filters know how far they are in it.
func TestCompactGames(t *testing.T) {
	games, list := writeGames(t, 200)
	name, _ := convert(t, games, "x.compact", chess.Crazyhouse, Conversion{})
	s := openSet(t, SetConfig{Split: true, Measured: 1 << 16, Filter: sample.Filter{MinPly: 6}}, fileInput(t, name))
	drawn, held := sides(t, s)
	all := readAll(t, name, chess.Crazyhouse)
	lines := slices.Collect(bytes.Lines(mustRead(t, name)))
	for _, line := range lines {
		in, out := 0, 0
		n := (bytes.Count(line, []byte(",")) + 1) / 3
		for _, one := range all[:n] {
			fen := one.Pos.FEN()
			if drawn[fen] {
				in++
			}
			if held[fen] {
				out++
			}
		}
		if in > 0 && out > 0 || in+out != n-2 {
			t.Errorf("of %d positions of a line %d are trained on and %d held out, expected all but two on one side", n, in, out)
		}
		all = all[n:]
	}
	if len(lines) != len(list) || s.Counts.Games != uint64(len(list)) || s.Counts.Early != 2*uint64(len(list)) || len(held) == 0 {
		t.Errorf("%d lines, %+v, %d held out, expected %d games", len(lines), s.Counts, len(held), len(list))
	}
}

// Games of a file that is named twice are on the same side both times.
func TestSplitTwice(t *testing.T) {
	games, _ := writeGames(t, 200)
	name, _ := convert(t, games, "x.plain", chess.Crazyhouse, Conversion{})
	cfg := SetConfig{Split: true, Measured: 1 << 16, Filter: sample.Filter{MinPly: 8}} // positions of one game alone
	once := openSet(t, cfg, fileInput(t, name))
	twice := openSet(t, cfg, fileInput(t, name), fileInput(t, name))
	drawn, held := sides(t, twice)
	if len(held) == 0 || twice.Len() != 2*once.Len() {
		t.Errorf("%d positions held out, %d to train on, expected some and twice %d", len(held), twice.Len(), once.Len())
	}
	both := 0
	for fen := range held {
		if drawn[fen] {
			both++
		}
	}
	if both > 0 {
		t.Errorf("%d of %d positions held out are drawn too, expected none", both, len(held))
	}
}
