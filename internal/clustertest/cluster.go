//go:build unix

package clustertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// RunName is what the run of every cluster is called.
const RunName = "cluster"

const (
	pollEvery   = 50 * time.Millisecond
	patience    = 3 * time.Minute // for what has to happen on a busy machine
	endPatience = 2 * time.Minute // for a role that was asked to end
)

// Options say what a cluster consists of.
type Options struct {
	Dir      string // holds everything: directories of servers and roles, logs, the record of finished games
	Programs Programs
	Servers  int // NATS servers, which keep as many copies of everything: 1, 3 or 5
	Actors   int
	Gates    int
	Settings []string // of the run, key=value, after the harness's own
	Log      *slog.Logger
}

// settings make a run small: a net after a few hundred positions, and a buffer that
// forgets nothing.
var settings = []string{
	"actor.nodes=15", "actor.max_plies=60", "actor.workers=1", "train.min_positions=300", "train.batch=64",
	"train.steps_per_net=20", "train.checkpoint=10", "train.held_out=100",
	"gate.pairs=2", "gate.nodes=10", "replay.max_bytes=1073741824", "bus.max_bytes=67108864",
}

// Cluster is a run on servers and roles, each a process of its own.
type Cluster struct {
	opt     Options
	servers []*server
	actors  []*Process
	replay  *Process
	trainer *Process
	former  []*Process // trainers that another has taken the role of
	gates   []*Process
	watch   *SpoolWatch
	gateLog []*eventLog
	state   state
}

// state is what a harness that is started again in the same directory goes on with.
type state struct {
	Ports []ports `json:"ports"`
	Kills int     `json:"kills"`
}

const stateFile = "cluster.json"

// Open prepares a cluster in a directory, or goes on with the one that is there.
// Nothing runs yet.
func Open(o Options) (*Cluster, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	c := &Cluster{opt: o}
	if err := c.open(); err != nil {
		return nil, fmt.Errorf("cluster in %s: %w", dir, err)
	}
	return c, nil
}

func (c *Cluster) open() error {
	if err := os.MkdirAll(filepath.Join(c.opt.Dir, "logs"), 0o755); err != nil {
		return err
	}
	if err := c.readState(); err != nil {
		return err
	}
	for i := range c.state.Ports {
		s, err := newServer(c.opt.Dir, c.opt.Programs.Server, i, c.state.Ports)
		if err != nil {
			return err
		}
		c.servers = append(c.servers, s)
	}
	var dirs []string
	for i := range c.opt.Actors {
		p := c.role("actor", fmt.Sprintf("actor%d", i+1), "--workers", "1")
		c.actors = append(c.actors, p)
		dirs = append(dirs, c.dir(p))
	}
	c.replay = c.role("replay", "replay")
	c.trainer = c.role("trainer", "trainer", c.training()...)
	for i := range c.opt.Gates {
		p := c.role("gate", fmt.Sprintf("gate%d", i+1), "--workers", "1")
		c.gates = append(c.gates, p)
		c.gateLog = append(c.gateLog, newEventLog(c.dir(p)))
	}
	var err error
	c.watch, err = WatchSpools(filepath.Join(c.opt.Dir, "finished.txt"), dirs)
	return err
}

