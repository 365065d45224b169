package dash

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"github.com/crazyhouse-rl/selfplay/selfplay"
)

const keptEvents = 40 // the newest, as sentences

// Event is something that has happened in the run.
type Event struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"` // a sentence without a full stop
}

// eventLog follows the file of a run's events.
type eventLog struct {
	file    selfplay.EventFile
	curve   selfplay.Curve
	recent  []Event // the newest last
	last    time.Time
	stopped bool // by the newest start or stop
	version int  // changes when events were read

	published map[string]bool // ids of the nets that the referee has published
}

// read reads what is new.
func (l *eventLog) read() error {
	err := l.file.Read(func() {
		*l = eventLog{file: l.file, version: l.version + 1}
	}, func(line []byte) {
		l.version++
		l.curve.Event(line)
		l.add(line)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
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
	case "net published":
		for _, a := range attrs {
			if a.Key == "net" {
				if l.published == nil {
					l.published = map[string]bool{}
				}
				l.published[a.Value.String()] = true
			}
		}
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
