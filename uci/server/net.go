package server

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// idLength is how much of a net's SHA-256 stands for it in messages.
const idLength = 8

// errKind says that a net is not one for the server's search.
var errKind = errors.New("wrong kind of net")

// isForeign reports whether err says that a net is for another variant. It is an error
// of searches alone, as the variant may be set later, when the net is read again.
func isForeign(err error) bool {
	return errors.Is(err, nnue.ErrVariant) || errors.Is(err, runtimes.ErrVariant)
}

// setEvalFile reads a net for the variant that is set: a file, or the directory of a
// run or of learn. After an error there is no search before another net is read, as
// it would be by a net that the GUI has not asked for.
func (s *server) setEvalFile(path string) error {
	s.evalFile = path
	s.netErr = s.readEvalFile(path)
	return s.netErr
}

// missing says why there is no net to search by, nil if there is: EvalFile could not be
// read, or is for another variant. In another variant the net of Options gives way to
// none instead: nobody has asked for it.
func (s *server) missing() error {
	err, v := s.netErr, s.net.Variant()
	switch {
	case err != nil:
	case s.net == s.opts.Net || v == nil || v == s.variant:
		return nil
	case s.net.Planes != nil:
		err = s.net.Planes.CheckVariant(s.variant)
	default: // in the words of package nnue
		err = fmt.Errorf("%s: %w: found one for %q, expected one for %q", s.evalFile, nnue.ErrVariant, v.Name, s.variant.Name)
	}
	return fmt.Errorf("no net: EvalFile: %w", err)
}

func (s *server) readEvalFile(path string) error {
	if path == "" || path == emptyValue {
		s.net, s.netName = s.opts.Net, builtIn
		s.drop()
		return nil
	}
	n, err := player.ReadNet(path, s.variant)
	if err != nil {
		return err
	}
	switch tree := s.player.Search == player.TreeSearch; {
	case tree && n.Planes == nil:
		return fmt.Errorf("%w: found %s, expected a plane net for tree search", errKind, path)
	case !tree && n.Planes != nil:
		return fmt.Errorf("%w: found the plane net %s, expected an NNUE net for alpha-beta search", errKind, path)
	}
	if err := s.tryNet(n, s.player.Runtime); err != nil {
		return err
	}
	s.net, s.netName = n, filepath.Base(path)
	if n.Origin != "" {
		s.out.comment("%s", n.Origin)
	}
	s.drop()
	return nil
}

// setRuntime has another runtime compute the net. On an error the engine keeps the
// runtime it has.
func (s *server) setRuntime(name string) error {
	if err := runtimes.Check(name); err != nil {
		return err
	}
	next := s.player.Runtime
	next.Name = name
	if err := s.tryNet(s.net, next); err != nil {
		return err
	}
	s.player.Runtime = next
	s.drop()
	return nil
}

// tryNet reports what a runtime cannot compute, before a game begins.
func (s *server) tryNet(n *player.Net, r player.Runtime) error {
	if n.Planes == nil {
		return nil
	}
	e, err := n.OpenPlanes(r, 1)
	if err != nil {
		return err
	}
	return e.Close()
}

// evaluation returns what evaluates positions of the variant that is set, and its
// name: the net, unless it was made for another variant.
func (s *server) evaluation() (n *player.Net, name string) {
	none, n := player.NoNet(s.player.Search), s.net
	switch v := n.Variant(); {
	case v == nil && s.player.Search == player.TreeSearch:
		return none, "none, all moves are alike"
	case v == nil:
		return none, player.Material
	case v != s.variant:
		return none, fmt.Sprintf("%s, as the net is for %s and not for %s", none.Name, v, s.variant)
	}
	name = s.netName
	if s.player.Search == player.TreeSearch && s.player.Runtime.Name != s.opts.Player.Runtime.Name {
		name += " by " + s.player.Runtime.Name
	}
	return n, name
}

// tellNet says by what positions are evaluated, a net with the beginning of its
// SHA-256.
func (s *server) tellNet() {
	n, name := s.evaluation()
	if len(n.ID) > idLength {
		name += " (" + n.ID[:idLength] + ")"
	}
	s.out.comment("evaluation: %s", name)
}

// evaluateTree obeys "eval": what the net says about the position.
func (s *server) evaluateTree() {
	n, name := s.evaluation()
	eval, err := n.OpenPlanes(s.player.Runtime, s.player.Resources.Threads)
	if err != nil {
		s.out.comment("eval: %v", err)
		return
	}
	defer eval.Close()
	var moves chess.MoveList
	pos := search.Current(s.line)
	pos.Legal(&moves)
	if moves.N == 0 {
		s.out.comment("eval: no legal moves")
		return
	}
	leaves := []search.Leaf{{Pos: &pos, Repetitions: s.line.Repetitions(), Moves: moves.Slice()}}
	if err := eval.Evaluate(s.ctx, leaves); err != nil {
		s.out.comment("eval: %v", err)
		return
	}
	var b strings.Builder
	l := &leaves[0]
	fmt.Fprintf(&b, "evaluation by %s, from the side to move's point of view (%s)\n", name, pos.SideToMove())
	fmt.Fprintf(&b, "value %+.4f  draw %.4f  plies left %.0f\n", l.Value, l.Draw, l.PliesLeft)
	for i, m := range l.Moves {
		fmt.Fprintf(&b, "%-6s %.4f\n", pos.UCI(m), l.Priors[i])
	}
	fmt.Fprintf(&b, "centipawns %d\n", mcts.Score(float64(l.Value)))
	s.out.write([]byte(b.String()))
}
