//go:build unix

package clustertest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	stoppedFor   = 12 * time.Second // longer than a lease lives
	waitingGames = 50               // that wait in spools while replay is suspended
)

// StopReplay suspends the replay role of a running cluster for longer than its lease. A
// second one on the same directory must wait, and one with another buffer must be refused;
// games wait in the spools. First the suspended process goes on, then it is suspended
// again and killed, and the second one goes on. Each time all games that waited must leave
// the spools. While replay is suspended, status --check says so and exits with 1, before and
// afterwards with 0.
func (c *Cluster) StopReplay(ctx context.Context) error {
	err := c.await(ctx, "a replay buffer", func() (bool, error) { n, err := c.bufferBytes(); return n > 0, err })
	if err != nil {
		return err
	}
	const calm, stuck = "", "replay is stuck"
	if err := c.awaitCheck(ctx, 0, calm); err != nil {
		return err
	}
	former, second := c.replay, c.role("replay", "replay")
	second.Log = filepath.Join(c.opt.Dir, "logs", "replay2.log")
	defer func() {
		if c.replay != second {
			second.Abandon()
		}
	}()
	waiting, err := c.withoutReplay(ctx, func() error {
		stopped := time.Now()
		if err := second.Start(); err != nil {
			return err
		}
		log := newEventLog(c.dir(second))
		err := c.await(ctx, "a second replay role to wait", func() (bool, error) {
			events, err := log.read()
			waits := func(e Event) bool {
				return e.Time.After(stopped) && strings.HasPrefix(e.Msg, "another process has the replay buffer")
			}
			return slices.ContainsFunc(events, waits), errors.Join(err, second.Failed())
		})
		if err != nil {
			return err
		}
		other := c.role("replay", "replay3")
		if err := other.Start(); err != nil {
			return err
		}
		return other.fails(endPatience, "the run's games are in another replay buffer")
	})
	if err != nil {
		return err
	}
	if err := former.Continue(); err != nil {
		return err
	}
	if err := c.awaitStored(ctx, "the replay role that goes on", waiting); err != nil {
		return err
	}
	if waiting, err = c.withoutReplay(ctx, func() error { return c.awaitCheck(ctx, 1, stuck) }); err != nil {
		return err
	}
	if err := former.Kill(); err != nil {
		return err
	}
	c.replay = second
	if err := c.awaitStored(ctx, "the second replay role", waiting); err != nil {
		return err
	}
	return c.awaitCheck(ctx, 0, calm)
}

// withoutReplay suspends the replay role, does something, and returns the games that wait
// in the spools in the end. The buffer must not have grown.
func (c *Cluster) withoutReplay(ctx context.Context, do func() error) (waiting []string, err error) {
	if err := c.replay.Stop(); err != nil {
		return nil, err
	}
	if err := c.pause(ctx, pollEvery); err != nil { // the write at hand ends
		return nil, err
	}
	before, err := c.bufferBytes()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(do(), c.pause(ctx, stoppedFor)); err != nil {
		return nil, err
	}
	err = c.await(ctx, fmt.Sprintf("%d games in the spools", waitingGames), func() (bool, error) {
		waiting, err = c.spooled()
		return len(waiting) >= waitingGames, err
	})
	if err != nil {
		return nil, err
	}
	if after, err := c.bufferBytes(); err != nil || after != before {
		return nil, errors.Join(err, fmt.Errorf("the buffer of a suspended replay role: found %d bytes, expected %d", after, before))
	}
	c.opt.Log.Info("replay is suspended", "games in the spools", len(waiting))
	return waiting, nil
}

// awaitStored waits until games have left the spools.
func (c *Cluster) awaitStored(ctx context.Context, by string, games []string) error {
	began := time.Now()
	err := c.await(ctx, by+" to store the games that waited", func() (bool, error) {
		left, err := c.spooled()
		return !slices.ContainsFunc(games, func(id string) bool { return slices.Contains(left, id) }), err
	})
	if err == nil {
		c.opt.Log.Info("the games that waited are stored", "by", by, "games", len(games), "after", time.Since(began).Round(time.Millisecond))
	}
	return err
}

// spooled returns the games in all spools.
func (c *Cluster) spooled() (ids []string, err error) {
	for _, p := range c.actors {
		left, err := spooled(c.dir(p))
		if err != nil {
			return nil, err
		}
		ids = append(ids, left...)
	}
	return ids, nil
}
