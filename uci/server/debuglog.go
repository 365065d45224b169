package server

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

// debugLog is the file of the option Debug Log File.
type debugLog struct {
	file *os.File
	now  func() time.Time
}

// openDebugLog opens a file to append to.
func openDebugLog(path string) (*debugLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &debugLog{file: f, now: time.Now}, nil
}

// add writes lines, each after the time in UTC and a mark: < for what was read, > for
// what was answered.
func (l *debugLog) add(mark byte, text []byte) error {
	stamp := l.now().UTC().Format("2006-01-02T15:04:05.000Z")
	var b []byte
	for line := range bytes.Lines(text) {
		b = fmt.Appendf(b, "%s %c %s\n", stamp, mark, bytes.TrimRight(line, "\r\n"))
	}
	_, err := l.file.Write(b)
	return err
}

// setDebugLog has all lines of both directions written to a file from now on, or to
// none if path is empty. On an error the log stays as it was.
func (o *output) setDebugLog(path string) error {
	var next *debugLog
	if path != "" && path != emptyValue {
		var err error
		if next, err = openDebugLog(path); err != nil {
			return err
		}
	}
	o.logMu.Lock()
	defer o.logMu.Unlock()
	o.closeLog()
	o.log = next
	return nil
}

// closeLog ends the log; what it could not keep is lost. o.logMu is held.
func (o *output) closeLog() {
	if o.log != nil {
		_ = o.log.file.Close()
		o.log = nil
	}
}

// logged writes text to the log, if there is one. An error ends the log. It waits for
// no reader of the answers, so that commands are obeyed also while there is none.
func (o *output) logged(mark byte, text []byte) error {
	o.logMu.Lock()
	defer o.logMu.Unlock()
	if o.log == nil {
		return nil
	}
	err := o.log.add(mark, text)
	if err != nil {
		o.closeLog()
	}
	return err
}

// logEnded is what the GUI is told when the log cannot be written.
const logEnded = "info string Debug Log File ended: %v\n"

// read logs a command.
func (o *output) read(line string) {
	if err := o.logged('<', []byte(line+"\n")); err != nil {
		o.write(fmt.Appendf(nil, logEnded, err))
	}
}
