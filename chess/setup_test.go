package chess

import (
	"errors"
	"testing"
)

// setupOf takes p apart.
func setupOf(p *Position) Setup {
	s := Setup{
		Promoted: p.Promoted(), Hands: [2]Hand{p.Hand(White), p.Hand(Black)}, SideToMove: p.SideToMove(),
		CastlingRooks: p.CastlingRooks(), EnPassant: p.EnPassant(),
		HalfmoveClock: uint16(p.HalfmoveClock()), FullmoveNumber: uint16(p.FullmoveNumber()),
	}
	for sq := range s.Board {
		s.Board[sq] = p.PieceAt(Square(sq))
	}
	return s
}

// TestSetup puts positions together again that were taken apart.
func TestSetup(t *testing.T) {
	walkPositions(t, 2000, func(p *Position) {
		s := setupOf(p)
		got, err := s.Position(p.Variant())
		if err != nil {
			t.Fatalf("%s: %v", p.FEN(), err)
		}
		got.SetChess960(p.Chess960())
		if got != *p {
			t.Fatalf("%s: put together it is\n%+v, want\n%+v", p.FEN(), got, *p)
		}
	})
}

func TestSetupErrors(t *testing.T) {
	start := func(v *Variant) Setup {
		p := v.Start()
		return setupOf(&p)
	}
	for _, c := range []struct {
		field  string
		v      *Variant
		change func(*Setup)
	}{
		{"board", Crazyhouse, func(s *Setup) { s.Board[20] = 7 }},
		{"board", Crazyhouse, func(s *Setup) { s.Board[20] = 8 }},
		{"board", Crazyhouse, func(s *Setup) { s.Board[20] = 255 }},
		{"kings", Crazyhouse, func(s *Setup) { s.Board = [64]Piece{} }},
		{"pawns", Crazyhouse, func(s *Setup) { s.Board[1] = MakePiece(White, Pawn) }},
		{"board", Chess, func(s *Setup) { s.Promoted = 1 }},
		{"board", Crazyhouse, func(s *Setup) { s.Promoted = 1 << 30 }},
		{"pocket", Chess, func(s *Setup) { s.Hands[1] = 1 }},
		{"pocket", Crazyhouse, func(s *Setup) { s.Hands[1] = 17 }},
		{"check", Chess, func(s *Setup) { s.Board[51] = MakePiece(White, Pawn) }},
		{"castling", Crazyhouse, func(s *Setup) {
			s.Board[1] = MakePiece(White, Rook)
			s.CastlingRooks |= 2
		}},
	} {
		s := start(c.v)
		c.change(&s)
		_, err := s.Position(c.v)
		var e *FENError
		if !errors.As(err, &e) || e.Field != c.field {
			t.Errorf("wrong %s: %v", c.field, err)
		}
	}
}

// TestSetupDrops leaves out what cannot be used, as ParseFEN does.
func TestSetupDrops(t *testing.T) {
	want := mustParse(t, Chess, "rnbqk3/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBN1 w KQkq e6 0 1")
	s := setupOf(&want)
	s.CastlingRooks = 1<<A1 | 1<<H1 | 1<<A8 | 1<<H8
	s.EnPassant, s.FullmoveNumber = 44, 0
	got, err := s.Position(Chess)
	if err != nil || got != want {
		t.Errorf("%s, %v, want %s", got.FEN(), err, want.FEN())
	}
}

// TestSetClocks checks that the key, which has no part in the clocks, stays.
func TestSetClocks(t *testing.T) {
	p := mustParse(t, Chess, "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1")
	for _, c := range []struct {
		halfmove, fullmove int
		fen                string
	}{
		{7, 30, "4k3/8/8/3pP3/8/8/8/4K3 w - d6 7 30"},
		{-1, 0, "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"},
		{1 << 16, 1 << 16, "4k3/8/8/3pP3/8/8/8/4K3 w - d6 65535 65535"},
	} {
		p.SetClocks(c.halfmove, c.fullmove)
		if p.FEN() != c.fen {
			t.Errorf("clocks %d and %d: %s, want %s", c.halfmove, c.fullmove, p.FEN(), c.fen)
		}
		checkRebuilt(t, &p)
	}
	p.ClearEnPassant()
	if p.EnPassant() != NoSquare {
		t.Errorf("en passant square %v after clearing", p.EnPassant())
	}
	checkRebuilt(t, &p)
}

// FuzzSetup puts anything together: it must be refused or be a position whose
// FEN gives it again.
func FuzzSetup(f *testing.F) {
	p := mustParse(f, Crazyhouse, middlegameFEN)
	s := setupOf(&p)
	board := make([]byte, 64)
	for i, pc := range s.Board {
		board[i] = byte(pc)
	}
	f.Add(board, uint64(s.Promoted), uint32(s.Hands[0]), uint32(s.Hands[1]), uint8(s.SideToMove), uint64(s.CastlingRooks), uint8(s.EnPassant), uint16(3), uint16(4), false)
	f.Fuzz(func(t *testing.T, board []byte, promoted uint64, white, black uint32, side uint8, castling uint64, ep uint8, halfmove, fullmove uint16, plain bool) {
		s := Setup{
			Promoted: Bitboard(promoted), Hands: [2]Hand{Hand(white), Hand(black)}, SideToMove: Color(side),
			CastlingRooks: Bitboard(castling), EnPassant: Square(ep), HalfmoveClock: halfmove, FullmoveNumber: fullmove,
		}
		for i := range s.Board[:min(64, len(board))] {
			s.Board[i] = Piece(board[i])
		}
		v := Crazyhouse
		if plain {
			v = Chess
		}
		p, err := s.Position(v)
		if err != nil {
			return
		}
		checkRebuilt(t, &p)
		var l MoveList
		p.Legal(&l)
		compareSets(t, &p, "Legal", moveSet(t, &p, &l), twinOf(&p).legal())
	})
}
