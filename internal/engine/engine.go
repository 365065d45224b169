package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// Engine is an engine that runs in a child process, or has run. It is used by one
// goroutine at a time.
type Engine struct {
	Config
	// Name is the engine's name for itself, as far as it is known, or its command.
	Name string

	proc *process
	// down says why there is no process; nil while there is one.
	down error
	// quotable reports whether a line may be the engine's last words: whether it
	// is anything but progress and answers.
	quotable func(line string) bool
	last     string // the last such line
	stderr   *lastLine
}

// New returns an engine that has not been launched. Of a line that the engine wrote
// before it died, quotable says whether it may tell why: progress and answers do not.
func New(cfg Config, quotable func(line string) bool) *Engine {
	return &Engine{Config: cfg.withDefaults(), Name: cfg.Command, down: ErrClosed, quotable: quotable}
}

// Launch starts the program, ending it first if it still runs. The error wraps
// [ErrStart].
func (e *Engine) Launch() error {
	e.shut(0, nil)
	cmd := exec.Command(e.Command, e.Args...)
	e.stderr = &lastLine{next: e.Stderr}
	cmd.Dir, cmd.Stderr = e.Dir, e.stderr
	proc, err := startProcess(cmd)
	if err != nil {
		e.down = fmt.Errorf("%w: %s: %w", ErrStart, e.Command, err)
		return e.down
	}
	e.proc, e.down, e.last = proc, nil, ""
	return nil
}

// Close ends the engine: it asks it to quit, and kills it if it has not ended
// after the configured grace. Closing twice is allowed. The error is always
// nil; it is there for io.Closer.
func (e *Engine) Close() error {
	if e.proc != nil {
		_ = e.proc.send("quit") // an engine that is gone needs no quit
	}
	e.shut(e.QuitGrace, ErrClosed)
	return nil
}

// shut ends the process, if there is one, and remembers why.
func (e *Engine) shut(grace time.Duration, why error) {
	if e.proc != nil {
		e.proc.end(grace)
	}
	e.proc, e.down = nil, why
}

// Fail kills the engine because of err and returns err.
func (e *Engine) Fail(err error) error {
	e.shut(0, err)
	return err
}

// Send writes one or more commands to the engine. An engine that cannot be written
// to is taken down. Errors wrap [ErrClosed], [ErrCrashed] or [ErrTimeout].
func (e *Engine) Send(commands string) error {
	if e.proc == nil {
		if errors.Is(e.down, ErrClosed) {
			return fmt.Errorf("%w: %s", ErrClosed, e.Name)
		}
		return fmt.Errorf("%w: engine %s is down since: %v", ErrCrashed, e.Name, e.down)
	}
	if err := e.proc.send(commands); err != nil {
		if e.proc.waitExit(exitTime) {
			return e.crashed()
		}
		word, _, _ := strings.Cut(commands, " ")
		return e.Fail(fmt.Errorf("%w: engine %s did not take %s: %v", ErrTimeout, e.Name, word, err))
	}
	return nil
}

// Note remembers a line that may turn out to be the engine's last words.
func (e *Engine) Note(line string) {
	if e.quotable(line) {
		e.last = line
	}
}

// quoteLast adds the line noted last to an error.
func (e *Engine) quoteLast(err error) error {
	if e.last == "" {
		return err
	}
	return fmt.Errorf("%w; its last line: %.200q", err, e.last)
}

// Last returns the line noted last; "": there is none.
func (e *Engine) Last() string { return e.last }

// Forget forgets the lines noted: they are not why the engine dies later.
func (e *Engine) Forget() { e.last = "" }

// Await hands the engine's lines that are not blank to take, with their fields, until
// that reports true. An engine that is late, ends or makes take fail is taken
// down, and so is one whose ctx ends, as what it will answer when is not known. In
// errors what names the thing awaited.
func (e *Engine) Await(ctx context.Context, limit time.Duration, what string, take func(fields []string, line string) (bool, error)) error {
	done, err := e.Listen(ctx, limit, what, take)
	if err == nil && !done {
		err = e.Fail(fmt.Errorf("%w: engine %s: no %s after %v", ErrTimeout, e.Name, what, limit))
	}
	return err
}

// Listen is Await, but it reports false if the limit comes first, and leaves the
// engine up.
func (e *Engine) Listen(ctx context.Context, limit time.Duration, what string, take func(fields []string, line string) (bool, error)) (done bool, err error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case line, ok := <-e.proc.lines:
			if !ok {
				return false, e.crashed()
			}
			fields := strings.Fields(line.Text)
			if len(fields) == 0 {
				continue
			}
			if done, err := take(fields, line.Text); err != nil {
				return false, e.Fail(err)
			} else if done {
				return true, nil
			}
		case <-timer.C:
			return false, nil
		case <-ctx.Done():
			return false, e.Fail(fmt.Errorf("engine %s: waiting for %s: %w", e.Name, what, context.Cause(ctx)))
		}
	}
}

// crashed takes down an engine whose output has ended and says why it has.
func (e *Engine) crashed() error {
	p := e.proc
	for line := range p.lines { // what it said before it died
		e.Note(line.Text)
	}
	if errors.Is(p.readErr, ErrLineTooLong) {
		return e.Fail(fmt.Errorf("%w: engine %s wrote a %w", ErrProtocol, e.Name, p.readErr))
	}
	err := fmt.Errorf("%w: engine %s: %s", ErrCrashed, e.Name, p.endState())
	err = e.quoteLast(err)
	if text := e.stderr.String(); text != "" {
		err = fmt.Errorf("%w; on standard error: %.200q", err, text)
	}
	return e.Fail(err)
}

var _ io.Closer = (*Engine)(nil)
