package uci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// ClientConfig says which engine to run, and how. Only Command is required.
type ClientConfig struct {
	Command string   // program, looked up as os/exec does
	Args    []string // its arguments
	Dir     string   // its working directory; empty: ours

	// Options are the UCI options to set, by name, in the order of their
	// names, after the variant. Names must be among those the engine lists
	// and are compared without regard to case. A button has an empty value.
	Options map[string]string

	Variant  *chess.Variant // what is played; nil: crazyhouse
	Chess960 bool           // set UCI_Chess960 and write castling as king takes rook

	// StartTimeout bounds the time from the start to "uciok"; 10 s.
	StartTimeout time.Duration
	// ReadyTimeout bounds every "isready"; 10 s.
	ReadyTimeout time.Duration
	// SearchTimeout bounds a search that has no limit of time, only of depth,
	// nodes or mate; 60 s. A search with Infinite set has no such bound.
	SearchTimeout time.Duration
	// MoveMargin is how long beyond its limit of time an engine may take to
	// answer, and how long it may take to answer "stop"; 5 s.
	MoveMargin time.Duration
	// QuitGrace is how long an engine may take to end after "quit" before it
	// is killed; 2 s.
	QuitGrace time.Duration

	// Stderr receives the engine's standard error; nil keeps but its last
	// line, for the error if the engine dies.
	Stderr io.Writer
}

func (c ClientConfig) withDefaults() ClientConfig {
	or := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	or(&c.StartTimeout, 10*time.Second)
	or(&c.ReadyTimeout, 10*time.Second)
	or(&c.SearchTimeout, time.Minute)
	or(&c.MoveMargin, 5*time.Second)
	or(&c.QuitGrace, 2*time.Second)
	if c.Variant == nil {
		c.Variant = chess.Crazyhouse
	}
	return c
}

// Client is a UCI engine in a child process, a game.Player. It is used by one
// goroutine at a time.
//
// After an [ErrIllegalMove] the engine is still running. After an [ErrTimeout]
// it runs on if it answered "stop", else it was killed; after any other error
// of this package it is down. Calls to an engine that is down return
// [ErrCrashed] until [Client.Restart].
type Client struct {
	cfg  ClientConfig
	name string

	proc *process
	// listed holds what the engine says of its options, by name in lower
	// case.
	listed map[string]listedOption
	// multiPV is the value the engine's option has; 0 if that is not known.
	multiPV int
	// down says why there is no process; nil while there is one.
	down error
	// last is the engine's last line worth quoting if it dies; see note.
	last   string
	stderr *lastLine
}

// listedOption is one "option" line of an engine.
type listedOption struct {
	name string // as the engine writes it
	vars []string
}

