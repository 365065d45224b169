package uci

import (
	"errors"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// transcript collects what an engine says during one search.
type transcript struct {
	pos     *chess.Position // the root
	multiPV int             // number of lines asked for

	// lines holds the last report of each root line, the best first. A
	// report with a bound stands only until there is an exact one.
	lines []infoLine
	last  infoLine // the last report of the best line, with a bound or without
	nodes uint64   // greatest count seen

	best []string // fields after "bestmove", at least one; nil until it comes
}

var errBareBestmove = errors.New("bestmove without a move")

// add takes one line of the engine. Lines it does not know are noise.
func (t *transcript) add(line string) error {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return nil
	}
	switch fields[0] {
	case "info":
		t.addInfo(parseInfo(fields[1:]))
	case "bestmove":
		if len(fields) < 2 {
			return errBareBestmove
		}
		t.best = fields[1:]
	}
	return nil
}

func (t *transcript) addInfo(l infoLine) {
	t.nodes = max(t.nodes, l.nodes)
	if !l.scored || len(l.pv) == 0 || l.multiPV > t.multiPV {
		return
	}
	for len(t.lines) < l.multiPV {
		t.lines = append(t.lines, infoLine{})
	}
	if l.multiPV == 1 {
		t.last = l
	}
	old := &t.lines[l.multiPV-1]
	if l.bound == search.Exact || !old.scored || old.bound != search.Exact {
		*old = l
	}
}

// result makes a result of the transcript, which has a bestmove. The error is package
// chess's about the move.
func (t *transcript) result() (search.Result, error) {
	best := t.best
	m, err := ParseMove(t.pos, best[0])
	if err != nil {
		return search.Result{}, err
	}
	res := search.Result{Move: m, PV: []chess.Move{m}, Nodes: t.nodes}
	if len(t.lines) > 0 {
		t.putFirst(m)
		first := &t.lines[0]
		pv := t.legal(first.pv)
		res.Score, res.Bound, res.Depth, res.SelDepth = first.score, first.bound, first.depth, first.selDepth
		if begins(pv, m) {
			res.PV = pv
			res.Lines = t.rootLines()
		} else if t.multiPV > 1 { // the lines are not of the move that it plays, as below full skill
			res.Lines = []search.RootLine{{Score: res.Score, Bound: res.Bound, PV: res.PV}}
		}
	}
	if len(best) > 2 && best[1] == "ponder" {
		after := *t.pos
		after.Make(m)
		if reply, err := ParseMove(&after, best[2]); err == nil {
			res.Ponder = reply
		}
	}
	return res, nil
}

// putFirst makes the line of a move the first one: the last line that the engine has said, a
// bound of the move played before the value of another, or the one of those for several
// moves, as below full skill. Nothing changes if no line begins with the move.
func (t *transcript) putFirst(m chess.Move) {
	at := func(l infoLine) bool { return begins(t.legal(l.pv), m) }
	switch i := slices.IndexFunc(t.lines, at); {
	case i == 0:
	case at(t.last) && t.multiPV == 1:
		t.lines[0] = t.last
	case at(t.last):
		if i > 0 {
			t.lines = slices.Delete(t.lines, i, i+1)
		}
		t.lines = slices.Insert(t.lines, 0, t.last)
	case i > 0:
		l := t.lines[i]
		t.lines = slices.Insert(slices.Delete(t.lines, i, i+1), 0, l)
	}
}

// rootLines returns the lines of a search for several best moves, up to the
// first that is missing; nil if only one was asked for. A line whose move stands in
// one before it is left out: the engine has reported only that one anew.
func (t *transcript) rootLines() []search.RootLine {
	if t.multiPV < 2 {
		return nil
	}
	var all []search.RootLine
	for _, l := range t.lines {
		pv := t.legal(l.pv)
		if len(pv) == 0 {
			break
		}
		if slices.ContainsFunc(all, func(before search.RootLine) bool { return before.PV[0] == pv[0] }) {
			continue
		}
		all = append(all, search.RootLine{Score: l.score, Bound: l.bound, PV: pv})
	}
	return all
}

func begins(pv []chess.Move, m chess.Move) bool { return len(pv) > 0 && pv[0] == m }

// legal returns the moves of a principal variation up to the first that is not
// legal, or to the horizon of a search.
func (t *transcript) legal(pv []string) []chess.Move {
	p := *t.pos
	moves := make([]chess.Move, 0, min(len(pv), search.MaxPly))
	for _, text := range pv[:min(len(pv), search.MaxPly)] {
		m, err := ParseMove(&p, text)
		if err != nil {
			break
		}
		p.Make(m)
		moves = append(moves, m)
	}
	return moves
}

// isNullMove reports whether s is one of the ways of engines to say that they
// have no move.
func isNullMove(s string) bool {
	return s == "(none)" || s == "0000" || s == "NULL" || s == "none"
}
