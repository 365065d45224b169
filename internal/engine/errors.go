package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/crazyhouse-rl/selfplay/game"
)

// The ways in which an engine fails its client. Errors of clients wrap exactly
// one of them, and say which engine it was.
var (
	// ErrStart: the program could not be started at all.
	ErrStart = errors.New("engine could not be started")

	// ErrCrashed: the engine's process ended, or closed its output, without
	// having been asked to. Also returned by every call after such an end
	// until it is started again.
	ErrCrashed = errors.New("engine crashed")

	// ErrTimeout: the engine did not answer within its time.
	ErrTimeout = errors.New("engine timed out")

	// ErrProtocol: the engine's answer is not of its protocol, for instance a
	// move that has not the form of one, or a line without end.
	ErrProtocol = errors.New("engine broke the protocol")

	// ErrIllegalMove: the engine answered with a move that is not legal. The
	// error is an [*IllegalMoveError].
	ErrIllegalMove = errors.New("illegal move")

	// ErrVariant: the engine does not play the variant it was started for.
	ErrVariant = errors.New("engine does not play the variant")

	// ErrOption: the engine does not know an option it was to be given, or refuses its value.
	ErrOption = errors.New("engine option not taken")

	// ErrClosed: the client was closed by its owner.
	ErrClosed = errors.New("engine closed")
)

// AsFault says by which reason of package game an engine loses that fails with
// err. Where err does not say, a crash or what is not of the protocol, package game
// has the word for it.
func AsFault(err error) error {
	if _, ok := errors.AsType[*game.Fault](err); ok {
		return err
	}
	switch {
	case errors.Is(err, ErrTimeout):
		return &game.Fault{Reason: game.NoAnswer, Err: err}
	case errors.Is(err, ErrIllegalMove):
		return &game.Fault{Reason: game.IllegalMove, Err: err}
	}
	return err
}

// IllegalMoveError is an engine's answer that is not legal in the position it
// was asked about. It wraps [ErrIllegalMove].
type IllegalMoveError struct {
	Engine string // the engine's name
	Move   string // what it answered
	FEN    string // the position it was to play in
	Last   string // the last line that it said, but for progress and answers; may be empty
}

// Error implements error.
func (e *IllegalMoveError) Error() string {
	text := fmt.Sprintf("%v: engine %s played %q in %s", ErrIllegalMove, e.Engine, e.Move, e.FEN)
	if e.Last != "" {
		text += fmt.Sprintf("; its last line: %.200q", e.Last)
	}
	return text
}

// Unwrap returns [ErrIllegalMove].
func (e *IllegalMoveError) Unwrap() error { return ErrIllegalMove }

// Abridge joins words for an error message that must not become too long.
func Abridge(words []string) string {
	const most = 12
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}
