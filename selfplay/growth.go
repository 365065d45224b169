package selfplay

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// grow begins with a model that has learned nothing, of the architecture that as many
// stored positions can feed.
func (l *learner) grow(stored uint64) error {
	stages, err := l.run.cfg.Net.Stages()
	if err != nil {
		return err
	}
	l.state.Stage = nil
	for i := range stages {
		if stages[i].Positions <= stored {
			l.state.Stage = &stages[i]
		}
	}
	return l.begin()
}

// begin makes the training and the model of the present stage.
func (l *learner) begin() error {
	training, err := newTraining(l.run.cfg, l.net())
	if err != nil {
		return err
	}
	l.training = training
	l.model, err = l.newModel()
	return err
}

// net is the architecture of the present stage.
func (l *learner) net() configs.Net {
	net := l.run.cfg.Net.Net
	if s := l.state.Stage; s != nil {
		net = s.Of(net)
	}
	return net
}

// modelFor returns the model that a checkpoint is read into, of the stage that it was
// in. Roles play with the architectures of the settings only, so the stage must be
// among them still.
func (l *learner) modelFor(caller []byte) (trainer.Model, error) {
	var saved learnerState
	if err := json.Unmarshal(caller, &saved); err != nil {
		return nil, fmt.Errorf("learner's state: %w", err)
	}
	before := l.net()
	l.state.Stage = saved.Stage
	all, err := l.run.cfg.Net.All()
	if err != nil {
		return nil, err
	}
	if net := l.net(); !slices.Contains(all, net) {
		return nil, fmt.Errorf("found a checkpoint of a net of %s, expected one of those that net.growth names: name it there", net.Size())
	} else if net == before {
		return l.sharing(), nil
	}
	err = l.begin()
	return l.sharing(), err
}
