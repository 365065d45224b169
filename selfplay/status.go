package selfplay

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// Status is what a run shows of itself. Counters cover the whole run unless
// said otherwise; rates cover the last seconds.
type Status struct {
	Run     string        // name
	Elapsed time.Duration // since this process started the run

	Games           uint64         // games in the replay buffer, ever
	SessionGames    uint64         // games finished by this process
	Positions       uint64         // trainable positions in the replay buffer, ever
	PositionsPerS   float64        // plies played a second
	EvaluationsPerS float64        // positions a second that the net of tree searches was asked for
	MeanBatch       float64        // of these, how many at once; 0 without tree searches
	Window          uint64         // positions the trainer draws from
	Spooled         int            // games waiting for the bus
	Duplicates      uint64         // games delivered twice and dropped
	Quarantined     uint64         // games refused
	StreamLost      uint64         // messages that the stream lost before this process could read them
	BufferLost      uint64         // games that the replay buffer has lost
	Excluded        []bus.Excluded // actors whose games it does not take, some of them
	Step            uint64         // optimiser steps
	StepsToNet      uint64         // steps until the next net is offered
	Samples         uint64         // positions trained on, repeats counted
	SamplesPerS     float64        // positions trained on a second
	SamplesPerRow   float64        // the same divided by the positions that arrived
	TrainLoss       float64        // running mean; 0 before the first step
	HeldOutLoss     float64        // on games never trained on; 0 before the first measurement
	SignAccuracy    float64        // share of held-out decisive positions whose sign the net has right
	Generation      int            // of the current net; 0 before the first
	Net             string         // id of the current net; "material" or "uniform" before the first
	ActorGeneration int            // of the net the newest game was begun with
	Nodes           uint64         // a move of that game; 0 if they are the same with every net
	Candidate       int            // generation last offered
	LastGate        string         // how the last candidate fared
	Gate            GateProgress   // zero: no match is played
	Unjudged        string         // id of the net offered that this process, the referee, has not judged; empty: none
	Division        []Share        // of the cores; nil: the system divides them
	Curve           []PassedNet    // of the whole run
	FailedNet       string         // id of the net that should be played with and cannot be loaded; empty: none
	FailedWhy       string
	FailedHere      bool               // the fault is of this process's disk or line, as far as it knows
	Unverifiable    []bus.Unverifiable // actors of whom a verifier cannot verify many games
	Stalled         []bus.Stall        // stages of this process that are stuck; none: all is calm
	Roles           [roleCount]Role    // what each role is doing or waiting for
	Figures         Figures            // for monitoring
}

// Role is one role's present occupation in words.
type Role struct {
	Name  string
	State string
}

// Indexes into Status.Roles.
const (
	roleActor = iota
	roleReplay
	roleTrainer
	roleGate
	roleVerify // not in a loop

	roleCount = iota
)

// sharedStatus is a Status that the roles update and others read.
type sharedStatus struct {
	mu      sync.Mutex
	current Status
	match   string // what the referee of this process does in a match; empty: none is played
	start   time.Time
	plies   rate
	rows    rate
	evals   rate
	calls   rate // of evals
	stages  stageWatch
}

func newSharedStatus() *sharedStatus {
	s := &sharedStatus{start: time.Now(), stages: stageWatch{}}
	for i, name := range [roleCount]string{"actor", "replay", "trainer", "gate", "verify"} {
		s.current.Roles[i] = Role{Name: name, State: "starting"}
	}
	return s
}

// update changes the status under the lock.
func (s *sharedStatus) update(change func(s *Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.current)
}

// set says what a role is doing now.
func (s *sharedStatus) set(role int, format string, args ...any) {
	state := fmt.Sprintf(format, args...)
	s.update(func(s *Status) { s.Roles[role].State = state })
}

// setMatch says what the referee of this process does in a match; without words the match is
// over.
func (s *sharedStatus) setMatch(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.match = state; state != "" {
		s.current.Roles[roleGate].State = state
	}
}

// setWorker says what a worker of the gate does in a process that is not the referee. In that of
// the referee, which says what it does itself, it takes back what setWorkerFails has said.
func (s *sharedStatus) setWorker(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := &s.current.Roles[roleGate].State
	switch {
	case s.match != "":
		if begins(*gate, triesPair) {
			*gate = s.match
		}
	case !slices.Contains(s.current.Figures.Leases, refereeLease) && !begins(*gate, waitsForServer):
		*gate = fmt.Sprintf(format, args...)
	}
}

