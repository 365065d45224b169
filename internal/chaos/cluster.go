//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/chaos/fault"
	"github.com/crazyhouse-rl/selfplay/internal/clustertest"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
)

const (
	runName      = "chaos"
	restartAfter = 500 * time.Millisecond // a process that has ended
	slowRestart  = 5 * time.Second        // one that ends again and again
)

// settings make a run small: a net after a few hundred positions, and a buffer that
// forgets nothing.
var settings = []string{
	"actor.nodes=30", "actor.max_plies=60", "actor.workers=1", "train.min_positions=300", "train.batch=64",
	"train.steps_per_net=20", "train.checkpoint=10", "train.held_out=100", "gate.pairs=2", "gate.nodes=10",
	"replay.max_bytes=1073741824", "bus.max_bytes=67108864", "bus.replicas=3", "verify.share=0.02",
}

// Options of a run of the suite.
type Options struct {
	Dir      string // holds everything; empty or not there
	Programs clustertest.Programs
	Calm     time.Duration // how long the healed cluster may take to be calm
	Brief    bool          // looks only at what is stored, and waits for nothing after the last fault
	Log      *slog.Logger
}

// node is a process with a disk and a clock of its own.
type node struct {
	*clustertest.Process
	name, dir string
	dev       *fault.Device

	mu      sync.Mutex // held to start or kill the process or to change its files
	stopped int        // suspensions at hand
	modes   map[fault.Mode]int
	off     time.Duration // of its clock
	rots    []*damage
	begun   time.Time // last start
	failing int       // ends by itself soon after a start, in a row
	ended   int       // ends by itself
	wiped   int       // times that its store was removed
	probed  int       // times that it was started again since it served no JetStream
}

// cluster is everything that runs.
type cluster struct {
	opt   Options
	nodes map[string]*node
	wires []*wire
	watch *clustertest.SpoolWatch
	ports []serverPorts
	done  chan struct{} // ends the supervisors
	group sync.WaitGroup

	mu         sync.Mutex
	unpromised map[string]bool // games whose place in a spool a power cut took, before it was synced
	destroyed  map[string]bool // games of which a flipped bit hit the only copy
}

type serverPorts struct{ client, monitor, route int }

// Build compiles both programs into dir as ones whose disk and clock fail on demand.
func Build(ctx context.Context, dir string) (clustertest.Programs, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return clustertest.Programs{}, err
	}
	std := filepath.Join(dir, "std")
	if err := os.MkdirAll(std, 0o755); err != nil {
		return clustertest.Programs{}, err
	}
	overlay, err := fault.Overlay(ctx, std)
	if err != nil {
		return clustertest.Programs{}, err
	}
	return clustertest.Build(ctx, dir, "-overlay", overlay)
}

func newCluster(o Options) (*cluster, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	if names, err := os.ReadDir(filepath.Join(dir, "logs")); err == nil && len(names) > 0 {
		return nil, fmt.Errorf("found a cluster in %s, expected an empty directory: give another one", dir)
	}
	c := &cluster{opt: o, nodes: map[string]*node{}, done: make(chan struct{}), unpromised: map[string]bool{}, destroyed: map[string]bool{}}
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o755); err != nil {
		return nil, err
	}
	if err := c.lay(); err != nil {
		return nil, errors.Join(fmt.Errorf("cluster in %s: %w", dir, err), c.close())
	}
	return c, nil
}

// lay draws ports, opens the wires and describes all processes.
func (c *cluster) lay() error {
	n := len(servers)
	free, err := clustertest.FreePorts(3*n + n*(n-1) + len(roles)*n)
	if err != nil {
		return err
	}
	take := func() int {
		p := free[0]
		free = free[1:]
		return p
	}
	for range servers {
		c.ports = append(c.ports, serverPorts{take(), take(), take()})
	}
	for i, name := range servers {
		var routes []string
		for j, other := range servers {
			if i != j {
				port := take()
				if err := c.wire(link(name, other), c.ports[j].route, false, port); err != nil {
					return err
				}
				routes = append(routes, fmt.Sprintf("nats-route://127.0.0.1:%d", port))
			}
		}
		if err := c.server(name, c.ports[i], routes); err != nil {
			return err
		}
	}
	for _, name := range roles {
		var urls []string
		for j, s := range servers {
			port := take()
			if err := c.wire(link(name, s), c.ports[j].client, true, port); err != nil {
				return err
			}
			urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", port))
		}
		if err := c.role(name, strings.Join(urls, ",")); err != nil {
			return err
		}
	}
	c.watch, err = clustertest.WatchSpools(filepath.Join(c.opt.Dir, "finished.txt"), []string{c.nodes["actor1"].dir, c.nodes["actor2"].dir})
	return err
}

