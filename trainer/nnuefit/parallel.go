package nnuefit

import (
	"sync"
	"sync/atomic"
)

// parallel calls f(0) … f(tasks−1), each once, on up to workers goroutines and
// waits for them. Which goroutine runs which task is open, so tasks must write
// to separate memory for the result not to depend on it.
func parallel(workers, tasks int, f func(task int)) {
	workers = min(workers, tasks)
	if workers <= 1 {
		for i := range tasks {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < tasks; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// blocks calls f(lo, hi) over the ranges of 0..n cut into blocks of size.
func blocks(workers, n, size int, f func(lo, hi int)) {
	parallel(workers, (n+size-1)/size, func(i int) { f(i*size, min(n, (i+1)*size)) })
}
