//go:build linux

package chaos

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// maxFrame bounds the payload that is taken from a connection at once.
const maxFrame = 16 << 20

// frame is a piece of a NATS connection: a control line, and the payload that follows the
// line of a message.
type frame struct {
	line    []byte // with its end
	payload []byte // with its end; nil if there is none
}

// readFrame returns the next frame of either direction of a client's connection.
func readFrame(r *bufio.Reader) (frame, error) {
	var f frame
	line, err := r.ReadBytes('\n')
	f.line = line
	if err != nil {
		return f, err
	}
	words := bytes.Fields(line)
	if len(words) < 3 {
		return f, nil
	}
	switch string(bytes.ToUpper(words[0])) {
	case "PUB", "HPUB", "MSG", "HMSG":
	default:
		return f, nil
	}
	n, err := strconv.Atoi(string(words[len(words)-1]))
	if err != nil || n < 0 || n > maxFrame {
		return f, fmt.Errorf("found control line %.80q, expected one that ends in a length", line)
	}
	f.payload = make([]byte, n+2)
	_, err = io.ReadFull(r, f.payload)
	return f, err
}

// message reports whether the frame is a message with content.
func (f *frame) message() bool { return len(f.payload) > 2 }

func (f *frame) bytes() []byte { return append(bytes.Clone(f.line), f.payload...) }
