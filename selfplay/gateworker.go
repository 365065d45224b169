package selfplay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ask sends a request to a service of the run and returns the answer.
type ask func(ctx context.Context, service string, request []byte) ([]byte, error)

// gateWorker plays pairs of the gate's matches for the referee, which may be in this
// process or on another machine. Any number of workers come and go.
type gateWorker struct {
	run   *Run
	name  string // no other worker has it
	slots int    // pairs played at a time
	ask   ask
	news  func() <-chan struct{} // closed when there may be something to do; nil: nobody tells
	nets  *netCache

	freed chan struct{} // has room for one: a slot is free

	mu      sync.Mutex
	fence   uint64 // the highest seen
	playing map[gatePairID]context.CancelFunc
	players *gatePlayers // of the newest match
	failed  string       // the last failure to play that was logged
	pause   time.Time    // no pair is begun before
}

func newGateWorker(r *Run, name string, slots int, a ask, cache *netCache) *gateWorker {
	return &gateWorker{
		run: r, name: name, slots: slots, ask: a, nets: cache,
		news:  func() <-chan struct{} { return nil },
		freed: make(chan struct{}, 1), playing: map[gatePairID]context.CancelFunc{},
	}
}

// work plays until ctx ends. Without a referee it waits for one.
func (w *gateWorker) work(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var slots sync.WaitGroup
	defer func() {
		cancel()
		slots.Wait()
		w.setPlayers(nil)
	}()
	missed := "" // why the referee did not answer, the last that was logged
	for ctx.Err() == nil {
		news := w.news() // taken before asking, so that none is missed
		reply, err := w.next(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if text := err.Error(); text != missed {
				missed = text
				w.run.log.Warn("waiting for the referee", "error", err)
			}
			w.run.status.setWorker("waiting for the referee: %v", err)
			reply.AskAgainMS = int(w.run.wait(askAgain).Milliseconds())
		default:
			missed = ""
			w.obey(ctx, &slots, reply)
			why := w.resting()
			switch n := w.busy(); {
			case n > 0:
				w.run.status.setWorker("playing %s for the referee", words.Count(n, "pair", "pairs"))
			case why != "": // the referee itself does not know
				w.run.status.setWorkerFails(why)
			default:
				w.run.status.setWorker("waiting for pairs")
			}
		}
		w.wait(ctx, news, reply.AskAgainMS)
	}
}

// next asks the referee for as many pairs as there are free slots.
func (w *gateWorker) next(ctx context.Context) (reply gateNextReply, err error) {
	w.mu.Lock()
	request := gateNextRequest{Schema: messageSchema, Fence: w.fence, Worker: w.name}
	for id := range w.playing {
		request.Playing = append(request.Playing, id)
	}
	if time.Now().After(w.pause) {
		request.Want = max(0, w.slots-len(w.playing))
	}
	w.mu.Unlock()
	answer, err := w.ask(ctx, gateNext, encodeMessage(&request))
	if err == nil {
		err = decodeMessage(answer, &reply)
	}
	if err == nil {
		err = w.follow(reply.Fence)
	}
	if err == nil && len(reply.Pairs) > request.Want {
		err = fmt.Errorf("gate: found %d pairs, expected the %d asked for", len(reply.Pairs), request.Want)
	}
	return reply, err
}

// follow refuses the answer of a referee that another has followed.
func (w *gateWorker) follow(fence uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if fence < w.fence {
		return fmt.Errorf("gate: found an answer of referee %d, expected one of %d or later: another has followed it", fence, w.fence)
	}
	w.fence = fence
	return nil
}

// seen returns the highest fencing number seen.
func (w *gateWorker) seen() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fence
}

