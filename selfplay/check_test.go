package selfplay

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
	"github.com/crazyhouse-rl/selfplay/trainer/planesfit"
)

func preset(t *testing.T, name string) configs.Config {
	t.Helper()
	c, err := configs.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPresetsAreValid(t *testing.T) {
	for _, name := range configs.Presets() {
		if err := Check(preset(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The settings name the optimisers and losses that there are.
func TestSettingsNameEveryChoice(t *testing.T) {
	c := preset(t, "laptop")
	c.Train.Mirror = 0 // the ranking loss takes no mirror images
	for _, o := range trainer.Optimisers() {
		for _, l := range append(nnuefit.Losses(), nnuefit.RankingLoss) {
			c.Train.Optimiser, c.Train.Loss = string(o), string(l)
			if err := Check(c); err != nil {
				t.Errorf("%s, %s: %v", o, l, err)
			}
		}
	}
	c = preset(t, "planes")
	for _, o := range planesfit.Optimisers() {
		c.Train.Optimiser = string(o)
		if err := Check(c); err != nil {
			t.Errorf("%s: %v", o, err)
		}
	}
}

func TestCheckReportsEveryMistake(t *testing.T) {
	c := preset(t, "laptop")
	c.Variant, c.Train.Batch, c.Train.Power, c.Gate.Elo0 = "shogi", 0, 1, 50
	err := Check(c)
	for _, want := range []string{"variant: found shogi", "train.batch: found 0", "train.power: found 1", "gate.elo0: found 50"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check() = %v, lacks %q", err, want)
		}
	}
	if n := strings.Count(err.Error(), "train.batch"); n != 1 {
		t.Errorf("train.batch is named %d times in %q", n, err)
	}
}

// TestCheckRefuses: what a check refuses, a start refuses in the same words, and
// begins no directory.
func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	for name, wants := range map[string]map[string]string{
		"laptop": {
			"actor.random_plies=-1":                             "actor.random_plies: found -1",
			"actor.quick_nodes=150":                             "actor.quick_nodes: found 150, expected fewer than actor.nodes",
			"actor.research_share=1.5":                          "actor.research_share: found 1.5, expected 0 to 1",
			"actor.research_share=0.1 actor.research_nodes=150": "actor.research_nodes: found 150, expected more than actor.nodes",
			"actor.research_share=0.1 actor.max_plies=1025":     "actor.max_plies: found 1025, expected at most 1024",
			"train.tail_share=1.1":                              "train.tail_share: found 1.1, expected 0 to 1",
			"train.relabel=deep":                                `train.relabel: found "deep", expected off, quiescence or depth1 to depth6`,
			"train.relabel=depth7":                              `train.relabel: found "depth7", expected off, quiescence or depth1 to depth6`,
			"train.relabel=depth02":                             `train.relabel: found "depth02"`,
			"train.inside_share=2 train.relabel=depth1":         "train.inside_share: found 2, expected 0 to 1",
			"train.inside_share=0.1":                            "train.inside_share: found 0.1, expected 0 without train.relabel",
			"actor.older_share=2":                               "actor.older_share: found 2, expected 0 to 1",
			"actor.older_nets=0":                                "actor.older_nets: found 0, expected 1 to 50",
			"train.tail_rate=0":                                 "train.tail_rate: found 0, expected 0.0001 to 1",
			"train.tail_newest=2":                               "train.tail_newest: found 2, expected 0.0001 to 1",
			"train.research_weight=0":                           "train.research_weight: found 0, expected 0.01 to 100",
			"train.lr=-1":                                       "train.lr: schedule",
			"train.lr=2":                                        `train.lr: found "2", which reaches 2, expected at most 1`,
			"train.lr=cosine:0.01:0.001":                        "train.lr: schedule \"cosine:0.01:0.001\": unusable schedule: found no steps for cosine in a run without end",
			"train.lr=0.01,0.001":                               "found no steps in part 1",
			"train.lr=warmup:2%,0.001":                          `found "2%" in a run without end`,
			"train.lambda=linear:0.9:1.1:10":                    "train.lambda: found",
			"train.batch=0":                                     "train.batch: found 0, expected 1 to 1048576",
			"train.min_ply=-1":                                  "train.min_ply: found -1",
			"train.held_out=1048577":                            "train.held_out: found 1048577",
			"train.held_out=0":                                  "train.held_out: found 0",
			"train.mirror=101":                                  "train.mirror: found 101, expected 0 to 100",
			"train.renew_samples=-1":                            "train.renew_samples: found -1",
			"train.renew_samples=.inf":                          "train.renew_samples: found +Inf, expected a finite",
			"train.samples_per_row=.inf":                        "train.samples_per_row: found +Inf, expected a finite",
			"net.growth=5M":                                     "net: configs: invalid configuration: growth",
			"net.growth=5M:All_64":                              "expected POSITIONS: [FEATURES] WIDTH",
			"gate.elo0=-2000":                                   "gate.elo0: found -2000, expected -1000 to 1000",
			"gate.elo0=40":                                      "gate.elo0: found 40, expected less than elo1, 30",
			"gate.alpha=0":                                      "gate.alpha: found 0, expected a number above 0",
			"gate.alpha=0.96":                                   "gate.alpha: found 0.96, expected less than 1 together with beta, 0.05",
			"gate.pairs=0":                                      "gate.pairs: found 0",
			"replay.window_slope=0":                             "replay.window_slope: found 0, expected more than 0, at most 1",
			"replay.segment_bytes=10":                           "replay.segment_bytes: found 10, expected 4096 to 536870912",
			"replay.max_bytes=10":                               "replay.max_bytes: found 10, expected at least two segments of 16777216",
			"gate.elo0=-.inf":                                   "gate.elo0: found -Inf, expected a finite",
			"train.power=.nan":                                  "train.power: found NaN, expected a finite",
			"train.power=1":                                     "train.power: found 1, expected more than 1, at most 10",
			"train.net_scale=0":                                 "train.net_scale: found 0, expected more than 0",
			"train.mean_decay=1":                                "train.mean_decay: found 1, expected 0 to 0.999999",
			"train.gradient_norm=-1":                            "train.gradient_norm: found -1",
			"train.hidden_limit=3":                              "train.hidden_limit: found 3",
			"train.epsilon=0":                                   "train.epsilon: found 0",
			"train.row_rate=0":                                  "train.row_rate: found 0",
			"train.momentum=1":                                  "train.momentum: found 1",
			"train.weight_decay=2":                              "train.weight_decay: found 2",
			"train.lambda2=2":                                   "train.lambda2: found 2",
			"train.optimiser=adagrad":                           "train.optimiser: found adagrad, expected one of sgd, adam",
			"train.psqt_start=one":                              "train.psqt_start: found one, expected one of pieces",
			"train.loss=mse":                                    "train.loss: found mse, expected one of power, cross-entropy or pqr",
			"train.loss=pqr train.quiet_leaf=true":              "train.quiet_leaf: found true, expected false with loss pqr",
			"train.loss=pqr train.mirror=1":                     "train.mirror: found 1, expected 0 with loss pqr",
			"train.loss=pqr train.pqr_pair=101":                 "train.pqr_pair: found 101",
			"train.policy_weight=-1":                            "train.policy_weight: found -1",
			"gate.enabled=false":                                "train.renew_growth: found 2, expected 0 while gate.enabled is false",
			"bus.listen=here":                                   "bus.listen: found here, expected host:port",
			"bus.listen=:4222":                                  "bus.token_file",
			"bus.listen=0.0.0.0:4222":                           "bus.token_file",
			"bus.url=foo":                                       `bus.url: bus configuration: found "foo", expected nats://host:port`,
			"bus.url=nats://a,foo":                              `bus.url: bus configuration: found "foo"`,
			"bus.url=nats://me:word@host":                       "bus.url: bus configuration: found an address with a user or a password",
			"bus.creds=a.creds":                                 "bus.creds: found a.creds, expected nothing while bus.url is empty",
			"bus.tls_ca=a.pem":                                  "bus.tls_ca: found a.pem, expected nothing while bus.url is empty",
			"bus.replicas=3":                                    "bus.replicas: found 3, expected 1 while bus.url is empty",
			"bus.url=nats://a bus.replicas=2":                   "bus.replicas: found 2, expected 1, 3 or 5",
			"bus.bundle_games=0":                                "bus.bundle_games: found 0, expected 1 to 1024",
			"run.name=a/b":                                      "run.name: found a/b, expected 1 to 64 letters, digits",
			"run.id=Mine":                                       "run.id: found Mine, expected 1 to 32 of a-z, 0-9 and -",
			"actor.name=a-b":                                    "actor.name: found a-b, expected 1 to 24 of a-z and 0-9",
			"verify.share=2":                                    "verify.share: found 2, expected 0 to 1",
			"allocator.minutes=0":                               "allocator.minutes: found 0, expected 0.01 to 1440",
			"allocator.least_play=1":                            "allocator.least_play: found 1, expected 0.05 to 0.9",
			"allocator.enabled=true train.samples_per_row=17":   "allocator.samples_per_row: found 16, expected at least train.samples_per_row, which is 17",
		},
		"planes": {
			"train.quiet_leaf=true":     "train.quiet_leaf: found true, expected false with planes",
			"actor.older_share=0.1":     "actor.older_share: found 0.1, expected 0 with actor.search mcts",
			"actor.quick_nodes=10":      "actor.quick_nodes: found 10, expected 0 with actor.search mcts",
			"train.relabel=quiescence":  "train.relabel: found quiescence, expected off with planes",
			"train.tail_share=0.1":      "train.tail_share: found 0.1, expected 0 with planes",
			"actor.research_share=0.1":  "actor.research_share: found 0.1, expected 0 with actor.search mcts",
			"allocator.enabled=true":    "allocator.enabled: found true, expected false with actor.search mcts",
			"actor.search=ab":           "expected mcts, which nets of kind planes play with",
			"net.kind=lookup":           `kind: found "lookup", expected nnue or planes`,
			"net.planes=2by32":          "planes:",
			"net.channels=5000":         "planes:",
			"train.optimiser=ranger":    "train.optimiser: found ranger, expected one of sgd, adamw",
			"train.surprise=1.5":        "train.surprise: found 1.5",
			"train.policy_weight=-1":    "train.policy_weight: found -1",
			"train.policy_weight=1001":  "train.policy_weight: found 1001, expected 0 to 1000",
			"train.part=0":              "train.part: found 0",
			"actor.tree.full_share=2":   "actor.tree.full_share: found 2",
			"actor.tree.gumbel=-1":      "actor.tree.gumbel: found -1",
			"actor.tree.noise=1.1":      "actor.tree.noise: found 1.1",
			"actor.tree.temperature=11": "actor.tree.temperature: found 11",
			"actor.tree.batch=0":        "actor.tree.batch: found 0",
			"actor.tree.threads=0":      "actor.tree.threads: found 0",
			"actor.tree.runtime=tpu":    `actor.tree.runtime: unknown runtime: found "tpu", expected one of native`,
			"actor.tree.mate_probe=2":   "expected 0, 1 or 3",
		},
	} {
		for pairs, want := range wants {
			c := preset(t, name)
			if err := c.SetPairs(strings.Fields(pairs)); err != nil {
				t.Errorf("%s: %v", pairs, err)
				continue
			}
			err := Check(c)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: Check() = %v, lacks %q", pairs, err, want)
				continue
			}
			dir := filepath.Join(t.TempDir(), "run")
			r, opened := Open(t.Context(), dir, c, Options{})
			if opened == nil {
				r.Close()
			}
			if opened == nil || opened.Error() != err.Error() {
				t.Errorf("%s: Open() = %v, Check() = %v", pairs, opened, err)
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: the directory was begun", pairs)
			}
		}
	}
	for _, pairs := range [][]string{
		{"bus.listen=localhost:4222"}, {"bus.listen=127.0.0.2:4222"}, {"bus.listen=[::1]:4222"},
		{"bus.listen=:4222", "bus.token_file=secret"},
		{"bus.url=tls://a:4222,wss://b/nats", "bus.replicas=3", "bus.creds=a.creds", "bus.tls_ca=a.pem", "bus.token_file=t"},
		{"run.name=My_run-2", "run.id=crazyhouse-1", "actor.name=local", "verify.share=0", "bus.bundle_games=1024"},
		{"gate.enabled=false", "train.renew_growth=0"},
		{"train.gradient_norm=1", "train.quantise=true", "train.epsilon=0.001", "train.mirror=50", "train.skip_draws=true", "train.thin_ply=12"},
		{"train.loss=pqr", "train.mirror=0", "train.workers=0", "train.score_scale=400", "train.lr=warmup:5,step:0.01:0.5:1000"},
	} {
		c := preset(t, "laptop")
		if err := errors.Join(c.SetPairs(pairs), Check(c)); err != nil {
			t.Errorf("%s: %v", pairs, err)
		}
	}
	c := preset(t, "laptop")
	c.Preset = "desktop"
	if err := Check(c); err == nil || !strings.Contains(err.Error(), "preset: found desktop") {
		t.Errorf("unknown preset: Check() = %v", err)
	}
}
