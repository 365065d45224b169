package selfplay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// hasService is the service by which the replay role says which games it has on disk.
const hasService = "replay.has"

const (
	messageSchema = 1       // of the messages between roles
	maxMessage    = 1 << 20 // bytes of one; the server's own limit
	maxAsked      = 2000    // ids in a hasRequest
)

// errMessage says that a role sent what cannot be understood.
var errMessage = errors.New("message between roles")

// hasRequest asks which of an actor's games the replay buffer has on disk.
type hasRequest struct {
	Schema int      `json:"schema"`
	IDs    []string `json:"ids"`
}

// hasAnswer says so. A game that is unknown although its message lies at or before the
// floor of the same stream was lost by the stream.
type hasAnswer struct {
	Schema int    `json:"schema"`
	States string `json:"states"` // a letter for each id: s stored, r refused and in quarantine, u unknown
	Stream int64  `json:"stream"` // the stream that the floor is of: its creation time, in nanoseconds since 1970; 0: not known yet
	Floor  uint64 `json:"floor"`  // sequence up to which everything is acknowledged
}

// letters of hasAnswer.States.
var stateLetters = map[replay.State]byte{replay.Stored: 's', replay.Refused: 'r', replay.Unknown: 'u'}

// answerHas answers an encoded hasRequest.
func answerHas(request []byte, known func(ids []string) []replay.State, floor bus.Floor) ([]byte, error) {
	var q hasRequest
	if err := decodeMessage(request, &q); err != nil {
		return nil, err
	}
	if q.Schema != messageSchema || len(q.IDs) > maxAsked {
		return nil, fmt.Errorf("%w: found schema %d with %d ids, expected schema %d with at most %d", errMessage, q.Schema, len(q.IDs), messageSchema, maxAsked)
	}
	states := make([]byte, 0, len(q.IDs))
	for _, s := range known(q.IDs) {
		states = append(states, stateLetters[s])
	}
	return json.Marshal(hasAnswer{Schema: messageSchema, States: string(states), Stream: floor.Stream, Floor: floor.Sequence})
}

// parseHas reads the answer to a question about so many ids.
func parseHas(answer []byte, ids int) (hasAnswer, error) {
	var a hasAnswer
	if err := decodeMessage(answer, &a); err != nil {
		return a, err
	}
	if a.Schema != messageSchema || len(a.States) != ids {
		return a, fmt.Errorf("%w: found schema %d with %d states, expected schema %d with %d", errMessage, a.Schema, len(a.States), messageSchema, ids)
	}
	return a, nil
}

// lost reports whether a game that the answer does not know is on its way no more. A
// replay role that has just begun does not know yet how far it is.
func (a *hasAnswer) lost(at published) bool {
	return a.Stream != 0 && (a.Stream != at.stream || a.Floor >= at.sequence)
}

// decodeMessage reads one JSON value. Keys that it does not know are left out: a
// later build may send them.
func decodeMessage(data []byte, into any) error {
	if len(data) > maxMessage {
		return fmt.Errorf("%w: %d bytes, expected at most %d", errMessage, len(data), maxMessage)
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(into); err != nil {
		return fmt.Errorf("%w: %w", errMessage, err)
	}
	return nil
}
