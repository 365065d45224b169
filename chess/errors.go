package chess

import (
	"errors"
	"fmt"
	"strconv"
)

// Why a move's text was refused; a *MoveError wraps one of them.
var (
	// ErrMoveSyntax: the text is no move in the notation asked for.
	ErrMoveSyntax = errors.New("not a move")
	// ErrIllegalMove: the text is a move, but not a legal one here.
	ErrIllegalMove = errors.New("illegal move")
	// ErrAmbiguousMove: more than one legal move fits the text.
	ErrAmbiguousMove = errors.New("ambiguous move")
)

// ErrUnknownVariant is wrapped by the error of ParseVariant.
var ErrUnknownVariant = errors.New("unknown variant")

// FENError says which field of a FEN was refused.
type FENError struct {
	Field    string // "board", "pocket", "side to move", "castling", …
	Found    string // what stood there
	Expected string // what may stand there
}

func (e *FENError) Error() string {
	return fmt.Sprintf("chess: FEN: %s: found %s, expected %s", e.Field, e.Found, e.Expected)
}

// MoveError says why the text of a move was refused.
type MoveError struct {
	Text     string // the text given, shortened if long
	Found    string // what was wrong in it
	Expected string // what would have been right
	Err      error  // ErrMoveSyntax, ErrIllegalMove or ErrAmbiguousMove
}

func (e *MoveError) Error() string {
	return fmt.Sprintf("chess: move %s: %v: found %s, expected %s", e.Text, e.Err, e.Found, e.Expected)
}

func (e *MoveError) Unwrap() error { return e.Err }

// quote quotes s for an error message, at most about forty bytes of it.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}

// quoteBytes is quote for text in a buffer.
func quoteBytes(b []byte) string { return quote(string(b)) }
