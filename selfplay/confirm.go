package selfplay

import (
	"errors"
	"fmt"
	"strings"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// hasService is the service by which the replay role says which games it has on disk.
const hasService = "replay.has"

const maxAsked = 2000 // ids in a hasRequest

// hasRequest asks which of an actor's games the replay buffer has on disk.
type hasRequest struct {
	Schema int      `json:"schema"`
	IDs    []string `json:"ids"`
	Actor  string   `json:"actor,omitempty"` // who asks; earlier builds do not say
	Key    string   `json:"key,omitempty"`   // public, in hex, that signs the games; empty: they are not signed
}

// hasAnswer says so. A game that is unknown although its message lies at or before the
// floor of the same stream was lost by the stream.
type hasAnswer struct {
	Schema int    `json:"schema"`
	States string `json:"states"` // a letter for each id: s stored, r refused, u unknown
	Stream int64  `json:"stream"` // the stream that the floor is of: its creation time, in nanoseconds since 1970; 0: not known yet
	Floor  uint64 `json:"floor"`  // sequence up to which everything is acknowledged
	// Why says why games were refused, by id, as far as it is remembered.
	Why map[string]string `json:"why,omitempty"`
	// Key is the public key of the actor's name, in hex, if it is another than that of who
	// asks, whose games are all refused. Then nothing is said of games.
	Key string `json:"key,omitempty"`
}

// letters of hasAnswer.States.
var stateLetters = map[replay.State]byte{replay.Stored: 's', replay.Refused: 'r', replay.Unknown: 'u'}

func (q *hasRequest) check() error {
	if len(q.IDs) > maxAsked {
		return fmt.Errorf("found %d ids, expected at most %d", len(q.IDs), maxAsked)
	}
	return errors.Join(checkPublicKey(q.Key), checkSchema(q.Schema))
}

func (a *hasAnswer) check() error { return errors.Join(checkPublicKey(a.Key), checkSchema(a.Schema)) }

// checkPublicKey refuses what is no public key, unless it is empty.
func checkPublicKey(text string) (err error) {
	if text != "" {
		_, err = publicKey(text)
	}
	return err
}

// answerHas answers an encoded hasRequest. Other returns the key of an actor's name if it
// is another than the one given.
func answerHas(request []byte, known func(ids []string) ([]replay.State, map[string]string), other func(actor, key string) string, floor bus.Floor) ([]byte, error) {
	var q hasRequest
	if err := decodeMessage(request, &q); err != nil {
		return nil, err
	}
	if key := other(q.Actor, q.Key); key != "" {
		return encodeMessage(&hasAnswer{Schema: messageSchema, States: strings.Repeat("u", len(q.IDs)), Key: key}), nil
	}
	states := make([]byte, 0, len(q.IDs))
	found, why := known(q.IDs)
	for _, s := range found {
		states = append(states, stateLetters[s])
	}
	return encodeMessage(&hasAnswer{Schema: messageSchema, States: string(states), Stream: floor.Stream, Floor: floor.Sequence, Why: why}), nil
}

// parseHas reads the answer to a question about so many ids.
func parseHas(answer []byte, ids int) (hasAnswer, error) {
	var a hasAnswer
	if err := decodeMessage(answer, &a); err != nil {
		return a, err
	}
	if len(a.States) != ids {
		return a, fmt.Errorf("%w: found %d states, expected %d", errMessage, len(a.States), ids)
	}
	return a, nil
}

// lost reports whether a game that the answer does not know is on its way no more, unless
// its message was after an end that the stream has lost. A replay role that has just begun
// does not know yet how far it is.
func (a *hasAnswer) lost(at published) bool {
	return a.Stream != 0 && (a.Stream != at.stream || a.Floor >= at.sequence)
}
