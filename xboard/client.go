package xboard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// ErrPosition says that an engine cannot be given a position.
var ErrPosition = errors.New("xboard: engine cannot set up the position")

// What an engine may lack to be given positions; errors that wrap these wrap ErrPosition too.
var (
	// ErrNoSetboard: it can be given no position but the first.
	ErrNoSetboard = errors.New("found no feature setboard=1, expected it of an engine that is to play from another position than the first")
	// ErrNoHands: it can be given none with pieces in hand.
	ErrNoHands = errors.New("found pieces in hand, which it understands neither in setboard nor by holding")
)

// Client is a CECP engine in a child process, a game.Player. It is used by one
// goroutine at a time. What is down after an error is as of uci.Client.
type Client struct {
	engine   *engine.Engine
	features features
	pings    int  // sent
	mute     bool // knows no ping, and does not say that it refuses a move
	hands    handStyle

	used    bool // asked for a move, or probed, since its launch
	begun   bool // a game is, and start and moves are what the engine has
	start   chess.Position
	moves   []chess.Move
	control control  // as the engine was told last
	told    bool     // in this game
	sent    []string // moves sent that the engine may refuse
	refusal string   // the line that refuses one, or a command
}

// featureTime is how long an engine may be silent in its introduction, unless it says
// done=0, as the protocol has it.
const featureTime = 2 * time.Second

// Start runs an engine, sets its options and begins a game. The context bounds the
// start only, not the life of the engine; [Client.Close] ends it.
//
// Options that the engine lists are set by their names; "memory" (MiB) and "cores" are
// the commands of those names, for engines that know them.
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

// Close ends the engine as [engine.Engine.Close] does.
func (c *Client) Close() error { return c.engine.Close() }

// Restart starts the engine again with the same configuration, ending it first
// if it still runs. Errors are those of [Start].
func (c *Client) Restart(ctx context.Context) error {
	if err := c.engine.Launch(); err != nil {
		return err
	}
	c.features, c.used, c.begun, c.control, c.told = defaultFeatures(), false, false, control{}, false
	if err := c.handshake(ctx); err != nil {
		return c.engine.Fail(err)
	}
	return nil
}

// quotable reports whether a line may be an engine's last words: anything but
// thinking, comments and answers.
func quotable(line string) bool {
	switch word := firstWord(line); word {
	case "pong", "move", "feature":
		return false
	default:
		_, isThinking := parseThinking(line)
		return word != "" && word[0] != '#' && !isThinking
	}
}

// handshake brings a fresh engine to its first game.
func (c *Client) handshake(ctx context.Context) error {
	if err := c.engine.Send("xboard\nprotover 2"); err != nil {
		return err
	}
	take := func(fields []string, line string) (bool, error) {
		if fields[0] != "feature" {
			c.engine.Note(line)
			return false, nil
		}
		return true, c.take(line)
	}
	f := &c.features
	err := c.engine.Await(ctx, c.engine.StartTimeout, "feature, which engines of version 2 answer protover with,", take)
	for err == nil && !f.done {
		if f.wait {
			err = c.engine.Await(ctx, c.engine.StartTimeout, "feature done=1", take)
			continue
		}
		var more bool
		if more, err = c.engine.Listen(ctx, min(featureTime, c.engine.StartTimeout), "feature", take); !more {
			break
		}
	}
	if err == nil {
		err = c.configure()
	}
	if err != nil {
		return err
	}
	return c.newGame(ctx)
}

// take takes a line of features and says to the engine which of them are known.
func (c *Client) take(line string) error {
	for _, v := range ParseFeatures(strings.TrimPrefix(line, "feature")) {
		known, name := c.features.set(v)
		if name != "" {
			c.engine.Name = name
		}
		word := "rejected "
		if known {
			word = "accepted "
		}
		if err := c.engine.Send(word + v.Name); err != nil {
			return err
		}
	}
	return nil
}

// variantNames are the protocol's names for variants.
var variantNames = map[*chess.Variant]string{chess.Chess: "normal", chess.Crazyhouse: "crazyhouse"}

// configure checks the variant and sets the options.
func (c *Client) configure() error {
	e := c.engine
	want := variantNames[e.Variant]
	switch list := c.features.variants; {
	case list != nil && !slices.Contains(list, want):
		return fmt.Errorf("%w: engine %s lists %s, wanted %q", engine.ErrVariant, e.Name, engine.Abridge(list), want)
	case e.Chess960:
		return fmt.Errorf("%w: engine %s: Chess960 is not supported by CECP", engine.ErrVariant, e.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Options)) {
		command, err := c.optionCommand(name, e.Options[name])
		if err != nil {
			return err
		}
		if err := e.Send(command); err != nil {
			return err
		}
	}
	return nil
}

// optionCommand returns the command that sets an option.
func (c *Client) optionCommand(name, value string) (string, error) {
	if strings.ContainsAny(value, "\r\n") {
		return "", fmt.Errorf("%w: value of %q has more than one line", engine.ErrOption, name)
	}
	names := make([]string, 0, len(c.features.options)+2)
	for _, o := range c.features.options {
		if !strings.EqualFold(o.name, name) {
			names = append(names, o.name)
			continue
		}
		switch {
		case slices.Contains(optionKinds[:4], o.kind):
			return "option " + o.name, nil
		case o.kind == "check" && value == "true":
			value = "1"
		case o.kind == "check" && value == "false":
			value = "0"
		}
		return "option " + o.name + "=" + value, nil
	}
	for command, can := range map[string]bool{"memory": c.features.memory, "cores": c.features.smp} {
		if can && strings.EqualFold(name, command) {
			return command + " " + value, nil
		}
		if can {
			names = append(names, command)
		}
	}
	if len(names) == 0 {
		return "", fmt.Errorf("%w: engine %s has no %q, nor any other", engine.ErrOption, c.engine.Name, name)
	}
	slices.Sort(names)
	return "", fmt.Errorf("%w: engine %s has no %q, the nearest is %q; it has %s",
		engine.ErrOption, c.engine.Name, name, words.Nearest(name, names), engine.Abridge(names))
}
