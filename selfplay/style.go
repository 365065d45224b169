package selfplay

import (
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// style is what differs between runs by the kind of their nets: how nets are
// trained, read and played with. Its methods may be called from many goroutines.
type style interface {
	// first is what plays before there is a net, as game records name it.
	first() string
	// describe fills in what a net of the run is, made by a model.
	describe(m *nets.Manifest, of model)
	// model returns the net that learns.
	model() (model, error)
	// fitsScale says that the scores of games have a scale that must be fitted
	// to their results.
	fitsScale() bool
	// read reads a net from its file and refuses one that is not of the run's
	// architecture.
	read(n *net, path string) error
	// spec describes who plays in the gate, but for the net.
	spec() player.Spec
	// player returns a player of one worker's games that uses a net.
	player(n *net) (*actorPlayer, error)
}

// model is a net that learns.
type model interface {
	trainer.Model
	ScoreScale() float64
	SetScoreScale(raw float64) error
}

// actorPlayer plays both sides of a worker's games.
type actorPlayer struct {
	game.Player
	seed    func(seed uint64) // seeds the random choices of searches
	release func()            // frees what the player shares with others
}

// newStyle returns the style of a run's nets.
func newStyle(r *Run) (style, error) {
	if r.cfg.Net.Kind == configs.Planes {
		return newTreeStyle(r)
	}
	return newABStyle(r)
}
