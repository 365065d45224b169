package mcts

import (
	"context"
	"sync"

	"github.com/crazyhouse-rl/selfplay/search"
)

// Batcher is an evaluator that any number of engines share, each searching on a
// goroutine of its own. It gives their positions to one other evaluator, in
// batches of up to a limit, never two at a time.
//
// A batch is given as soon as it is full, or once every engine that is searching
// waits for it. No timer decides: since a search waits for nothing but
// evaluations, one of the two comes to pass.
type Batcher struct {
	inner Evaluator
	limit int

	mu        sync.Mutex
	searching int        // engines between enter and leave
	waiting   []*request // not yet in a batch, in the order they came
	size      int        // their leaves
	running   bool       // a batch is being evaluated

	leaves []search.Leaf // of the batch being evaluated; owned by who runs it
}

// request is one call of Evaluate that waits.
type request struct {
	leaves []search.Leaf
	lead   chan []*request // gets the batch if this call is to evaluate it
	done   chan error      // gets what became of it
}

// NewBatcher returns a batcher in front of inner, whose batches have at most so
// many positions, unless a single call asks for more.
func NewBatcher(inner Evaluator, limit int) *Batcher {
	return &Batcher{inner: inner, limit: max(1, limit)}
}

// enter says that an engine begins to search.
func (b *Batcher) enter() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.searching++
}

// leave says that it has ended. The others may all be waiting.
func (b *Batcher) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.searching--
	b.start()
}

// Evaluate implements Evaluator. When ctx ends while the positions wait to come
// into a batch, it returns at once; once they are in one it returns with that.
func (b *Batcher) Evaluate(ctx context.Context, leaves []search.Leaf) error {
	if err := ctx.Err(); err != nil || len(leaves) == 0 {
		return err
	}
	r := &request{leaves: leaves, lead: make(chan []*request, 1), done: make(chan error, 1)}
	b.mu.Lock()
	b.waiting = append(b.waiting, r)
	b.size += len(leaves)
	b.start()
	b.mu.Unlock()
	select {
	case batch := <-r.lead:
		b.run(ctx, batch)
	case err := <-r.done:
		return err
	case <-ctx.Done():
		if b.withdraw(r) {
			return ctx.Err()
		}
		select {
		case batch := <-r.lead:
			b.run(ctx, batch)
		case err := <-r.done:
			return err
		}
	}
	return <-r.done
}

// start hands the next batch to the first of those who wait for it, if its time
// has come. b.mu is held.
func (b *Batcher) start() {
	if b.running || len(b.waiting) == 0 || b.size < b.limit && len(b.waiting) < b.searching {
		return
	}
	n, size := 0, 0
	for n < len(b.waiting) && (n == 0 || size+len(b.waiting[n].leaves) <= b.limit) {
		size += len(b.waiting[n].leaves)
		n++
	}
	batch := append([]*request(nil), b.waiting[:n]...)
	b.waiting = append(b.waiting[:0], b.waiting[n:]...)
	b.size -= size
	b.running = true
	batch[0].lead <- batch
}

// run evaluates a batch and tells those who wait for it.
func (b *Batcher) run(ctx context.Context, batch []*request) {
	b.leaves = b.leaves[:0]
	for _, r := range batch {
		b.leaves = append(b.leaves, r.leaves...)
	}
	// The others have nothing to do with the end of this one's context.
	err := b.inner.Evaluate(context.WithoutCancel(ctx), b.leaves)
	from := b.leaves
	for _, r := range batch {
		from = from[copy(r.leaves, from):]
		r.done <- err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running = false
	b.start()
}

// withdraw takes r back if it is in no batch yet.
func (b *Batcher) withdraw(r *request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, w := range b.waiting {
		if w == r {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			b.size -= len(r.leaves)
			b.start() // fewer are wanted once this one has left, but it may be full
			return true
		}
	}
	return false
}
