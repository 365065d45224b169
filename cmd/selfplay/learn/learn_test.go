package learn

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/gensfen"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// A run whose process is killed three times without warning ends with the net of
// one that was not, and with its log but for the times.
func TestKilledLearn(t *testing.T) {
	data, dir := clitest.Games(t, gensfen.Commands()), t.TempDir()
	args := func(name string) []string {
		return []string{"learn", data, "--preset", "tiny", "--batch", "64", "--epochs", "6", "--save-every", "1500", "--report-every", "500",
			"--mirror", "30", "--newbob-decay", "0.7", "--newbob-trials", "20", "--out", filepath.Join(dir, name)}
	}
	if _, stderr, code := selfplayCommand(t, "", args("straight")...); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	lines := func(name string) []string {
		text, err := os.ReadFile(filepath.Join(dir, name, "log.jsonl"))
		if err != nil {
			return nil
		}
		return strings.Split(string(text), "\n")
	}
	all := len(lines("straight"))
	clitest.KillThrice(t, all, func() int { return len(lines("killed")) }, args("killed")...)
	if _, stderr, code := selfplayCommand(t, "", args("killed")...); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var nets [2][]byte
	for i, name := range []string{"straight", "killed"} {
		var err error
		if nets[i], err = os.ReadFile(filepath.Join(dir, name, "net.nnue")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(nets[0], nets[1]) {
		t.Error("the nets differ")
	}
	timeless := func(line string) string {
		before, after, _ := strings.Cut(line, `"seconds":`)
		_, after, _ = strings.Cut(after, ",")
		return before + after
	}
	straight, killed := lines("straight"), lines("killed")
	if len(straight) != len(killed) {
		t.Fatalf("%d lines of log, want %d", len(killed), len(straight))
	}
	for i := range straight {
		if got, want := timeless(killed[i]), timeless(straight[i]); got != want {
			t.Errorf("log: found\n%s\nwant\n%s", got, want)
		}
	}
}

// shown returns the settings that learn --show prints.
func shown(t *testing.T, args ...string) configs.Learn {
	t.Helper()
	out, stderr, code := selfplayCommand(t, "", append([]string{"learn", "--show"}, args...)...)
	if code != 0 {
		t.Fatalf("%q: exit %d: %s", args, code, stderr)
	}
	all, err := configs.Learn{}.Sweep([]byte(out), "shown")
	if err != nil || len(all) != 1 {
		t.Fatalf("%d runs, error %v", len(all), err)
	}
	return all[0]
}

// Two values of one setting are refused, however they are spelt; the same twice is not.
func TestLearnWordsContradict(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"--epochs 3 loop 2", "epochs: found both epochs 3 and loop 2"},
		{"loop 2 --epochs 3", "epochs: found both"},
		{"--lambda 0.3 lambda 0.5", "lambda: found both lambda 0.3 and lambda 0.5"},
		{"eta 0.1 --lr 0.1", "lr: found both"},
		{"--max-score 100 eval_limit 32000", "max_score: found both max_score 100 and eval_limit 32000"},
		{"nn_batch_size 256 --batch 512", "batch: found both"},
		{"--width 17", "width"},
		{"--loss mse", "loss: found mse, expected one of power, cross-entropy or pqr"},
		{"--lr often", "often"},
		{"--out a EvalSaveDir b", "found --out a and EvalSaveDir b, expected one of them"},
	} {
		_, stderr, code := selfplayCommand(t, "", append([]string{"learn", "--show"}, strings.Fields(tc.args)...)...)
		if code != 2 || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: exit %d, %q, want exit 2 and %q", tc.args, code, stderr, tc.want)
		}
	}
	if l := shown(t, strings.Fields("--epochs 3 loop 3 EvalFile a.nnue SkipLoadingEval true targetdir a targetdir b")...); l.Epochs != 3 || l.Init != "" || len(l.Data) != 2 {
		t.Errorf("%+v", l)
	}
	if l := shown(t, strings.Fields("SkipLoadingEval true EvalFile a.nnue")...); l.Init != "" {
		t.Errorf("begins from %q, want nothing", l.Init)
	}
}

