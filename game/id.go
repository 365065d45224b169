package game

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// LocalActor is the actor of a run on one machine, and of games of versions whose
// ids did not name one.
const LocalActor = "local"

// MaxActorName is the length of an actor's name at most, in bytes.
const MaxActorName = 24

// ErrID says that a text is not the id of a self-play game of a run.
var ErrID = errors.New("game: not an id of the run's games")

// ID names a self-play game of a run. No two games of a run have the same one.
type ID struct {
	Run     string // the run's id
	Actor   string // who played it: one to MaxActorName lower-case letters and digits
	Epoch   int    // starts of the actor before the one that played it
	Worker  int    // which of the actor's workers played it
	Counter uint64 // games that the worker began before, since the start
}

// String returns the id as game records have it,
// <run>-<actor>-<epoch>-<worker>-<counter>, the counter in six digits or more.
func (id ID) String() string {
	return fmt.Sprintf("%s-%s-%d-%d-%06d", id.Run, id.Actor, id.Epoch, id.Worker, id.Counter)
}

// ParseID reads the id of a game of the given run, as String writes it. The error
// wraps ErrID.
func ParseID(run, text string) (ID, error) {
	rest, ok := strings.CutPrefix(text, run+"-")
	if !ok {
		return ID{}, fmt.Errorf("%w: found %.80q, expected it to begin with %q", ErrID, text, run+"-")
	}
	parts := strings.Split(rest, "-")
	if len(parts) != 4 || !isActorName(parts[0]) {
		return ID{}, badID(run, text)
	}
	id := ID{Run: run, Actor: parts[0]}
	var errs [3]error
	id.Epoch, errs[0] = strconv.Atoi(parts[1])
	id.Worker, errs[1] = strconv.Atoi(parts[2])
	id.Counter, errs[2] = strconv.ParseUint(parts[3], 10, 64)
	// The text of a number in another form, such as 007, differs.
	if err := errors.Join(errs[:]...); err != nil || id.String() != text {
		return ID{}, badID(run, text)
	}
	return id, nil
}

func badID(run, text string) error {
	return fmt.Errorf("%w: found %.80q, expected %s-ACTOR-EPOCH-WORKER-COUNTER", ErrID, text, run)
}

func isActorName(s string) bool {
	return s != "" && len(s) <= MaxActorName && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}
