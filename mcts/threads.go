package mcts

import (
	"context"
	"sync"
	"time"
)

// helper is what a thread besides the first has of its own.
type helper struct {
	eval  Evaluator
	batch *batch
}

// crew is what the threads of a search share besides the tree. Who holds turn works
// on the tree. What is flying keeps threads apart that walk while others' positions
// are being evaluated.
type crew struct {
	turn    sync.Mutex
	counted sync.Cond // the playouts of a batch are, or a thread has ended
	err     error     // of the first evaluation that failed
}

// together makes playouts by all threads until a limit ends the search or an
// evaluation fails, whose error it returns.
func (r *run) together(ctx context.Context) error {
	var c crew
	c.counted.L = &c.turn
	own := r.tree.batch
	var helpers sync.WaitGroup
	for _, h := range r.engine.helpers {
		helpers.Go(func() { r.work(ctx, &c, h, func() {}) })
	}
	r.work(ctx, &c, helper{r.engine.eval, own}, func() { r.report(false) })
	helpers.Wait()
	r.tree.batch = own
	return c.err
}

// work is one thread of together: it takes turns on the tree to gather positions and to
// count playouts, and has the positions evaluated while others have their turns.
func (r *run) work(ctx context.Context, c *crew, h helper, report func()) {
	c.turn.Lock()
	defer c.turn.Unlock()
	defer c.counted.Broadcast()
	for c.err == nil && !r.finished() {
		r.tree.batch = h.batch
		began := time.Now()
		r.gather()
		size := len(h.batch.waiting)
		if size == 0 {
			if r.out > 0 {
				c.counted.Wait()
			}
			continue
		}
		r.out++
		c.turn.Unlock()
		err := h.eval.Evaluate(ctx, h.batch.leaves[:size])
		c.turn.Lock()
		r.out--
		r.tree.batch = h.batch
		r.tree.take(err)
		r.took = time.Since(began)
		if c.err == nil {
			c.err = err
		}
		c.counted.Broadcast()
		report()
	}
}
