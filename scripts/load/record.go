package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// record is what all actors of a case note down together. What counts for the figures
// lies between from and to.
type record struct {
	games, plies, bytes, messages, questions atomic.Int64 // so far, the time before from included
	republished, refusals, failures, pauses  atomic.Int64

	exhausted chan struct{} // closed when all games of an actor's share are on disk
	once      sync.Once

	mu        sync.Mutex
	from, to  time.Time
	publish   []time.Duration // of each message
	onDisk    []time.Duration // of each game: from its end to the answer that it is on disk
	ask       []time.Duration // of each question
	lastError string
}

func newRecord() *record { return &record{exhausted: make(chan struct{})} }

// exhaust says that an actor has no more games to send.
func (r *record) exhaust() { r.once.Do(func() { close(r.exhausted) }) }

// inside reports whether t counts. The mutex is held.
func (r *record) inside(t time.Time) bool {
	return !r.from.IsZero() && !t.Before(r.from) && (r.to.IsZero() || t.Before(r.to))
}

func (r *record) published(begin time.Time, took time.Duration) {
	r.messages.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inside(begin) {
		r.publish = append(r.publish, took)
	}
}

func (r *record) answered(begin time.Time, took time.Duration) {
	r.questions.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inside(begin) {
		r.ask = append(r.ask, took)
	}
}

func (r *record) stored(done []*spooled) {
	now := time.Now()
	var plies, bytes int64
	for _, g := range done {
		plies += int64(g.plies)
		bytes += int64(len(g.data))
	}
	r.games.Add(int64(len(done)))
	r.plies.Add(plies)
	r.bytes.Add(bytes)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range done {
		if r.inside(g.finished) {
			r.onDisk = append(r.onDisk, now.Sub(g.finished))
		}
	}
}

// refused notes that the bus did not take a message.
func (r *record) refused(ctx context.Context, err error) { r.fail(ctx, &r.refusals, err) }

// unanswered notes that a question failed.
func (r *record) unanswered(ctx context.Context, err error) { r.fail(ctx, &r.failures, err) }

func (r *record) fail(ctx context.Context, count *atomic.Int64, err error) {
	if ctx.Err() != nil {
		return
	}
	count.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastError = err.Error()
}

// totals are counters at one moment.
type totals struct {
	at                                       time.Time
	games, plies, bytes, messages, questions int64
}

func (r *record) totals() totals {
	return totals{time.Now(), r.games.Load(), r.plies.Load(), r.bytes.Load(), r.messages.Load(), r.questions.Load()}
}

// begin starts what counts, and end ends it.
func (r *record) begin() totals {
	t := r.totals()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from = t.at
	return t
}

func (r *record) end() totals {
	t := r.totals()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = t.at
	return t
}

// quantiles are of times, in milliseconds.
type quantiles struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P90   float64 `json:"p90_ms"`
	P99   float64 `json:"p99_ms"`
	P999  float64 `json:"p999_ms"`
	Max   float64 `json:"max_ms"`
}

func quantilesOf(times []time.Duration) quantiles {
	if len(times) == 0 {
		return quantiles{}
	}
	t := slices.Sorted(slices.Values(times))
	at := func(q float64) float64 {
		i := int(math.Ceil(q*float64(len(t)))) - 1
		return float64(t[max(i, 0)].Microseconds()) / 1000
	}
	return quantiles{len(t), at(0.5), at(0.9), at(0.99), at(0.999), at(1)}
}

func (q quantiles) String() string {
	if q.Count == 0 {
		return "–"
	}
	return fmt.Sprintf("%s / %s / %s", millis(q.P50), millis(q.P99), millis(q.Max))
}

// millis prints milliseconds with two or three digits that say something.
func millis(ms float64) string {
	if ms < 10 {
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.0f", ms)
}
