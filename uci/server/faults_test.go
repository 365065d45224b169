package server

import (
	"strings"
	"testing"
)

// TestServeFaultyGo: what is wrong is told, and there is one bestmove, at once unless
// the search was to be infinite.
func TestServeFaultyGo(t *testing.T) {
	eachEngine(t, func(t *testing.T, o Options) {
		s := newSession(t, o)
		s.answer()
		for _, c := range []struct{ command, complaint, best string }{
			{"go wtime abc", `go wtime: found "abc", expected a whole number`, ""},
			{"go wtime", "go wtime: found nothing, expected a number", ""},
			{"go wtime abc btime 1000", `go wtime: found "abc"`, ""},
			{"go wtime 1000 btime abc", `go btime: found "abc"`, ""},
			{"go btime 1000", "go: found no limit for white, expected wtime, movetime", ""},
			{"go winc 0 binc 10", "go: found no limit for white, expected wtime, movetime", ""},
			{"go movestogo 40", "go: found no limit for white, expected wtime, movetime", ""},
			{"go depth -3", "go depth: found -3, expected 0 or more", ""},
			{"go nodes -1", "go nodes: found -1, expected 0 or more", ""},
			{"go movetime -5", "go movetime: found -5, expected 0 or more", ""},
			{"go nodes 99999999999999999999", "go nodes: found \"99999999999999999999\", expected a whole number", ""},
			{"go depth x2 nodes 50", `go depth: found "x2", expected a whole number`, ""},
			{"go nodes 50 searchmoves a2a3 z9z9", `go searchmoves: found "z9z9", expected a legal move`, "bestmove a2a3"},
			{"go searchmoves a2a3 h1h5 depth 1", `go searchmoves: found "h1h5", expected a legal move`, "bestmove a2a3"},
			{"go depth 3 searchmoves z9z9", `go searchmoves: found "z9z9", expected a legal move`, "bestmove 0000"},
			{"go searchmoves nodes 5", "no move: go searchmoves: none of the moves is legal", "bestmove 0000"},
		} {
			s.send("position startpos", c.command)
			all := s.until("bestmove")
			if !strings.Contains(strings.Join(all, "\n"), "info string "+c.complaint) {
				t.Errorf("%s: found %q, expected a complaint with %q", c.command, all, c.complaint)
			}
			best := all[len(all)-1]
			if !strings.HasPrefix(best, c.best) || c.best == "" && best == "bestmove 0000" {
				t.Errorf("%s: %s", c.command, best)
			}
			if rest := s.answer(); len(rest) != 0 {
				t.Errorf("%s: after the bestmove %q", c.command, rest)
			}
		}
		s.send("go searchmoves z9z9") // infinite, as nothing says otherwise
		s.until("info string no move")
		if all := s.answer(); len(all) != 0 {
			t.Errorf("bestmove before stop: %q", all)
		}
		if best := s.best("stop"); best != "bestmove 0000" {
			t.Errorf("after stop: %s", best)
		}
	})
}

// TestServeRefusesAfterAFaultyPosition: the move of another position is not an answer.
func TestServeRefusesAfterAFaultyPosition(t *testing.T) {
	s := newSession(t, Options{})
	s.answer()
	for _, c := range []struct{ position, complaint string }{
		{"position fen 8/8/8 w - - 0 1", "position ignored: "},
		{"position start", "position ignored: found \"start\""},
		{"position startpos moves e2e4 e7e5 g1f4", "position ends before move 3"},
	} {
		for _, command := range []string{"go depth 2", "go wtime 1000 btime 1000", "go ponder movetime 5"} {
			s.send(c.position)
			s.until("info string " + c.complaint)
			s.send(command)
			if strings.Contains(command, "ponder") {
				s.until("info string no move: ")
				if all := s.answer(); len(all) != 0 {
					t.Errorf("%s: answer while pondering: %q", command, all)
				}
				if best := s.best("ponderhit"); best != "bestmove 0000" {
					t.Errorf("%s: %s", command, best)
				}
				continue
			}
			all := s.until("bestmove")
			if len(all) != 2 || !strings.HasPrefix(all[0], "info string no move: "+c.complaint) || all[1] != "bestmove 0000" {
				t.Errorf("%s, %s: %q", c.position, command, all)
			}
		}
		s.send("go infinite", "ucinewgame", "stop") // a new game brings no position
		if all := s.until("bestmove"); all[len(all)-1] != "bestmove 0000" {
			t.Errorf("%s, infinite: %q", c.position, all)
		}
		if best := s.best("position startpos moves e2e4", "go depth 2"); best == "bestmove 0000" {
			t.Errorf("after a good position: %s", best)
		}
	}
}

// TestServeTellsItsNetOnce: the first search after ucinewgame or setoption says by
// what it evaluates, others do not.
func TestServeTellsItsNetOnce(t *testing.T) {
	eachEngine(t, func(t *testing.T, o Options) {
		s := newSession(t, o)
		for _, c := range []struct {
			command string
			told    bool
		}{
			{"isready", true}, {"isready", false}, {"ucinewgame", true}, {"position startpos", false}, {"setoption name Ponder value true", true},
			{"setoption name Hash value 2", true}, {"stop", false},
		} {
			s.send(c.command, "go depth 1")
			text := strings.Join(s.until("bestmove"), "\n")
			if told := strings.Contains(text, "info string evaluation: "); told != c.told {
				t.Errorf("after %s: %s", c.command, text)
			}
		}
	})
}
