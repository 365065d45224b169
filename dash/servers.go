package dash

import (
	"context"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

const (
	askEvery  = 5 * time.Second // heartbeats come every ten
	askWithin = 10 * time.Second
)

// servers is what the servers of the run said last.
type servers struct {
	asked    time.Time // when the newest question was put
	asking   bool
	answered time.Time
	overview *selfplay.Overview // nil: nothing yet
	problem  string             // of the newest question
	rates    map[string]*meter  // of games, by member
	version  int

	// Of a run without a directory here:
	netsAre   string // the records at which the nets were read
	manifests map[string]nets.Manifest
	passed    map[string]bool // nets that were published or promoted
	ungated   map[string]bool // nets that were published without a gate
	offered   []selfplay.OfferedNet
	verdicts  []selfplay.JudgedNet // of the gate, the newest last
	known     int                  // verdicts that the referee has told, or said that there are
	missed    int                  // of these, not in verdicts
	untold    string               // why the referee tells nothing; empty: it does
	following func()               // ends the following of published games; nil: it has not begun
}

func memberKey(m bus.Member) string { return m.Role + "." + m.Instance }

// ask asks the servers if it is time to. Nobody waits for the answer.
func (w *Watch) ask(now time.Time) {
	s := &w.servers
	if w.cfg.Ask == nil || s.asking || now.Sub(s.asked) < askEvery && !s.asked.IsZero() || w.over.Err() != nil {
		return
	}
	s.asked, s.asking = now, true
	w.questions.Go(func() {
		ctx, cancel := context.WithTimeout(w.over, askWithin)
		defer cancel()
		v, err := w.cfg.Ask(ctx)
		if err == nil && w.onServers() {
			err = w.readNets(ctx, &v)
			w.readJudging(ctx)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.answer(v, err, time.Now())
	})
}

// answer keeps what the servers said.
func (w *Watch) answer(v selfplay.Overview, err error, now time.Time) {
	s := &w.servers
	s.asking = false
	s.version++
	if s.problem = ""; err != nil {
		s.problem = err.Error()
		return
	}
	rates := map[string]*meter{}
	for _, m := range v.Members {
		rate := s.rates[memberKey(m)]
		if rate == nil {
			rate = &meter{}
		}
		if n := len(rate.at); n == 0 || m.Seen.After(rate.at[n-1]) {
			rate.add(m.Seen, m.Games)
		}
		rates[memberKey(m)] = rate
	}
	s.rates, s.overview, s.answered = rates, &v, now
	if w.onServers() {
		w.run = Run{Name: v.Run.Name, ID: v.Run.ID, Build: v.Run.Build, Variant: v.Run.Variant, Kind: v.Run.Kind}
		w.settings.Variant = v.Run.Variant
		w.follow()
	}
}

// close ends the questions that are under way.
func (w *Watch) close() {
	w.end()
	w.questions.Wait()
	w.mu.Lock()
	stop := w.servers.following
	w.mu.Unlock()
	if stop != nil {
		stop()
	}
}
