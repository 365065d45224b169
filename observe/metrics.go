package observe

import (
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Roles that show a metric. The loop shows all of them but the verifier's.
const (
	everyone = ""
	actor    = "actor"
	replay   = "replay"
	trainer  = "trainer"
	gate     = "gate"
	verify   = "verify"
)

// metric is one name of /metrics: who shows it and its samples.
type metric struct {
	name   string
	desc   *prometheus.Desc
	role   string
	sample func(o *selfplay.Observation, emit emit)
}

// emit adds a sample of a metric, with the values of its labels.
type emit func(kind prometheus.ValueType, value float64, labels ...string)

const namespace = "selfplay_"

func newMetric(role, name, help string, labels []string, sample func(*selfplay.Observation, emit)) metric {
	return metric{namespace + name, prometheus.NewDesc(namespace+name, help, labels, nil), role, sample}
}

// gaugeOf is a metric that goes up and down, counterOf one that only grows while the
// process lives.
func gaugeOf(role, name, help string, value func(*selfplay.Observation) float64) metric {
	return newMetric(role, name, help, nil, func(o *selfplay.Observation, e emit) { e(prometheus.GaugeValue, value(o)) })
}

func counterOf(role, name, help string, value func(*selfplay.Observation) uint64) metric {
	return newMetric(role, name, help, nil, func(o *selfplay.Observation, e emit) { e(prometheus.CounterValue, float64(value(o))) })
}

// timeOf is a time, in seconds since 1970; there is no sample before it has come.
func timeOf(role, name, help string, value func(*selfplay.Figures) time.Time) metric {
	return newMetric(role, name, help, nil, func(o *selfplay.Observation, e emit) {
		if t := value(&o.Status.Figures); !t.IsZero() {
			e(prometheus.GaugeValue, float64(t.UnixNano())/1e9)
		}
	})
}

// streamOf is a figure of the stream of games, which has no sample while the server
// does not answer.
func streamOf(name, help string, value func(*bus.Stats) float64) metric {
	return newMetric(replay, name, help, nil, func(o *selfplay.Observation, e emit) {
		if o.Stream != nil {
			e(prometheus.GaugeValue, value(o.Stream))
		}
	})
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// metrics are all names of this program, in the order of the way of a game.
var metrics = slices.Concat(commonMetrics, actorMetrics, replayMetrics, trainerMetrics, gateMetrics, verifyMetrics)

var commonMetrics = []metric{
	newMetric(everyone, "run_info", "The run and the role of this process; always 1.", []string{"run", "id", "role", "variant"},
		func(o *selfplay.Observation, e emit) { e(prometheus.GaugeValue, 1, o.Name, o.ID, o.Role, o.Variant) }),
	gaugeOf(everyone, "ready", "Whether the process can do its work now, as /readyz says.", func(o *selfplay.Observation) float64 { return flag(len(o.Problems) == 0) }),
	gaugeOf(everyone, "server_connected", "Whether the process is connected to a NATS server.", func(o *selfplay.Observation) float64 { return flag(o.Connected) }),
	newMetric(everyone, "disk_free_bytes", "Free room on the disk of the process's directory.", nil, func(o *selfplay.Observation, e emit) {
		if o.DiskKnown {
			e(prometheus.GaugeValue, float64(o.DiskFree))
		}
	}),
	gaugeOf(everyone, "net_generation", "Generation of the net that the run plays with, as far as the process knows; 0 before the first.", func(o *selfplay.Observation) float64 {
		return float64(max(o.Status.Generation, o.Status.ActorGeneration))
	}),
	gaugeOf(everyone, "net_failed", "Whether the net that should be played with cannot be loaded.", func(o *selfplay.Observation) float64 { return flag(o.Status.FailedNet != "") }),
	newMetric(everyone, "stage_stalled_seconds", "How long work has waited in a stage of this process out of which nothing comes; 0: it is calm.", []string{"stage"}, func(o *selfplay.Observation, e emit) {
		stalled := map[string]float64{}
		for _, s := range o.Status.Stalled {
			stalled[s.Stage] = float64(s.Seconds)
		}
		for _, stage := range selfplay.Stages {
			e(prometheus.GaugeValue, stalled[stage], stage)
		}
	}),
	newMetric(everyone, "lease_held", "Whether this process has the lease of a role that one process at a time has.", []string{"lease"}, func(o *selfplay.Observation, e emit) {
		for _, name := range selfplay.LeaseNames {
			e(prometheus.GaugeValue, flag(slices.Contains(o.Status.Figures.Leases, name)), name)
		}
	}),
	newMetric(replay, "lease_holder", "Who has a lease, as the server knows; 1, or 0 if it was given back.", []string{"lease", "holder", "host"}, func(o *selfplay.Observation, e emit) {
		for _, l := range o.Holders {
			e(prometheus.GaugeValue, flag(!l.Released), l.Role, l.Instance, l.Host)
		}
	}),
}

var actorMetrics = []metric{
	counterOf(actor, "actor_games_total", "Games finished.", func(o *selfplay.Observation) uint64 { return o.Status.SessionGames }),
	counterOf(actor, "actor_positions_total", "Positions of the games finished.", func(o *selfplay.Observation) uint64 { return o.Status.Figures.Plies }),
	counterOf(actor, "actor_evaluations_total", "Positions that the net of tree searches was asked for.", func(o *selfplay.Observation) uint64 { return o.Status.Figures.Evaluations }),
	counterOf(actor, "actor_evaluation_batches_total", "Batches in which the net of tree searches was asked.", func(o *selfplay.Observation) uint64 { return o.Status.Figures.Batches }),
	newMetric(actor, "actor_nodes", "Search nodes a move of the newest game begun, if they grow (actor.nodes_growth).", nil, func(o *selfplay.Observation, e emit) {
		if o.Status.Nodes > 0 {
			e(prometheus.GaugeValue, float64(o.Status.Nodes))
		}
	}),
	gaugeOf(actor, "actor_spool_games", "Finished games that replay does not have on its disk yet.", func(o *selfplay.Observation) float64 { return float64(o.Status.Spooled) }),
	gaugeOf(actor, "actor_spool_limit_games", "Games that the spool takes; at the limit the actor pauses.", func(o *selfplay.Observation) float64 { return float64(o.SpoolMax) }),
	gaugeOf(actor, "actor_spool_oldest_age_seconds", "Time since the oldest spooled game was finished; 0 if there is none.", func(o *selfplay.Observation) float64 {
		if t := o.Status.Figures.Oldest; !t.IsZero() {
			return time.Since(t).Seconds()
		}
		return 0
	}),
}

var replayMetrics = []metric{
	counterOf(replay, "replay_games_total", "Games stored in the replay buffer.", func(o *selfplay.Observation) uint64 { return o.Status.Figures.Games }),
	counterOf(replay, "replay_positions_total", "Trainable positions stored in the replay buffer.", func(o *selfplay.Observation) uint64 { return o.Status.Figures.Positions }),
	counterOf(replay, "replay_duplicates_total", "Games delivered again and dropped.", func(o *selfplay.Observation) uint64 { return o.Status.Figures.Duplicates }),
	counterOf(replay, "replay_quarantined_total", "Games that the replay buffer refused.", func(o *selfplay.Observation) uint64 { return o.Status.Figures.Quarantined }),
	gaugeOf(replay, "replay_games", "Games in the replay buffer, ever.", func(o *selfplay.Observation) float64 { return float64(o.Status.Games) }),
	gaugeOf(replay, "replay_positions", "Trainable positions in the replay buffer, ever.", func(o *selfplay.Observation) float64 { return float64(o.Status.Positions) }),
	gaugeOf(replay, "replay_duplicates", "Games delivered again and dropped, ever.", func(o *selfplay.Observation) float64 { return float64(o.Status.Duplicates) }),
	gaugeOf(replay, "replay_quarantined", "Games that the replay buffer refused, ever.", func(o *selfplay.Observation) float64 { return float64(o.Status.Quarantined) }),
	newMetric(replay, "replay_rejected_games_total", "Games refused since the process began, by reason.", []string{"reason"}, func(o *selfplay.Observation, e emit) {
		for i, reason := range selfplay.RejectReasons {
			e(prometheus.CounterValue, float64(o.Status.Figures.Rejected[i]), reason)
		}
	}),
	gaugeOf(replay, "replay_lost_games", "Games that the replay buffer has lost by damage.", func(o *selfplay.Observation) float64 { return float64(o.Status.BufferLost) }),
	gaugeOf(replay, "replay_window_positions", "Positions that the trainer draws from.", func(o *selfplay.Observation) float64 { return float64(o.Status.Window) }),
	gaugeOf(replay, "replay_segments", "Files of the replay buffer.", func(o *selfplay.Observation) float64 { return float64(o.Status.Figures.Segments) }),
	gaugeOf(replay, "replay_bytes", "Bytes of the replay buffer on disk.", func(o *selfplay.Observation) float64 { return float64(o.Status.Figures.Bytes) }),
	timeOf(replay, "replay_last_stored_timestamp_seconds", "When games were last stored.", func(f *selfplay.Figures) time.Time { return f.Stored }),
	counterOf(replay, "stream_lost_messages_total", "Messages that the stream lost before replay could read them.", func(o *selfplay.Observation) uint64 { return o.Status.StreamLost }),
	streamOf("stream_messages", "Messages of games in the stream.", func(s *bus.Stats) float64 { return float64(s.Messages) }),
	streamOf("stream_bytes", "Bytes of games in the stream.", func(s *bus.Stats) float64 { return float64(s.Bytes) }),
	streamOf("stream_limit_bytes", "Room of the stream; at the limit games wait in the spools.", func(s *bus.Stats) float64 { return float64(max(s.MaxBytes, 0)) }),
	streamOf("stream_pending_messages", "Messages that replay has not fetched.", func(s *bus.Stats) float64 { return float64(s.Pending) }),
	streamOf("stream_unacknowledged_messages", "Messages that replay has fetched and not acknowledged.", func(s *bus.Stats) float64 { return float64(s.Unacked) }),
	streamOf("stream_acknowledgement_lag_messages", "Sequences from the last acknowledged message to the newest one.", func(s *bus.Stats) float64 {
		return float64(s.LastSeq - min(s.AckFloor, s.LastSeq))
	}),
	streamOf("stream_quarantined_messages", "Quarantined games of the last days that the server keeps for people to look at.", func(s *bus.Stats) float64 { return float64(s.Rejects) }),
}

var trainerMetrics = []metric{
	counterOf(trainer, "trainer_steps_total", "Steps of the optimiser.", func(o *selfplay.Observation) uint64 { return o.Status.Figures.Steps }),
	counterOf(trainer, "trainer_samples_total", "Positions trained on, repeats counted.", func(o *selfplay.Observation) uint64 { return o.Status.Figures.Samples }),
	gaugeOf(trainer, "trainer_steps", "Steps of the optimiser, ever; a trainer that was killed goes on at its checkpoint.", func(o *selfplay.Observation) float64 { return float64(o.Status.Step) }),
	gaugeOf(trainer, "trainer_samples", "Positions trained on, ever, repeats counted.", func(o *selfplay.Observation) float64 { return float64(o.Status.Samples) }),
	gaugeOf(trainer, "trainer_loss", "Running mean of the loss; 0 before the first step.", func(o *selfplay.Observation) float64 { return o.Status.TrainLoss }),
	gaugeOf(trainer, "trainer_held_out_loss", "Loss on games never trained on; 0 before it was first measured.", func(o *selfplay.Observation) float64 { return o.Status.HeldOutLoss }),
	gaugeOf(trainer, "trainer_sign_accuracy_ratio", "Share of held-out decisive positions whose sign the net has right.", func(o *selfplay.Observation) float64 { return o.Status.SignAccuracy }),
	gaugeOf(trainer, "trainer_offered_generation", "Generation of the newest net offered.", func(o *selfplay.Observation) float64 { return float64(o.Status.Candidate) }),
	newMetric(trainer, "allocator_share_ratio", "Share of the cores that the allocator gives to a part of the loop.", []string{"part"}, func(o *selfplay.Observation, e emit) {
		for _, p := range o.Status.Division {
			e(prometheus.GaugeValue, p.Share, p.Name)
		}
	}),
	newMetric(trainer, "allocator_used_ratio", "Share of what the loop computed in the last seconds that was a part's.", []string{"part"}, func(o *selfplay.Observation, e emit) {
		for _, p := range o.Status.Division {
			e(prometheus.GaugeValue, p.Used, p.Name)
		}
	}),
	timeOf(trainer, "trainer_last_offer_timestamp_seconds", "When the process last offered a net.", func(f *selfplay.Figures) time.Time { return f.Offered }),
	timeOf(trainer, "trainer_last_checkpoint_timestamp_seconds", "When the process last wrote a checkpoint.", func(f *selfplay.Figures) time.Time { return f.Checkpoint }),
}

var gateMetrics = []metric{
	newMetric(gate, "gate_verdicts_total", "Candidates judged by this process.", []string{"verdict"}, func(o *selfplay.Observation, e emit) {
		e(prometheus.CounterValue, float64(o.Status.Figures.Passed), "passed")
		e(prometheus.CounterValue, float64(o.Status.Figures.Failed), "failed")
	}),
	gaugeOf(gate, "gate_judged_generation", "Generation of the newest candidate judged by this process.", func(o *selfplay.Observation) float64 { return float64(o.Status.Figures.Judged) }),
	newMetric(gate, "gate_elo", "Elo of the newest candidate judged over the net it was matched with; none if all its games were won, or lost.", nil, func(o *selfplay.Observation, e emit) {
		if elo := o.Status.Figures.Elo; elo.Valid {
			e(prometheus.GaugeValue, elo.Value)
		}
	}),
	newMetric(gate, "gate_elo_margin", "Half of the 95 % interval of selfplay_gate_elo.", nil, func(o *selfplay.Observation, e emit) {
		if m, ok := o.Status.Figures.Elo.Margin(); ok {
			e(prometheus.GaugeValue, m)
		}
	}),
	newMetric(gate, "gate_elo_since_first_net", "Elo of the newest net that passed over what played before the first, by the sum of the matches.", nil, func(o *selfplay.Observation, e emit) {
		if c := o.Status.Curve; len(c) > 0 {
			e(prometheus.GaugeValue, c[len(c)-1].Sum)
		}
	}),
	gaugeOf(gate, "gate_match_pairs", "Pairs of games played of the match at hand; 0 without one.", func(o *selfplay.Observation) float64 { return float64(o.Status.Gate.Pairs) }),
}

var verifyMetrics = []metric{
	newMetric(verify, "verify_games_total", "Games given to the verifier, by what it found.", []string{"found"}, func(o *selfplay.Observation, e emit) {
		v := o.Status.Figures.Verified
		skipped := uint64(0)
		for _, n := range v.Skipped {
			skipped += n
		}
		e(prometheus.CounterValue, float64(v.Same), "same")
		e(prometheus.CounterValue, float64(v.Differ), "forged")
		e(prometheus.CounterValue, float64(skipped), "not_verifiable")
		e(prometheus.CounterValue, float64(v.Seen-min(v.Seen, v.Same+v.Differ+skipped)), "not_played")
	}),
}

// confirmation is apart from the table: a summary has a count and a sum.
var confirmation = prometheus.NewDesc(namespace+"actor_confirmation_seconds",
	"Time from the end of a game to replay's word that it is on its disk.", nil, nil)

// Names are those of all figures of this program, sorted.
func Names() []string {
	names := []string{namespace + "build_info", namespace + "actor_confirmation_seconds"}
	for _, m := range metrics {
		names = append(names, m.name)
	}
	slices.Sort(names)
	return names
}

// buildInfo is the version of the program.
func buildInfo(build string) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: namespace + "build_info", Help: "The version of the program, of Go and of the newest protocol it speaks; always 1.",
		ConstLabels: prometheus.Labels{"version": build, "goversion": runtime.Version(), "protocol": strconv.Itoa(bus.Protocol)},
	})
	g.Set(1)
	return g
}

// collector makes the metrics of a run when they are asked for.
type collector struct {
	observe func(ask bool) (selfplay.Observation, bool)
}

// Describe sends what Collect may send.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, m := range metrics {
		out <- m.desc
	}
	out <- confirmation
}

// Collect sends the metrics of the process's role.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	o, ok := c.observe(true)
	if !ok {
		return
	}
	shows := func(role string) bool {
		return role == everyone || role == o.Role || o.Role == "loop" && role != verify
	}
	for _, m := range metrics {
		if !shows(m.role) {
			continue
		}
		m.sample(&o, func(kind prometheus.ValueType, value float64, labels ...string) {
			out <- prometheus.MustNewConstMetric(m.desc, kind, value, labels...)
		})
	}
	if f := o.Status.Figures; shows(actor) {
		out <- prometheus.MustNewConstSummary(confirmation, f.Confirmed, f.Waited.Seconds(), nil)
	}
}
