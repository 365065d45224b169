package selfplay

import (
	"encoding/json"
	"errors"
	"fmt"
)

const (
	messageSchema = 1         // of the messages between roles
	maxMessage    = 512 << 10 // bytes of one
)

// errMessage says that a role sent what cannot be understood.
var errMessage = errors.New("message between roles")

// message is a request to a role or its answer, as JSON.
type message interface {
	check() error
}

// decodeMessage reads a message. Keys that it does not know are left out: a later build
// may send them.
func decodeMessage(text []byte, m message) error {
	if len(text) > maxMessage {
		return fmt.Errorf("%w: found %d bytes, expected at most %d", errMessage, len(text), maxMessage)
	}
	err := json.Unmarshal(text, m)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errMessage, err)
	}
	return nil
}

// laterKey is set by the linker, for a program that speaks as a later build may: every
// message that it writes then has this key, which no build knows.
var laterKey string

// encodeMessage writes a message.
func encodeMessage(m message) []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("selfplay: words and numbers are always JSON: %v", err))
	}
	if laterKey != "" {
		text = fmt.Appendf(nil, `{%q:{"list":[1,2]},%s`, laterKey, text[1:])
	}
	return text
}

func checkSchema(found int) error {
	if found != messageSchema {
		return fmt.Errorf("found schema %d, expected %d: the roles are of builds too far apart, update the older", found, messageSchema)
	}
	return nil
}
