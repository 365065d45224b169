package selfplay

import (
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/player"
)

// style is what differs between runs by the kind of their nets: how nets are
// read and played with. Its methods may be called from many goroutines.
type style interface {
	// read reads a net from its file and refuses one that is not of the run's
	// architecture.
	read(path string) (*player.Net, error)
	// spec describes the players of the gate, but for the net.
	spec() player.Spec
	// player returns a player of one worker's games that uses a net.
	player(n *net) (*actorPlayer, error)
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