// The words of the old guide, bare or as flags, mean what they meant.
func TestLearnWords(t *testing.T) {
	guide := strings.Fields("targetdir data loop 100 batchsize 1000000 eta 1.0 lambda 0.5 eval_limit 3000 nn_batch_size 1000 newbob_decay 0.5 newbob_num_trials 3 " +
		"eval_save_interval 10000000 loss_output_interval 2000000 mirror_percentage 50 validation_set_file_name val.bin SkipLoadingEval true use_draw_games_in_training 0")
	var flags []string
	for i := 0; i < len(guide); i += 2 {
		flags = append(flags, "--"+guide[i], guide[i+1])
	}
	for _, args := range [][]string{guide, flags} {
		l := shown(t, args...)
		for key, want := range map[string]string{
			"data": "[data]", "epochs": "100", "lr": "0.601667", "optimiser": "sgd", "momentum": "0", "weight_decay": "0", "mean_decay": "0", "loss": "cross-entropy", "net_scale": "361",
			"lambda": "0.5", "max_score": "1442", "batch": "1000", "newbob_decay": "0.5", "newbob_trials": "3", "save_every": "10000000",
			"report_every": "2000000", "mirror": "50", "validation": "val.bin", "init": "", "skip_draws": "true",
		} {
			if got := l.Get(key); got != want {
				t.Errorf("%q: %s is %q, want %q", args[:4], key, got, want)
			}
		}
	}
	if l := shown(t, "--eta", "0.25", "--optimiser", "adam", "--net-scale", "600", "eval_limit", "32000", "a.chain"); l.LR != "0.25" || l.Optimiser != "adam" || l.MaxScore != 0 {
		t.Errorf("%+v", l)
	}
	file := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(file, []byte("schema: 1\nweight_decay: 0.1\nnet_scale: 600\nreport_every: 7\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args     []string
		momentum float64
		decay    float64
		mean     float64
	}{
		{strings.Fields("eta 0.5 momentum 0.9"), 0.9, 0, 0},
		{strings.Fields("--mean-decay 0.9 --weight_decay 0.02 eta 0.5"), 0, 0.02, 0.9},
		{[]string{"eta", "0.5", "--config", file}, 0, 0.1, 0},
	} {
		if l := shown(t, tc.args...); l.Momentum != tc.momentum || l.WeightDecay != tc.decay || l.MeanDecay != tc.mean || l.Optimiser != "sgd" {
			t.Errorf("%q: %+v", tc.args, l)
		}
	}
	if l := shown(t, "batchsize", "9", "--config", file); l.ReportEvery != 9 {
		t.Errorf("batchsize 9 gives report_every %d", l.ReportEvery)
	}
	if l := shown(t, "eta", "0.5", "--config", file); l.LR != "0.5" || l.ScoreScale != 361 {
		t.Errorf("%+v", l)
	}
	if l := shown(t, "--preset", "fairy", "lr", "0.01", "--width=256", "--psqt=false", "--nesterov", "basedir", "d", "a.bin", "b.bin"); l.LR != "0.01" ||
		l.Width != 256 || l.PSQT || !l.Nesterov || l.Features != "HalfKAv2" || strings.Join(l.Data, " ") != filepath.Join("d", "a.bin")+" "+filepath.Join("d", "b.bin") {
		t.Errorf("%+v", l)
	}
}

func TestLearnUsage(t *testing.T) {
	sweep := filepath.Join(t.TempDir(), "sweep.yaml")
	if err := os.WriteFile(sweep, []byte("schema: 1\npreset: fairy\nseed: [1, 2]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, _, code := selfplayCommand(t, "", "learn", "--show", "--config", sweep, "a.chain"); code != 0 || strings.Count(out, "features: HalfKAv2") != 2 {
		t.Errorf("exit %d, %s", code, out)
	}
	lists := filepath.Join(t.TempDir(), "lists.yaml")
	if err := os.WriteFile(lists, []byte("schema: 1\nwidth: [16, 32]\nlr: [0.1, 0.2]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.plain")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	two := t.TempDir()
	for _, name := range []string{"a.plain", "b.plain"} {
		if err := os.WriteFile(filepath.Join(two, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{two, "--weights", "3,1"}, "found weights \"3,1\", expected a number above 0 for each of 1 names", 2},
		{[]string{}, "found no data", 2},
		{[]string{file, "--widht", "3"}, "unknown flag: --widht", 2},
		{[]string{file, "--width", "17"}, "17", 2},
		{[]string{file, "--width", "a"}, "width: found \"a\"", 2},
		{[]string{file, "--lr", "up"}, "schedule \"up\"", 2},
		{[]string{file, "--preset", "huge"}, "found \"huge\"", 2},
		{[]string{file, "eta"}, "found no value behind eta", 2},
		{[]string{file, "--lambda", "70"}, "lambda: found \"70\", which reaches 70, expected at most 1", 2},
		{[]string{file, "--lr", "warmup:10,1.5"}, "which reaches 1.5, expected at most 1", 2},
		{[]string{file, "eta", "2"}, "eta: found \"2\", a learning rate of 1.2", 2},
		{[]string{file, "eta", "0"}, "eta: found \"0\"", 2},
		{[]string{file, "eval_limit", "0"}, "eval_limit: found \"0\"", 2},
		{[]string{file, "SkipLoadingEval", "false"}, "expected EvalFile", 2},
		{[]string{file, "use_draw_games_in_training", "2"}, "expected 0 or 1", 2},
		{[]string{file, "--config", file + "x"}, "no such file", 1},
		{[]string{file, "--config", lists, "eta", "1"}, "lr: found a list in " + lists + " and a value for all runs", 2},
		{[]string{file, "--config", lists, "--width", "16", "--show"}, "width: found a list", 2},
		{[]string{file + "x"}, "expected one that ends in .chain, .bin, .bin256, .plain, .binpack, .txt, .compact, or replay:DIR\n", 1},
		{[]string{file, "--out", t.TempDir()}, "no samples to train on", 1},
		{[]string{two, "--out", two}, "whose samples are read, too", 2},
		{[]string{file, "--out", t.TempDir(), "--jobs", "-1"}, "--jobs: found -1, expected 0 or more", 2},
	} {
		_, stderr, code := selfplayCommand(t, "", append([]string{"learn"}, tc.args...)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, error %q, want %d with %q", tc.args, code, stderr, tc.code, tc.want)
		}
	}
}

// The list of blocks has every block of the variant, with an example.
func TestListFeatures(t *testing.T) {
	for _, v := range chess.Variants() {
		out, stderr, code := selfplayCommand(t, "", "learn", "--list-features", "--variant", v.Name)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		for _, name := range features.Blocks(v) {
			if strings.Count(out, "\n"+name+": ") != 1 {
				t.Errorf("%v: found no line, or several, for %s in\n%s", v, name, out)
			}
		}
		if blocks := len(features.Blocks(v)); strings.Count(out, "\n  example ") != blocks {
			t.Errorf("%v: expected %d examples in\n%s", v, blocks, out)
		}
	}
	out, stderr, code := selfplayCommand(t, "", "learn", "--list-features", "--json")
	var list []features.Listed
	if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil || !slices.Equal(list, features.List(chess.Crazyhouse)) {
		t.Errorf("exit %d, %s, %v: %s", code, stderr, err, out)
	}
	if _, _, code := selfplayCommand(t, "", "learn", "--json"); code != 2 {
		t.Errorf("--json alone: exit %d, want 2", code)
	}
}
