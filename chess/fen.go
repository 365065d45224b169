package chess

import (
	"bytes"
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
// It understands the dialects of Fairy-Stockfish, lichess, python-chess,
// shakmaty and older Cute Chess: the hands in brackets after the board,
// "[QNPpp]" in any order, as a ninth rank, "/QNPpp", or not given; equal pieces
// counted, "[QN3P]"; "-" for empty hands; promoted pieces marked by "~". Fields missing at the end default to "w - - 0 1", and move
// number 0 is read as 1. Castling rights are KQkq, of standard chess, or the
// files of rooks, which set Chess960.
//
// Refused with a *FENError are wrong syntax, other than one king a side, pawns
// on the first or last rank, the side not to move in check, and more than 16
// pieces of one kind in a hand. Castling rights and an en passant square that
// cannot be used are dropped. See Warnings for what is accepted but impossible.
func ParseFEN(v *Variant, fen string) (Position, error) { return parseString(v, fen, false) }

// ParseFEN960 is ParseFEN for Chess960, which it sets: KQkq stand for the
// outermost rook on each side of the king, wherever the two are.
func ParseFEN960(v *Variant, fen string) (Position, error) { return parseString(v, fen, true) }

// ParseFENBytes is ParseFEN for text in a buffer, of which it keeps nothing. It
// allocates nothing but errors.
func ParseFENBytes(v *Variant, fen []byte) (Position, error) { return parseFEN(v, fen, false) }

// parseString copies the text to the stack, so that the parser proper has but
// one type to read.
func parseString(v *Variant, fen string, chess960 bool) (Position, error) {
	var buf [maxFENLength + 1]byte // room for one byte that is too many
	return parseFEN(v, buf[:copy(buf[:], fen)], chess960)
}

func parseFEN(v *Variant, fen []byte, chess960 bool) (Position, error) {
	p := Position{variant: v.index, ep: NoSquare, chess960: chess960}
	if err := p.parseFields(fen); err != nil {
		return Position{}, err
	}
	p.key = p.computeKey()
	return p, nil
}

// parseFields reads the six fields, each of which may rely on those before.
func (p *Position) parseFields(fen []byte) error {
	if len(fen) > maxFENLength {
		return &FENError{"length", "more than " + strconv.Itoa(maxFENLength) + " bytes", "at most that"}
	}
	field, fen := nextField(fen)
	if field == nil {
		return &FENError{"board", "nothing", "eight ranks separated by /"}
	}
	if err := p.parsePieces(field); err != nil {
		return err
	}
	field, fen = nextField(fen)
	if err := p.parseSide(field); err != nil {
		return err
	}
	if err := p.checkPieces(); err != nil {
		return err
	}
	field, fen = nextField(fen)
	if err := p.parseCastling(field); err != nil {
		return err
	}
	field, fen = nextField(fen)
	if err := p.parseEnPassant(field); err != nil {
		return err
	}
	field, fen = nextField(fen)
	halfmove, err := parseClock("halfmove clock", field, maxClock)
	if err != nil {
		return err
	}
	field, fen = nextField(fen)
	fullmove, err := parseClock("move number", field, MaxFullmoveNumber)
	if err != nil {
		return err
	}
	if field, _ = nextField(fen); field != nil {
		return &FENError{"end", quoteBytes(field), "nothing after the move number"}
	}
	p.SetClocks(halfmove, fullmove)
	return nil
}

// nextField returns the text up to white space, nil if there is none left, and
// what follows it.
func nextField(text []byte) (field, rest []byte) {
	for len(text) > 0 && isSpace(text[0]) {
		text = text[1:]
	}
	for i, c := range text {
		if isSpace(c) {
			return text[:i], text[i:]
		}
	}
	if len(text) == 0 {
		return nil, nil
	}
	return text, nil
}

// isSpace reports whether c is ASCII white space.
func isSpace(c byte) bool { return c <= ' ' && (c == ' ' || c-'\t' <= '\r'-'\t') }

// parsePieces reads the first field: board, promoted marks and hands.
func (p *Position) parsePieces(field []byte) error {
	board, pocket, err := splitPocket(field)
	if err != nil {
		return err
	}
	if err := p.parseBoard(board); err != nil {
		return err
	}
	return p.parsePocket(pocket)
}

// parseSide reads the side to move, White if missing.
func (p *Position) parseSide(field []byte) error {
	switch string(field) {
	case "w", "":
		p.side = White
	case "b":
		p.side = Black
	default:
		return &FENError{"side to move", quoteBytes(field), "w or b"}
	}
	return nil
}

// splitPocket separates the ranks of the board from the pieces in hand, given in
// brackets, as a ninth rank or not at all.
func splitPocket(field []byte) (board, pocket []byte, err error) {
	if open := bytes.IndexByte(field, '['); open >= 0 {
		pocket = field[open+1:]
		end := bytes.IndexByte(pocket, ']')
		if end < 0 {
			return nil, nil, &FENError{"pocket", quoteBytes(field[open:]), "] after the pieces in hand"}
		}
		if end != len(pocket)-1 {
			return nil, nil, &FENError{"pocket", quoteBytes(pocket[end+1:]) + " after ]", "the end of the field"}
		}
		return field[:open], pocket[:end], nil
	}
	if bytes.Count(field, slash) == 8 {
		last := bytes.LastIndexByte(field, '/')
		return field[:last], field[last+1:], nil
	}
	return field, nil, nil
}

var slash = []byte{'/'}

// parsePocket puts the pieces of both hands, upper case for White, in place.
func (p *Position) parsePocket(pocket []byte) error {
	if isNone(pocket) {
		return nil
	}
	if !p.Variant().CapturesToHand {
		return &FENError{"pocket", quoteBytes(pocket), "no pieces in hand in " + p.Variant().Name}
	}
	count := 0 // the number before a letter; 0: there is none
	for i, c := range pocket {
		if c >= '0' && c <= '9' && (c != '0' || count > 0) && count <= maxInHand {
			count = 10*count + int(c-'0')
			continue
		}
		pc := pieceOf(c)
		if pc == NoPiece || pc.Type() == King {
			return &FENError{"pocket", quoteBytes(pocket[i : i+1]), "a letter of PNBRQpnbrq for each piece, or its number and a letter"}
		}
		hand := &p.hands[pc.Color()]
		n := max(count, 1)
		if hand.Count(pc.Type())+n > maxInHand {
			return &FENError{"pocket", "more than " + strconv.Itoa(maxInHand) + " of " + pc.String(), "at most " + strconv.Itoa(maxInHand)}
		}
		for range n {
			*hand = hand.Add(pc.Type())
		}
		count = 0
	}
	if count > 0 {
		return &FENError{"pocket", quoteBytes(pocket), "a letter after each number"}
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
	if p.Occupied().Count()+p.hands[White].Total()+p.hands[Black].Total() > maxHand { // else no kind can
		for t := Pawn; t <= Queen; t++ {
			if n := p.material(t); n > maxHand {
				return &FENError{"pieces", strconv.Itoa(n) + " of kind " + t.String(), "at most " + strconv.Itoa(maxHand)}
			}
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
func (p *Position) parseCastling(field []byte) error {
	if isNone(field) {
		return nil
	}
	for _, c := range field {
		if c&^0x20 >= 'A' && c&^0x20 <= 'H' {
			p.chess960 = true
		}
	}
	for i, c := range field {
		if strings.IndexByte("KQABCDEFGH", c&^0x20) < 0 || bytes.IndexByte(field[:i], c) >= 0 {
			return &FENError{"castling", quoteBytes(field), "-, or letters of KQkq or files such as HAha, each once"}
		}
		rook := p.rookOfRight(c)
		if rook == NoSquare {
			continue
		}
		if old := p.rightBeside(rook); old != NoSquare && old != rook {
			return &FENError{"castling", quoteBytes(field), "one rook on each side of a king"}
		}
		p.castling |= rook.Bitboard()
	}
	return nil
}

// isNone reports whether a field is "-", empty or missing.
func isNone(field []byte) bool { return len(field) == 0 || string(field) == "-" }

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
func (p *Position) parseEnPassant(field []byte) error {
	if isNone(field) {
		return nil
	}
	s := parseSquare(string(field))
	if s == NoSquare {
		return &FENError{"en passant", quoteBytes(field), "- or a square"}
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

// parseClock reads a number from 0 to most; a missing one is 0.
func parseClock(field string, text []byte, most int) (int, error) {
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' || n > most {
			n = most + 1
			break
		}
		n = n*10 + int(c-'0')
	}
	if n > most {
		return 0, clockError(field, quoteBytes(text), most)
	}
	return n, nil
}

func clockError(field, found string, most int) error {
	return &FENError{field, found, "a number from 0 to " + strconv.Itoa(most)}
}
