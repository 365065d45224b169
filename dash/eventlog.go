package dash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/crazyhouse-rl/selfplay/selfplay"
)

const (
	mostEventBytes = 1 << 20 // read at once
	keptEvents     = 40      // the newest, as sentences
)

// Event is something that has happened in the run.
type Event struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"` // a sentence without a full stop
}

// eventLog follows the file of a run's events.
type eventLog struct {
	path    string
	offset  int64
	curve   selfplay.Curve
	recent  []Event // the newest last
	last    time.Time
	stopped bool // by the newest start or stop
	version int  // changes when events were read
}

// read reads what is new. A file that has become shorter is another one, which is read
// from its beginning.
func (l *eventLog) read() error {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < l.offset {
		*l = eventLog{path: l.path, version: l.version + 1}
	}
	for l.offset < info.Size() {
		data := make([]byte, min(mostEventBytes, info.Size()-l.offset))
		n, err := f.ReadAt(data, l.offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		whole := bytes.LastIndexByte(data[:n], '\n') + 1
		if whole == 0 {
			if n < mostEventBytes {
				return nil // the line is being written
			}
			whole = n // part of a line that is too long to be an event
		}
		l.offset += int64(whole)
		l.version++
		if err := l.curve.Read(bytes.NewReader(data[:whole])); err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		for line := range bytes.Lines(data[:whole]) {
			l.add(line)
		}
	}
	return nil
}

// add keeps an event as a sentence.
func (l *eventLog) add(line []byte) {
	line, err := selfplay.CheckEvent(line)
	if err != nil {
		l.keep(Event{l.last, err.Error()})
		return
	}
	name, at, attrs, ok := parseEvent(line)
	if !ok {
		return
	}
	switch name {
	case "started":
		l.stopped = false
	case "stopped":
		l.stopped = true
	}
	l.last = at
	l.keep(Event{at, selfplay.Sentence(name, attrs)})
}

func (l *eventLog) keep(e Event) {
	if len(l.recent) == keptEvents {
		l.recent = append(l.recent[:0], l.recent[1:]...)
	}
	l.recent = append(l.recent, e)
}

// parseEvent reads a line of log/slog's JSON, a flat object.
func parseEvent(line []byte) (name string, at time.Time, attrs []slog.Attr, ok bool) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", at, nil, false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return "", at, nil, false
		}
		value, err := d.Token()
		if _, nested := value.(json.Delim); err != nil || nested {
			return "", at, nil, false
		}
		text, _ := value.(string)
		switch key {
		case "time":
			if at, err = time.Parse(time.RFC3339Nano, text); err != nil {
				return "", at, nil, false
			}
		case "level":
		case "msg":
			name = text
		default:
			attrs = append(attrs, slog.Attr{Key: key.(string), Value: attrValue(value)})
		}
	}
	return name, at, attrs, name != ""
}

// attrValue is a JSON value as slog had it.
func attrValue(v any) slog.Value {
	n, ok := v.(json.Number)
	if !ok {
		return slog.AnyValue(v)
	}
	if i, err := n.Int64(); err == nil {
		return slog.Int64Value(i)
	}
	f, err := n.Float64()
	if err != nil {
		return slog.StringValue(n.String())
	}
	return slog.Float64Value(f)
}