// obey stops what is not needed and begins what is given.
func (w *gateWorker) obey(ctx context.Context, slots *sync.WaitGroup, reply gateNextReply) {
	for _, id := range reply.Stop {
		w.mu.Lock()
		if stop := w.playing[id]; stop != nil {
			stop()
		}
		w.mu.Unlock()
	}
	if len(reply.Pairs) == 0 {
		return
	}
	t := w.playersOf(reply.Match)
	for _, p := range reply.Pairs {
		id := gatePairID{t.match.Key, p.Number}
		playing, ok := w.claim(ctx, id)
		if !ok { // it is being stopped, and is given again later
			continue
		}
		slots.Go(func() {
			defer w.free(id)
			w.playAndReport(playing, t, p)
		})
	}
}

// claim begins the playing of a pair, unless it has begun.
func (w *gateWorker) claim(ctx context.Context, id gatePairID) (context.Context, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.playing[id] != nil {
		return nil, false
	}
	ctx, w.playing[id] = context.WithCancel(ctx)
	return ctx, true
}

// free ends the playing of a pair.
func (w *gateWorker) free(id gatePairID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.playing[id]()
	delete(w.playing, id)
	select {
	case w.freed <- struct{}{}:
	default:
	}
}

// busy returns the number of pairs being played.
func (w *gateWorker) busy() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.playing)
}

// wait waits until it is time to ask again.
func (w *gateWorker) wait(ctx context.Context, news <-chan struct{}, askAgainMS int) {
	d := claimRenew
	if w.busy() < w.slots {
		d = min(d, max(10, time.Duration(askAgainMS))*time.Millisecond)
		d += rand.N(d / 4) // many workers do not ask at once
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-news:
	case <-w.freed:
	}
}

// playersOf returns what the pairs of a match are played with.
func (w *gateWorker) playersOf(m *gateMatch) *gatePlayers {
	w.mu.Lock()
	t := w.players
	w.mu.Unlock()
	if t == nil || t.match != *m {
		t = &gatePlayers{match: *m}
		w.setPlayers(t)
	}
	return t
}

func (w *gateWorker) setPlayers(t *gatePlayers) {
	w.mu.Lock()
	old := w.players
	w.players = t
	w.mu.Unlock()
	if old != nil {
		old.close()
	}
}

// playAndReport plays a pair and hands in what came of it. A pair that cannot be
// played is given up: the referee gives it to another worker.
func (w *gateWorker) playAndReport(ctx context.Context, t *gatePlayers, p gatePair) {
	played, err := w.play(ctx, t, p)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		w.fail(p, err)
		return
	}
	w.report(ctx, t, &played)
}

// fail says that a pair could not be played, and has the worker rest.
func (w *gateWorker) fail(p gatePair, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pause = time.Now().Add(w.run.wait(refereeRetry))
	if text := err.Error(); text != w.failed {
		w.failed = text
		w.run.log.Warn("pair of the gate not played, trying again", "pair", p.Number, "error", err)
	}
}

// resting says why the worker rests after a pair that it could not play; empty: it does not.
func (w *gateWorker) resting() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Now().Before(w.pause) {
		return w.failed
	}
	return ""
}

func (w *gateWorker) play(ctx context.Context, t *gatePlayers, p gatePair) (match.Played, error) {
	opening, err := match.ParseOpening(w.run.variant, p.Opening)
	if err != nil {
		return match.Played{}, err
	}
	d, err := t.take(ctx, w)
	if err != nil {
		return match.Played{}, err
	}
	defer t.give(d)
	return d.Play(ctx, match.Task{
		Number: p.Number, Players: [2]int{0, 1}, Opening: opening,
		Game: t.match.rules(), Seed: t.match.Seed, Build: w.run.opt.Build,
	})
}

// report hands in a pair until the referee has it in its log or refuses it.
func (w *gateWorker) report(ctx context.Context, t *gatePlayers, played *match.Played) {
	for {
		reply, err := w.handIn(ctx, t, played)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !reply.Taken:
			w.run.log.Info("pair of the gate dropped, the referee does not take it", "pair", played.Pair.Number, "match", t.match.Key, "why", reply.Why)
			return
		case err == nil:
			return
		}
		if !pause.For(ctx, pause.Spread(w.run.wait(askAgain))) {
			return
		}
	}
}

