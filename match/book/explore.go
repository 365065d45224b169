package book

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/crazyhouse-rl/selfplay/game"
)

// Explorer makes walks.
type Explorer struct {
	Settings Settings
	// NewWalker and NewJudge make the players of one goroutine, which are
	// closed at the end if they are io.Closers. Without NewJudge the walker
	// is the judge too.
	NewWalker, NewJudge func() (game.Player, error)
	// Concurrency is the number of goroutines; 0 means 1.
	Concurrency int
}

// Run makes the walks first, first+1, … and gives them in that order to visit, on
// one goroutine, until that returns false. Errors wrap [ErrSettings] or are those
// of the players, of visit or of the context.
func (e *Explorer) Run(ctx context.Context, first int, visit func(Walk) (more bool, err error)) error {
	if err := e.Settings.Validate(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()

	n := max(1, e.Concurrency)
	tasks := make(chan task)
	inOrder := make(chan task, 4*n) // bounds how far ahead of visit walks are made
	failed := make(chan error, n)
	for range n {
		workers.Go(func() {
			if err := e.work(ctx, tasks); err != nil {
				failed <- err
			}
		})
	}
	workers.Go(func() { deal(ctx, first, tasks, inOrder) })
	for {
		w, err := next(ctx, inOrder, failed)
		if err != nil {
			return err
		}
		if more, err := visit(w); err != nil || !more {
			return err
		}
	}
}

// task is a walk to make; done has room for it.
type task struct {
	number int
	done   chan Walk
}

// deal gives out walks, to those who make them and to the one who awaits them in
// order.
func deal(ctx context.Context, first int, tasks, inOrder chan<- task) {
	for number := first; ; number++ {
		t := task{number, make(chan Walk, 1)}
		for _, c := range []chan<- task{inOrder, tasks} {
			select {
			case c <- t:
			case <-ctx.Done():
				return
			}
		}
	}
}

// next waits for the next walk in order.
func next(ctx context.Context, inOrder <-chan task, failed <-chan error) (Walk, error) {
	var t task
	select {
	case t = <-inOrder:
	case err := <-failed:
		return Walk{}, err
	case <-ctx.Done(): // deal may have ended
		return Walk{}, context.Cause(ctx)
	}
	select {
	case w := <-t.done:
		return w, nil
	case err := <-failed:
		return Walk{}, err
	case <-ctx.Done():
		return Walk{}, context.Cause(ctx)
	}
}

// work makes walks until ctx ends.
func (e *Explorer) work(ctx context.Context, tasks <-chan task) (err error) {
	walker, err := e.NewWalker()
	if err != nil {
		return fmt.Errorf("walker: %w", err)
	}
	defer func() { err = errors.Join(err, closePlayer(walker)) }()
	judge := walker
	if e.NewJudge != nil {
		if judge, err = e.NewJudge(); err != nil {
			return fmt.Errorf("judge: %w", err)
		}
		defer func() { err = errors.Join(err, closePlayer(judge)) }()
	}
	for {
		select {
		case t := <-tasks:
			w, err := e.Settings.walk(ctx, t.number, walker, judge)
			if err != nil {
				return fmt.Errorf("book: walk %d: %w", t.number, err)
			}
			t.done <- w
		case <-ctx.Done():
			return nil
		}
	}
}

func closePlayer(p game.Player) error {
	if c, ok := p.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