// setWorkerFails says why a worker cannot play a pair, which the referee does not know.
func (s *sharedStatus) setWorkerFails(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := &s.current.Roles[roleGate].State
	if !begins(*gate, waitsForServer) && (s.match != "" || !slices.Contains(s.current.Figures.Leases, refereeLease)) {
		*gate = triesPair + ": " + why
	}
}

// played counts the plies of a finished game, trained the samples of a step.
func (s *sharedStatus) played(plies int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.SessionGames++
	s.current.Figures.Plies += uint64(plies)
	s.plies.add(time.Now(), float64(plies))
}

func (s *sharedStatus) trained(samples int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.Figures.Steps++
	s.current.Figures.Samples += uint64(samples)
	s.rows.add(time.Now(), float64(samples))
}

// evaluated counts the positions of a batch that a net is given.
func (s *sharedStatus) evaluated(positions int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.Figures.Evaluations += uint64(positions)
	s.current.Figures.Batches++
	now := time.Now()
	s.evals.add(now, float64(positions))
	s.calls.add(now, 1)
}

// snapshot returns the status as of a time.
func (s *sharedStatus) snapshot(now time.Time) Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.current
	out.Elapsed = now.Sub(s.start)
	out.PositionsPerS = s.plies.perSecond(now)
	out.SamplesPerS = s.rows.perSecond(now)
	out.EvaluationsPerS = s.evals.perSecond(now)
	if calls := s.calls.perSecond(now); calls > 0 {
		out.MeanBatch = out.EvaluationsPerS / calls
	}
	if out.Positions > 0 {
		out.SamplesPerRow = float64(out.Samples) / float64(out.Positions)
	}
	out.Stalled = s.stages.look(&out, now)
	return out
}

// rate sums events over the last whole seconds.
type rate struct {
	buckets [rateSeconds]float64
	newest  int64 // the second of the newest bucket
	oldest  int64 // the second of the first event
}

const rateSeconds = 16

// advance clears the buckets between the newest second and now.
func (r *rate) advance(second int64) {
	if r.oldest == 0 {
		r.oldest, r.newest = second, second
	}
	for s := max(r.newest+1, second-rateSeconds+1); s <= second; s++ {
		r.buckets[s%rateSeconds] = 0
	}
	r.newest = max(r.newest, second)
}

func (r *rate) add(now time.Time, n float64) {
	r.advance(now.Unix())
	r.buckets[now.Unix()%rateSeconds] += n
}

// perSecond is the mean over the whole seconds before now that r has seen.
func (r *rate) perSecond(now time.Time) float64 {
	if r.oldest == 0 {
		return 0
	}
	r.advance(now.Unix())
	sum := 0.0
	for i, n := range r.buckets {
		if int64(i) != r.newest%rateSeconds {
			sum += n
		}
	}
	return sum / float64(max(1, min(rateSeconds-1, r.newest-r.oldest)))
}

// short cuts a net's id to what a person compares.
func short(id string) string { return id[:min(len(id), 8)] }

// Line is the status in one line for a terminal; Waiting is another.
func (s Status) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  games %d  %.0f positions/s  window %s", s.Elapsed.Round(time.Second), s.Games, s.PositionsPerS, count(s.Window))
	if s.MeanBatch > 0 {
		fmt.Fprintf(&b, "  %.0f evals/s by %.1f", s.EvaluationsPerS, s.MeanBatch)
	}
	if s.Step > 0 {
		fmt.Fprintf(&b, "  step %d  loss %.5f", s.Step, s.TrainLoss)
	}
	if s.HeldOutLoss > 0 {
		fmt.Fprintf(&b, ", held out %.5f", s.HeldOutLoss)
	}
	fmt.Fprintf(&b, "  net %s", short(s.Net))
	if s.Generation > 0 {
		fmt.Fprintf(&b, ", generation %d", s.Generation)
	}
	if s.LastGate != "" {
		fmt.Fprintf(&b, "  gate: %s", s.LastGate)
	}
	return b.String()
}

// Margin is half of the 95 % interval of what more of the cores earns.
func (s Share) Margin() float64 { return errors95 * s.Earning.Error }

