package cluster

import (
	"os"
	"path/filepath"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

const monitoringDir = "monitoring"

// alert is a rule of Prometheus.
type alert struct {
	Name, Expr  string
	For         string // how long it has to be so
	Severity    string // critical: the run stands still or loses something; warning: it will
	Summary, Do string
}

var alerts = []alert{
	{"SelfplayDown", `up{job="selfplay"} == 0`, "5m", "warning", "{{ $labels.role }} on {{ $labels.instance }} does not answer", "look at its unit: systemctl status, journalctl -u"},
	{"SelfplayNotReady", `selfplay_ready == 0`, "10m", "warning", "{{ $labels.role }} on {{ $labels.instance }} cannot do its work", "ask it why: curl http://{{ $labels.instance }}/readyz"},
	{"SelfplayNoHolder", `max by (lease) (selfplay_lease_held) == 0`, "2m", "critical", "nobody does the work of {{ $labels.lease }}", "start the role; selfplay status says who had it"},
	{"SelfplayStalled", `max by (stage) (selfplay_stage_stalled_seconds) > 0`, "1m", "critical", "work waits in {{ $labels.stage }} and nothing comes out", "selfplay status says why"},
	{"SelfplayNoGames", `max(increase(selfplay_replay_games_total[15m])) == 0`, "5m", "critical", "no game was stored for a quarter of an hour", "selfplay status: a line with ! says what stands still"},
	{"SelfplayGamesWait", `selfplay_actor_spool_games / selfplay_actor_spool_limit_games > 0.8`, "10m", "warning", "the spool of the actor on {{ $labels.instance }} is nearly full", "look at replay and the servers: games do not get to the replay buffer"},
	{"SelfplayConfirmationSlow", `rate(selfplay_actor_confirmation_seconds_sum[10m]) / rate(selfplay_actor_confirmation_seconds_count[10m]) > 60`, "10m", "warning", "games of {{ $labels.instance }} take over a minute to replay's disk", "look at replay's load and disk, and at the servers' disks: selfplay doctor"},
	{"SelfplayStreamFull", `selfplay_stream_bytes / selfplay_stream_limit_bytes > 0.8`, "10m", "warning", "the stream of games is nearly full", "replay is too slow or stands still; when it is full, games wait in the spools"},
	{"SelfplayStreamLost", `increase(selfplay_stream_lost_messages_total[1h]) > 0`, "0m", "warning", "the servers have lost messages of games", "actors publish them again; look at the servers' disks and logs"},
	{"SelfplayBufferLost", `selfplay_replay_lost_games > 0`, "0m", "critical", "the replay buffer has lost games", "selfplay replay audit says where; put the segments back from a backup"},
	{"SelfplayRejects", `sum by (reason) (increase(selfplay_replay_rejected_games_total[1h])) > 0`, "0m", "warning", "games were refused: {{ $labels.reason }}", "selfplay status names the actors"},
	{"SelfplayForged", `increase(selfplay_verify_games_total{found="forged"}[1h]) > 0`, "0m", "warning", "an actor's games are not what they say, and it was excluded", "look at the verifier's log and at that machine"},
	{"SelfplayNetFailed", `selfplay_net_failed == 1`, "10m", "warning", "{{ $labels.role }} on {{ $labels.instance }} cannot load the net of the run", "its log says why; an old build may not know the net"},
	{"SelfplayNoNet", `time() - max(selfplay_trainer_last_offer_timestamp_seconds) > 6 * 3600`, "10m", "warning", "no net was offered for six hours", "selfplay status says what the trainer waits for"},
	{"SelfplayLossInvalid", `selfplay_trainer_loss != selfplay_trainer_loss`, "1m", "critical", "the loss is not a number", "go back to a checkpoint, with a lower train.lr"},
	{"SelfplayDiskSmall", `selfplay_disk_free_bytes < 500e6`, "10m", "warning", "{{ $labels.role }} on {{ $labels.instance }} has less than 500 MB of free disk", "free room, or lower replay.max_bytes"},
	{"SelfplayVersions", `count(count by (version) (selfplay_build_info)) > 1`, "1d", "warning", "roles are of different builds for a day", "bring all machines to one build"},
}

// panel is one of Grafana's board.
type panel struct {
	Title   string
	Unit    string // as Grafana calls it
	Queries []query
}

type query struct{ Expr, Legend string }

// X and Y are where the panel with an index is: two in a row.
func (panel) X(i int) int { return i % 2 * 12 }
func (panel) Y(i int) int { return i / 2 * 8 }

var panels = []panel{
	{"Games stored", "ops", []query{{`sum(rate(selfplay_actor_games_total[5m]))`, "finished"}, {`max(rate(selfplay_replay_games_total[5m]))`, "stored"}}},
	{"Positions played", "ops", []query{{`rate(selfplay_actor_positions_total[5m])`, "{{instance}}"}}},
	{"Games on their way", "short", []query{{`sum(selfplay_actor_spool_games)`, "in spools"}, {`max(selfplay_stream_messages)`, "messages in the stream"}, {`max(selfplay_stream_pending_messages)`, "not fetched"}, {`max(selfplay_stream_acknowledgement_lag_messages)`, "not acknowledged"}}},
	{"From the end of a game to replay's disk", "s", []query{{`rate(selfplay_actor_confirmation_seconds_sum[5m]) / rate(selfplay_actor_confirmation_seconds_count[5m])`, "{{instance}}, mean"}, {`selfplay_actor_spool_oldest_age_seconds`, "{{instance}}, oldest that waits"}}},
	{"Elo over what played before the first net", "short", []query{{`max(selfplay_gate_elo_since_first_net)`, "sum of the matches"}}},
	{"The newest match", "short", []query{{`selfplay_gate_elo`, "Elo"}, {`selfplay_gate_elo_margin`, "margin"}}},
	{"Loss", "short", []query{{`selfplay_trainer_loss`, "training"}, {`selfplay_trainer_held_out_loss`, "held out"}}},
	{"Generations", "short", []query{{`max(selfplay_trainer_offered_generation)`, "offered"}, {`max(selfplay_gate_judged_generation)`, "judged"}, {`min(selfplay_net_generation{role="actor"})`, "oldest that is played with"}}},
	{"Steps and samples", "ops", []query{{`sum(rate(selfplay_trainer_steps_total[5m]))`, "steps"}, {`sum(rate(selfplay_trainer_samples_total[5m]))`, "samples"}}},
	{"Refused, lost, twice", "short", []query{{`sum by (reason) (increase(selfplay_replay_rejected_games_total[1h]))`, "refused an hour: {{reason}}"}, {`max(selfplay_replay_lost_games)`, "lost by the buffer"}, {`max(increase(selfplay_replay_duplicates_total[1h]))`, "twice an hour"}}},
	{"Free disk", "bytes", []query{{`selfplay_disk_free_bytes`, "{{role}} {{instance}}"}}},
	{"Replay buffer and stream", "bytes", []query{{`max(selfplay_replay_bytes)`, "buffer"}, {`max(selfplay_stream_bytes)`, "stream"}, {`max(selfplay_stream_limit_bytes)`, "room of the stream"}}},
	{"Ready, and connected", "short", []query{{`selfplay_ready`, "{{role}} {{instance}} ready"}, {`selfplay_server_connected`, "{{role}} {{instance}} connected"}}},
	{"Leases", "short", []query{{`sum by (lease) (selfplay_lease_held)`, "{{lease}}"}}},
	{"Games verified", "ops", []query{{`sum by (found) (rate(selfplay_verify_games_total[5m]))`, "{{found}}"}}},
	{"Memory", "bytes", []query{{`process_resident_memory_bytes{job="selfplay"}`, "{{role}} {{instance}}"}}},
}

// monitoring writes the configuration of Prometheus, its alerts and a board of Grafana.
func (w *writer) monitoring() error {
	dir := filepath.Join(w.dir, monitoringDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	data := struct {
		Plan   *Plan
		Alerts []alert
		Panels []panel
	}{w.plan, alerts, panels}
	for _, name := range []string{"prometheus.yml", "alerts.yml", "grafana.json"} {
		text, err := render(name, data)
		if err == nil {
			err = durable.WriteFile(filepath.Join(dir, name), text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
