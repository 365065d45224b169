package sample

import (
	"fmt"
	"math"
	"strconv"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// CheckMove refuses a move whose kind does not fit the pieces of pos: castling
// without the right to it, other moves of kings by more than a step or on own
// pieces, en passant elsewhere than on the en passant square, double steps other
// than by pawns, promotions by other pieces, pawns that arrive on their last rank
// unpromoted, and drops where there are no hands. Only what is left can be
// written as text and read again. The move may still be illegal; NoMove is
// accepted. The error wraps ErrRecord.
func CheckMove(pos *chess.Position, m chess.Move) error {
	if m == chess.NoMove {
		return nil
	}
	us := pos.SideToMove()
	from, to, kind := m.From(), m.To(), m.Kind()
	mover := pos.PieceAt(from)
	own := mover == chess.MakePiece(us, mover.Type())
	switch {
	case m.IsDrop():
		if !pos.Variant().CapturesToHand || from != chess.A1 {
			return moveError(pos, m, "drops in variants with hands only, without an origin")
		}
	case kind > chess.DropQueen:
		return moveError(pos, m, "kinds of move up to "+strconv.Itoa(int(chess.DropQueen)))
	case mover.Type() == chess.Pawn:
		if kind != pawnKind(pos, m, own) {
			return moveError(pos, m, "a pawn's move of the kind for its squares")
		}
	case kind == chess.Castle:
		if from != pos.King(us) || !(pos.CastlingRooks() & pos.ByColor(us)).Has(to) {
			return moveError(pos, m, "castling from the king's square to that of a rook with the right to it")
		}
	case kind != chess.Normal:
		return moveError(pos, m, "en passant, double steps and promotions by pawns only")
	case mover.Type() == chess.King && (!chess.KingAttacks(from).Has(to) || pos.ByColor(us).Has(to)):
		return moveError(pos, m, "a king's step to the next square, or castling as such")
	}
	return nil
}

// pawnKind returns the kind that the move m of a pawn must have.
func pawnKind(pos *chess.Position, m chess.Move, own bool) chess.MoveKind {
	from, to := m.From(), m.To()
	switch lastRank := 7 * int(pos.SideToMove().Other()); {
	case own && to.Rank() == lastRank:
		if m.IsPromotion() {
			return m.Kind()
		}
		return chess.PromoteQueen
	case from+16 == to || to+16 == from:
		return chess.DoublePush
	case to == pos.EnPassant() && from.File() != to.File():
		return chess.EnPassant
	}
	return chess.Normal
}

func moveError(pos *chess.Position, m chess.Move, expected string) error {
	return fmt.Errorf("%w: move: found %s of kind %d in %s, expected %s", ErrRecord, pos.UCI(m), m.Kind(), pos.FEN(), expected)
}

// unknown stands in text for the piece of a move that is Partial: "?@d3",
// "e7d8?".
const unknown = '?'

// AppendMove appends a move of pos in UCI's form. If partial is set, the piece
// dropped or promoted to is written as "?".
func AppendMove(dst []byte, pos *chess.Position, m chess.Move, partial bool) []byte {
	start := len(dst)
	dst = pos.AppendUCI(dst, m)
	if partial {
		if m.IsDrop() {
			dst[start] = unknown
		} else if m.IsPromotion() {
			dst[len(dst)-1] = unknown
		}
	}
	return dst
}

// ParseMove reads what AppendMove writes. "0000" is NoMove. The move is one that
// CheckMove accepts, not necessarily legal. The error wraps ErrRecord.
func ParseMove(pos *chess.Position, text []byte) (m chess.Move, partial bool, err error) {
	var buf [5]byte
	n := copy(buf[:], text)
	if string(text) == "0000" {
		return chess.NoMove, false, nil
	}
	switch {
	case n == 4 && buf[0] == unknown && buf[1] == '@':
		buf[0], partial = 'P', true
	case n == 5 && buf[4] == unknown:
		buf[4], partial = 'q', true
	}
	m, ok := pos.ReadUCI(string(buf[:n]))
	if !ok || n != len(text) {
		return chess.NoMove, false, fmt.Errorf("%w: move: found %q, expected one such as \"e2e4\", \"e7e8q\", \"N@f3\", or with an unknown piece \"e7e8?\", \"?@f3\"",
			ErrRecord, text[:min(len(text), 20)])
	}
	return m, partial, CheckMove(pos, m)
}

// ParseScore reads a score: a number, rounded to the nearest if it is a fraction,
// halves away from zero, between MinScore and MaxScore. The error wraps
// ErrRecord.
func ParseScore(text []byte) (search.Score, error) {
	if n, ok := ParseInt(text, int(MinScore), int(MaxScore)); ok {
		return search.Score(n), nil
	}
	const longest = 40
	if len(text) <= longest {
		x, err := strconv.ParseFloat(string(text), 64)
		if x = math.Round(x); err == nil && x >= float64(MinScore) && x <= float64(MaxScore) {
			return search.Score(x), nil
		}
	}
	return 0, fmt.Errorf("%w: score: found %q, expected a number from %d to %d", ErrRecord, text[:min(len(text), longest)], MinScore, MaxScore)
}

// ParseInt reads a decimal number, signed or not, and reports whether it is one
// between least and most, both of which must be small.
func ParseInt(text []byte, least, most int) (n int, ok bool) {
	digits := text
	if len(text) > 1 && (text[0] == '-' || text[0] == '+') {
		digits = text[1:]
	}
	const longest = 9 // cannot overflow
	if len(digits) == 0 || len(digits) > longest {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	if text[0] == '-' {
		n = -n
	}
	return n, n >= least && n <= most
}

// Check refuses a sample whose score, result or move no codec writes. The error
// wraps ErrRecord.
func (s *Sample) Check() error {
	switch {
	case s.Score < MinScore || s.Score > MaxScore:
		return fmt.Errorf("%w: score: found %d, expected %d to %d", ErrRecord, int(s.Score), int(MinScore), int(MaxScore))
	case s.Result < -1 || s.Result > 1:
		return fmt.Errorf("%w: result: found %d, expected -1, 0 or 1", ErrRecord, s.Result)
	}
	if s.Partial && !s.Move.IsDrop() && !s.Move.IsPromotion() {
		return moveError(&s.Pos, s.Move, "a drop or a promotion, as its piece is said to be unknown")
	}
	return CheckMove(&s.Pos, s.Move)
}
