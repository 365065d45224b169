package chess

import (
	"strconv"
	"strings"
)

// maxFENLength bounds what ParseFEN looks at. The longest FEN it accepts, with
// a full board of promoted pieces and full hands, is shorter.
const maxFENLength = 512

// maxClock bounds the halfmove clock of a FEN.
const maxClock = 1<<16 - 1

// maxInHand is the most pieces of one kind that a FEN may put in one hand.
const maxInHand = 16

// ParseFEN reads a position of v.
//
// It understands the dialects of Fairy-Stockfish, lichess, python-chess and
// shakmaty: the hands in brackets after the board, "[QNPpp]" in any order, as a
// ninth rank, "/QNPpp", or not given; "-" for empty hands; promoted pieces
// marked by "~". Fields missing at the end default to "w - - 0 1", and move
// number 0 is read as 1. Castling rights are KQkq, of standard chess, or the
// files of rooks, which set Chess960.
//
// Refused with a *FENError are wrong syntax, other than one king a side, pawns
// on the first or last rank, the side not to move in check, and more than 16
// pieces of one kind in a hand. Castling rights and an en passant square that
// cannot be used are dropped. See Warnings for what is accepted but impossible.
func ParseFEN(v *Variant, fen string) (Position, error) { return parseFEN(v, fen, false) }

// ParseFEN960 is ParseFEN for Chess960, which it sets: KQkq stand for the
// outermost rook on each side of the king, wherever the two are.
func ParseFEN960(v *Variant, fen string) (Position, error) { return parseFEN(v, fen, true) }

func parseFEN(v *Variant, fen string, chess960 bool) (Position, error) {
	p := Position{variant: v.index, ep: NoSquare, chess960: chess960}
	if len(fen) > maxFENLength {
		return Position{}, &FENError{"length", strconv.Itoa(len(fen)) + " bytes", "at most " + strconv.Itoa(maxFENLength)}
	}
	fields := strings.Fields(fen)
	for i, missing := range [...]string{"", "w", "-", "-", "0", "1"} {
		if i < len(fields) {
			continue
		}
		if i == 0 {
			return Position{}, &FENError{"board", "nothing", "eight ranks separated by /"}
		}
		fields = append(fields, missing)
	}
	if len(fields) > 6 {
		return Position{}, &FENError{"end", quote(fields[6]), "nothing after the move number"}
	}
	if err := p.parseFields(fields); err != nil {
		return Position{}, err
	}
	p.key = p.computeKey()
	return p, nil
}

// parseFields reads the six fields, each of which may rely on those before.
func (p *Position) parseFields(fields []string) error {
	board, pocket, err := splitPocket(fields[0])
	if err != nil {
		return err
	}
	if err := p.parseBoard(board); err != nil {
		return err
	}
	if err := p.parsePocket(pocket); err != nil {
		return err
	}
	switch fields[1] {
	case "w":
		p.side = White
	case "b":
		p.side = Black
	default:
		return &FENError{"side to move", quote(fields[1]), "w or b"}
	}
	if err := p.checkPieces(); err != nil {
		return err
	}
	if err := p.parseCastling(fields[2]); err != nil {
		return err
	}
	if err := p.parseEnPassant(fields[3]); err != nil {
		return err
	}
	halfmove, err := parseClock("halfmove clock", fields[4], maxClock)
	if err != nil {
		return err
	}
	fullmove, err := parseClock("move number", fields[5], MaxFullmoveNumber)
	if err != nil {
		return err
	}
	p.SetClocks(halfmove, fullmove)
	return nil
}

// splitPocket separates the ranks of the board from the pieces in hand, given in
// brackets, as a ninth rank or not at all.
func splitPocket(field string) (board, pocket string, err error) {
	if open := strings.IndexByte(field, '['); open >= 0 {
		pocket = field[open+1:]
		end := strings.IndexByte(pocket, ']')
		if end < 0 {
			return "", "", &FENError{"pocket", quote(field[open:]), "] after the pieces in hand"}
		}
		if end != len(pocket)-1 {
			return "", "", &FENError{"pocket", quote(pocket[end+1:]) + " after ]", "the end of the field"}
		}
		return field[:open], pocket[:end], nil
	}
	if strings.Count(field, "/") == 8 {
		last := strings.LastIndexByte(field, '/')
		return field[:last], field[last+1:], nil
	}
	return field, "", nil
}

