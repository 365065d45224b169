package cli

import (
	"fmt"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Board draws a position for people: the board with White below, or Black if flipped,
// promoted pieces with a ~, and the hand of each side at its edge.
func Board(p *chess.Position, flipped bool) string {
	var b strings.Builder
	below := chess.White
	if flipped {
		below = chess.Black
	}
	hand := func(c chess.Color) {
		if h := handText(p, c); h != "" {
			fmt.Fprintf(&b, "     %s: %s\n", c, h)
		}
	}
	hand(below.Other())
	for i := range 8 {
		rank := 7 - i
		if flipped {
			rank = i
		}
		fmt.Fprintf(&b, "  %d ", rank+1)
		for j := range 8 {
			sq := chess.NewSquare(j, rank)
			if flipped {
				sq = chess.NewSquare(7-j, rank)
			}
			mark := " "
			if p.Promoted().Has(sq) {
				mark = "~"
			}
			fmt.Fprintf(&b, " %s%s", p.PieceAt(sq), mark)
		}
		b.WriteByte('\n')
	}
	files := "abcdefgh"
	if flipped {
		files = "hgfedcba"
	}
	b.WriteString("    ")
	for _, f := range files {
		fmt.Fprintf(&b, " %c ", f)
	}
	b.WriteByte('\n')
	hand(below)
	return b.String()
}

// handText is what a side has in hand, strongest first: "Q 2xP".
func handText(p *chess.Position, c chess.Color) string {
	var words []string
	for t := chess.Queen; ; t-- {
		switch n := p.Hand(c).Count(t); {
		case n == 1:
			words = append(words, chess.MakePiece(c, t).String())
		case n > 1:
			words = append(words, fmt.Sprintf("%dx%s", n, chess.MakePiece(c, t)))
		}
		if t == chess.Pawn {
			return strings.Join(words, " ")
		}
	}
}
