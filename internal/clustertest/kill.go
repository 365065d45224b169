//go:build unix

package clustertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	gamesBetween = 4           // finished between two kills, at least
	killPause    = time.Second // between that and the next kill, at most
)

// KillInTurn kills the processes of a running cluster in turn without warning, servers
// among them, and starts each again at once. Between two kills games are finished, and
// in each round through all processes the replay buffer grows. It goes on until
// the given number were killed in all, those of an earlier harness in the directory
// counted, and a net of the generation is published.
func (c *Cluster) KillInTurn(ctx context.Context, kills, generation int) error {
	victims := c.all()
	began, stored := c.watch.Games(), int64(-1)
	for c.state.Kills < kills {
		if c.state.Kills%len(victims) == 0 {
			before := stored
			err := c.await(ctx, "a replay buffer that has grown", func() (grown bool, err error) {
				stored, err = c.bufferBytes()
				return stored > before, err
			})
			if err != nil {
				return err
			}
		}
		if err := c.awaitGames(ctx, gamesBetween); err != nil {
			return err
		}
		if err := c.pause(ctx, rand.N(killPause)); err != nil {
			return err
		}
		victim := victims[c.state.Kills%len(victims)]
		if err := victim.Kill(); err != nil {
			return err
		}
		c.watch.Look()
		if err := victim.Start(); err != nil {
			return err
		}
		c.state.Kills++
		if err := c.writeState(); err != nil {
			return err
		}
		if g, err := c.generation(); err == nil {
			c.opt.Log.Info("killed", "process", victim.Name, "kills", c.state.Kills, "of", kills, "finished", c.watch.Games(), "new", c.watch.Games()-began, "generation", g)
		}
	}
	if err := c.awaitGeneration(ctx, generation); err != nil {
		return fmt.Errorf("after %d kills: %w", c.state.Kills, err)
	}
	return nil
}
