package selfplay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// treeStream, "tree", keeps the randomness of searches apart from that of games.
const treeStream = 0x74726565

// treeStyle is the style of convolutional nets, with tree search. All games that are
// played with a net at a time share one evaluator.
type treeStyle struct {
	run *Run
	// architectures are those that nets of the run may have, the first one first.
	architectures []arch.Architecture

	mu         sync.Mutex
	evaluators map[string]*sharedEvaluator // by net
}

// sharedEvaluator is what the games with one net have in common.
type sharedEvaluator struct {
	batcher *mcts.Batcher
	net     player.TreeEvaluator // what the batcher evaluates with
	users   int                  // players that have it
}

func newTreeStyle(r *Run) (*treeStyle, error) {
	all, err := r.cfg.Net.All()
	if err != nil {
		return nil, err
	}
	s := &treeStyle{run: r, evaluators: map[string]*sharedEvaluator{}}
	for _, net := range all {
		a, err := net.Shape()
		if err != nil {
			return nil, err
		}
		s.architectures = append(s.architectures, a)
	}
	return s, nil
}

func (s *treeStyle) read(path string) (*player.Net, error) {
	n, err := player.ReadNet(path, s.run.variant)
	if err != nil {
		return nil, err
	}
	if n.Planes == nil {
		return nil, fmt.Errorf("found %s, expected a plane net", path)
	}
	a, _, _, err := arch.Read(n.Planes.Model)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(s.architectures, a) {
		return nil, fmt.Errorf("found architecture %v, expected %s", a, orText(s.architectures))
	}
	return n, nil
}

func (s *treeStyle) runtime() player.Runtime {
	return player.Runtime{Name: s.run.cfg.Actor.Tree.Runtime}
}

func (s *treeStyle) spec() player.Spec {
	o, usual := s.run.cfg.Actor.Tree.Options, mcts.DefaultOptions()
	o.Noise, o.Temperature, o.PlayoutCap = 0, mcts.Temperature{}, mcts.PlayoutCap{}
	o.LCB, o.QVeto, o.Batch = usual.LCB, usual.QVeto, usual.Batch
	return player.Spec{Search: player.TreeSearch, Tree: o, Runtime: s.runtime()}
}

func (s *treeStyle) player(n *net) (*actorPlayer, error) {
	e, err := s.acquire(n)
	if err != nil {
		return nil, fmt.Errorf("net %s: %w", short(n.ID), err)
	}
	c := s.run.cfg.Actor
	source := rand.NewPCG(0, treeStream)
	o := c.Tree.Options
	o.MemoryMB, o.Rand = c.HashMB, rand.New(source)
	o.Batch = 1 // the games make the batches together
	engine, err := mcts.New(e.batcher, o)
	if err != nil {
		return nil, errors.Join(err, s.release(n.ID))
	}
	return &actorPlayer{
		Player: engine,
		seed:   func(seed uint64) { source.Seed(seed, treeStream) },
		release: func() {
			if err := s.release(n.ID); err != nil {
				s.run.log.Warn("net not closed", "net", n.ID, "error", err)
			}
		},
	}, nil
}

// acquire returns the evaluator of the games with a net, opening it for the first of them.
// Each call is matched by one of release.
func (s *treeStyle) acquire(n *net) (*sharedEvaluator, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.evaluators[n.ID]
	if e == nil {
		e = &sharedEvaluator{}
		var err error
		if e.net, err = n.OpenPlanes(s.runtime(), s.run.cfg.Actor.Tree.Threads); err != nil {
			return nil, err
		}
		// Without a net games have batches too: they would run on without
		// waiting for one another, and the trainer with its one goroutine would
		// hardly have its turn.
		e.batcher = mcts.NewBatcher(&counter{e.net, s.run.status}, s.run.cfg.Actor.Tree.Batch)
		s.evaluators[n.ID] = e
	}
	e.users++
	return e, nil
}

// release ends one use of the evaluator of a net and closes it with the last one.
func (s *treeStyle) release(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.evaluators[id]
	if e.users--; e.users > 0 {
		return nil
	}
	delete(s.evaluators, id)
	return e.net.Close()
}

// counter counts in the status what an evaluator is asked for.
type counter struct {
	mcts.Evaluator
	status *sharedStatus
}

// Evaluate implements mcts.Evaluator.
func (c *counter) Evaluate(ctx context.Context, leaves []search.Leaf) error {
	c.status.evaluated(len(leaves))
	return c.Evaluator.Evaluate(ctx, leaves)
}
