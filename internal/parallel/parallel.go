// Package parallel spreads numbered tasks over goroutines.
package parallel

import (
	"sync"
	"sync/atomic"
)

// Do calls f(worker, 0) … f(worker, tasks−1), each task once, on up to workers
// goroutines, and waits for them. Worker is the goroutine's number, from 0. Which
// runs which task is open, so that tasks must write to separate memory for the
// result not to depend on it. One worker is the caller.
func Do(workers, tasks int, f func(worker, task int)) {
	workers = min(workers, tasks)
	if workers <= 1 {
		for task := range tasks {
			f(0, task)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for task := int(next.Add(1)) - 1; task < tasks; task = int(next.Add(1)) - 1 {
				f(worker, task)
			}
		})
	}
	wg.Wait()
}

// Blocks calls f(lo, hi) over the ranges of 0..n cut into blocks of size, as Do.
func Blocks(workers, n, size int, f func(lo, hi int)) {
	Do(workers, (n+size-1)/size, func(_, i int) { f(i*size, min(n, (i+1)*size)) })
}
