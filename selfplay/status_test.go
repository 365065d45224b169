package selfplay

import (
	"strings"
	"testing"
	"time"
)

func TestRate(t *testing.T) {
	var r rate
	start := time.Unix(1_000_000, 0)
	if got := r.perSecond(start); got != 0 {
		t.Errorf("rate of nothing is %v", got)
	}
	for s := range 5 {
		r.add(start.Add(time.Duration(s)*time.Second), 100)
	}
	if got := r.perSecond(start.Add(5 * time.Second)); got != 100 {
		t.Errorf("after 5 s of 100 a second: %v", got)
	}
	if got := r.perSecond(start.Add(time.Hour)); got != 0 {
		t.Errorf("after an idle hour: %v", got)
	}
}

func TestStatusWords(t *testing.T) {
	b := newSharedStatus()
	b.update(func(s *Status) {
		s.Games, s.Window, s.Step, s.TrainLoss, s.HeldOutLoss = 12, 34_567, 8, 0.0123, 0.0145
		s.Net, s.Generation, s.LastGate = "0123456789abcdef", 3, "generation 3 passed"
	})
	b.set(roleTrainer, "waiting for games: %d more", 7)
	s := b.snapshot(time.Now())
	for _, want := range []string{"games 12", "window 34.6k", "step 8", "loss 0.01230", "held out 0.01450", "net 01234567, generation 3", "gate: generation 3 passed"} {
		if !strings.Contains(s.Line(), want) {
			t.Errorf("Line() = %q lacks %q", s.Line(), want)
		}
	}
	if want := "trainer: waiting for games: 7 more"; !strings.Contains(s.Waiting(), want) {
		t.Errorf("Waiting() = %q lacks %q", s.Waiting(), want)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1.0k", 345_678: "345.7k", 4_560_000: "4.56M"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}
