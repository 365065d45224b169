package xboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
)

// NewGame tells the engine that another game begins, and waits until it is ready. An
// engine that plays one game only is started again. Errors wrap [engine.ErrCrashed],
// [engine.ErrTimeout], which is a game.Fault, or [engine.ErrProtocol].
func (c *Client) NewGame() error {
	err := c.newGame(context.Background())
	if err != nil {
		return engine.AsFault(err)
	}
	return nil
}

func (c *Client) newGame(ctx context.Context) error {
	if c.spent() {
		return c.Restart(ctx)
	}
	if c.begun && len(c.moves) > 0 {
		if err := c.engine.Send(c.result()); err != nil {
			return err
		}
	}
	c.begun, c.told = false, false
	if err := c.engine.Send(c.beginning()); err != nil {
		return err
	}
	if _, err := c.sync(ctx); err != nil {
		return err
	}
	if c.refusal != "" {
		why := engine.ErrProtocol
		if isOption(c.refusal) {
			why = engine.ErrOption
		}
		return c.engine.Fail(fmt.Errorf("%w: engine %s: %.200q", why, c.engine.Name, c.refusal))
	}
	c.begun, c.start, c.moves = true, c.engine.Variant.Start(), nil
	return nil
}

// spent reports whether the engine has to be started again for another game.
func (c *Client) spent() bool { return c.used && !c.features.reuse }

// result is the command that ends the game, as far as its end is known here: an end
// that the opponent's last move made is not.
func (c *Client) result() string {
	line := chess.NewLine(c.start)
	for _, m := range c.moves {
		line.Push(m)
	}
	outcome, reason := line.Outcome()
	return fmt.Sprintf("result %v {%v}", outcome, reason)
}

// beginning are the commands that begin a game in which the engine does not move yet.
func (c *Client) beginning() string {
	c.sent, c.refusal = nil, ""
	commands := "new\n"
	if c.engine.Variant != chess.Chess {
		commands += "variant " + variantNames[c.engine.Variant] + "\n"
	}
	return commands + "easy\npost\nforce"
}

// sync waits for the engine to have obeyed every command so far, so that nothing it says
// later is about what was before: some engines tell the result of a game that is over. One
// without ping is sent a move that no engine accepts. It reports false if the engine does
// not answer that; then it is not asked again.
func (c *Client) sync(ctx context.Context) (answered bool, err error) {
	if c.features.ping {
		pong := c.ping()
		if err := c.engine.Send("ping" + pong[len("pong"):]); err != nil {
			return false, err
		}
		err := c.engine.Await(ctx, c.engine.ReadyTimeout, "pong", func(_ []string, line string) (bool, error) {
			return c.isPong(line, pong)
		})
		return err == nil, err
	}
	if c.mute {
		return false, nil
	}
	if err := c.engine.Send(string(c.appendMoveText(nil, probeBad))); err != nil {
		return false, err
	}
	bad := []string{probeBad}
	answered, err = c.engine.Listen(ctx, probeTime, "its refusal of a move", func(_ []string, line string) (bool, error) {
		c.noteRefusal(line)
		return refuses(line, bad), nil
	})
	c.mute = err == nil && !answered
	return answered, err
}

// ping counts one more ping and returns the answer to expect.
func (c *Client) ping() (pong string) {
	c.pings++
	return fmt.Sprint("pong ", c.pings)
}

// isPong takes a line that comes while the engine does not search, and reports whether
// it is the pong awaited.
func (c *Client) isPong(line, pong string) (bool, error) {
	switch {
	case line == pong:
		return true, nil
	case firstWord(line) == "feature":
		return false, c.take(line)
	}
	c.engine.Note(line)
	c.noteRefusal(line)
	return false, nil
}

// noteRefusal keeps a line by which the engine refuses a move that was sent, a position,
// the variant or an option. Other errors do not matter: engines do not know all commands.
func (c *Client) noteRefusal(line string) {
	if c.refusal == "" && refuses(line, c.sent) {
		c.refusal = line
	}
}

// isOption reports whether a line refuses an option. What is in parentheses may be any text.
func isOption(line string) bool {
	_, about, ok := strings.Cut(line, "): ")
	return ok && strings.HasPrefix(line, "Error (") && slices.Contains([]string{"option", "memory", "cores"}, firstWord(about))
}

