package selfplay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/player"
)

// abStyle is the style of NNUE nets, with alpha–beta search.
type abStyle struct {
	run *Run
	// architectures are those that nets of the run may have, the first one first.
	architectures []nnue.Architecture
}

func newABStyle(r *Run) (*abStyle, error) {
	all, err := r.cfg.Net.All()
	if err != nil {
		return nil, err
	}
	s := &abStyle{run: r}
	for _, net := range all {
		a, err := net.Architecture(r.cfg.Variant)
		if err != nil {
			return nil, err
		}
		s.architectures = append(s.architectures, a)
	}
	return s, nil
}

func (s *abStyle) read(path string) (*player.Net, error) {
	n, err := player.ReadNet(path, s.run.variant)
	if err != nil {
		return nil, err
	}
	if n.NNUE == nil {
		return nil, fmt.Errorf("found %s, expected an NNUE net", path)
	}
	if found := n.NNUE.Architecture(); !slices.Contains(s.architectures, found) {
		return nil, fmt.Errorf("found architecture %s, expected %s", found, orText(s.architectures))
	}
	return n, nil
}

// orText names architectures.
func orText[A fmt.Stringer](all []A) string {
	var texts []string
	for _, a := range all {
		texts = append(texts, a.String())
	}
	return strings.Join(texts, " or ")
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