// parseBoard places the pieces and promoted marks of eight ranks.
func (p *Position) parseBoard(board string) error {
	ranks := strings.Split(board, "/")
	if len(ranks) != 8 {
		return &FENError{"board", strconv.Itoa(len(ranks)) + " ranks", "8"}
	}
	for i, rank := range ranks {
		if err := p.parseRank(rank, 7-i); err != nil {
			return err
		}
	}
	return nil
}

func (p *Position) parseRank(text string, rank int) error {
	name := "rank " + strconv.Itoa(rank+1)
	file := 0
	for i := range len(text) {
		c := text[i]
		pc := pieceOf(c)
		switch {
		case c >= '1' && c <= '8':
			file += int(c - '0')
		case c == '~':
			if err := p.parseMark(text, i, NewSquare(file-1, rank)); err != nil {
				return err
			}
		case pc == NoPiece:
			return &FENError{"board", quote(text[i:i+1]) + " on " + name, "a piece letter, 1-8 or ~"}
		case file < 8:
			p.put(pc, NewSquare(file, rank))
			file++
		default:
			file++
		}
		if file > 8 {
			return &FENError{"board", "more than 8 squares on " + name, "8"}
		}
	}
	if file != 8 {
		return &FENError{"board", strconv.Itoa(file) + " squares on " + name, "8"}
	}
	return nil
}

// parseMark marks the piece before text[i], which stands on s, as promoted.
func (p *Position) parseMark(text string, i int, s Square) error {
	switch {
	case !p.Variant().CapturesToHand:
		return &FENError{"board", "~", "no marks in " + p.Variant().Name}
	case i == 0 || !strings.ContainsRune("NBRQnbrq", rune(text[i-1])):
		return &FENError{"board", "~ in " + quote(text), "it only after a knight, bishop, rook or queen"}
	}
	p.promoted |= s.Bitboard()
	return nil
}

// parsePocket puts the pieces of both hands, upper case for White, in place.
func (p *Position) parsePocket(pocket string) error {
	if pocket == "" || pocket == "-" {
		return nil
	}
	if !p.Variant().CapturesToHand {
		return &FENError{"pocket", quote(pocket), "no pieces in hand in " + p.Variant().Name}
	}
	for i := range len(pocket) {
		pc := pieceOf(pocket[i])
		if pc == NoPiece || pc.Type() == King {
			return &FENError{"pocket", quote(pocket[i : i+1]), "a letter of PNBRQpnbrq for each piece"}
		}
		hand := &p.hands[pc.Color()]
		if hand.Count(pc.Type()) == maxInHand {
			return &FENError{"pocket", "more than " + strconv.Itoa(maxInHand) + " of " + pc.String(), "at most " + strconv.Itoa(maxInHand)}
		}
		*hand = hand.Add(pc.Type())
	}
	return nil
}

// checkPieces refuses positions in which the rules have no meaning.
func (p *Position) checkPieces() error {
	for c := White; c <= Black; c++ {
		if n := p.Pieces(c, King).Count(); n != 1 {
			return &FENError{"kings", strconv.Itoa(n) + " of " + c.String(), "1"}
		}
	}
	if pawns := p.byType[Pawn] & (rank1 | rank8); pawns != 0 {
		return &FENError{"pawns", "a pawn on " + pawns.First().String(), "none on the first and last rank"}
	}
	for t := Pawn; t <= Queen; t++ {
		if n := p.material(t); n > maxHand {
			return &FENError{"pieces", strconv.Itoa(n) + " of kind " + t.String(), "at most " + strconv.Itoa(maxHand)}
		}
	}
	them := p.side ^ 1
	if king := p.King(them); p.attacked(king, p.side, p.Occupied()) {
		return &FENError{"check", "the " + them.String() + " king on " + king.String() + " attacked with " + p.side.String() + " to move",
			"the side that has moved not in check"}
	}
	return nil
}

