package server

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/xboard"
)

// obey obeys one command.
func (s *server) obey(line string) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "protover":
		s.introduce()
	case "new":
		s.begin(chess.Chess)
	case "variant":
		s.variant(line, rest)
	case "force":
		s.abandon()
		s.force = true
	case "go":
		s.side, s.force = s.line.Pos().SideToMove(), false
		s.moveIfDue()
	case "playother":
		s.abandon()
		s.side, s.force = s.line.Pos().SideToMove().Other(), false
	case "usermove":
		s.usermove(line, rest)
	case "?":
		if s.job != nil && s.job.purpose == think {
			s.engine.Stop()
		}
	case "ping":
		s.ping(rest)
	case "setboard":
		s.setboard(rest)
	case "undo":
		s.takeBack(line, 1)
	case "remove":
		s.takeBack(line, 2)
	case "result":
		s.abandon()
		s.force, s.analyzing = true, false
	case "hint":
		if s.expected != chess.NoMove {
			s.engine.Printf("Hint: %s", s.line.Pos().UCI(s.expected))
		}
	case "bk":
		s.engine.Printf(" no book\n")
	case "analyze":
		s.analyzing, s.force = true, true
		s.moveIfDue()
	case "exit":
		s.analyzing = false
		s.abandon()
	case ".":
		s.progress()
	case "hard", "easy":
		s.setHard(word == "hard")
	case "post", "nopost":
		s.post.Store(word == "post")
	case "level", "st", "sd", "nps", "time", "otim":
		if err := s.limit(word, rest); err != nil {
			s.fault(err.Error(), line)
		}
	case "memory", "cores", "option":
		if err := s.option(word, rest); err != nil {
			s.fault(strings.Join(strings.Fields(err.Error()), " "), line)
		}
	case "", "xboard", "accepted", "rejected", "draw", "random", "computer", "name", "rating", "ics", "holding", "white", "black":
		// Nothing depends on these.
	default:
		if _, err := xboard.ParseMove(s.line.Pos(), word); !errors.Is(err, chess.ErrMoveSyntax) {
			s.usermove(line, word)
			return
		}
		s.fault("unknown command", line)
	}
}

// variants are the protocol's names for what is played.
var variants = map[string]*chess.Variant{"normal": chess.Chess, "crazyhouse": chess.Crazyhouse}

func (s *server) variant(line, name string) {
	v, ok := variants[name]
	if !ok {
		s.fault("unknown variant", line)
		return
	}
	s.setVariant(v)
	s.analyze()
}

func (s *server) usermove(line, text string) {
	m, err := xboard.ParseMove(s.line.Pos(), text)
	switch {
	case err != nil:
		s.engine.Printf("Illegal move: %s", text)
		return
	case s.job != nil && s.job.purpose == think:
		s.engine.Printf("Illegal move (it is not your turn): %s", text)
		return
	}
	s.line = s.line.Clone()
	s.line.Push(m)
	if r := s.job; r != nil && r.purpose == ponder && m == s.expected {
		r.purpose, r.began, s.expected = think, time.Now(), chess.NoMove
		s.engine.Ponderhit()
		return
	}
	s.abandon()
	s.moveIfDue()
}

// ping is answered after the move, if the engine thinks about one.
func (s *server) ping(n string) {
	s.pings = append(s.pings, n)
	if s.job == nil || s.job.purpose != think {
		s.answerPings()
	}
}

func (s *server) setboard(fen string) {
	p, err := chess.ParseFEN(s.line.Pos().Variant(), fen)
	if err != nil {
		s.engine.Printf("tellusererror Illegal position: %v", err)
		return
	}
	p.SetChess960(false) // rights by the rooks' files do not turn it on where e1g1 can be written
	s.abandon()
	s.line = chess.NewLine(p)
	s.analyze()
}

// takeBack takes moves back.
func (s *server) takeBack(line string, plies int) {
	if s.line.Len() < plies {
		s.fault("there is no such move", line)
		return
	}
	s.abandon()
	s.line = s.line.Clone()
	for range plies {
		s.line.Pop()
	}
	s.analyze()
}

func (s *server) setHard(on bool) {
	s.hard = on
	if !on && s.job != nil && s.job.purpose == ponder {
		m := s.expected
		s.abandon()
		s.expected = m
	}
}

// progress answers "." while the engine analyses.
func (s *server) progress() {
	if s.job == nil || s.job.purpose != analysis {
		return
	}
	s.job.mu.Lock()
	i := s.job.last
	s.job.mu.Unlock()
	s.engine.Printf("stat01: %d %d %d 0 0", i.Elapsed.Milliseconds()/10, i.Nodes, i.Depth)
}

// tell writes a line of thinking.
func (s *server) tell(p *chess.Position, i *search.Info) {
	s.engine.Printf("%s", xboard.AppendThinking(nil, p, i))
}

// errNumber reports an argument that is no number.
var errNumber = errors.New("expected a number")

// limit obeys a command about time, depth or nodes.
func (s *server) limit(word, rest string) error {
	t := &s.time
	switch word {
	case "level":
		return t.level(strings.Fields(rest))
	case "st":
		d, ok := duration(rest, time.Second)
		if !ok || d <= 0 {
			return errNumber
		}
		t.perMove = d
	case "time", "otim":
		over, negative := strings.CutPrefix(rest, "-") // of a player that is let play on
		d, ok := duration(over, 10*time.Millisecond)
		if !ok {
			return errNumber
		}
		if negative {
			d = 0
		}
		if word == "time" {
			t.own = d
		} else {
			t.other = d
		}
	case "sd":
		n, err := strconv.ParseUint(rest, 10, 16)
		if err != nil || n == 0 {
			return errNumber
		}
		t.depth = min(int(n), search.MaxPly)
	case "nps":
		n, err := strconv.ParseInt(rest, 10, 62)
		if err != nil {
			return errNumber
		}
		t.perSecond = uint64(max(n, 0))
	}
	return nil
}
