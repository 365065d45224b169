package engine

import (
	"io"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Config says which engine to run, and how. Only Command is required.
type Config struct {
	Command string   // program, looked up as os/exec does
	Args    []string // its arguments
	Dir     string   // its working directory; empty: ours

	// Options are the engine's options to set, by name, in the order of their
	// names, after the variant. Names must be among those the engine lists
	// and are compared without regard to case. A button has an empty value.
	Options map[string]string

	Variant  *chess.Variant // what is played; nil: crazyhouse
	Chess960 bool           // of UCI: set UCI_Chess960 and write castling as king takes rook

	// StartTimeout bounds the time from the start to the end of the engine's
	// introduction; 10 s.
	StartTimeout time.Duration
	// ReadyTimeout bounds every wait for an engine that does not search; 10 s.
	ReadyTimeout time.Duration
	// SearchTimeout bounds a search that has no limit of time, only of depth,
	// nodes or mate; 60 s. A search with Infinite set has no such bound.
	SearchTimeout time.Duration
	// MoveMargin is how long beyond its limit of time an engine may take to
	// answer, and how long it may take to move on command; 5 s.
	MoveMargin time.Duration
	// QuitGrace is how long an engine may take to end after "quit" before it
	// is killed; 2 s.
	QuitGrace time.Duration

	// Stderr receives the engine's standard error; nil keeps but its last
	// line, for the error if the engine dies.
	Stderr io.Writer
}

func (c Config) withDefaults() Config {
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

// TimeFor returns how long the engine may take to answer a search for a side, 0 for
// ever, and the reason for which it loses if it takes longer.
func (c *Config) TimeFor(side chess.Color, lim *search.Limits) (time.Duration, chess.Reason) {
	switch {
	case lim.Infinite || !lim.Bounded(side):
		return 0, game.NoAnswer
	case lim.MoveTime > 0 && lim.Clock(side):
		return min(lim.MoveTime, lim.Time[side]+lim.Inc[side]) + c.MoveMargin, game.TimeForfeit
	case lim.MoveTime > 0:
		return lim.MoveTime + c.MoveMargin, game.TimeForfeit
	case lim.Clock(side):
		return lim.Time[side] + lim.Inc[side] + c.MoveMargin, game.TimeForfeit
	}
	return c.SearchTimeout, game.NoAnswer
}
