package game

import (
	"errors"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

func TestRandomOpening(t *testing.T) {
	for _, v := range chess.Variants() {
		var lengths [12]int
		for seed := range uint64(300) {
			o, err := RandomOpening(v.Start(), newRand(seed), 6, 10, nil)
			if err != nil {
				t.Fatal(err)
			}
			again, err := RandomOpening(v.Start(), newRand(seed), 6, 10, nil)
			if err != nil || !slices.Equal(o.Moves, again.Moves) {
				t.Fatalf("seed %d gave two openings", seed)
			}
			lengths[len(o.Moves)]++
			line := chess.NewLine(o.Start)
			for _, m := range o.Moves {
				if !line.Pos().IsLegal(m) {
					t.Fatalf("seed %d: illegal move", seed)
				}
				line.Push(m)
			}
			if outcome, _ := line.Outcome(); outcome != chess.Ongoing || matesAtOnce(line.Pos()) {
				t.Errorf("seed %d: over, or nearly", seed)
			}
		}
		if even := lengths[6] + lengths[8] + lengths[10]; even < 120 || even > 180 {
			t.Errorf("%v: %d of 300 of even length, expected about half", v, even)
		}
		if slices.Min(lengths[6:11]) < 30 || lengths[5]+lengths[11] > 0 {
			t.Errorf("%v: lengths %v", v, lengths)
		}
	}
}

func TestOpeningPlies(t *testing.T) {
	rng := newRand(1)
	for lo := range 5 {
		for hi := lo; hi < lo+5; hi++ {
			seen := map[int]bool{}
			for range 200 {
				seen[OpeningPlies(rng, lo, hi)] = true
			}
			for n := range seen {
				if n < lo || n > hi {
					t.Errorf("%d is not within %d to %d", n, lo, hi)
				}
			}
			if len(seen) != hi-lo+1 {
				t.Errorf("%d to %d: only %d lengths", lo, hi, len(seen))
			}
		}
	}
}

func TestRandomOpeningAccept(t *testing.T) {
	broken := errors.New("no engine")
	asked := 0
	for name, tc := range map[string]struct {
		lo, hi int
		accept func(*chess.Line) (bool, error)
		want   error
	}{
		"third": {6, 8, func(*chess.Line) (bool, error) { asked++; return asked == 3, nil }, nil},
		"never": {2, 2, func(*chess.Line) (bool, error) { return false, nil }, ErrOpening},
		"error": {6, 8, func(*chess.Line) (bool, error) { return true, broken }, broken},
		"range": {8, 6, nil, ErrOpening},
		"long":  {6, MaxGamePlies, nil, ErrOpening},
		"less":  {-1, 6, nil, ErrOpening},
	} {
		if _, err := RandomOpening(chess.Crazyhouse.Start(), newRand(1), tc.lo, tc.hi, tc.accept); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if asked != 3 {
		t.Errorf("accept was asked %d times", asked)
	}
}

// TestRandomMove draws many moves where drops outnumber board moves and counts
// kinds and moves.
func TestRandomMove(t *testing.T) {
	p := mustFEN(t, chess.Crazyhouse, "r1b1kb1r/ppp1qppp/2n2n2/4p3/2B1P3/5N2/PPP2PPP/RNBQ1RK1[Pp] b kq - 5 6")
	var list chess.MoveList
	p.Legal(&list)
	rng := newRand(1)
	seen := map[chess.Move]bool{}
	drops := 0
	const n = 4000
	for range n {
		m := RandomMove(&p, rng)
		if !slices.Contains(list.Slice(), m) {
			t.Fatalf("illegal move %04x", m)
		}
		seen[m] = true
		if m.IsDrop() {
			drops++
		}
	}
	if share := float64(drops) / n; share < dropShare-0.03 || share > dropShare+0.03 {
		t.Errorf("%.3f of the moves are drops, expected %.3f", share, dropShare)
	}
	if len(seen) != list.N {
		t.Errorf("%d of %d legal moves were drawn", len(seen), list.N)
	}
	// Only drops or only board moves: no choice of kind.
	start := chess.Crazyhouse.Start()
	if m := RandomMove(&start, rng); m.IsDrop() {
		t.Error("drop from an empty hand")
	}
	onlyDrops := mustFEN(t, chess.Crazyhouse, "k7/8/8/8/8/1r6/8/K1r5[N] w - - 0 1")
	list.N = 0
	onlyDrops.Legal(&list)
	for range 20 {
		if m := RandomMove(&onlyDrops, rng); !slices.Contains(list.Slice(), m) {
			t.Fatalf("illegal move %04x", m)
		}
	}
}
