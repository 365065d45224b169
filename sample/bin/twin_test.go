package bin

import (
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// twinPosition writes a position bit by bit, as the package comment says.
func twinPosition(f Format, p *chess.Position) []byte {
	var stream []bool
	add := func(v, n int) {
		for i := range n {
			stream = append(stream, v>>i&1 != 0)
		}
	}
	king, code := 7, 5
	if f == Bits256 {
		king, code = 6, 4
	}
	add(int(p.SideToMove()), 1)
	add(int(p.King(chess.White)), king)
	add(int(p.King(chess.Black)), king)
	for rank := 7; rank >= 0; rank-- {
		for file := range 8 {
			switch pc := p.PieceAt(chess.NewSquare(file, rank)); pc.Type() {
			case chess.King:
			case chess.NoPieceType:
				add(0, 1)
			default:
				add(2*int(pc.Type())+1, code)
				add(int(pc.Color()), 1)
			}
		}
	}
	for c := chess.White; c <= chess.Black && f == Bits512; c++ {
		for t := chess.Pawn; t <= chess.Queen; t++ {
			add(p.Hand(c).Count(t), 5)
		}
		add(0, 5)
	}
	for _, s := range []chess.Square{7, 0, 63, 56} {
		add(int(p.CastlingRooks()>>s&1), 1)
	}
	if ep := p.EnPassant(); ep == chess.NoSquare {
		add(0, 1)
	} else {
		add(1, 1)
		add(int(ep), king)
	}
	add(p.HalfmoveClock(), 6)
	add(p.FullmoveNumber(), 8)
	add(p.FullmoveNumber()>>8, 8)
	add(p.HalfmoveClock()>>6, 1)
	out := make([]byte, f.layout().position)
	for i, bit := range stream {
		if bit {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}

// walk calls f with samples of random games. Scores, results and plies are
// random too.
func walk(t testing.TB, v *chess.Variant, games int, f func(s *sample.Sample)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var l chess.MoveList
	for range games {
		p := v.Start()
		if v == chess.Chess && rng.IntN(3) == 0 { // promotions soon
			p = mustParse(t, v, "r3k2r/1P4P1/8/2pP4/4Pp2/8/1p4p1/R3K2R w KQkq c6 0 30")
		}
		for range 150 {
			l.N = 0
			p.Legal(&l)
			if l.N == 0 || p.HalfmoveClock() > maxClock {
				break
			}
			s := sample.Sample{
				Pos: p, Move: l.Moves[rng.IntN(l.N)], Score: search.Score(rng.IntN(1<<16) - 1<<15),
				Result: int8(rng.IntN(3) - 1), Ply: uint16(rng.IntN(1 << 16)),
			}
			f(&s)
			p.Make(s.Move)
		}
	}
}

func mustParse(t testing.TB, v *chess.Variant, fen string) chess.Position {
	t.Helper()
	p, err := chess.ParseFEN(v, fen)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// without returns s without what Bits512 does not keep.
func without(t testing.TB, s sample.Sample) sample.Sample {
	t.Helper()
	p := &s.Pos
	setup := chess.Setup{
		Hands: [2]chess.Hand{p.Hand(0), p.Hand(1)}, SideToMove: p.SideToMove(), CastlingRooks: p.CastlingRooks(),
		EnPassant: p.EnPassant(), HalfmoveClock: uint16(p.HalfmoveClock()), FullmoveNumber: uint16(p.FullmoveNumber()),
	}
	for i := range setup.Board {
		setup.Board[i] = p.PieceAt(chess.Square(i))
	}
	pos, err := setup.Position(p.Variant())
	if err != nil {
		t.Fatal(err)
	}
	s.Pos = pos
	switch m := s.Move; {
	case m.IsDrop():
		s.Move, s.Partial = chess.NewDrop(chess.Pawn, m.To()), true
	case m.IsPromotion():
		s.Move, s.Partial = chess.NewPromotion(m.From(), m.To(), chess.Queen), true
	}
	return s
}
