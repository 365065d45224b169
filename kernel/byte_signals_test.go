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
// save of a thread is most at the highest level. The emulator of AMX keeps the tiles
// itself, so only a machine with AMX tests that the system saves them. There, for a minute:
//
//	go test -run 'TestBest|TestInterrupted' ./kernel -args -level amx -interrupted 1m
//
// The present form of the kernel has not had such a run.
func TestInterrupted(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	defer signal.Stop(signals)
	counts := make([]int, 4*runtime.GOMAXPROCS(0))
	var works []interruptible
	for g := range counts {
		works = append(works, newInterruptible(t, uint64(g)))
	}
	end := time.Now().Add(*interrupted)
	var computing sync.WaitGroup
	for g, w := range works {
		computing.Go(func() { counts[g] = w.computeUntil(t, end) })
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

// interruptible is a convolution, and what plain code computes.
type interruptible struct {
	conv *ByteConv
	src  ByteImages
	want []float32
}

func newInterruptible(t *testing.T, seed uint64) interruptible {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	q := Quantise(0, 1)
	c := NewByteConv(randomFloats(r, 48*32*9), nil, 48, 32, 3, q)
	src, want := NewByteImages(1, 32, 1, q), NewFloatImages(1, 48, 1)
	for row := range ImageSide {
		at := ((row+1)*(ImageSide+2) + 1) * 32
		for i := range ImageSide * 32 {
			src.Data[at+i] = uint8(r.IntN(byteMost + 1))
		}
	}
	restore, err := Force(Generic)
	if err != nil {
		t.Fatal(err)
	}
	defer restore()
	c.Apply(want, src, FloatImages{}, 1, Unbounded, new(ByteSpace))
	return interruptible{c, src, want.Data}
}

// computeUntil computes the convolution again and again and returns how often.
func (w interruptible) computeUntil(t *testing.T, end time.Time) (n int) {
	got, space := NewFloatImages(1, 48, 1), new(ByteSpace)
	for ; n == 0 || time.Now().Before(end); n++ {
		clear(got.Data)
		w.conv.Apply(got, w.src, FloatImages{}, 1, Unbounded, space)
		if !slices.Equal(got.Data, w.want) {
			t.Errorf("convolution %d differs from plain code", n)
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
