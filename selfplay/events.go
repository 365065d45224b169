package selfplay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

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
