package selfplay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// maxEventLine is the longest line of a run's events that is read.
const maxEventLine = 1 << 20

// openEvents opens the file of a run's events to append to it. A line that a killed process
// has left unfinished is ended, so that the next one stands alone.
func openEvents(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	end, err := f.Seek(0, io.SeekEnd)
	last := []byte{'\n'}
	if err == nil && end > 0 {
		_, err = f.ReadAt(last, end-1)
	}
	if err == nil && last[0] != '\n' {
		_, err = f.Write([]byte{'\n'})
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// summedLines writes lines, each a JSON object, with their checksums.
type summedLines struct{ to io.Writer }

func (w summedLines) Write(line []byte) (int, error) {
	if _, err := w.to.Write(durable.Sum(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// CheckEvent returns a line of a run's events without its checksum, which those of earlier
// builds lack. The error says that the line is not what was written.
func CheckEvent(line []byte) ([]byte, error) {
	event, err := durable.Unsum(eventsFile, line, "the line is left out")
	if err == nil && !json.Valid(event) { // a process may have been killed, or the disk full
		err = fmt.Errorf("%s: %w: found %.60q, expected an object of JSON: the line is left out", eventsFile, durable.ErrSum, event)
	}
	return event, err
}

// EventFile follows the file of a run's events while lines are appended to it.
type EventFile struct {
	Path   string
	offset int64
	within bool // a line that is too long to be an event
}

// Read calls each with every whole line that was appended since the last call, in order. A
// line of over a MiB is left out. A file that has become shorter is another one: it is read
// from its beginning, after again was called.
func (e *EventFile) Read(again func(), each func(line []byte)) error {
	f, err := os.Open(e.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < e.offset {
		e.offset, e.within = 0, false
		again()
	}
	var buffer []byte
	for e.offset < info.Size() {
		if buffer == nil {
			buffer = make([]byte, min(maxEventLine, info.Size()-e.offset))
		}
		n, err := f.ReadAt(buffer, e.offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", eventsFile, err)
		}
		data := buffer[:n]
		whole := bytes.LastIndexByte(data, '\n') + 1
		if whole == 0 {
			if n < maxEventLine {
				return nil // the line is being written
			}
			e.within = true
			e.offset += int64(n)
			continue
		}
		e.offset += int64(whole)
		for line := range bytes.Lines(data[:whole]) {
			if e.within {
				e.within = false
				continue
			}
			each(line)
		}
	}
	return nil
}
