//go:build linux

package kernel

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var interrupted = flag.Duration("interrupted", 300*time.Millisecond, "how long TestInterrupted computes")

// TestInterrupted computes byte convolutions on more goroutines than there are threads
// while every thread gets signals and the collector stops them all: what a system must
// save of a thread is most at the highest level.
func TestInterrupted(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	defer signal.Stop(signals)
	end := time.Now().Add(*interrupted)
	var computing sync.WaitGroup
	counts := make([]int, 4*runtime.GOMAXPROCS(0))
	for g := range counts {
		computing.Go(func() { counts[g] = computeUntil(t, uint64(g), end) })
	}
	sent := 0
	for time.Now().Before(end) {
		sent += signalThreads(t)
		runtime.GC()
		runtime.Gosched()
	}
	computing.Wait()
	if slices.Contains(counts, 0) || sent == 0 {
		t.Errorf("found %v convolutions of each goroutine and %d signals, expected some of all", counts, sent)
	}
	t.Logf("%d goroutines, %d signals, convolutions %v", len(counts), sent, counts)
}

// computeUntil computes one convolution after another and returns how many.
func computeUntil(t *testing.T, seed uint64, end time.Time) (n int) {
	r := rand.New(rand.NewPCG(seed, 1))
	q := Quantise(0, 1)
	c := NewByteConv(randomFloats(r, 48*32*9), nil, 48, 32, 3, q)
	src, space := NewByteImages(1, 32, 1, q), new(ByteSpace)
	for i := range src.Data {
		src.Data[i] = uint8(r.IntN(byteMost + 1))
	}
	want, got := NewFloatImages(1, 48, 1), NewFloatImages(1, 48, 1)
	c.Apply(want, src, FloatImages{}, 1, Unbounded, space)
	for ; n == 0 || time.Now().Before(end); n++ {
		clear(got.Data)
		c.Apply(got, src, FloatImages{}, 1, Unbounded, space)
		if !slices.Equal(got.Data, want.Data) {
			t.Errorf("convolution %d of goroutine %d differs from the first", n, seed)
			return n
		}
	}
	return n
}

// signalThreads sends each thread of this process a signal.
func signalThreads(t *testing.T) (sent int) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			t.Fatal(err)
		}
		if unix.Tgkill(os.Getpid(), id, syscall.SIGUSR1) == nil { // threads may end
			sent++
		}
	}
	return sent
}