func (c *cluster) wire(name string, to int, messages bool, port int) error {
	w, err := newWire(name, fmt.Sprintf("127.0.0.1:%d", to), messages, port)
	if err == nil {
		c.wires = append(c.wires, w)
	}
	return err
}

// server describes a NATS server, which tells nobody of ways around the wires.
func (c *cluster) server(name string, p serverPorts, routes []string) error {
	dir := filepath.Join(c.opt.Dir, name)
	cluster := fmt.Sprintf("listen: \"127.0.0.1:%d\"\n  advertise: \"127.0.0.1:1\"\n  no_advertise: true\n  routes: [%s]", p.route, strings.Join(routes, ", "))
	config := clustertest.ServerConfig(name, p.client, p.monitor, filepath.Join(dir, "store"), cluster)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(c.opt.Dir, name+".conf")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		return err
	}
	return c.node(name, dir, c.opt.Programs.Server, "--config", path)
}

// role describes the process of a role, called like it with or without a number.
func (c *cluster) role(name, urls string) error {
	dir := filepath.Join(c.opt.Dir, name)
	command := strings.TrimRight(name, "12")
	args := []string{command, "--nats", urls, "--run", runName, "--dir", dir, "--json"}
	switch command {
	case "actor", "gate":
		args = append(args, "--workers", "1")
	case "trainer":
		args = append(args, "--preset", "tiny")
		for _, s := range settings {
			args = append(args, "--set", s)
		}
	}
	return c.node(name, dir, c.opt.Programs.Selfplay, args...)
}

func (c *cluster) node(name, dir, program string, args ...string) error {
	dev, err := fault.Open(filepath.Join(c.opt.Dir, "faults", name), dir)
	if err != nil {
		return err
	}
	log := filepath.Join(c.opt.Dir, "logs", name+".log")
	env := append(dev.Env(), "GOMAXPROCS=2")
	c.nodes[name] = &node{Process: clustertest.NewProcess(name, log, program, args, env), name: name, dir: dir, dev: dev, modes: map[fault.Mode]int{}}
	return nil
}

// all returns the nodes, servers first.
func (c *cluster) all() []*node {
	var all []*node
	for _, name := range slices.Concat(servers, roles) {
		if n := c.nodes[name]; n != nil {
			all = append(all, n)
		}
	}
	return all
}

// start starts everything, under supervision.
func (c *cluster) start() error {
	for _, n := range c.all() {
		if err := n.start(); err != nil {
			return err
		}
	}
	for _, n := range c.all() {
		c.group.Go(func() { c.supervise(n) })
	}
	for i, name := range servers {
		c.group.Go(func() { c.probe(c.nodes[name], c.ports[i].monitor) })
	}
	return nil
}

func (n *node) start() error {
	n.begun = time.Now()
	return n.Process.Start()
}

// supervise starts a process again that has ended, as long as the cluster runs. Where it
// does not start since a file is damaged and says so, the file is put back from a copy, as
// an operator does.
func (c *cluster) supervise(n *node) {
	for {
		select {
		case <-c.done:
			return
		case <-time.After(100 * time.Millisecond):
		}
		if !n.Ended() {
			continue
		}
		n.mu.Lock()
		if n.Ended() {
			c.again(n)
		}
		n.mu.Unlock()
	}
}

// again starts a process that has ended. Its mutex is held.
func (c *cluster) again(n *node) {
	wait := restartAfter
	if n.Failed() != nil {
		n.ended++
		if n.failing++; time.Since(n.begun) > 20*time.Second {
			n.failing = 1
		}
		c.opt.Log.Info("ended by itself", "process", n.name, "in a row", n.failing, "says", n.lastWords())
		if n.failing > 1 {
			n.repair(c.opt.Log)
			wait = slowRestart
		}
		if n.failing > 3 && slices.Contains(servers, n.name) && len(n.modes) == 0 {
			c.wipe(n)
		}
	} else {
		n.failing = 0
	}
	n.mu.Unlock()
	select {
	case <-c.done:
	case <-time.After(wait):
	}
	n.mu.Lock()
	select {
	case <-c.done:
		return
	default:
	}
	if !n.Ended() {
		return
	}
	if err := errors.Join(n.dev.Compact(), n.start()); err != nil {
		c.opt.Log.Error("not started again", "process", n.name, "error", err)
	}
}

