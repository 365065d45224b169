package server

import (
	"context"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Engine is what a server has beside its protocol, for the front end of another
// protocol: the options, the net, and one search at a time. Its methods are called by
// the goroutine that obeys commands.
type Engine struct{ s *server }

// Option is an option of the engine as UCI has it.
type Option struct {
	Name     string
	Describe string // "type spin default 1 min 1 max 256" and so on
}

// Options returns the options in the order in which UCI lists them.
func (e *Engine) Options() []Option {
	all := make([]Option, len(e.s.known))
	for i, o := range e.s.known {
		all[i] = Option{o.name, o.describe}
	}
	return all
}

// SetOption sets an option, whose name may be in any case. Its errors are for the user.
// That a net is for another variant is one of Search alone: the variant may be set later.
func (e *Engine) SetOption(name, value string) error {
	e.s.announce = true
	err := e.s.setOption("setoption name " + name + " value " + value)
	if isForeign(err) {
		return nil
	}
	return err
}

// Name returns the engine's name with its version.
func (e *Engine) Name() string { return e.s.opts.fullName() }

// Printf writes one line.
func (e *Engine) Printf(format string, args ...any) { e.s.out.printf(format, args...) }

// Comment writes one line that is for people only.
func (e *Engine) Comment(format string, args ...any) { e.s.out.comment(format, args...) }

// NewGame has the next search forget those before.
func (e *Engine) NewGame() {
	e.s.newGame, e.s.announce = true, true
	e.s.games++
}

// Search begins to search the line's last position, which has legal moves, after the
// last search has ended. Reports of it come from another goroutine; done is called
// before the next command is obeyed. An error is one of the net or the engine.
func (e *Engine) Search(line *chess.Line, lim search.Limits, report func(search.Info), done func(search.Result, error)) error {
	s := e.s
	s.finish()
	if err := s.missing(); err != nil {
		return err
	}
	own, err := s.ready()
	if err != nil {
		return err
	}
	if s.announce {
		s.tellNet()
		s.announce = false
	}
	lim.MultiPV, lim.Overhead = s.MultiPV, time.Duration(s.OverheadMS)*time.Millisecond
	j := &job{}
	if lim.Ponder {
		j.ponderhit = own.Ponderhit
	}
	own = s.weakened(own)
	s.begin(j, func(ctx context.Context) []byte {
		own.Report(report)
		res, err := own.Search(ctx, line, lim)
		s.after <- func() { done(res, err) }
		return nil
	})
	return nil
}

// Stop asks the search to end, and does not wait for it.
func (e *Engine) Stop() { e.s.stop() }

// Finish ends the search and waits for it.
func (e *Engine) Finish() { e.s.finish() }

// Ponderhit tells a search that ponders that the expected move was played.
func (e *Engine) Ponderhit() { e.s.ponderhit() }

// settle does what ended searches have left to do.
func (s *server) settle() {
	for {
		select {
		case f := <-s.after:
			f()
		default:
			return
		}
	}
}
