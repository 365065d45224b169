package bin

import (
	"fmt"
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

const (
	// others is the number of squares coded one by one: all but the kings'.
	others = 62
	// handKinds is the number of kinds counted in hand, kings among them.
	handKinds = 6
	// maxPieces is the most pieces, on the board and in hand, that trainers
	// which read the format have room for.
	maxPieces = 32
	// maxClock is the largest halfmove clock; a larger one is written as this.
	// Only games without a rule of fifty moves get there.
	maxClock = 127
)

// corners holds the castling rooks of standard chess in the order of the rights.
var corners = [4]chess.Square{chess.H1, chess.A1, chess.H8, chess.A8}

// order numbers the squares as they stand in the stream, and back: a8 is 0.
func order(s chess.Square) uint { return uint(s) ^ 56 }

// decodePosition reads the position in data. setup is memory to work with. The
// error wraps sample.ErrRecord.
func (l *layout) decodePosition(data []byte, v *chess.Variant, setup *chess.Setup) (chess.Position, error) {
	var s bitReader
	copy(s.data[:], data)
	*setup = chess.Setup{SideToMove: chess.Color(s.read(1)), EnPassant: chess.NoSquare}
	if err := l.decodeBoard(&s, setup); err != nil {
		return chess.Position{}, err
	}
	if l.hand != 0 {
		for c := range setup.Hands {
			counts := s.read(handKinds * l.hand)
			for t := chess.Pawn; counts != 0; t++ {
				n := counts & (1<<l.hand - 1)
				counts >>= l.hand
				if t == chess.King {
					return chess.Position{}, bad("kings in hand", n, "0")
				}
				for range n {
					setup.Hands[c] = setup.Hands[c].Add(t)
				}
			}
		}
	}
	rights := s.read(4)
	for i, corner := range corners {
		if rights>>i&1 != 0 {
			setup.CastlingRooks |= corner.Bitboard()
		}
	}
	if s.read(1) != 0 {
		ep := s.read(l.ep)
		if ep > uint64(chess.H8) {
			return chess.Position{}, bad("en passant square", ep, "0 to 63")
		}
		setup.EnPassant = chess.Square(ep)
	}
	setup.HalfmoveClock = uint16(s.read(6))
	setup.FullmoveNumber = uint16(s.read(16))
	setup.HalfmoveClock |= uint16(s.read(1)) << 6
	if int(s.at) > 8*l.position || !s.empty() {
		return chess.Position{}, fmt.Errorf("%w: position: found bits set beyond its %d, expected zeros in the rest of %d bytes",
			sample.ErrRecord, s.at, l.position)
	}
	p, err := setup.Position(v)
	if err != nil {
		return p, fmt.Errorf("%w: position: %w", sample.ErrRecord, err)
	}
	if p.CastlingRooks() != setup.CastlingRooks || p.Chess960() {
		return p, fmt.Errorf("%w: position: found rights to castle with rooks not there in %s, expected king and rook in place",
			sample.ErrRecord, p.FEN())
	}
	return p, nil
}

// decodeBoard reads the kings and the other squares. Runs of empty squares are
// taken at once.
func (l *layout) decodeBoard(s *bitReader, setup *chess.Setup) error {
	white, black := s.read(l.king), s.read(l.king)
	if white > uint64(chess.H8) || black > uint64(chess.H8) || white == black {
		return fmt.Errorf("%w: kings: found squares %d and %d, expected two different ones from 0 to 63", sample.ErrRecord, white, black)
	}
	setup.Board[white] = chess.MakePiece(chess.White, chess.King)
	setup.Board[black] = chess.MakePiece(chess.Black, chess.King)
	first, second := order(chess.Square(white)), order(chess.Square(black))
	if first > second {
		first, second = second, first
	}
	piece := l.kind + 1                    // bits
	next, left := s.peek(), uint(peekBits) // what comes, and how many bits of it are there
	for n := uint(0); ; n++ {
		empty := min(uint(bits.TrailingZeros64(next)), left)
		for empty+piece > left && n+empty < others {
			n += empty
			s.at += empty
			next, left = s.peek(), peekBits
			empty = min(uint(bits.TrailingZeros64(next)), left)
		}
		if n+empty >= others {
			s.at += others - n
			return nil
		}
		code := next >> (empty & 63)
		next = code >> (piece & 63)
		left -= empty + piece
		s.at += empty + piece
		n += empty

		kind := code >> 1 & (1<<(l.kind-1) - 1)
		if kind > uint64(chess.Queen) {
			return bad("piece on the board", kind, "0 to 4, pawn to queen")
		}
		at := n
		if at >= first {
			at++
		}
		if at >= second {
			at++
		}
		setup.Board[(at^56)&63] = chess.MakePiece(chess.Color(code>>l.kind&1), chess.PieceType(kind))
	}
}

// encodePosition writes p to data. The error wraps sample.ErrRecord.
func (l *layout) encodePosition(data []byte, p *chess.Position) error {
	if err := l.checkPosition(p); err != nil {
		return err
	}
	var s bitWriter
	s.write(uint64(p.SideToMove()), 1)
	l.encodeBoard(&s, p)
	if l.hand != 0 {
		for c := chess.White; c <= chess.Black; c++ {
			counts := uint64(0)
			if hand := p.Hand(c); hand != 0 {
				for t := chess.Pawn; t <= chess.Queen; t++ {
					counts |= uint64(hand.Count(t)) << (l.hand * uint(t) & 63)
				}
			}
			s.write(counts, handKinds*l.hand)
		}
	}
	rights := uint64(0)
	for i, corner := range corners {
		rights |= uint64(p.CastlingRooks()>>corner&1) << i
	}
	s.write(rights, 4)
	if ep := p.EnPassant(); ep == chess.NoSquare {
		s.write(0, 1)
	} else {
		s.write(1, 1)
		s.write(uint64(ep), l.ep)
	}
	clock := uint64(min(p.HalfmoveClock(), maxClock))
	s.write(clock&63, 6)
	s.write(uint64(p.FullmoveNumber()), 16)
	s.write(clock>>6, 1)
	s.store(data[:l.position])
	return nil
}

// encodeBoard writes the kings and the other squares.
func (l *layout) encodeBoard(s *bitWriter, p *chess.Position) {
	white, black := p.King(chess.White), p.King(chess.Black)
	s.write(uint64(white), l.king)
	s.write(uint64(black), l.king)
	first, second := order(white), order(black)
	if first > second {
		first, second = second, first
	}
	kings := p.ByType(chess.King)
	next := uint(0) // square not yet written
	for b := bits.ReverseBytes64(uint64(p.Occupied() &^ kings)); b != 0; b &= b - 1 {
		n := uint(bits.TrailingZeros64(b)) // counts from a8
		pc := p.PieceAt(chess.Square(n ^ 56))
		if n > first {
			n--
		}
		if n > second-1 {
			n--
		}
		code := 2*uint64(pc.Type()) + 1 | uint64(pc.Color())<<l.kind
		gap := n - next
		if gap > 64-1-l.kind {
			s.write(0, gap)
			gap = 0
		}
		s.write(code<<(gap&63), gap+l.kind+1)
		next = n + 1
	}
	s.write(0, others-next)
}

// checkPosition refuses what does not fit into a record, or would overflow in
// the trainers that read it.
func (l *layout) checkPosition(p *chess.Position) error {
	const corner = 1<<chess.A1 | 1<<chess.H1 | 1<<chess.A8 | 1<<chess.H8
	if l.hand == 0 && p.Variant().CapturesToHand {
		return fmt.Errorf("%w: variant: found %s, expected chess in a %s", sample.ErrRecord, p.Variant(), l.name)
	}
	if n := p.Occupied().Count() + p.Hand(chess.White).Total() + p.Hand(chess.Black).Total(); n > maxPieces {
		return bad("pieces on the board and in hand", n, "at most 32")
	}
	if rooks := p.CastlingRooks(); rooks != 0 {
		for c := chess.White; c <= chess.Black; c++ {
			if rooks&(0xff<<(56*c)) != 0 && p.King(c).File() != 4 || rooks&^corner != 0 {
				return fmt.Errorf("%w: castling: found rights of Chess960 in %s, expected those of standard chess", sample.ErrRecord, p.FEN())
			}
		}
	}
	if n := p.FullmoveNumber(); n > chess.MaxFullmoveNumber {
		return bad("move number", n, "at most 65535")
	}
	return nil
}

// bad returns the error of a number out of bounds.
func bad[T int | uint64 | int8](what string, found T, expected string) error {
	return fmt.Errorf("%w: %s: found %d, expected %s", sample.ErrRecord, what, found, expected)
}
