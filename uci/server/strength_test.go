package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/search/strength"
)

// moves plays some moves of both sides with the options and returns them.
func moves(t *testing.T, o Options, options ...string) string {
	t.Helper()
	s := newSession(t, o)
	for _, option := range options {
		s.send("setoption name " + option)
	}
	s.send("ucinewgame")
	var played []string
	for range 8 {
		best := s.best("position startpos moves "+strings.Join(played, " "), "go nodes 2000")
		played = append(played, strings.Fields(best)[1])
	}
	return strings.Join(played, " ")
}

// TestServeSkill: a limited engine plays other moves than the full one and, by the
// same seed, the same again.
func TestServeSkill(t *testing.T) {
	eachEngine(t, func(t *testing.T, o Options) {
		full := moves(t, o)
		weak := moves(t, o, "Skill Level value 0", "Skill Seed value 5")
		if weak == full {
			t.Errorf("skill level 0 plays as 20 does: %s", weak)
		}
		if again := moves(t, o, "Skill Level value 0", "Skill Seed value 5"); again != weak {
			t.Errorf("the same seed gave %s, then %s", weak, again)
		}
		elo := fmt.Sprintf("UCI_Elo value %d", strength.MinElo())
		if by := moves(t, o, "UCI_LimitStrength value true", elo, "Skill Seed value 5"); by != weak {
			t.Errorf("the rating of level 0 played %s, the level %s", by, weak)
		}
		if by := moves(t, o, elo, "Skill Seed value 5"); by != full {
			t.Errorf("UCI_Elo without UCI_LimitStrength played %s, expected %s", by, full)
		}
	})
}

// TestServeSkillLimits: the weakest engine searches no more than its limit, reports as
// many lines as are asked for, last one for the move it plays, and waits for stop.
func TestServeSkillLimits(t *testing.T) {
	eachEngine(t, func(t *testing.T, o Options) {
		s := newSession(t, o)
		s.answer("setoption name Skill Level value 0", "setoption name MultiPV value 2")
		for range 5 {
			s.send("ucinewgame", "go movetime 60000")
			all := s.until("bestmove")
			best := strings.Fields(all[len(all)-1])[1]
			last := ""
			for _, line := range all {
				if strings.Contains(line, " multipv 3 ") {
					t.Errorf("a third line of two: %s", line)
				}
				if strings.Contains(line, " multipv 1 ") {
					last = line
				}
			}
			if f := strings.Fields(last); f[slices.Index(f, "pv")+1] != best {
				t.Errorf("best move %s after %s", best, last)
			}
		}
		s.send("go infinite")
		s.until("info depth")
		for _, line := range s.answer() {
			if strings.HasPrefix(line, "bestmove") {
				t.Errorf("%s before stop", line)
			}
		}
		s.best("stop")
	})
}

// TestServeShowWDL: chances follow the score only if they are asked for.
func TestServeShowWDL(t *testing.T) {
	eachEngine(t, func(t *testing.T, o Options) {
		s := newSession(t, o)
		wdl := func(commands ...string) (found []string) {
			s.send(commands...)
			for _, line := range s.until("bestmove") {
				if f := strings.Fields(line); slices.Contains(f, "wdl") {
					at := slices.Index(f, "wdl")
					found = append(found, strings.Join(f[at-2:at+4], " "))
				}
			}
			return found
		}
		if got := wdl("position startpos", "go nodes 500"); got != nil {
			t.Errorf("unasked: %q", got)
		}
		if got := wdl("setoption name UCI_ShowWDL value true", "go nodes 500"); len(got) == 0 || !strings.HasPrefix(got[0], "cp ") {
			t.Errorf("start position: %q", got)
		}
		got := wdl("position fen 6k1/5ppp/8/8/8/8/8/R5K1[] w - - 0 1", "go mate 1")
		if len(got) == 0 || got[len(got)-1] != "mate 1 wdl 1000 0 0" {
			t.Errorf("mate in one: %q", got)
		}
	})
}