// material returns the number of pieces of kind t on the board and in the hands,
// promoted pieces being pawns.
func (p *Position) material(t PieceType) int {
	n := (p.byType[t] &^ p.promoted).Count() + p.hands[White].Count(t) + p.hands[Black].Count(t)
	if t == Pawn {
		n += p.promoted.Count()
	}
	return n
}

// parseCastling reads the castling rights and drops those without king or rook
// in place.
func (p *Position) parseCastling(field string) error {
	if field == "-" {
		return nil
	}
	if strings.ContainsAny(field, "ABCDEFGHabcdefgh") {
		p.chess960 = true
	}
	for i := range len(field) {
		c := field[i]
		if strings.IndexByte("KQABCDEFGH", c&^0x20) < 0 || strings.IndexByte(field[:i], c) >= 0 {
			return &FENError{"castling", quote(field), "-, or letters of KQkq or files such as HAha, each once"}
		}
		rook := p.rookOfRight(c)
		if rook == NoSquare {
			continue
		}
		if old := p.rightBeside(rook); old != NoSquare && old != rook {
			return &FENError{"castling", quote(field), "one rook on each side of a king"}
		}
		p.castling |= rook.Bitboard()
	}
	return nil
}

// rookOfRight returns the rook that a letter of the castling field gives the
// right to castle, NoSquare if king or rook is not in place.
func (p *Position) rookOfRight(letter byte) Square {
	c := Color(letter >> 5 & 1)
	king := p.King(c)
	rooks := p.Pieces(c, Rook) & backRank(c) &^ p.promoted
	if !backRank(c).Has(king) || !p.chess960 && king.File() != 4 {
		return NoSquare
	}
	kingside := ^(king.Bitboard()<<1 - 1)
	switch letter &^ 0x20 {
	case 'K':
		if rooks &= kingside; rooks == 0 {
			return NoSquare
		}
		if !p.chess960 {
			rooks &= fileH
		}
		return last(rooks)
	case 'Q':
		rooks &^= kingside
		if !p.chess960 {
			rooks &= fileA
		}
		return rooks.First()
	}
	return (rooks & (fileA << (letter&^0x20 - 'A'))).First()
}

// last returns the highest square of b, NoSquare if it is empty.
func last(b Bitboard) Square {
	s := NoSquare
	for ; b != 0; b &= b - 1 {
		s = b.First()
	}
	return s
}

// rightBeside returns the rook that already has a right on the side of the king
// where rook stands, NoSquare if there is none.
func (p *Position) rightBeside(rook Square) Square {
	c := p.board[rook].Color()
	king := p.King(c)
	for b := p.castling & backRank(c); b != 0; b &= b - 1 {
		if s := b.First(); s < king == (rook < king) {
			return s
		}
	}
	return NoSquare
}

// parseEnPassant reads the en passant square and drops it if no pawn can have
// made the double step or none attacks the square.
func (p *Position) parseEnPassant(field string) error {
	if field == "-" {
		return nil
	}
	s := parseSquare(field)
	if s == NoSquare {
		return &FENError{"en passant", quote(field), "- or a square"}
	}
	p.setEnPassant(s)
	return nil
}

// setEnPassant makes s the en passant square unless no pawn can have made the
// double step or none attacks the square.
func (p *Position) setEnPassant(s Square) {
	us := p.side & 1
	rank := rank6
	if us == Black {
		rank = rank3
	}
	if !rank.Has(s) {
		return
	}
	pushed, origin := s-8, s+8 // as White captures
	if us == Black {
		pushed, origin = origin, pushed
	}
	occ := p.Occupied()
	checkers := p.Checkers()
	if p.board[pushed] == MakePiece(us^1, Pawn) && !occ.Has(s) && !occ.Has(origin) && checkers&(checkers-1) == 0 &&
		pawnTable[us^1][s]&p.Pieces(us, Pawn) != 0 {
		p.ep = s
	}
}

// parseClock reads a number from 0 to most.
func parseClock(field, text string, most int) (int, error) {
	n := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' || n > most {
			n = most + 1
			break
		}
		n = n*10 + int(text[i]-'0')
	}
	if n > most {
		return 0, clockError(field, quote(text), most)
	}
	return n, nil
}

func clockError(field, found string, most int) error {
	return &FENError{field, found, "a number from 0 to " + strconv.Itoa(most)}
}