// wipe removes what a server has stored that does not start with it, as an operator does: it
// copies from the others, and what all have lost the trainer brings back. The mutex is held.
func (c *cluster) wipe(n *node) {
	n.kill()
	if err := errors.Join(os.RemoveAll(filepath.Join(n.dir, "store")), n.dev.Forget()); err != nil {
		c.opt.Log.Error("store not removed", "process", n.name, "error", err)
		return
	}
	n.wiped++
	c.opt.Log.Info("store removed", "process", n.name)
}

// lastWords returns the last line that a process printed.
func (n *node) lastWords() string {
	lines := strings.Split(strings.TrimSpace(n.said(0)), "\n")
	last := lines[len(lines)-1]
	return last[:min(len(last), 400)]
}

// logSize is how far a log is.
func (n *node) logSize() int64 {
	info, err := os.Stat(n.Log)
	if err != nil {
		return 0
	}
	return info.Size()
}

// said returns what a process printed from an offset of its log on.
func (n *node) said(from int64) string {
	f, err := os.Open(n.Log)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	b := make([]byte, max(0, info.Size()-from))
	m, _ := f.ReadAt(b, from)
	return string(b[:m])
}

// kill ends the process without warning. Its mutex is held.
func (n *node) kill() { n.Abandon() }

// begin and end count faults of the disk, which may overlap.
func (n *node) begin(m fault.Mode) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.modes[m]++; n.modes[m] == 1 {
		n.dev.Begin(m)
	}
}

func (n *node) end(m fault.Mode) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.modes[m]--; n.modes[m] == 0 {
		delete(n.modes, m)
		n.dev.End(m)
	}
}

func (n *node) shift(by time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.off += by
	n.dev.Clock(n.off)
}

// suspend and resume count suspensions.
func (n *node) suspend() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopped++
	_ = n.Stop() // it may just have ended
}

func (n *node) resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stopped--; n.stopped == 0 {
		_ = n.Continue()
	}
}

// power cuts the power of processes at the same moment: what they have not synced is gone.
func (c *cluster) power(nodes ...*node) (undone int, err error) {
	for _, n := range nodes {
		n.mu.Lock()
		defer n.mu.Unlock()
	}
	for _, n := range nodes { // those of a machine that is gone can do nothing more
		if !n.Ended() {
			_ = n.Stop()
		}
	}
	for _, n := range nodes {
		n.kill()
		c.watch.Look()
		u, err := n.dev.CutPower()
		if err != nil {
			return undone, fmt.Errorf("cut power of %s: %w", n.name, err)
		}
		undone += u.Changes
		c.mu.Lock()
		for _, name := range u.Names {
			if id, ok := strings.CutSuffix(filepath.Base(name), ".game"); ok && filepath.Base(filepath.Dir(name)) == "spool" {
				c.unpromised[id] = true
			}
		}
		c.mu.Unlock()
	}
	return undone, nil
}

// published returns how many nets the gates have published, by their logs.
func (c *cluster) published() (n int) {
	for _, g := range []string{"gate1", "gate2"} {
		n += strings.Count(c.nodes[g].said(0), `"msg":"net published"`)
	}
	return n
}

// await polls until something is there, for the patience given.
func await(ctx context.Context, patience time.Duration, what string, there func() bool) error {
	for end := time.Now().Add(patience); !there(); {
		if time.Now().After(end) {
			return fmt.Errorf("waited %v for %s in vain", patience, what)
		}
		if !pause.For(ctx, 200*time.Millisecond) {
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
	return nil
}

// close kills what still runs.
func (c *cluster) close() error {
	select {
	case <-c.done:
	default:
		close(c.done)
	}
	c.group.Wait()
	var errs []error
	for _, n := range c.all() {
		n.Abandon()
		errs = append(errs, n.dev.Close())
	}
	for _, w := range c.wires {
		w.close()
	}
	if c.watch != nil {
		_, err := c.watch.Close()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
