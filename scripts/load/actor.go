package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
)

// What actors do, as in package selfplay.
const (
	publishRetry  = 500 * time.Millisecond
	confirmEvery  = time.Second
	announceEvery = 10 * time.Second
	bundleBytes   = 512 << 10
	maxAsked      = 2000
	hasService    = "replay.has"
	messageSchema = 1
	currentKey    = "current.crazyhouse.nnue"
)

// hasRequest and hasAnswer are the messages of the service replay.has.
type hasRequest struct {
	Schema int      `json:"schema"`
	IDs    []string `json:"ids"`
}

type hasAnswer struct {
	Schema int    `json:"schema"`
	States string `json:"states"`
	Stream int64  `json:"stream"`
	Floor  uint64 `json:"floor"`
}

// actor finishes the games of its share and keeps each, in memory, until the replay
// role has it on disk.
type actor struct {
	share
	bus *bus.Bus
	opt *caseOptions
	log *record

	mu     sync.Mutex
	begun  int // games of the share that were finished
	spool  []*spooled
	news   chan struct{} // there is something to publish
	closed bool          // no game is finished any more
}

// spooled is a finished game that is not known to be on disk.
type spooled struct {
	sealed
	finished time.Time
	attempt  int
	sent     published // zero: not published, or lost
}

type published struct {
	stream   int64
	sequence uint64
}

func newActor(s share, b *bus.Bus, o *caseOptions, log *record) *actor {
	return &actor{share: s, bus: b, opt: o, log: log, news: make(chan struct{}, 1)}
}

// run finishes games until producing ends, and then gives those that are left away,
// until all of them are on disk or ctx ends.
func (a *actor) run(ctx, producing context.Context) error {
	ctx, done := context.WithCancel(ctx)
	defer done()
	var work sync.WaitGroup
	var failed error
	work.Go(func() { failed = a.publish(ctx) })
	if !a.opt.raw {
		work.Go(func() { a.confirm(ctx) })
		work.Go(func() { a.announce(ctx) })
		work.Go(func() { a.watch(ctx) })
	}
	a.produce(producing)
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	for a.spooled() > 0 && pause.For(ctx, 20*time.Millisecond) {
	}
	done()
	work.Wait()
	return failed
}

// produce finishes games at random times at the rate asked for, or whenever there is
// room.
func (a *actor) produce(ctx context.Context) {
	if a.opt.rate == 0 {
		a.finish(a.opt.spool)
		<-ctx.Done()
		return
	}
	every := float64(a.opt.actors) / a.opt.rate * float64(time.Second)
	next := time.Now()
	for {
		next = next.Add(time.Duration(rand.ExpFloat64() * every))
		if !pause.For(ctx, time.Until(next)) {
			return
		}
		if !a.finish(1) {
			a.log.pauses.Add(1) // as a real actor with a full spool, it does not begin the next game
			next = time.Now()
		}
	}
}

// finish puts up to n more games into the spool as far as it has room. It reports
// whether it had.
func (a *actor) finish(n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.finishLocked(n)
}

func (a *actor) finishLocked(n int) bool {
	n = min(n, a.opt.spool-len(a.spool))
	if a.closed || n <= 0 {
		return false
	}
	if !a.opt.raw {
		n = min(n, len(a.games)-a.begun)
	}
	now := time.Now()
	for range n { // where nobody reads them, the same games serve again, in messages of other ids
		round, i := a.begun/len(a.games), a.begun%len(a.games)
		a.spool = append(a.spool, &spooled{sealed: a.games[i], finished: now, attempt: round})
		a.begun++
	}
	a.announceNews()
	return true
}

func (a *actor) announceNews() {
	select {
	case a.news <- struct{}{}:
	default:
	}
}

func (a *actor) spooled() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.spool)
}

// unsent returns the games of the next bundle.
func (a *actor) unsent() []*spooled {
	a.mu.Lock()
	defer a.mu.Unlock()
	var next []*spooled
	size := 0
	for _, g := range a.spool {
		if g.sent != (published{}) {
			continue
		}
		if size += len(g.data); len(next) == a.opt.bundle || size > bundleBytes && len(next) > 0 {
			break
		}
		next = append(next, g)
	}
	return next
}

// publish sends bundles until ctx ends: at once when there are enough games for one,
// and else once in a while.
func (a *actor) publish(ctx context.Context) error {
	for ctx.Err() == nil {
		sent, err := a.publishOne(ctx)
		switch {
		case errors.Is(err, bus.ErrName) || errors.Is(err, bus.ErrTooLarge):
			return err
		case err != nil:
			a.log.refused(ctx, err)
			pause.For(ctx, publishRetry)
		case sent < a.opt.bundle:
			if sent > 0 {
				pause.For(ctx, a.opt.pause)
			}
			if len(a.unsent()) == 0 {
				select {
				case <-ctx.Done():
				case <-a.news:
				}
			}
		}
	}
	return nil
}