// Start runs an engine, sets its options and waits until it is ready. The
// context bounds the start only, not the life of the engine; [Client.Close]
// ends it.
//
// Errors wrap [ErrStart], [ErrCrashed], [ErrTimeout], [ErrProtocol],
// [ErrVariant], [ErrOption] or the context's error.
func Start(ctx context.Context, cfg ClientConfig) (*Client, error) {
	c := &Client{cfg: cfg.withDefaults(), name: cfg.Command, down: ErrClosed}
	if err := c.Restart(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Name returns the engine's name for itself, or its command if it gave none.
func (c *Client) Name() string { return c.name }

// Restart starts the engine again with the same configuration, ending it first
// if it still runs. Errors are those of [Start].
func (c *Client) Restart(ctx context.Context) error {
	c.shut(0, nil)
	cmd := exec.Command(c.cfg.Command, c.cfg.Args...)
	c.stderr = &lastLine{next: c.cfg.Stderr}
	cmd.Dir, cmd.Stderr = c.cfg.Dir, c.stderr
	proc, err := startProcess(cmd)
	if err != nil {
		c.down = fmt.Errorf("%w: %s: %w", ErrStart, c.cfg.Command, err)
		return c.down
	}
	c.proc, c.down, c.last, c.multiPV = proc, nil, "", 0
	if err := c.handshake(ctx); err != nil {
		c.shut(0, err)
		return err
	}
	return nil
}

// Close ends the engine: it asks it to quit, and kills it if it has not ended
// after the configured grace. Closing twice is allowed. The error is always
// nil; it is there for io.Closer.
func (c *Client) Close() error {
	if c.proc != nil {
		_ = c.proc.send("quit") // an engine that is gone needs no quit
	}
	c.shut(c.cfg.QuitGrace, ErrClosed)
	return nil
}

// NewGame tells the engine that another game begins, with new threads if the
// option Threads is configured, and waits until it is ready. Errors wrap
// [ErrCrashed], [ErrTimeout], which is a [game.Fault], or [ErrProtocol].
func (c *Client) NewGame() error {
	err := c.renewThreads()
	if err == nil {
		err = c.send("ucinewgame")
	}
	if err == nil {
		err = c.sync(context.Background())
	}
	if err != nil {
		return fault(err)
	}
	return nil
}

// renewThreads sets the number of threads again, if it was among the options:
// engines make new threads then. Fairy-Stockfish 11 keeps tables in its threads
// that ucinewgame does not clear and that make searches depend on earlier games.
func (c *Client) renewThreads() error {
	for name, value := range c.cfg.Options {
		if strings.EqualFold(name, "Threads") {
			return c.setOption(name, value)
		}
	}
	return nil
}

// shut ends the process, if there is one, and remembers why.
func (c *Client) shut(grace time.Duration, why error) {
	if c.proc != nil {
		c.proc.end(grace)
	}
	c.proc, c.down = nil, why
}

// fail ends the engine because of err and returns err.
func (c *Client) fail(err error) error {
	c.shut(0, err)
	return err
}

// handshake brings a fresh engine to its first readyok.
func (c *Client) handshake(ctx context.Context) error {
	c.listed = make(map[string]listedOption)
	if err := c.send("uci"); err != nil {
		return err
	}
	err := c.await(ctx, c.cfg.StartTimeout, "uciok", func(fields []string, line string) (bool, error) {
		switch fields[0] {
		case "uciok":
			return true, nil
		case "id":
			if len(fields) > 2 && fields[1] == "name" {
				c.name = strings.Join(fields[2:], " ")
			}
		case "option":
			c.list(fields[1:])
		default:
			c.note(line)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	if err := c.configure(); err != nil {
		return err
	}
	return c.sync(ctx)
}

// maxListed bounds how many options of an engine are kept.
const maxListed = 1000

// list notes an option line: "name NAME type TYPE … var VALUE var VALUE".
func (c *Client) list(fields []string) {
	i := slices.Index(fields, "type")
	if i < 2 || fields[0] != "name" || len(c.listed) >= maxListed {
		return
	}
	o := listedOption{name: strings.Join(fields[1:i], " ")}
	for rest := fields[i:]; len(rest) > 1; rest = rest[1:] {
		if rest[0] == "var" {
			o.vars = append(o.vars, rest[1])
		}
	}
	c.listed[strings.ToLower(o.name)] = o
}

// configure sets the variant and then the options.
func (c *Client) configure() error {
	if err := c.setVariant(); err != nil {
		return err
	}
	if c.cfg.Chess960 {
		if _, ok := c.listed["uci_chess960"]; !ok {
			return fmt.Errorf("%w: engine %s has no option UCI_Chess960", ErrVariant, c.name)
		}
		if err := c.setOption("UCI_Chess960", "true"); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.cfg.Options)) {
		if err := c.setOption(name, c.cfg.Options[name]); err != nil {
			return err
		}
	}
	return nil
}

// setVariant sets UCI_Variant. Only plain chess may do without that option.
func (c *Client) setVariant() error {
	want := c.cfg.Variant.Name
	o, ok := c.listed["uci_variant"]
	if !ok {
		if c.cfg.Variant == chess.Chess {
			return nil
		}
		return fmt.Errorf("%w: engine %s has no option UCI_Variant, wanted %q", ErrVariant, c.name, want)
	}
	if !slices.Contains(o.vars, want) {
		return fmt.Errorf("%w: engine %s lists %s, wanted %q", ErrVariant, c.name, abridge(o.vars), want)
	}
	return c.setOption(o.name, want)
}

// abridge joins words for an error message that must not become too long.
func abridge(words []string) string {
	const most = 12
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}

// setOption sets an option the engine has listed.
func (c *Client) setOption(name, value string) error {
	o, ok := c.listed[strings.ToLower(name)]
	if !ok {
		names := make([]string, 0, len(c.listed))
		for _, o := range c.listed {
			names = append(names, o.name)
		}
		slices.Sort(names)
		if len(names) == 0 {
			return fmt.Errorf("%w: engine %s has no %q, nor any other", ErrOption, c.name, name)
		}
		return fmt.Errorf("%w: engine %s has no %q, the nearest is %q; it has %s",
			ErrOption, c.name, name, words.Nearest(name, names), abridge(names))
	}
	if strings.ContainsAny(value, "\r\n") {
		return fmt.Errorf("%w: value of %q has more than one line", ErrOption, name)
	}
	command := "setoption name " + o.name
	if value != "" {
		command += " value " + value
	}
	return c.send(command)
}

// send writes one command to the engine. An engine that cannot be written to
// is taken down.
func (c *Client) send(command string) error {
	if c.proc == nil {
		if errors.Is(c.down, ErrClosed) {
			return fmt.Errorf("%w: %s", ErrClosed, c.name)
		}
		return fmt.Errorf("%w: engine %s is down since: %v", ErrCrashed, c.name, c.down)
	}
	if err := c.proc.send(command); err != nil {
		if c.proc.waitExit(exitTime) {
			return c.crashed()
		}
		word, _, _ := strings.Cut(command, " ")
		return c.fail(fmt.Errorf("%w: engine %s did not take %s: %v", ErrTimeout, c.name, word, err))
	}
	return nil
}

// sync waits for the engine to have obeyed every command so far. Lines that
// answer earlier commands are dropped on the way.
func (c *Client) sync(ctx context.Context) error {
	if err := c.send("isready"); err != nil {
		return err
	}
	return c.await(ctx, c.cfg.ReadyTimeout, "readyok", func(fields []string, line string) (bool, error) {
		if fields[0] == "readyok" {
			return true, nil
		}
		c.note(line)
		return false, nil
	})
}

// note remembers a line that may turn out to be the engine's last words:
// anything but progress and answers.
func (c *Client) note(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "readyok", "bestmove":
	case "info":
		if strings.HasPrefix(rest, "string") {
			c.last = line
		}
	default:
		c.last = line
	}
}

// await hands the engine's lines, split into fields, to take until that
// reports true. An engine that is late, ends or makes take fail is taken down,
// and so is one whose ctx ends, as what it will answer when is not known.
func (c *Client) await(ctx context.Context, limit time.Duration, what string, take func([]string, string) (bool, error)) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case line, ok := <-c.proc.lines:
			if !ok {
				return c.crashed()
			}
			fields := strings.Fields(line.text)
			if len(fields) == 0 {
				continue
			}
			if done, err := take(fields, line.text); err != nil {
				return c.fail(err)
			} else if done {
				return nil
			}
		case <-timer.C:
			return c.fail(fmt.Errorf("%w: engine %s: no %s after %v", ErrTimeout, c.name, what, limit))
		case <-ctx.Done():
			return c.fail(fmt.Errorf("uci: engine %s: waiting for %s: %w", c.name, what, context.Cause(ctx)))
		}
	}
}

// crashed takes down an engine whose output has ended and says why it has.
func (c *Client) crashed() error {
	p := c.proc
	for line := range p.lines { // what it said before it died
		c.note(line.text)
	}
	if errors.Is(p.readErr, ErrLineTooLong) {
		return c.fail(fmt.Errorf("%w: engine %s wrote a %w", ErrProtocol, c.name, p.readErr))
	}
	err := fmt.Errorf("%w: engine %s: %s", ErrCrashed, c.name, p.endState())
	if c.last != "" {
		err = fmt.Errorf("%w; its last line: %.200q", err, c.last)
	}
	if text := c.stderr.String(); text != "" {
		err = fmt.Errorf("%w; on standard error: %.200q", err, text)
	}
	return c.fail(err)
}
