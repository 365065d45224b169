package selfplay

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/player"
)

// abStyle is the style of NNUE nets, with alpha–beta search.
type abStyle struct {
	run          *Run
	architecture nnue.Architecture
}

func newABStyle(r *Run) (*abStyle, error) {
	a, err := r.cfg.Net.Architecture(r.cfg.Variant)
	return &abStyle{r, a}, err
}

func (s *abStyle) read(path string) (*player.Net, error) {
	n, err := player.ReadNet(path, s.run.variant)
	if err != nil {
		return nil, err
	}
	if n.NNUE == nil {
		return nil, fmt.Errorf("found %s, expected an NNUE net", path)
	}
	if found := n.NNUE.Architecture(); found != s.architecture {
		return nil, fmt.Errorf("found architecture %s, expected %s", found, s.architecture)
	}
	return n, nil
}

func (s *abStyle) spec() player.Spec { return player.Spec{Search: player.AlphaBeta} }

func (s *abStyle) player(n *net) (*actorPlayer, error) {
	spec := s.spec()
	p, err := spec.Open(n.Net, s.run.cfg.Actor.HashMB)
	if err != nil {
		return nil, err
	}
	return &actorPlayer{Player: p, seed: func(uint64) {}, release: func() { _ = p.Close() }}, nil // it holds nothing
}