func (a *actor) publishOne(ctx context.Context) (int, error) {
	next := a.unsent()
	if len(next) == 0 {
		return 0, nil
	}
	data := make([][]byte, len(next))
	attempt := 0
	for i, g := range next {
		data[i] = g.data
		attempt = max(attempt, g.attempt)
	}
	message := fmt.Sprintf("%s-%d-%d", next[0].id, len(next), attempt)
	begin := time.Now()
	result, err := a.bus.PublishGames(ctx, a.name, message, data)
	if err != nil {
		return 0, err
	}
	a.log.published(begin, time.Since(begin))
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, g := range next {
		g.sent = published{result.Stream, result.Sequence}
		g.attempt++
	}
	if a.opt.raw {
		a.removeLocked(next)
	}
	return len(next), nil
}

// removeLocked takes games out of the spool, which gives room for the next ones.
func (a *actor) removeLocked(done []*spooled) {
	if len(done) == 0 {
		return
	}
	gone := make(map[*spooled]bool, len(done))
	for _, g := range done {
		gone[g] = true
	}
	a.log.stored(done)
	a.spool = slices.DeleteFunc(a.spool, func(g *spooled) bool { return gone[g] })
	if a.opt.rate == 0 {
		a.finishLocked(len(done))
	}
	if len(a.spool) == 0 && !a.opt.raw && a.begun == len(a.games) {
		a.log.exhaust()
	}
}

// confirm asks which games are on disk, until ctx ends.
func (a *actor) confirm(ctx context.Context) {
	for pause.For(ctx, pause.Spread(confirmEvery)) {
		if err := a.ask(ctx); err != nil {
			a.log.unanswered(ctx, err)
		}
	}
}

func (a *actor) ask(ctx context.Context) error {
	waiting := a.waiting()
	if len(waiting) == 0 {
		return nil
	}
	q := hasRequest{Schema: messageSchema}
	at := make([]published, len(waiting))
	for i, g := range waiting {
		q.IDs = append(q.IDs, g.id)
		at[i] = g.sent // only this goroutine and publish change it, and publish only if it is zero
	}
	request, err := json.Marshal(q)
	if err != nil {
		return err
	}
	begin := time.Now()
	reply, err := a.bus.Ask(ctx, hasService, request)
	if err != nil {
		return err
	}
	a.log.answered(begin, time.Since(begin))
	var answer hasAnswer
	if err := json.Unmarshal(reply, &answer); err != nil {
		return err
	}
	if answer.Schema != messageSchema || len(answer.States) != len(waiting) {
		return fmt.Errorf("found schema %d with %d states, expected schema %d with %d", answer.Schema, len(answer.States), messageSchema, len(waiting))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var done []*spooled
	for i, g := range waiting {
		switch state := answer.States[i]; {
		case state == 's':
			done = append(done, g)
		case state == 'r':
			return fmt.Errorf("game %s was refused", g.id)
		case answer.Stream != at[i].stream || answer.Floor >= at[i].sequence:
			g.sent = published{}
			a.log.republished.Add(1)
			a.announceNews()
		}
	}
	a.removeLocked(done)
	return nil
}

func (a *actor) waiting() []*spooled {
	a.mu.Lock()
	defer a.mu.Unlock()
	var w []*spooled
	for _, g := range a.spool {
		if g.sent != (published{}) && len(w) < maxAsked {
			w = append(w, g)
		}
	}
	return w
}

// announce says every few seconds that the actor is there, until ctx ends.
func (a *actor) announce(ctx context.Context) {
	m := bus.Member{Schema: bus.MemberSchema, Protocol: bus.Protocol, Role: "actor", Instance: a.name, Host: "load", Build: "load", Since: time.Now().UTC(), State: "playing"}
	for pause.For(ctx, pause.Spread(announceEvery)) {
		m.Waiting = uint64(a.spooled())
		if err := a.bus.Announce(ctx, m); err != nil {
			a.log.unanswered(ctx, err)
		}
	}
}

// watch follows the pointer to the current net, as actors do.
func (a *actor) watch(ctx context.Context) {
	c, err := a.bus.WatchPointer(ctx, currentKey)
	if err != nil {
		a.log.unanswered(ctx, err)
		return
	}
	for range c {
	}
}
