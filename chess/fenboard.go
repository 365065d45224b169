package chess

import (
	"bytes"
	"strconv"
	"strings"
)

// boardStep is what a character in the board of a FEN does.
type boardStep struct {
	piece   Piece // placed; NoPiece for the others
	squares uint8 // passed, more than a board has if the character is wrong
	rank    uint8 // 1 to begin the next rank
}

var boardSteps = func() (table [256]boardStep) {
	for c := range table {
		switch pc := pieceOf(byte(c)); {
		case pc != NoPiece:
			table[c] = boardStep{piece: pc, squares: 1}
		case c >= '1' && c <= '8':
			table[c].squares = uint8(c - '0')
		case c == '/':
			table[c].rank = 1
		default:
			table[c].squares = 255
		}
	}
	return table
}()

// parseBoard places the pieces and promoted marks of eight ranks.
//
// Which character follows which cannot be foreseen, so a branch on it costs more
// than all else. Every character but the rare mark is therefore taken by the same
// steps, which place a piece or none, and what was wrong is asked at the end.
func (p *Position) parseBoard(board []byte) error {
	var squares [16]Bitboard // by Piece
	at, end := uint(0), uint(8)
	wrong := uint(0) // not 0 if something was
	for i, c := range board {
		if c == '~' {
			if err := p.parseMark(board, i, Square(at-1)^56); err != nil {
				return err
			}
			continue
		}
		step := boardSteps[c]
		s := Square(at^56) & 63
		p.board[s] = step.piece
		squares[step.piece&15] |= bit(s)
		wrong |= (at ^ end) * uint(step.rank) // the rank is not full
		at += uint(step.squares)
		end += 8 * uint(step.rank)
		wrong |= (end - at) >> 8 // beyond the rank: below 0
	}
	if wrong != 0 || at != 64 || end != 64 {
		return boardError(board)
	}
	p.placeAll(&squares)
	return nil
}

// boardError says what is wrong with a board other than its marks.
func boardError(board []byte) error {
	file, rank := 0, 7
	for _, c := range board {
		name := " on rank " + strconv.Itoa(rank+1)
		switch step := boardSteps[c]; {
		case c == '~':
		case step.squares > 8:
			return &FENError{"board", quoteBytes([]byte{c}) + name, "a piece letter, 1-8 or ~"}
		case step.rank == 0:
			if file += int(step.squares); file > 8 {
				return &FENError{"board", "more than 8 squares" + name, "8"}
			}
		case file < 8:
			return &FENError{"board", strconv.Itoa(file) + " squares" + name, "8"}
		default:
			file = 0
			rank--
		}
	}
	if ranks := bytes.Count(board, slash) + 1; ranks != 8 {
		return &FENError{"board", strconv.Itoa(ranks) + " ranks", "8"}
	}
	return &FENError{"board", strconv.Itoa(file) + " squares on rank 1", "8"}
}

// parseMark marks the piece before board[i], which stands on s, as promoted.
func (p *Position) parseMark(board []byte, i int, s Square) error {
	switch {
	case !p.Variant().CapturesToHand:
		return &FENError{"board", "~", "no marks in " + p.Variant().Name}
	case i == 0 || strings.IndexByte("NBRQnbrq", board[i-1]) < 0:
		return &FENError{"board", "~ in " + quoteBytes(board[max(i-8, 0):i+1]), "it only after a knight, bishop, rook or queen"}
	}
	p.promoted |= s.Bitboard()
	return nil
}
