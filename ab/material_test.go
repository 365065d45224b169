package ab

import (
	"strings"
	"testing"
	"unicode"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// mirror returns the FEN with the colours swapped and the board turned over.
func mirror(fen string) string {
	swap := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsUpper(r) {
				return unicode.ToLower(r)
			}
			return unicode.ToUpper(r)
		}, s)
	}
	fields := strings.Fields(fen)
	board, hand, _ := strings.Cut(fields[0], "[")
	ranks := strings.Split(board, "/")
	for i, j := 0, len(ranks)-1; i < j; i, j = i+1, j-1 {
		ranks[i], ranks[j] = ranks[j], ranks[i]
	}
	board = swap(strings.Join(ranks, "/"))
	if strings.Contains(fields[0], "[") {
		board += "[" + swap(hand)
	}
	side := map[string]string{"w": "b", "b": "w"}[fields[1]]
	return strings.Join([]string{board, side, "-", "-", "0", "1"}, " ")
}

func TestMaterialIsColourBlind(t *testing.T) {
	var m Material
	walk(t, 4, 10, func(p *chess.Position) {
		q := mustFEN(t, p.Variant(), mirror(p.FEN()))
		if a, b := m.Evaluate(p), m.Evaluate(&q); a != b {
			t.Fatalf("%s is worth %d, mirrored %d", p.FEN(), a, b)
		}
	})
}

func TestMaterialValues(t *testing.T) {
	var m Material
	for _, v := range chess.Variants() {
		w := &materialChess
		if v.CapturesToHand {
			w = &materialHand
		}
		start := v.Start()
		if got := m.Evaluate(&start); got != w.tempo {
			t.Errorf("%s: start position is worth %d, want the tempo %d", v, got, w.tempo)
		}
	}
	// A piece more in hand counts for its owner, whoever is to move.
	bare := mustFEN(t, chess.Crazyhouse, "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3[] w - - 0 1")
	least := m.Evaluate(&bare)
	for _, hand := range []string{"P", "B", "N", "R", "Q"} {
		p := mustFEN(t, chess.Crazyhouse, "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3["+hand+"] w - - 0 1")
		got := m.Evaluate(&p)
		if got <= least {
			t.Errorf("%s in hand is worth %d, want more than %d", hand, got, least)
		}
		least = got
		p = mustFEN(t, chess.Crazyhouse, "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3["+hand+"] b - - 0 1")
		if black := m.Evaluate(&p); black != 2*materialHand.tempo-got {
			t.Errorf("%s in White's hand is worth %d to Black, %d to White", hand, black, got)
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	var m Material
	p := mustFEN(b, chess.Crazyhouse, middleFEN)
	for b.Loop() {
		m.Evaluate(&p)
	}
}
