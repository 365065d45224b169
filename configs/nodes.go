package configs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/crazyhouse-rl/selfplay/player"
)

// NodeStage is how many nodes a move games are played with from some net on.
type NodeStage struct {
	Games uint64 // stored when the net was offered, at least
	Nodes uint64 // a move
}

// NodeStages reads NodesGrowth: both games and nodes grow from stage to stage, and the
// first has more nodes than Nodes. Errors wrap ErrInvalid.
func (a Actor) NodeStages() ([]NodeStage, error) {
	first := NodeStage{Nodes: a.Nodes}
	follows := func(last, s NodeStage) error {
		switch {
		case s.Games <= last.Games:
			return fmt.Errorf("found %d games, expected more than the %d before", s.Games, last.Games)
		case s.Nodes <= last.Nodes:
			return fmt.Errorf("found %d nodes, expected more than the %d before", s.Nodes, last.Nodes)
		}
		return nil
	}
	stages, err := parseStages(a.NodesGrowth, parseNodeStage, follows)
	if err == nil && len(stages) > 0 {
		err = follows(first, stages[0])
	}
	if err != nil {
		return nil, fmt.Errorf("%w: actor.nodes_growth: %w", ErrInvalid, err)
	}
	return stages, nil
}

// parseNodeStage reads "20k: 400".
func parseNodeStage(text string) (s NodeStage, err error) {
	games, nodes, found := strings.Cut(text, ":")
	if !found {
		return s, errors.New("expected GAMES: NODES, such as 20k: 400")
	}
	if s.Games, err = player.ParseCount(strings.TrimSpace(games)); err == nil {
		s.Nodes, err = player.ParseCount(strings.TrimSpace(nodes))
	}
	return s, err
}

// NodesAt returns the nodes a move of games with a net that was offered when as many
// games were stored: those of the last stage reached. NodesGrowth must be readable.
func (a Actor) NodesAt(games uint64) uint64 {
	nodes := a.Nodes
	stages, _ := a.NodeStages()
	for _, s := range stages {
		if s.Games <= games {
			nodes = s.Nodes
		}
	}
	return nodes
}

// MostNodes returns the nodes a move of the last stage. NodesGrowth must be readable.
func (a Actor) MostNodes() uint64 {
	stages, _ := a.NodeStages()
	if len(stages) == 0 {
		return a.Nodes
	}
	return stages[len(stages)-1].Nodes
}
