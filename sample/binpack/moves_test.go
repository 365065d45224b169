package binpack

import (
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// starts are positions for random games: the usual one, and some that come soon
// to promotions, en passant captures along pins, and castling.
var starts = []string{
	chess.Chess.StartFEN,
	"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
	"n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
	"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
	"r3k2r/1pp1pp1p/8/3P1P2/3p1p2/8/P1P1P1PP/R3K2R w KQkq - 0 1",
	"3qk3/2p1p1p1/8/b2P1P1r/R2p1p1B/8/2P1P1P1/3QK3 w - - 0 1",
}

// randomGames calls visit with the positions of random games and a legal move in
// each, which is then made, n in all.
func randomGames(tb testing.TB, n int, visit func(ply int, p *chess.Position, m chess.Move)) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(6, 1))
	for game := 0; n > 0; game++ {
		p, err := chess.ParseFEN(chess.Chess, starts[game%len(starts)])
		if err != nil {
			tb.Fatal(err)
		}
		for ply := range 120 {
			var l chess.MoveList
			if p.Legal(&l); l.N == 0 || n == 0 {
				break
			}
			m := l.Moves[rng.IntN(l.N)]
			visit(ply, &p, m)
			n--
			p.Make(m)
		}
	}
}

// board is the slow twin of what the format says about moves: pieces by square,
// walked over step by step.
type board [64]chess.Piece

func boardOf(p *chess.Position) *board {
	var b board
	for s := range b {
		b[s] = p.PieceAt(chess.Square(s))
	}
	return &b
}

var (
	straight = [][2]int{{0, 1}, {1, 0}, {0, -1}, {-1, 0}}
	diagonal = [][2]int{{1, 1}, {1, -1}, {-1, -1}, {-1, 1}}
	leaps    = [][2]int{{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}}
)

// walk calls visit with the squares from s on in direction d, until it returns
// false.
func walk(s chess.Square, d [2]int, visit func(chess.Square) bool) {
	for f, r := s.File()+d[0], s.Rank()+d[1]; f >= 0 && f < 8 && r >= 0 && r < 8; f, r = f+d[0], r+d[1] {
		if !visit(chess.NewSquare(f, r)) {
			return
		}
	}
}

// exposed reports whether a bishop, rook or queen of the other side attacks the
// king of c.
func (b *board) exposed(c chess.Color) bool {
	for s, pc := range b {
		if pc != chess.MakePiece(c, chess.King) {
			continue
		}
		for slider, directions := range map[chess.PieceType][][2]int{chess.Rook: straight, chess.Bishop: diagonal} {
			for _, d := range directions {
				hit := false
				walk(chess.Square(s), d, func(t chess.Square) bool {
					hit = b[t] == chess.MakePiece(c.Other(), slider) || b[t] == chess.MakePiece(c.Other(), chess.Queen)
					return b[t] == chess.NoPiece
				})
				if hit {
					return true
				}
			}
		}
	}
	return false
}

// enPassant returns the square a pawn passed that went from one square to
// another, if the format keeps it.
func (b *board) enPassant(c chess.Color, from, to chess.Square) chess.Square {
	ep := (from + to) / 2
	for _, file := range []int{-1, 1} {
		walk(to, [2]int{file, 0}, func(s chess.Square) bool {
			after := *b
			if b[s] == chess.MakePiece(c.Other(), chess.Pawn) {
				after[s], after[to], after[ep] = chess.NoPiece, chess.NoPiece, b[s]
				if !after.exposed(c.Other()) {
					from = chess.NoSquare
				}
			}
			return false
		})
	}
	if from == chess.NoSquare {
		return ep
	}
	return chess.NoSquare
}

// destinations returns the squares to which the format numbers moves of the piece
// on s, castling apart.
func (b *board) destinations(s, ep chess.Square) chess.Bitboard {
	var to chess.Bitboard
	c := b[s].Color()
	slide := func(directions [][2]int, steps int) {
		for _, d := range directions {
			n := 0
			walk(s, d, func(t chess.Square) bool {
				if b[t] == chess.NoPiece || b[t].Color() != c {
					to |= t.Bitboard()
				}
				n++
				return b[t] == chess.NoPiece && n < steps
			})
		}
	}
	switch b[s].Type() {
	case chess.Knight:
		slide(leaps, 1)
	case chess.Bishop:
		slide(diagonal, 8)
	case chess.Rook:
		slide(straight, 8)
	case chess.Queen:
		slide(straight, 8)
		slide(diagonal, 8)
	case chess.King:
		slide(straight, 1)
		slide(diagonal, 1)
	case chess.Pawn:
		up, steps := 1, 1
		if c == chess.Black {
			up = -1
		}
		if s.Rank() == 1 && c == chess.White || s.Rank() == 6 && c == chess.Black {
			steps = 2
		}
		walk(s, [2]int{0, up}, func(t chess.Square) bool {
			if b[t] == chess.NoPiece {
				to |= t.Bitboard()
			}
			steps--
			return b[t] == chess.NoPiece && steps > 0
		})
		for _, file := range []int{-1, 1} {
			walk(s, [2]int{file, up}, func(t chess.Square) bool {
				if b[t] != chess.NoPiece && b[t].Color() != c || t == ep {
					to |= t.Bitboard()
				}
				return false
			})
		}
	}
	return to
}