// refuses reports whether a line refuses one of the moves, a position, the variant or an
// option.
func refuses(line string, moves []string) bool {
	_, about, ok := strings.Cut(line, ":")
	fields := strings.Fields(about)
	switch {
	case strings.HasPrefix(line, "tellusererror"):
		return strings.Contains(line, "llegal")
	case isOption(line):
		return true
	case !ok || len(fields) == 0:
		return false
	case strings.HasPrefix(line, "Illegal move"):
		return slices.Contains(moves, fields[len(fields)-1])
	case strings.HasPrefix(line, "Error"):
		return slices.Contains([]string{"variant", "setboard"}, fields[0]) || slices.Contains(moves, fields[len(fields)-1])
	}
	return false
}

// handStyle is how an engine is told the hands of a position.
type handStyle uint8

const (
	untried    handStyle = iota
	inBrackets           // setboard with the hands in brackets
	byHolding            // setboard without hands, then holding
	noHands
)

// place appends the commands that set up a position in a game that has just begun. Some
// engines would answer the next move without another force.
func place(dst []byte, p *chess.Position, style handStyle) []byte {
	fen := p.FEN()
	hands := p.Hand(chess.White) | p.Hand(chess.Black)
	if style == inBrackets && hands != 0 {
		return append(append(append(dst, "\nsetboard "...), fen...), "\nforce"...)
	}
	before, rest, _ := strings.Cut(fen, "[")
	pocket, after, _ := strings.Cut(rest, "]")
	dst = append(append(append(dst, "\nsetboard "...), before...), after...)
	if hands != 0 {
		black := strings.TrimLeft(pocket, "PNBRQ")
		dst = fmt.Appendf(dst, "\nholding [%s] [%s]", strings.TrimSuffix(pocket, black), strings.ToUpper(black))
	}
	return append(dst, "\nforce"...)
}

// probe is a position whose White can drop a pawn on e4.
const (
	probeFEN  = "4k3/8/8/8/8/8/8/4K3[Pp] w - - 0 1"
	probeDrop = "P@e4"
	probeBad  = "a1a1" // a move that no engine accepts
)

// probeTime is how long an engine without ping may take to refuse a move.
const probeTime = time.Second

// findHands tries out how the engine is told hands.
func (c *Client) findHands(ctx context.Context) error {
	p, err := chess.ParseFEN(c.engine.Variant, probeFEN)
	if err != nil {
		return err
	}
	c.hands, c.mute = untried, false
	heard := true
	for _, style := range []handStyle{inBrackets, byHolding} {
		if c.spent() {
			if err := c.Restart(ctx); err != nil {
				return err
			}
		}
		c.used = true
		commands := append(place([]byte(c.beginning()), &p, style), '\n')
		c.sent = []string{probeDrop}
		if err := c.engine.Send(string(c.appendMoveText(commands, probeDrop))); err != nil {
			return err
		}
		answered, err := c.sync(ctx)
		if err != nil {
			return err
		}
		if answered && c.refusal == "" {
			c.hands = style
			return nil
		}
		heard = heard && answered
	}
	if !heard { // it may be slow: what it understands is not known
		return fmt.Errorf("%w: engine %s: found no answer within %v that tells how it understands pieces in hand, expected it to refuse the move %s",
			ErrPosition, c.engine.Name, probeTime, probeBad)
	}
	c.hands = noHands
	return nil
}

// setUp begins a game from a position.
func (c *Client) setUp(ctx context.Context, p *chess.Position) error {
	fresh := c.begun && len(c.moves) == 0 && c.start == c.engine.Variant.Start()
	if !fresh {
		if err := c.newGame(ctx); err != nil {
			return err
		}
	}
	if *p == c.start {
		return nil
	}
	refuse := func(why error) error {
		return fmt.Errorf("%w: engine %s: %s: %w", ErrPosition, c.engine.Name, p.FEN(), why)
	}
	if !c.features.setboard {
		return refuse(ErrNoSetboard)
	}
	if p.Hand(chess.White)|p.Hand(chess.Black) != 0 {
		if c.hands == untried {
			if err := c.findHands(ctx); err != nil {
				return err
			}
			if err := c.newGame(ctx); err != nil {
				return err
			}
		}
		if c.hands == noHands {
			return refuse(ErrNoHands)
		}
	}
	if p.Promoted() != 0 && c.hands == byHolding {
		return refuse(errors.New("found a promoted pawn, which holding cannot tell"))
	}
	c.begun = false
	if err := c.engine.Send(string(place(nil, p, c.hands)[1:])); err != nil {
		return err
	}
	if _, err := c.sync(ctx); err != nil {
		return err
	}
	if c.refusal != "" {
		return refuse(fmt.Errorf("it answered %.200q", c.refusal))
	}
	c.begun, c.start = true, *p
	return nil
}
