package parallel

import (
	"sync/atomic"
	"testing"
)

// Every task runs once, and no two at a time with the number of one worker.
func TestDo(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 100} {
		for _, tasks := range []int{0, 1, 2, 50} {
			done := make([]atomic.Int32, tasks)
			busy := make([]atomic.Bool, max(1, min(workers, tasks)))
			Do(workers, tasks, func(worker, task int) {
				if busy[worker].Swap(true) {
					t.Errorf("%d workers, %d tasks: worker %d began task %d during another", workers, tasks, worker, task)
				}
				done[task].Add(1)
				busy[worker].Store(false)
			})
			for task := range done {
				if n := done[task].Load(); n != 1 {
					t.Errorf("%d workers, %d tasks: task %d ran %d times", workers, tasks, task, n)
				}
			}
		}
	}
}

// Blocks cover the range without overlap, and only the last is shorter.
func TestBlocks(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 64} {
		const size = 8
		done := make([]atomic.Int32, n)
		Blocks(3, n, size, func(lo, hi int) {
			if lo%size != 0 || hi != min(n, lo+size) {
				t.Errorf("block %d to %d of %d", lo, hi, n)
			}
			for i := lo; i < hi; i++ {
				done[i].Add(1)
			}
		})
		for i := range done {
			if c := done[i].Load(); c != 1 {
				t.Errorf("%d of %d is in %d blocks", i, n, c)
			}
		}
	}
}
