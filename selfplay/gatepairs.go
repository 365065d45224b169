package selfplay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/match"
)

const (
	claimTime  = 20 * time.Second // that a worker has a pair without asking again
	claimRenew = claimTime / 4    // between two askings
	askAgain   = time.Second      // of a worker that has nothing to do

	// maxOpenPairs is how many pairs of a match are to be had at a time. More
	// workers than this play some pairs twice.
	maxOpenPairs = 1024
)

// openPairs are the pairs of the match under way that wait to be played or are being
// played. The match offers them, and gate workers, here and elsewhere, take them.
type openPairs struct {
	mu      sync.Mutex
	match   *gateMatch // nil: none is under way
	open    map[int]*openPair
	workers map[string]time.Time // when each asked last
	news    chan struct{}        // closed when pairs came or went
}

// openPair is a pair that is not in the log.
type openPair struct {
	task    match.Task
	opening string
	claims  map[string]claim // by worker
	given   bool             // a result was
	result  chan match.Played
	logged  bool          // before closed is closed
	closed  chan struct{} // when the pair is in the log, or is not needed any more
}

// claim is a worker's to a pair.
type claim struct{ since, until time.Time }

func newOpenPairs() *openPairs {
	return &openPairs{open: map[int]*openPair{}, workers: map[string]time.Time{}, news: make(chan struct{})}
}

// begin opens a match.
func (p *openPairs) begin(m gateMatch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.match = &m
}

// end closes the match. Nothing waits in play any more.
func (p *openPairs) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for number := range p.open {
		p.close(number, false)
	}
	p.match = nil
	p.announce()
}

// announce wakes those who wait for news. The caller holds the lock.
func (p *openPairs) announce() {
	close(p.news)
	p.news = make(chan struct{})
}

// changed returns a channel that is closed when pairs come or go.
func (p *openPairs) changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.news
}

// play offers a pair to the workers and returns what came of it. It is a match's
// PlayPair.
func (p *openPairs) play(ctx context.Context, t match.Task) (match.Played, error) {
	text, err := match.OpeningText(t.Opening)
	if err != nil {
		return match.Played{}, err
	}
	o := &openPair{task: t, opening: text, claims: map[string]claim{}, result: make(chan match.Played, 1), closed: make(chan struct{})}
	p.mu.Lock()
	p.open[t.Number] = o
	p.announce()
	p.mu.Unlock()
	select {
	case played := <-o.result:
		return played, nil
	case <-ctx.Done():
		p.withdraw(t.Number)
		return match.Played{}, ctx.Err()
	}
}

// logged says that a pair is in the log.
func (p *openPairs) logged(number int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close(number, true)
}

// withdraw says that a pair is not needed any more.
func (p *openPairs) withdraw(number int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close(number, false)
}

// close ends a pair if it is open. The caller holds the lock.
func (p *openPairs) close(number int, logged bool) {
	if o := p.open[number]; o != nil {
		delete(p.open, number)
		o.logged = logged
		close(o.closed)
		p.announce()
	}
}

// next renews the claims of a worker to the pairs it names, and gives it more: those
// nobody plays, the first ones first, and if there are none left, those that one
// other worker plays.
func (p *openPairs) next(r *gateNextRequest) gateNextReply {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.workers[r.Worker] = now
	reply := gateNextReply{Schema: messageSchema, Stop: p.renew(r, now)}
	want := min(r.Want, maxGatePairs)
	if want == 0 {
		return reply
	}
	for _, o := range p.candidates(r.Worker, now) {
		if len(reply.Pairs) == want {
			break
		}
		o.claims[r.Worker] = claim{now, now.Add(claimTime)}
		reply.Match = p.match
		reply.Pairs = append(reply.Pairs, gatePair{o.task.Number, o.opening})
	}
	return reply
}

// renew renews the claims of a worker to what it plays, ends its others, and returns
// what it plays in vain.
func (p *openPairs) renew(r *gateNextRequest, now time.Time) (stop []gatePairID) {
	playing := map[int]bool{}
	for _, id := range r.Playing {
		o := p.open[id.Pair]
		if p.match == nil || id.Match != p.match.Key || o == nil {
			stop = append(stop, id)
			continue
		}
		playing[id.Pair] = true
		since := now
		if c, ok := o.claims[r.Worker]; ok {
			since = c.since
		}
		o.claims[r.Worker] = claim{since, now.Add(claimTime)}
	}
	for number, o := range p.open {
		if !playing[number] {
			delete(o.claims, r.Worker)
		}
	}
	return stop
}

// candidates returns the pairs that a worker may be given, the best first. Claims
// whose time is over are dropped.
func (p *openPairs) candidates(worker string, now time.Time) []*openPair {
	var free, once []*openPair
	for _, o := range p.open {
		for w, c := range o.claims {
			if now.After(c.until) {
				delete(o.claims, w)
			}
		}
		_, own := o.claims[worker]
		switch {
		case o.given:
		case len(o.claims) == 0:
			free = append(free, o)
		case len(o.claims) == 1 && !own:
			once = append(once, o)
		}
	}
	byNumber := func(a, b *openPair) int { return cmp.Compare(a.task.Number, b.task.Number) }
	slices.SortFunc(free, byNumber)
	slices.SortFunc(once, func(a, b *openPair) int {
		return cmp.Or(a.since().Compare(b.since()), byNumber(a, b))
	})
	return append(free, once...)
}

// since is when the pair was first claimed, of the claims that stand.
func (o *openPair) since() time.Time {
	var first time.Time
	for _, c := range o.claims {
		if first.IsZero() || c.since.Before(first) {
			first = c.since
		}
	}
	return first
}

// take takes a result and waits until it is in the log. The error says why a result
// is refused.
func (p *openPairs) take(ctx context.Context, r *gateResultRequest) error {
	o, err := p.accept(r)
	if err != nil {
		return err
	}
	select {
	case <-o.closed:
		if !o.logged {
			return fmt.Errorf("the match ended before pair %d was in the log", r.Record.Number)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *openPairs) accept(r *gateResultRequest) (*openPair, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.match == nil {
		return nil, fmt.Errorf("no match is under way")
	}
	if r.Match != p.match.Key {
		return nil, fmt.Errorf("found a pair of match %s, expected one of %s", r.Match, p.match.Key)
	}
	o := p.open[r.Record.Number]
	if o == nil || o.given {
		return nil, fmt.Errorf("pair %d is not wanted: it is there already, or the match is decided", r.Record.Number)
	}
	if err := o.task.Check(&r.Record); err != nil {
		delete(o.claims, r.Worker)
		return nil, err
	}
	o.given = true
	o.result <- match.Played{Pair: r.Record, Searching: time.Duration(r.SearchingNS)}
	return o, nil
}

// busy returns how many workers have asked lately.
func (p *openPairs) busy() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w, t := range p.workers {
		if time.Since(t) > claimTime {
			delete(p.workers, w)
		}
	}
	return len(p.workers)
}
