package positions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

func fens(list []chess.Position) (out []string) {
	for i := range list {
		out = append(out, list[i].FEN())
	}
	return out
}

func TestLines(t *testing.T) {
	const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"
	const later = "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R[Pn] b KQkq - 3 6"
	text := "# two positions, three ways\n\n" + start + "\n" + later + "\tmore\tcolumns\r\n" +
		"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - bm e4; id \"1\";\n"
	read := func(text string) ([]chess.Position, error) {
		return First(Lines(t.Context(), strings.NewReader(text), "f.epd", chess.Crazyhouse), math.MaxInt)
	}
	list, err := read(text)
	if want := []string{start, later, start}; err != nil || !slices.Equal(fens(list), want) {
		t.Errorf("found %q, error %v, expected %q", fens(list), err, want)
	}
	for bad, want := range map[string]string{
		"8/8/8 w":         "first four fields",
		"8/8/8/8 w - - x": "",
	} {
		list, err := read(text + bad + "\n")
		if len(list) != 3 || !errors.Is(err, ErrLine) || !strings.HasPrefix(err.Error(), "f.epd:6: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: found %d positions, error %v", bad, len(list), err)
		}
	}
	if _, err := read(strings.Repeat("x", 1<<17)); err == nil {
		t.Error("a line without end was read")
	}
}

// TestFirst asks for more than there is, for less and for nothing.
func TestFirst(t *testing.T) {
	const line = "4k3/8/8/8/8/8/8/4K3[N] w - - 0 1\n"
	for n, want := range map[int]int{0: 0, 2: 2, 3: 3, 9: 3} {
		if list, err := First(Lines(t.Context(), strings.NewReader(line+line+line), "-", chess.Crazyhouse), n); err != nil || len(list) != want {
			t.Errorf("found %d positions of 3, error %v, expected %d", len(list), err, want)
		}
	}
}

func TestSelfPlayIsASeed(t *testing.T) {
	play := func(seed uint64) []string {
		list, err := First(SelfPlay(t.Context(), chess.Crazyhouse, seed), 150)
		if err != nil || len(list) != 150 {
			t.Fatalf("found %d positions, error %v, expected 150", len(list), err)
		}
		return fens(list)
	}
	a := play(1)
	if !slices.Equal(a, play(1)) {
		t.Error("the same seed gave other positions")
	}
	if slices.Equal(a, play(2)) {
		t.Error("another seed gave the same positions")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, s := range map[string]Source{
		"lines":     Lines(ctx, strings.NewReader("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq -"), "-", chess.Crazyhouse),
		"self-play": SelfPlay(ctx, chess.Crazyhouse, 1),
	} {
		if list, err := First(s, 5); len(list) != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: found %d positions, error %v", name, len(list), err)
		}
	}
}

// TestDrawIsEven draws 3 of 12 positions often: each comes up a quarter of the
// time.
func TestDrawIsEven(t *testing.T) {
	var text strings.Builder
	for i := range 12 {
		fmt.Fprintf(&text, "4k3/8/8/8/8/8/8/4K3[N] w - - %d 1\n", i)
	}
	const rounds = 2000
	rng := rand.New(rand.NewPCG(1, 2))
	count := map[int]int{}
	for range rounds {
		list, err := Draw(Lines(t.Context(), strings.NewReader(text.String()), "-", chess.Crazyhouse), 3, rng)
		if err != nil || len(list) != 3 {
			t.Fatalf("found %d positions, error %v, expected 3", len(list), err)
		}
		for i := range list {
			count[list[i].HalfmoveClock()]++
		}
	}
	for i := range 12 {
		if n := count[i]; n < rounds/4-120 || n > rounds/4+120 { // 6 standard deviations
			t.Errorf("position %d drawn %d times, expected about %d", i, n, rounds/4)
		}
	}
}
