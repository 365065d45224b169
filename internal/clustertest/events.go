//go:build unix

package clustertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

const eventsFile = "events.jsonl" // in the directory of every role

// Event is a line of a role's log of events.
type Event struct {
	Time       time.Time `json:"time"`
	Msg        string    `json:"msg"`
	Generation int       `json:"generation"`
	Net        string    `json:"net"`
	Role       string    `json:"role"`
}

// eventLog follows the events of a directory.
type eventLog struct {
	path   string
	offset int64
	all    []Event
}

func newEventLog(dir string) *eventLog { return &eventLog{path: filepath.Join(dir, eventsFile)} }

// read returns all events so far. A line that a killed process left unfinished is
// left out, with what the next process has written onto it.
func (l *eventLog) read() ([]Event, error) {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, l.offset, 1<<40))
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		if line[len(line)-1] != '\n' {
			break // still being written
		}
		l.offset += int64(len(line))
		var e Event
		line, err := durable.Unsum(l.path, line, "the line is left out")
		if err == nil && json.Unmarshal(line, &e) == nil {
			l.all = append(l.all, e)
		}
	}
	return l.all, nil
}
