package chess

import "testing"

// TestSlidingAttacks compares every entry of the magic tables with a walk over
// the board.
func TestSlidingAttacks(t *testing.T) {
	for s := A1; s <= H8; s++ {
		for _, c := range []struct {
			mask    Bitboard
			steps   [][2]int
			attacks func(Square, Bitboard) Bitboard
		}{
			{rookMagics[s].mask, rookSteps, RookAttacks},
			{bishopMagics[s].mask, bishopSteps, BishopAttacks},
		} {
			for occ := Bitboard(0); ; {
				want := walk(s, c.steps, occ)
				if got := c.attacks(s, occ); got != want {
					t.Fatalf("slider on %v, occupied %#x: %#x, want %#x", s, occ, got, want)
				}
				if got := c.attacks(s, occ|^c.mask); got != want { // squares outside the mask do not matter
					t.Fatalf("slider on %v, occupied %#x: %#x, want %#x", s, occ|^c.mask, got, want)
				}
				if occ = (occ - c.mask) & c.mask; occ == 0 {
					break
				}
			}
		}
	}
}

func walk(s Square, steps [][2]int, occ Bitboard) Bitboard {
	var set Bitboard
	for _, d := range steps {
		for to := step(s, d[0], d[1]); to != NoSquare; to = step(to, d[0], d[1]) {
			set |= to.Bitboard()
			if occ.Has(to) {
				break
			}
		}
	}
	return set
}

func TestStepAttacks(t *testing.T) {
	for s := A1; s <= H8; s++ {
		var knight, king, white, black Bitboard
		for _, d := range knightSteps {
			knight |= step(s, d[0], d[1]).Bitboard()
		}
		for _, d := range queenSteps {
			king |= step(s, d[0], d[1]).Bitboard()
		}
		for _, file := range []int{-1, 1} {
			white |= step(s, file, 1).Bitboard()
			black |= step(s, file, -1).Bitboard()
		}
		if KnightAttacks(s) != knight || KingAttacks(s) != king ||
			PawnAttacks(White, s) != white || PawnAttacks(Black, s) != black {
			t.Errorf("step attacks from %v are wrong", s)
		}
		if QueenAttacks(s, knight) != RookAttacks(s, knight)|BishopAttacks(s, knight) {
			t.Errorf("queen attacks from %v are wrong", s)
		}
	}
}

func TestBetweenAndLine(t *testing.T) {
	for a := A1; a <= H8; a++ {
		for b := A1; b <= H8; b++ {
			var between, line Bitboard
			for _, d := range queenSteps {
				var passed Bitboard
				for s := step(a, d[0], d[1]); s != NoSquare; s = step(s, d[0], d[1]) {
					if s == b {
						between = passed
						line = walk(a, [][2]int{d, {-d[0], -d[1]}}, 0) | a.Bitboard()
					}
					passed |= s.Bitboard()
				}
			}
			if Between(a, b) != between || lineTable[a][b] != line {
				t.Fatalf("%v %v: between %#x, line %#x, want %#x, %#x", a, b, Between(a, b), lineTable[a][b], between, line)
			}
		}
	}
}

func TestSquares(t *testing.T) {
	for s := A1; s <= H8; s++ {
		if got, err := ParseSquare(s.String()); got != s || err != nil {
			t.Errorf("ParseSquare(%v) = %v, %v", s, got, err)
		}
		if NewSquare(s.File(), s.Rank()) != s || s.Bitboard().First() != s || !s.Bitboard().Has(s) {
			t.Errorf("square %v falls apart", s)
		}
	}
	for _, bad := range []string{"", "e", "e9", "i1", "E4", "e44", "\xff\xff"} {
		if s, err := ParseSquare(bad); err == nil {
			t.Errorf("ParseSquare(%q) = %v", bad, s)
		}
	}
	if NoSquare.Bitboard() != 0 || NoSquare.String() != "-" {
		t.Errorf("NoSquare is %#x %q", NoSquare.Bitboard(), NoSquare)
	}
}

func TestPieces(t *testing.T) {
	const letters = "PNBRQKpnbrqk"
	i := 0
	for c := White; c <= Black; c++ {
		for kind := Pawn; kind <= King; kind++ {
			p := MakePiece(c, kind)
			if p.Type() != kind || p.Color() != c || p.String() != letters[i:i+1] || pieceOf(letters[i]) != p {
				t.Errorf("piece %v of %v falls apart: %v", kind, c, p)
			}
			i++
		}
	}
	if NoPiece.Type() != NoPieceType || NoPiece.String() != "." || NoPieceType.String() != "-" {
		t.Error("the absence of a piece is wrong")
	}
	for c := range 256 {
		if p := pieceOf(byte(c)); p != NoPiece && p.letter() != byte(c) {
			t.Errorf("pieceOf(%q) = %v", byte(c), p)
		}
	}
}
