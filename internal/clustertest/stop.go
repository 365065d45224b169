//go:build unix

package clustertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/nets"
)

// StopHolders suspends the trainer and the referee of a running cluster, which has two
// gate processes at least, until others have taken over, which they may after the time
// to live of a lease. The former ones, which then go on, must say that they have lost
// their role and change no pointer any more.
func (c *Cluster) StopHolders(ctx context.Context) error {
	if err := c.awaitGeneration(ctx, 1); err != nil {
		return err
	}
	conn, b, err := c.onlooker(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	trainer, second, err := c.stopTrainer()
	if err != nil {
		return err
	}
	referee, err := c.stopReferee(ctx, b)
	if err != nil {
		return err
	}
	if err := second.Start(); err != nil { // not before the referee: a successor is waited for
		return err
	}
	both := []*takeover{trainer, referee}
	for _, t := range both {
		if err := t.await(ctx, c, "a pointer set by the one that takes over", 1); err != nil {
			return err
		}
		c.opt.Log.Info("another has taken over", "in place of", t.former.Name, "after", time.Since(t.stopped).Round(time.Millisecond))
	}
	for _, t := range both {
		if err := t.former.Continue(); err != nil {
			return err
		}
	}
	for _, t := range both {
		if err := t.ended(ctx, c, b); err != nil {
			return err
		}
	}
	return nil
}

// onlooker opens the run for somebody who has no role in it.
func (c *Cluster) onlooker(ctx context.Context) (*bus.Conn, *bus.Bus, error) {
	conn, err := bus.Open(ctx, bus.Options{URL: url(c.servers), Name: "onlooker"})
	if err != nil {
		return nil, nil, err
	}
	record, err := conn.FindRun(ctx, RunName)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	b, err := conn.Join(ctx, record.ID, bus.JoinOptions{})
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, b, nil
}

// takeover is a role that passes from a suspended process to another.
type takeover struct {
	former  *Process
	stopped time.Time
	key     string      // of the pointer that the holder of the role sets
	event   string      // that says so
	mine    *eventLog   // of the former holder
	theirs  []*eventLog // of those that may take over
}

// Pointers that only the trainer and only the referee set, of the harness's variant and
// kind of nets.
const (
	candidateKey = "candidate.crazyhouse.nnue"
	currentKey   = "current.crazyhouse.nnue"
)

// stopTrainer suspends the trainer and prepares another, in a copy of its directory:
// that has the run's key and the newest checkpoint.
func (c *Cluster) stopTrainer() (*takeover, *Process, error) {
	former := c.trainer
	if err := former.Stop(); err != nil {
		return nil, nil, err
	}
	t := &takeover{former: former, stopped: time.Now(), key: candidateKey, event: "net offered", mine: newEventLog(c.dir(former))}
	c.former = append(c.former, former)
	c.trainer = c.role("trainer", "trainer2", c.training()...)
	dir := c.dir(c.trainer)
	if err := copyTrainer(dir, c.dir(former)); err != nil {
		return nil, nil, err
	}
	t.theirs = []*eventLog{newEventLog(dir)}
	return t, c.trainer, nil
}

// stopReferee suspends the gate process that is the referee.
func (c *Cluster) stopReferee(ctx context.Context, b *bus.Bus) (*takeover, error) {
	lease, err := b.ReadLease(ctx, "referee")
	if err != nil {
		return nil, err
	}
	t := &takeover{key: currentKey, event: "net published"}
	for i, p := range c.gates {
		if p.Pid() == lease.PID {
			t.former, t.mine = p, c.gateLog[i]
		} else {
			t.theirs = append(t.theirs, c.gateLog[i])
		}
	}
	if t.former == nil {
		return nil, fmt.Errorf("found process %d as the referee, expected one of the gates", lease.PID)
	}
	t.stopped = time.Now()
	return t, t.former.Stop()
}

// set returns the nets that new holders have set the pointer to.
func (t *takeover) set() (ids []string, err error) {
	for _, l := range t.theirs {
		events, err := l.read()
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			if e.Msg == t.event && e.Time.After(t.stopped) {
				ids = append(ids, e.Net)
			}
		}
	}
	return ids, nil
}

// await waits until new holders have set the pointer the given number of times more.
func (t *takeover) await(ctx context.Context, c *Cluster, what string, more int) error {
	before, err := t.set()
	if err != nil {
		return err
	}
	return c.await(ctx, what, func() (bool, error) { ids, err := t.set(); return len(ids) >= len(before)+more, err })
}

// ended waits until the former holder has said that it is one, and the new one has set
// the pointer after that. Then it checks that the former holder has not set it.
func (t *takeover) ended(ctx context.Context, c *Cluster, b *bus.Bus) error {
	err := c.await(ctx, t.former.Name+" to say that it has lost its role", func() (bool, error) {
		events, err := t.mine.read()
		return slices.ContainsFunc(events, func(e Event) bool { return e.Time.After(t.stopped) && strings.HasPrefix(e.Msg, "role lost") }), err
	})
	if err != nil {
		return err
	}
	if err := t.await(ctx, c, "pointers set after "+t.former.Name+" went on", 1); err != nil {
		return err
	}
	history, err := b.PointerHistory(ctx, t.key)
	if err != nil {
		return err
	}
	if err := t.await(ctx, c, "the pointer set once more", 1); err != nil { // the event comes after the pointer
		return err
	}
	ids, err := t.set()
	if err != nil {
		return err
	}
	taken := false // by a new holder; what was set before is the former one's by right
	for _, p := range history {
		record, err := nets.ParseRecord(p.Value)
		if err != nil {
			return err
		}
		theirs := slices.Contains(ids, record.Net)
		if taken = taken || theirs; taken && !theirs {
			return fmt.Errorf("pointer %s: found net %s at revision %d, expected one that %q of a new holder names", t.key, record.Net, p.Revision, t.event)
		}
	}
	if !taken {
		return fmt.Errorf("pointer %s: found no net of a new holder among %d revisions, expected some", t.key, len(history))
	}
	events, err := t.mine.read()
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Time.After(t.stopped) && e.Msg == t.event {
			return fmt.Errorf("%s says %q at %v, after others had its role", t.former.Name, e.Msg, e.Time)
		}
	}
	c.opt.Log.Info("the former holder has set nothing", "process", t.former.Name, "pointer", t.key)
	return nil
}

// copyTrainer copies a trainer's directory for a second trainer, which is another
// process to the servers.
func copyTrainer(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Join(to, "trainer.key"), 0o600); err != nil { // copied without its mode
		return err
	}
	path := filepath.Join(to, "run.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var identity map[string]any
	if err := json.Unmarshal(text, &identity); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	identity["instance"] = "trainer2"
	delete(identity, "crc32c") // of what stood there
	if text, err = json.Marshal(identity); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
