package selfplay

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// A consumer is a part of the loop that has a share of the cores.
type consumer int

const (
	playing consumer = iota // second searches of positions too
	labelling
	training
	gating

	consumers = iota
)

// consumerNames are what people and metrics call them.
var consumerNames = [consumers]string{"play", "label", "train", "gate"}

// String is the consumer's name.
func (c consumer) String() string { return consumerNames[c] }

// remembered is the time of which a consumer that wanted nothing keeps its share, to be
// used when it does: the gate has its share of it at once, and a candidate waits less.
const remembered = 2 * time.Minute

// soon is the time within which a consumer whose piece ended is expected with its next
// one. It was not waiting when its threads became free, and would else lose its turn to
// those that were, however little it has used.
const soon = 100 * time.Microsecond

// cores lets the consumers of a loop compute, as many threads at a time as there are
// cores, and among those that wait the one next that has used least by its share. What
// one does not want the others have. Computing is cut into pieces of milliseconds, a
// search or a step. A nil *cores lets everybody compute at once.
type cores struct {
	now func() time.Time

	mu    sync.Mutex
	all   int
	free  int
	users [consumers]user
}

// user is what cores knows of a consumer.
type user struct {
	share   float64
	clock   float64 // core-seconds used, divided by the shares then
	used    float64 // core-seconds
	working int     // pieces
	queue   []*piece

	expected int // pieces: as many ended within soon while others waited
}

// piece is a part of computing that waits for threads.
type piece struct {
	threads int
	granted chan struct{} // closed then
}

func newCores(threads int) *cores { return &cores{now: time.Now, all: threads, free: threads} }

// divide sets the shares.
func (c *cores) divide(shares [consumers]float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range shares {
		c.users[i].share = s
	}
}

// used returns the core-seconds that each consumer has used.
func (c *cores) used() (all [consumers]float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.users {
		all[i] = c.users[i].used
	}
	return all
}

// enter waits until a consumer may compute with as many threads, of which more than all
// cores count as those, and returns what ends that. The error is that of ctx.
func (c *cores) enter(ctx context.Context, who consumer, threads int) (leave func(), err error) {
	if c == nil {
		return func() {}, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	mine := &piece{threads: max(1, min(threads, c.all)), granted: make(chan struct{})}
	c.mu.Lock()
	u := &c.users[who]
	if u.working == 0 && len(u.queue) == 0 {
		u.clock = max(u.clock, c.least()-remembered.Seconds()*float64(c.all))
	}
	u.queue = append(u.queue, mine)
	c.grant()
	c.mu.Unlock()
	select {
	case <-mine.granted:
	case <-ctx.Done():
		c.mu.Lock()
		if i := slices.Index(u.queue, mine); i >= 0 {
			u.queue = slices.Delete(u.queue, i, i+1)
			c.grant()
			c.mu.Unlock()
			return nil, ctx.Err()
		}
		c.mu.Unlock() // granted at the same time
	}
	began := c.now()
	return func() { c.leave(u, mine.threads, began) }, nil
}

// least returns the least clock of the consumers that compute or wait, 0 without any.
func (c *cores) least() float64 {
	least, any := 0.0, false
	for i := range c.users {
		if u := &c.users[i]; (u.working > 0 || len(u.queue) > 0) && (!any || u.clock < least) {
			least, any = u.clock, true
		}
	}
	return least
}

// grant gives free threads to those that wait. The next one gets none before there are
// as many as it wants, and nobody passes it, nor one that is expected.
func (c *cores) grant() {
	for {
		var next *user
		for i := range c.users {
			if u := &c.users[i]; (len(u.queue) > 0 || u.expected > 0) && (next == nil || u.clock < next.clock) {
				next = u
			}
		}
		if next == nil || len(next.queue) == 0 || next.queue[0].threads > c.free {
			return
		}
		mine := next.queue[0]
		next.queue = next.queue[1:]
		c.free -= mine.threads
		next.working++
		close(mine.granted)
	}
}

func (c *cores) leave(u *user, threads int, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	spent := float64(threads) * c.now().Sub(began).Seconds()
	u.used += spent
	u.clock += spent / max(u.share, 1e-3)
	u.working--
	c.free += threads
	if len(u.queue) == 0 && c.claimed() {
		u.expected++
		time.AfterFunc(soon, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			u.expected--
			c.grant()
		})
	}
	c.grant()
}

// claimed reports whether anybody waits.
func (c *cores) claimed() bool {
	return slices.ContainsFunc(c.users[:], func(u user) bool { return len(u.queue) > 0 })
}

// player has a player search as a consumer.
func (c *cores) player(p game.Player, who consumer) game.Player {
	if c == nil {
		return p
	}
	return &sharingPlayer{p, c, who}
}

// sharingPlayer searches when its consumer may.
type sharingPlayer struct {
	game.Player
	cores *cores
	who   consumer
}

// Search waits for a core.
func (p *sharingPlayer) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	leave, err := p.cores.enter(ctx, p.who, 1)
	if err != nil {
		return search.Result{}, err
	}
	defer leave()
	return p.Player.Search(ctx, line, lim)
}

// Close closes a player that can be closed.
func (p *sharingPlayer) Close() error {
	if c, ok := p.Player.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// sharingModel makes its steps when training may.
type sharingModel struct {
	trainer.Model
	cores   *cores
	threads int
}

// Fit waits for cores.
func (m *sharingModel) Fit(batch []sample.Sample, h trainer.Hyper) (float64, error) {
	leave, err := m.cores.enter(context.Background(), training, m.threads)
	if err != nil {
		return 0, err
	}
	defer leave()
	return m.Model.Fit(batch, h)
}
