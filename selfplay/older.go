package selfplay

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/nets"
)

// pairing is who plays a game: usually one player for both sides.
type pairing struct {
	players [2]*actorPlayer // of White and Black
	nets    [2]string       // their ids
	newest  chess.Color     // whose net is the newer one; White with one player
	games   uint64          // stored when that net was offered
}

// alone pairs a player with itself.
func alone(player *actorPlayer, n *net) pairing {
	return pairing{players: [2]*actorPlayer{player, player}, nets: [2]string{n.ID, n.ID}, games: n.games}
}

// against pairs a player with one of an older net, which has the side older.
func against(player *actorPlayer, n *net, opponent *actorPlayer, olderNet *net, older chess.Color) pairing {
	p := alone(player, n)
	p.players[older], p.nets[older], p.newest = opponent, olderNet.ID, older.Other()
	return p
}

// mixed reports whether the sides have different nets.
func (p *pairing) mixed() bool { return p.nets[0] != p.nets[1] }

// olderStream, "older", keeps the choice of opponents apart from the other randomness
// of games.
const olderStream = 0x6f6c646572

// olderSide says by the id of a game whether one side is to play by an older net,
// which side, and a random number to choose the net by.
func olderSide(c configs.Actor, seed uint64, id game.ID) (side chess.Color, number uint64, wanted bool) {
	rng := rand.New(rand.NewPCG(gameSeed(seed, id), olderStream))
	wanted = rng.Float64() < c.OlderShare
	return chess.Color(rng.IntN(2)), rng.Uint64(), wanted
}

// leaveOut keeps the older net's positions out of training, if the settings say so.
func (p *pairing) leaveOut(c configs.Actor, g *game.Game) {
	if !p.mixed() || c.OlderTrain {
		return
	}
	mover := g.Start.SideToMove()
	for i := range g.Plies {
		if mover != p.newest {
			g.Plies[i].Train = false
		}
		mover = mover.Other()
	}
}

// olderNets are the nets that a run's actor played with before the present one.
type olderNets struct {
	run   *Run
	cache *netCache

	mu      sync.Mutex
	present string   // the net that ids are older than
	ids     []string // newest first
	failed  map[string]bool
}

func newOlderNets(r *Run) *olderNets {
	return &olderNets{run: r, cache: newNetCache(r), failed: map[string]bool{}}
}

// pick returns the older net that a number chooses, nil if there is none at hand.
func (o *olderNets) pick(ctx context.Context, present *net, number uint64) *net {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.present != present.ID {
		o.present, o.ids = present.ID, o.published(ctx, present.ID)
		o.cache.keep(o.ids...)
	}
	if len(o.ids) == 0 {
		return nil
	}
	id := o.ids[number%uint64(len(o.ids))]
	if o.failed[id] {
		return nil
	}
	n, err := o.cache.get(ctx, id)
	if err != nil {
		if ctx.Err() == nil {
			o.failed[id] = true
			o.run.log.Warn("an older net cannot be played against", "net", id, "error", err)
		}
		return nil
	}
	return n
}

// published returns the ids of the nets published before the present one, newest
// first, as many as are played against.
func (o *olderNets) published(ctx context.Context, present string) (ids []string) {
	history, err := o.run.bus.PointerHistory(ctx, o.run.currentKey())
	if err != nil {
		if ctx.Err() == nil {
			o.run.log.Warn("the nets published before cannot be read, none is played against", "error", err)
		}
		return nil
	}
	reached := false // the present one: others may have been published since
	for _, p := range slices.Backward(history) {
		record, err := nets.ParseRecord(p.Value)
		if err != nil || record.Net == "" {
			continue
		}
		if reached = reached || record.Net == present; !reached || record.Net == present || slices.Contains(ids, record.Net) {
			continue
		}
		if ids = append(ids, record.Net); len(ids) == o.run.cfg.Actor.OlderNets {
			break
		}
	}
	return ids
}

// keptPlayer is a player with its net, kept from game to game.
type keptPlayer struct {
	player *actorPlayer
	net    *net
}

// take has the player use a net.
func (s *keptPlayer) take(style style, n *net) error {
	if s.player != nil && s.net == n {
		return nil
	}
	next, err := style.player(n)
	if err != nil {
		return err
	}
	s.leave()
	s.player, s.net = next, n
	return nil
}

// leave releases the player.
func (s *keptPlayer) leave() {
	if s.player != nil {
		s.player.release()
	}
	*s = keptPlayer{}
}