// Attrs is the status as pairs of key and value for a structured log.
func (s Status) Attrs() []any {
	attrs := []any{
		"elapsed_s", int(s.Elapsed.Seconds()), "games", s.Games, "positions", s.Positions,
		"positions_per_s", math.Round(s.PositionsPerS),
		"evaluations_per_s", math.Round(s.EvaluationsPerS), "mean_batch", math.Round(10*s.MeanBatch) / 10, "window", s.Window, "spooled", s.Spooled,
		"duplicates", s.Duplicates, "quarantined", s.Quarantined, "stream_lost", s.StreamLost, "buffer_lost", s.BufferLost,
		"step", s.Step, "samples", s.Samples, "samples_per_s", math.Round(s.SamplesPerS), "samples_per_position", s.SamplesPerRow,
		"train_loss", s.TrainLoss, "held_out_loss", s.HeldOutLoss, "sign_accuracy", s.SignAccuracy,
		"net", s.Net, "generation", s.Generation, "actor_generation", s.ActorGeneration, "nodes", s.Nodes, "candidate", s.Candidate, "last_gate", s.LastGate,
	}
	for _, p := range s.Division {
		attrs = append(attrs, "share_"+p.Name, math.Round(1000*p.Share)/1000, "used_"+p.Name, math.Round(1000*p.Used)/1000)
		if p.Earning.Known {
			attrs = append(attrs, "earns_"+p.Name, p.Earning.Median, "earns_"+p.Name+"_error", p.Margin())
		}
	}
	for _, r := range s.Roles[:roleVerify] {
		attrs = append(attrs, r.Name, r.State)
	}
	return attrs
}

// RoleLine is the status of a single role in one line for a terminal.
func (s Status) RoleLine(role string) string {
	elapsed, state := s.Elapsed.Round(time.Second), s.state(role)
	switch role {
	case "actor":
		return fmt.Sprintf("%s  %s played  %.0f positions/s  %d spooled  net %s, generation %d  %s", elapsed, words.Count(s.SessionGames, "game", "games"), s.PositionsPerS, s.Spooled, short(s.Net), s.ActorGeneration, state)
	case "replay":
		return fmt.Sprintf("%s  %s, %s positions  window %s  %s  %d quarantined  %s", elapsed, words.Count(s.Games, "game", "games"), count(s.Positions), count(s.Window), words.Count(s.Duplicates, "duplicate", "duplicates"), s.Quarantined, state)
	case "trainer":
		return fmt.Sprintf("%s  window %s  step %d  loss %.5f, held out %.5f  generation %d offered  %s", elapsed, count(s.Window), s.Step, s.TrainLoss, s.HeldOutLoss, s.Candidate, state)
	}
	return fmt.Sprintf("%s  %s", elapsed, state)
}

// RoleAttrs is the status of a single role as pairs of key and value for a structured
// log.
func (s Status) RoleAttrs(role string) []any {
	attrs := []any{"role", role, "elapsed_s", int(s.Elapsed.Seconds()), "state", s.state(role)}
	switch role {
	case "actor":
		attrs = append(attrs, "games", s.SessionGames, "positions_per_s", math.Round(s.PositionsPerS), "spooled", s.Spooled, "net", s.Net, "generation", s.ActorGeneration, "nodes", s.Nodes)
	case "replay":
		attrs = append(attrs, "games", s.Games, "positions", s.Positions, "window", s.Window, "duplicates", s.Duplicates, "quarantined", s.Quarantined, "stream_lost", s.StreamLost, "buffer_lost", s.BufferLost)
	case "trainer":
		attrs = append(attrs, "games", s.Games, "window", s.Window, "step", s.Step, "samples", s.Samples, "samples_per_s", math.Round(s.SamplesPerS), "train_loss", s.TrainLoss,
			"held_out_loss", s.HeldOutLoss, "sign_accuracy", s.SignAccuracy, "candidate", s.Candidate)
	case "gate":
		attrs = append(attrs, "last_gate", s.LastGate)
	}
	return attrs
}

// Waiting says which roles of a loop are not working and why.
func (s Status) Waiting() string {
	var parts []string
	for _, r := range s.Roles[:roleVerify] {
		parts = append(parts, r.Name+": "+r.State)
	}
	return strings.Join(parts, " | ")
}

// count prints a number of positions in a person's precision: 950, 12.3k, 4.56M.
func count(n uint64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.2fM", float64(n)/1e6)
}
