// Package server is the front end of this program's searches for CECP, the protocol of
// XBoard and WinBoard, version 2: it obeys a GUI's commands in place of package
// uci/server, with whose options, net and searches it plays. Package xboard has the
// protocol's text, and the other side of it.
package server

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
	uci "github.com/crazyhouse-rl/selfplay/uci/server"
)

// purpose is what a search is for.
type purpose uint8

const (
	think purpose = iota
	ponder
	analysis
)

// running is the search under way.
type running struct {
	purpose purpose
	line    *chess.Line // of ponder with the expected move
	began   time.Time   // of ponder: when the move was played

	mu   sync.Mutex
	last search.Info // reported
}

// server is the state of a game between commands.
type server struct {
	engine *uci.Engine

	line      *chess.Line
	side      chess.Color // the engine's
	force     bool        // it plays neither
	analyzing bool
	hard      bool
	post      atomic.Bool
	expected  chess.Move // by the engine, of its opponent

	time  timing
	job   *running // nil if there is none
	pings []string // to be answered after the move
}

// New returns the front end of an engine, which obeys one command at a time.
//
// Commands that are not known are answered by "Error (unknown command)", those that
// are faulty by an error that says what was found. Positions are played as by UCI.
// Where the rules end a game, the engine says so and does not move; draws that leave
// legal moves are nothing to force mode and analysis. Offers of a draw are declined.
// There is no opening book, and edit gives way to setboard.
func New(e *uci.Engine) func(line string) {
	s := &server{engine: e, time: newTiming()}
	s.begin(chess.Chess)
	return s.obey
}

// begin sets up a new game, in which the engine has Black.
func (s *server) begin(v *chess.Variant) {
	s.setVariant(v)
	s.side, s.force = chess.Black, s.analyzing
	s.time.newGame()
	s.engine.NewGame()
	s.analyze()
}

// analyze goes on analysing, if that is what is done, after the position has changed.
func (s *server) analyze() {
	if s.analyzing {
		s.moveIfDue()
	}
}

func (s *server) setVariant(v *chess.Variant) {
	s.abandon()
	if err := s.engine.SetOption("UCI_Variant", v.Name); err != nil {
		s.engine.Comment("%v", err)
	}
	s.line = chess.NewLine(v.Start())
}

// abandon ends the search, whose answer is not wanted any more.
func (s *server) abandon() {
	s.job, s.expected = nil, chess.NoMove
	s.engine.Finish()
	s.answerPings()
}

func (s *server) answerPings() {
	for _, n := range s.pings {
		s.engine.Printf("pong %s", n)
	}
	s.pings = nil
}

func (s *server) fault(kind, command string) { s.engine.Printf("Error (%s): %s", kind, command) }

// search begins a search.
func (s *server) search(r *running, lim search.Limits) {
	s.abandon()
	pos, always := r.line.Pos(), r.purpose == analysis
	report := func(i search.Info) {
		r.mu.Lock()
		r.last = i
		r.mu.Unlock()
		if always || s.post.Load() {
			s.tell(pos, &i)
		}
	}
	err := s.engine.Search(r.line, lim, report, func(res search.Result, err error) {
		if s.job == r { // else it was abandoned
			s.job = nil
			s.found(r, res, err)
		}
	})
	if err != nil {
		s.cannot(err)
		return
	}
	s.job = r
}

// cannot says that the engine cannot move. It tries again when it is to move or to analyse next,
// as the user may have mended what was wrong.
func (s *server) cannot(err error) {
	s.engine.Printf("tellusererror %s", strings.Join(strings.Fields(err.Error()), " "))
}

// moveIfDue has the engine think if it is its turn, or analyse.
func (s *server) moveIfDue() {
	switch {
	case s.claimed():
	case s.analyzing:
		s.search(&running{purpose: analysis, line: s.line.Clone()}, search.Limits{Infinite: true})
	case !s.force && s.line.Pos().SideToMove() == s.side:
		s.think()
	}
}

func (s *server) think() {
	s.search(&running{purpose: think, line: s.line.Clone(), began: time.Now()}, s.time.limits(s.line, s.side))
}

// found takes the result of a search: it plays the move, and then may ponder.
func (s *server) found(r *running, res search.Result, err error) {
	if r.purpose != think {
		return // its result was not awaited
	}
	if err != nil {
		s.cannot(err)
		s.answerPings()
		return
	}
	s.time.used(time.Since(r.began), s.line)
	if r.last.Depth == 0 && s.post.Load() { // the limit came before the end of the first iteration
		s.tell(s.line.Pos(), &search.Info{Depth: res.Depth, Score: res.Score, Nodes: res.Nodes, Elapsed: res.Elapsed, PV: res.PV})
	}
	s.engine.Printf("move %s", s.line.Pos().UCI(res.Move))
	s.line = s.line.Clone()
	s.line.Push(res.Move)
	over := s.claimed()
	s.answerPings()
	if !over {
		s.expect(res.Ponder)
	}
}

// expect ponders about the opponent's move that is expected.
func (s *server) expect(m chess.Move) {
	if s.expected = m; m == chess.NoMove || !s.hard || !s.line.Pos().IsLegal(m) {
		return
	}
	line := s.line.Clone()
	line.Push(m)
	if outcome, _ := line.Outcome(); outcome != chess.Ongoing {
		return
	}
	lim := s.time.limits(line, s.side)
	lim.Ponder = true
	s.search(&running{purpose: ponder, line: line}, lim)
	s.expected = m
}

// claimed tells the result if the game has ended by the rules, and reports whether
// it has. Who plays neither side, or analyses, goes on for as long as there are moves.
func (s *server) claimed() bool {
	outcome, reason := s.line.Outcome()
	if outcome == chess.Ongoing || (s.force || s.analyzing) && s.line.Pos().HasLegalMove() {
		return false
	}
	s.engine.Printf("%v {%s}", outcome, reasonText(outcome, reason))
	return true
}

// reasonText is why a game ended, as GUIs write it.
func reasonText(o chess.Outcome, r chess.Reason) string {
	switch {
	case o == chess.WhiteWins:
		return "White mates"
	case o == chess.BlackWins:
		return "Black mates"
	}
	return fmt.Sprintf("Draw by %v", r)
}