// TestChoices compares the moves of every piece with the twin's, and numbers
// every legal move and back.
func TestChoices(t *testing.T) {
	randomGames(t, 3000, func(_ int, played *chess.Position, _ chess.Move) {
		p := *played
		trimEnPassant(&p)
		b := boardOf(&p)
		for own := p.ByColor(p.SideToMove()); own != 0; own &= own - 1 {
			c := choicesOf(&p, p.CastlingRooks(), own.First())
			if want := b.destinations(own.First(), p.EnPassant()); c.to != want {
				t.Fatalf("%s: from %v to %x, expected %x", p.FEN(), own.First(), c.to, want)
			}
		}
		var l chess.MoveList
		p.Legal(&l)
		for _, m := range l.Slice() {
			c := choicesOf(&p, p.CastlingRooks(), m.From())
			n := c.number(m)
			if n >= c.count() || c.at(&p, m.From(), n) != m {
				t.Fatalf("%s: %s has number %d of %d, which is %s", p.FEN(), p.UCI(m), n, c.count(), p.UCI(c.at(&p, m.From(), n)))
			}
		}
	})
}

// TestAfterMove compares en passant square and castling rights after every move
// with the twin's.
func TestAfterMove(t *testing.T) {
	kept, trimmed := 0, 0
	randomGames(t, 20000, func(_ int, p *chess.Position, m chess.Move) {
		next, plain := *p, *p
		afterMove(&next, m)
		plain.Make(m)
		want := chess.NoSquare
		if m.Kind() == chess.DoublePush {
			want = boardOf(&next).enPassant(p.SideToMove(), m.From(), m.To())
		}
		if next.EnPassant() != want {
			t.Fatalf("%s: after %s the en passant square is %v, expected %v", p.FEN(), p.UCI(m), next.EnPassant(), want)
		}
		if want != chess.NoSquare {
			kept++
		} else if plain.EnPassant() != want {
			trimmed++
		}
		if rights := keepRights(p.CastlingRooks(), m); rights != next.CastlingRooks() {
			t.Fatalf("%s: after %s the rights are %x, expected %x", p.FEN(), p.UCI(m), rights, next.CastlingRooks())
		}
	})
	if kept < 100 || trimmed < 5 {
		t.Fatalf("%d en passant squares kept, %d trimmed: too few to tell", kept, trimmed)
	}
}

// TestEnPassant tries the rule where it differs from others.
func TestEnPassant(t *testing.T) {
	for _, c := range []struct {
		name, fen string
		keeps     bool
	}{
		{"free", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", true},
		{"pinned on the file", "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1", false},
		{"both pawns leave the rank", "4k3/8/8/K2pP2r/8/8/8/8 w - d6 0 1", false},
		{"a third pawn stays on the rank", "4k3/8/8/K1PpP2r/8/8/8/8 w - d6 0 1", true},
		{"pinned on the diagonal", "4k3/6b1/8/3pP3/3K4/8/8/8 w - d6 0 1", false},
		{"captured pawn opens a diagonal", "4k3/1b6/8/3pP3/4K3/8/8/8 w - d6 0 1", false},
		{"pinned, but captures along the line", "4k3/2b5/8/3pP3/5K2/8/8/8 w - d6 0 1", true},
		{"one of two pinned", "4r1k1/8/8/2PpP3/8/8/8/4K3 w - d6 0 1", true},
		{"check by a knight plays no part", "4k3/8/8/3pP3/8/3n4/8/4K3 w - d6 0 1", true},
		{"check by the pawn itself", "4k3/8/8/3pP3/4K3/8/8/8 w - d6 0 1", true},
		{"check by a rook elsewhere", "4k3/8/8/3pP3/8/8/8/r3K3 w - d6 0 1", false},
		{"check by a rook, capture between", "3rk3/8/8/3pP3/8/8/8/3K4 w - d6 0 1", true},
		{"black, both pawns leave the rank", "8/8/8/8/k2Pp2R/8/8/4K3 b - d3 0 1", false},
		{"black, free", "4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 1", true},
	} {
		p, err := chess.ParseFEN(chess.Chess, c.fen)
		if err != nil {
			t.Fatal(err)
		}
		if p.EnPassant() == chess.NoSquare {
			t.Fatalf("%s: no en passant square to begin with", c.name)
		}
		trimEnPassant(&p)
		if keeps := p.EnPassant() != chess.NoSquare; keeps != c.keeps {
			t.Errorf("%s: kept %v, expected %v", c.name, keeps, c.keeps)
		}
		again, err := chess.ParseFEN(chess.Chess, p.FEN())
		if err != nil || again != p {
			t.Errorf("%s: key or fields do not fit %s: %v", c.name, p.FEN(), err)
		}
	}
}
