package selfplay

import (
	"fmt"

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
}

// letters of hasAnswer.States.
var stateLetters = map[replay.State]byte{replay.Stored: 's', replay.Refused: 'r', replay.Unknown: 'u'}

func (q *hasRequest) check() error {
	if len(q.IDs) > maxAsked {
		return fmt.Errorf("found %d ids, expected at most %d", len(q.IDs), maxAsked)
	}
	return checkSchema(q.Schema)
}

func (a *hasAnswer) check() error { return checkSchema(a.Schema) }

// answerHas answers an encoded hasRequest.
func answerHas(request []byte, known func(ids []string) ([]replay.State, map[string]string), floor bus.Floor) ([]byte, error) {
	var q hasRequest
	if err := decodeMessage(request, &q); err != nil {
		return nil, err
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

// lost reports whether a game that the answer does not know is on its way no more. A
// replay role that has just begun does not know yet how far it is.
func (a *hasAnswer) lost(at published) bool {
	return a.Stream != 0 && (a.Stream != at.stream || a.Floor >= at.sequence)
}
