//go:build unix

package clustertest

import (
	"context"
	"fmt"
	"os"
)

// WipeServers waits for a net, kills all servers of a running cluster without warning,
// removes what they have stored and starts them again. Afterwards the run has to go on: games are
// finished and stored, and further nets are published.
func (c *Cluster) WipeServers(ctx context.Context) error {
	if err := c.awaitGeneration(ctx, 1); err != nil {
		return err
	}
	generation, err := c.generation()
	if err != nil {
		return err
	}
	for _, s := range c.servers {
		if err := s.Kill(); err != nil {
			return err
		}
	}
	for _, s := range c.servers {
		if err := os.RemoveAll(s.store); err != nil {
			return err
		}
	}
	bytes, err := c.bufferBytes()
	if err != nil {
		return err
	}
	c.opt.Log.Info("all servers killed and their directories removed", "finished", c.watch.Games(), "generation", generation)
	if err := c.startServers(ctx); err != nil {
		return err
	}
	err = c.await(ctx, "a replay buffer that grows after the servers were wiped", func() (bool, error) {
		now, err := c.bufferBytes()
		return now > bytes, err
	})
	if err != nil {
		return err
	}
	c.opt.Log.Info("games are stored again", "finished", c.watch.Games())
	if err := c.awaitGeneration(ctx, generation+1); err != nil {
		return fmt.Errorf("after the servers were wiped: %w", err)
	}
	return nil
}
