package uci

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// Client is a UCI engine in a child process, a game.Player. It is used by one
// goroutine at a time.
//
// After an [engine.ErrIllegalMove] the engine is still running. After an
// [engine.ErrTimeout] it runs on if it answered "stop", else it was killed; after any
// other error of package engine it is down. Calls to an engine that is down return
// [engine.ErrCrashed] until [Client.Restart].
type Client struct {
	engine *engine.Engine
	// listed holds what the engine says of its options, by name in lower
	// case.
	listed map[string]listedOption
	// multiPV is the value the engine's option has; 0 if that is not known.
	multiPV int
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
// Errors wrap [engine.ErrStart], [engine.ErrCrashed], [engine.ErrTimeout],
// [engine.ErrProtocol], [engine.ErrVariant], [engine.ErrOption] or the context's error.
func Start(ctx context.Context, cfg engine.Config) (*Client, error) {
	c := &Client{engine: engine.New(cfg, quotable)}
	if err := c.Restart(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Name returns the engine's name for itself, or its command if it gave none.
func (c *Client) Name() string { return c.engine.Name }

// Restart starts the engine again with the same configuration, ending it first
// if it still runs. Errors are those of [Start].
func (c *Client) Restart(ctx context.Context) error {
	if err := c.engine.Launch(); err != nil {
		return err
	}
	c.multiPV = 0
	if err := c.handshake(ctx); err != nil {
		return c.engine.Fail(err)
	}
	return nil
}

// Close ends the engine as [engine.Engine.Close] does.
func (c *Client) Close() error { return c.engine.Close() }

// NewGame tells the engine that another game begins, with new threads if the
// option Threads is configured, and waits until it is ready. Errors wrap
// [engine.ErrCrashed], [engine.ErrTimeout], which is a [game.Fault], or
// [engine.ErrProtocol].
func (c *Client) NewGame() error {
	err := c.renewThreads()
	if err == nil {
		err = c.send("ucinewgame")
	}
	if err == nil {
		err = c.sync(context.Background())
	}
	if err != nil {
		return engine.AsFault(err)
	}
	return nil
}

// renewThreads sets the number of threads again, if it was among the options:
// engines make new threads then. Fairy-Stockfish 11 keeps tables in its threads
// that ucinewgame does not clear and that make searches depend on earlier games.
func (c *Client) renewThreads() error {
	for name, value := range c.engine.Options {
		if strings.EqualFold(name, "Threads") {
			return c.setOption(name, value)
		}
	}
	return nil
}

// handshake brings a fresh engine to its first readyok.
func (c *Client) handshake(ctx context.Context) error {
	c.listed = make(map[string]listedOption)
	if err := c.send("uci"); err != nil {
		return err
	}
	err := c.engine.Await(ctx, c.engine.StartTimeout, "uciok", func(fields []string, line string) (bool, error) {
		switch fields[0] {
		case "uciok":
			return true, nil
		case "id":
			if len(fields) > 2 && fields[1] == "name" {
				c.engine.Name = strings.Join(fields[2:], " ")
			}
		case "option":
			c.list(fields[1:])
		default:
			c.engine.Note(line)
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
	if c.engine.Chess960 {
		if _, ok := c.listed["uci_chess960"]; !ok {
			return fmt.Errorf("%w: engine %s has no option UCI_Chess960", engine.ErrVariant, c.engine.Name)
		}
		if err := c.setOption("UCI_Chess960", "true"); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.engine.Options)) {
		if err := c.setOption(name, c.engine.Options[name]); err != nil {
			return err
		}
	}
	return nil
}

// setVariant sets UCI_Variant. Only plain chess may do without that option.
func (c *Client) setVariant() error {
	want := c.engine.Variant.Name
	o, ok := c.listed["uci_variant"]
	if !ok {
		if c.engine.Variant == chess.Chess {
			return nil
		}
		return fmt.Errorf("%w: engine %s has no option UCI_Variant, wanted %q", engine.ErrVariant, c.engine.Name, want)
	}
	if !slices.Contains(o.vars, want) {
		return fmt.Errorf("%w: engine %s lists %s, wanted %q", engine.ErrVariant, c.engine.Name, engine.Abridge(o.vars), want)
	}
	return c.setOption(o.name, want)
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
			return fmt.Errorf("%w: engine %s has no %q, nor any other", engine.ErrOption, c.engine.Name, name)
		}
		return fmt.Errorf("%w: engine %s has no %q, the nearest is %q; it has %s",
			engine.ErrOption, c.engine.Name, name, words.Nearest(name, names), engine.Abridge(names))
	}
	if strings.ContainsAny(value, "\r\n") {
		return fmt.Errorf("%w: value of %q has more than one line", engine.ErrOption, name)
	}
	command := "setoption name " + o.name
	if value != "" {
		command += " value " + value
	}
	return c.send(command)
}

func (c *Client) send(command string) error { return c.engine.Send(command) }

// sync waits for the engine to have obeyed every command so far. Lines that
// answer earlier commands are dropped on the way.
func (c *Client) sync(ctx context.Context) error {
	if err := c.send("isready"); err != nil {
		return err
	}
	return c.engine.Await(ctx, c.engine.ReadyTimeout, "readyok", func(fields []string, line string) (bool, error) {
		if fields[0] == "readyok" {
			return true, nil
		}
		c.engine.Note(line)
		return false, nil
	})
}

// quotable reports whether a line may be an engine's last words: anything but
// progress and answers.
func quotable(line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "readyok", "bestmove":
		return false
	case "info":
		return strings.HasPrefix(rest, "string")
	}
	return true
}
