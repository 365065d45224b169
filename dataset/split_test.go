package dataset

import (
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