func (w *gateWorker) handIn(ctx context.Context, t *gatePlayers, played *match.Played) (reply gateResultReply, err error) {
	answer, err := w.ask(ctx, gateResult, encodeMessage(&gateResultRequest{
		Schema: messageSchema, Fence: w.seen(), Worker: w.name, Match: t.match.Key, Record: played.Pair, SearchingNS: int64(played.Searching),
	}))
	if err == nil {
		err = decodeMessage(answer, &reply)
	}
	if err == nil {
		err = w.follow(reply.Fence)
	}
	return reply, err
}

// gatePlayers is what a worker plays the pairs of a match with.
type gatePlayers struct {
	match gateMatch

	mu     sync.Mutex
	sides  [2]match.Contestant
	loaded bool
	idle   []*match.Duel
	closed bool
}

// take returns players of the match, loading its nets first if that was not done.
func (t *gatePlayers) take(ctx context.Context, w *gateWorker) (*match.Duel, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.loaded {
		if err := t.load(ctx, w); err != nil {
			return nil, err
		}
		t.loaded = true
	}
	if n := len(t.idle); n > 0 {
		d := t.idle[n-1]
		t.idle = t.idle[:n-1]
		return d, nil
	}
	return match.NewDuel(t.sides[0], t.sides[1]), nil
}

func (t *gatePlayers) load(ctx context.Context, w *gateWorker) error {
	m := &t.match
	w.nets.keep(m.Candidate, m.Incumbent)
	wanted := [2]string{m.CandidateSettings, m.IncumbentSettings}
	for i, id := range []string{m.Candidate, m.Incumbent} {
		n, err := w.nets.get(ctx, id)
		if err != nil {
			return err
		}
		t.sides[i] = w.run.gatePlayer(n, gateSides[i], m.Nodes, m.HashMB)
		if found := t.sides[i].Settings; found != wanted[i] {
			return fmt.Errorf("net %s would play with other settings here than the referee wants: found %q, expected %q: give this worker the run's configuration and build", short(id), found, wanted[i])
		}
	}
	return nil
}

// give takes players back.
func (t *gatePlayers) give(d *match.Duel) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		d.Close()
		return
	}
	t.idle = append(t.idle, d)
}

func (t *gatePlayers) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, d := range t.idle {
		d.Close()
	}
	t.idle = nil
}

// gateSides are what the players of a gate are called.
var gateSides = [2]string{"candidate", "incumbent"}

// gatePlayer is a net as a player of the gate.
func (r *Run) gatePlayer(n *net, name string, nodes uint64, hashMB int) match.Contestant {
	c := match.NewContestant(r.style.spec().With(n.Net, player.Defaults{Limits: search.Limits{Nodes: nodes}, HashMB: hashMB}))
	c.Name, c.Net = fmt.Sprintf("%s %s", name, short(n.ID)), n.ID
	open := c.New
	c.New = func() (game.Player, error) {
		p, err := open()
		if err != nil {
			return nil, err
		}
		return r.cores.player(p, gating), nil
	}
	return c
}

// netCache holds the nets of the gate's match, which the referee and its own worker
// share.
type netCache struct {
	run  *Run
	mu   sync.Mutex
	nets map[string]*net
}

func newNetCache(r *Run) *netCache { return &netCache{run: r, nets: map[string]*net{}} }

// get returns a net by its id, loading it if need be.
func (c *netCache) get(ctx context.Context, id string) (*net, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.nets[id]; n != nil {
		return n, nil
	}
	if first := c.run.firstNet(); id == first.ID {
		return first, nil
	}
	n, err := c.run.loadNet(ctx, id)
	if err != nil {
		return nil, err
	}
	c.nets[id] = n
	return n, nil
}

// keep forgets all nets but these.
func (c *netCache) keep(ids ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := map[string]*net{}
	for _, id := range ids {
		if n := c.nets[id]; n != nil {
			kept[id] = n
		}
	}
	c.nets = kept
}
