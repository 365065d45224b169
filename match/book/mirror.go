package book

import (
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// reversed returns p with the colours reversed: the board upside down, White's
// pieces and rights Black's, and the other side to move. Its game is the same.
func reversed(p *chess.Position) (chess.Position, error) {
	fields := strings.Fields(p.FEN())
	board, pocket, hasPocket := strings.Cut(fields[0], "[")
	ranks := strings.Split(board, "/")
	for i, j := 0, len(ranks)-1; i < j; i, j = i+1, j-1 {
		ranks[i], ranks[j] = ranks[j], ranks[i]
	}
	board = strings.Join(ranks, "/")
	if hasPocket {
		board += "[" + pocket
	}
	fields[0], fields[2] = swapCase(board), swapCase(fields[2])
	fields[1] = p.SideToMove().Other().String()[:1]
	if ep := p.EnPassant(); ep != chess.NoSquare {
		fields[3] = chess.NewSquare(ep.File(), 7-ep.Rank()).String()
	}
	if p.Chess960() {
		return chess.ParseFEN960(p.Variant(), strings.Join(fields, " "))
	}
	return chess.ParseFEN(p.Variant(), strings.Join(fields, " "))
}

// swapCase makes upper-case letters lower-case and the other way round.
func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

// identity is equal for two positions if they are the same or the same with
// the colours reversed.
func identity(p *chess.Position) (uint64, error) {
	q, err := reversed(p)
	if err != nil {
		return 0, err
	}
	return min(p.Key(), q.Key()), nil
}
