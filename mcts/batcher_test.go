package mcts

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// meter is an evaluator that is not safe for concurrent use and notes the sizes
// of its batches.
type meter struct {
	inner Evaluator
	busy  sync.Mutex
	most  int
	fail  error
	look  func(batch int) error // if not nil, may refuse a batch of this size
}

func (m *meter) Evaluate(ctx context.Context, leaves []search.Leaf) error {
	if !m.busy.TryLock() {
		return errors.New("two batches at a time")
	}
	defer m.busy.Unlock()
	m.most = max(m.most, len(leaves))
	if m.look != nil {
		if err := m.look(len(leaves)); err != nil {
			return err
		}
	}
	if m.fail != nil {
		return m.fail
	}
	return m.inner.Evaluate(ctx, leaves)
}

// together runs n functions at once and fails if they do not end.
func together(t *testing.T, n int, f func(i int)) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatal("a batch waits for ever")
	}
}

// TestBatcherChangesNothing: engines that share an evaluator through a batcher
// play as each does alone.
func TestBatcherChangesNothing(t *testing.T) {
	const games, limit = 12, 8
	play := func(eval Evaluator, i int) (all []search.Result) {
		e, err := New(eval, DefaultOptions())
		if err != nil {
			t.Error(err)
			return nil
		}
		e.opts.Batch = 1
		l := chess.NewLine(chess.Variants()[i%2].Start())
		for range 3 + i%4 { // games of different lengths
			r, err := e.Search(context.Background(), l, search.Limits{Nodes: uint64(20 + 10*i)})
			if err != nil {
				t.Error(err)
				return all
			}
			r.Elapsed = 0
			all = append(all, r)
			l.Push(r.Move)
		}
		return all
	}
	m := &meter{inner: &scatter{}}
	b := NewBatcher(m, limit)
	got := make([][]search.Result, games)
	together(t, games, func(i int) { got[i] = play(b, i) })
	for i := range games {
		if want := play(&scatter{}, i); !reflect.DeepEqual(got[i], want) {
			t.Errorf("game %d is another one behind a batcher", i)
		}
	}
	if m.most > limit {
		t.Errorf("%d positions in a batch, expected at most %d", m.most, limit)
	}
}

// TestBatcherFills: every batch has as many positions as there are searches
// under way, or is full.
func TestBatcherFills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const searches, limit = 12, 8
		m := &meter{inner: &scatter{}}
		b := NewBatcher(m, limit)
		m.look = func(batch int) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			if batch != limit && batch != b.searching { // who waits does not leave
				return fmt.Errorf("a batch of %d positions while %d search", batch, b.searching)
			}
			return nil
		}
		b.running = true // until all want a value
		go func() {
			synctest.Wait()
			b.mu.Lock()
			defer b.mu.Unlock()
			if len(b.waiting) != searches {
				t.Errorf("%d searches wait, expected all %d", len(b.waiting), searches)
			}
			b.running = false
			b.start()
		}()
		together(t, searches, func(i int) {
			o := DefaultOptions()
			o.Batch = 1
			e, err := New(b, o)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := e.Search(context.Background(), chess.NewLine(chess.Crazyhouse.Start()), search.Limits{Nodes: uint64(50 + 10*i)}); err != nil {
				t.Error(err)
			}
		})
		if m.most != limit {
			t.Errorf("%d positions in the largest batch, expected %d", m.most, limit)
		}
	})
}

func TestBatcherPassesErrorsOn(t *testing.T) {
	fault := errors.New("net is broken")
	b := NewBatcher(&meter{inner: Uniform{}, fail: fault}, 4)
	together(t, 6, func(int) {
		e, err := New(b, DefaultOptions())
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := e.Search(context.Background(), chess.NewLine(chess.Crazyhouse.Start()), search.Limits{Nodes: 9}); !errors.Is(err, fault) {
			t.Errorf("error %v", err)
		}
	})
}

// TestBatcherAndContexts: searches that are stopped at any time leave the others
// going.
func TestBatcherAndContexts(t *testing.T) {
	b := NewBatcher(&meter{inner: &scatter{}}, 16)
	together(t, 10, func(i int) {
		e, err := New(b, DefaultOptions())
		if err != nil {
			t.Error(err)
			return
		}
		for j := range 10 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i*j%7)*time.Millisecond)
			lim := search.Limits{Nodes: 300}
			if i%3 == 0 {
				lim = search.Limits{Infinite: true} // holds its answer until stopped
			}
			if _, err := e.Search(ctx, chess.NewLine(chess.Crazyhouse.Start()), lim); err != nil {
				t.Error(err)
			}
			cancel()
		}
	})
	if b.searching != 0 || len(b.waiting) != 0 || b.size != 0 || b.running {
		t.Errorf("left: %d searching, %d waiting", b.searching, len(b.waiting))
	}
}