func (c *Cluster) readState() error {
	text, err := os.ReadFile(filepath.Join(c.opt.Dir, stateFile))
	if err == nil {
		if err := json.Unmarshal(text, &c.state); err != nil {
			return fmt.Errorf("%s: %w", stateFile, err)
		}
		if len(c.state.Ports) != c.opt.Servers {
			return fmt.Errorf("%s: found a cluster of %d servers, expected %d: give another directory", stateFile, len(c.state.Ports), c.opt.Servers)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if c.state.Ports, err = drawPorts(c.opt.Servers); err != nil {
		return err
	}
	return c.writeState()
}

func (c *Cluster) writeState() error {
	text, err := json.MarshalIndent(c.state, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(c.opt.Dir, stateFile), append(text, '\n'))
}

// role returns the process of a role, in a directory of its name.
func (c *Cluster) role(command, name string, flags ...string) *Process {
	dir := filepath.Join(c.opt.Dir, name)
	args := append([]string{command, "--nats", url(c.servers), "--run", RunName, "--dir", dir}, flags...)
	return &Process{Name: name, Log: filepath.Join(c.opt.Dir, "logs", name+".log"), path: c.opt.Programs.Selfplay, args: args}
}

// training returns the flags that a trainer has beside those of all roles.
func (c *Cluster) training() []string {
	flags := []string{"--preset", "tiny", "--set", fmt.Sprintf("bus.replicas=%d", len(c.servers))}
	for _, s := range slices.Concat(settings, c.opt.Settings) {
		flags = append(flags, "--set", s)
	}
	return flags
}

func (c *Cluster) dir(role *Process) string { return filepath.Join(c.opt.Dir, role.Name) }

// roles returns all processes but the servers, those that others depend on last.
func (c *Cluster) roles() []*Process {
	return slices.Concat(c.actors, c.gates, c.former, []*Process{c.trainer, c.replay})
}

// all returns all processes, servers first.
func (c *Cluster) all() []*Process {
	var all []*Process
	for _, s := range c.servers {
		all = append(all, s.Process)
	}
	return append(all, c.roles()...)
}

// Start starts everything and waits until the servers are ready.
func (c *Cluster) Start(ctx context.Context) error {
	if err := c.startServers(ctx); err != nil {
		return err
	}
	for _, p := range c.roles() {
		if err := p.Start(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) startServers(ctx context.Context) error {
	for _, s := range c.servers {
		if err := s.Start(); err != nil {
			return err
		}
	}
	return c.await(ctx, "all servers healthy", func() (bool, error) {
		for _, s := range c.servers {
			if !s.healthy(ctx) {
				return false, nil
			}
		}
		return true, nil
	})
}

// await polls until something is there. It fails when a process ends by itself.
func (c *Cluster) await(ctx context.Context, what string, there func() (bool, error)) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	late := time.After(patience)
	for {
		for _, p := range c.all() {
			if err := p.Failed(); err != nil {
				return err
			}
		}
		if ok, err := there(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		case <-late:
			return fmt.Errorf("waited %v for %s in vain; logs are in %s", patience, what, filepath.Join(c.opt.Dir, "logs"))
		case <-tick.C:
		}
	}
}

// pause waits, and fails when a process ends by itself.
func (c *Cluster) pause(ctx context.Context, d time.Duration) error {
	end := time.Now().Add(d)
	return c.await(ctx, "the next kill", func() (bool, error) { return time.Now().After(end), nil })
}

// awaitGames waits until the given number of further games have been finished.
func (c *Cluster) awaitGames(ctx context.Context, more int) error {
	want := c.watch.Games() + more
	return c.await(ctx, fmt.Sprintf("%d finished games", want), func() (bool, error) { return c.watch.Games() >= want, nil })
}

// awaitGeneration waits until a gate has published a net of at least this generation.
func (c *Cluster) awaitGeneration(ctx context.Context, generation int) error {
	return c.await(ctx, fmt.Sprintf("a net of generation %d", generation), func() (bool, error) {
		g, err := c.generation()
		return g >= generation, err
	})
}

// generation returns the generation of the newest net that a gate has published.
func (c *Cluster) generation() (newest int, err error) {
	for _, l := range c.gateLog {
		events, err := l.read()
		if err != nil {
			return 0, err
		}
		for _, e := range events {
			if e.Msg == "net published" {
				newest = max(newest, e.Generation)
			}
		}
	}
	return newest, nil
}

// awaitRoles waits until every role has joined the run since it was started last.
func (c *Cluster) awaitRoles(ctx context.Context) error {
	for _, p := range c.roles() {
		log, since := newEventLog(c.dir(p)), p.lastStart()
		err := c.await(ctx, p.Name+" to join the run", func() (bool, error) {
			events, err := log.read()
			return slices.ContainsFunc(events, func(e Event) bool { return e.Msg == "started" && e.Time.After(since) }), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// End waits until every role has joined the run, and ends everything in order: actors,
// which give the buffer what is spooled, then those that they depend on.
func (c *Cluster) End(ctx context.Context) error {
	if err := c.awaitRoles(ctx); err != nil {
		return err
	}
	var group errgroup.Group
	for _, p := range slices.Concat(c.actors, c.gates, c.former) {
		group.Go(func() error { return p.End(endPatience) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := c.emptySpools(ctx); err != nil {
		return err
	}
	for _, p := range []*Process{c.trainer, c.replay} {
		if err := p.End(endPatience); err != nil {
			return err
		}
	}
	for _, s := range c.servers {
		if err := s.Kill(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Close kills what still runs.
func (c *Cluster) Close() error {
	for _, p := range c.all() {
		p.Abandon()
	}
	_, err := c.watch.Close()
	return err
}

// bufferBytes returns the size of the replay buffer's segments, 0 before there are any.
func (c *Cluster) bufferBytes() (int64, error) {
	paths, err := filepath.Glob(filepath.Join(c.dir(c.replay), "replay", "*.seg"))
	if err != nil {
		return 0, err
	}
	var total int64
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil { // it may be deleted at any time
			total += info.Size()
		}
	}
	return total, nil
}
