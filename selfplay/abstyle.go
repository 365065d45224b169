package selfplay

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
)

// materialNet stands in a game record for a player without a net.
const materialNet = "material"

// abStyle is the style of NNUE nets, with alpha–beta search.
type abStyle struct {
	run          *Run
	architecture nnue.Architecture
}

func newABStyle(r *Run) (*abStyle, error) {
	a, err := r.cfg.Net.Architecture(r.cfg.Variant)
	return &abStyle{r, a}, err
}

func (s *abStyle) first() string { return materialNet }

func (s *abStyle) fitsScale() bool { return true }

func (s *abStyle) describe(m *nets.Manifest, of model) {
	m.Kind, m.Features, m.Architecture = nets.KindNNUE, s.architecture.Features, s.architecture.String()
	m.PSQTStart = string(of.(*nnuefit.Model).PSQTStart())
}

func (s *abStyle) model() (model, error) {
	t := s.run.cfg.Train
	cfg := nnuefit.DefaultConfig()
	cfg.NetScale, cfg.Loss, cfg.Power = t.NetScale, nnuefit.Loss(t.Loss), t.Power
	cfg.Optimiser, cfg.Factorise, cfg.Workers = nnuefit.Optimiser(t.Optimiser), t.Factorise, t.Workers
	cfg.MeanDecay, cfg.PSQTStart = t.MeanDecay, nnuefit.PSQTStart(t.PSQTStart)
	return nnuefit.New(s.architecture, cfg, s.run.cfg.Seed)
}

func (s *abStyle) read(n *net, path string) error {
	network, err := nnue.ReadFileVariant(path, s.run.variant)
	if err != nil {
		return err
	}
	if found := network.Architecture(); found != s.architecture {
		return fmt.Errorf("found architecture %s, expected %s", found, s.architecture)
	}
	n.network = network
	return nil
}

func (s *abStyle) player(n *net) (*actorPlayer, error) {
	return &actorPlayer{Player: s.engine(n), seed: func(uint64) {}, release: func() {}}, nil
}

func (s *abStyle) contest(n *net, c *match.Contestant) {
	c.Settings = fmt.Sprintf("hash %d MiB", s.run.cfg.Actor.HashMB)
	c.New = func() (game.Player, error) { return s.engine(n), nil }
}

func (s *abStyle) engine(n *net) *ab.Engine {
	evaluator := func() ab.Evaluator {
		if n.network == nil {
			return ab.NewMaterial()
		}
		return nnue.NewAccumulator(n.network)
	}
	return ab.New(evaluator, ab.Options{HashMB: s.run.cfg.Actor.HashMB, Threads: 1})
}
