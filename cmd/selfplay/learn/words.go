package learn

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
)

// guideWord is a word of the learn command of nodchip's Stockfish and its
// descendants, and what it means here.
type guideWord struct {
	name, usage string
	key         string // the setting it decides, if any
	// set gives the settings the word's value; nil: key has just another name.
	set func(o *learnOptions, l *configs.Learn, value string) error
}

// guideWords are the words whose name or meaning is not that of a setting. The
// files and directories among them are dealt with before, see bareWords.
var guideWords = []guideWord{
	{"targetdir", "directory of data", "", nothing},
	{"basedir", "directory that names of data are relative to", "", nothing},
	{"EvalSaveDir", "the same as --out", "", nothing},
	{"loop", "the same as --epochs", "epochs", nil},
	{"batchsize", "the same as --report-every, unless that is given: the shuffle is one of all data", "", setBatchSize},
	{"nn_batch_size", "the same as --batch", "batch", nil},
	{"eta", "learning rate of plain SGD on cross-entropy, in Stockfish's unit", "lr", setEta},
	{"eval_limit", "leave out scores beyond, 208 a pawn; 32000: none", "max_score", setEvalLimit},
	{"newbob_num_trials", "the same as --newbob-trials", "newbob_trials", nil},
	{"eval_save_interval", "the same as --save-every", "save_every", nil},
	{"loss_output_interval", "the same as --report-every", "report_every", nil},
	{"mirror_percentage", "the same as --mirror", "mirror", nil},
	{"validation_set_file_name", "the same as --validation", "validation", nil},
	{"reduction_gameply", "the same as --thin-ply", "thin_ply", nil},
	{"use_draw_games_in_training", "0 is --skip-draws", "skip_draws", setNot("skip_draws")},
	{"skip_duplicated_positions_in_training", "1 is --skip-duplicates", "skip_duplicates", setSwitch("skip_duplicates")},
	{"EvalFile", "the same as --init", "init", nil},
	{"SkipLoadingEval", "true: begin at random; false: EvalFile must be given", "", setSkipLoading},
}

// setBatchSize follows the word for how much was read and shuffled at a time.
func setBatchSize(o *learnOptions, l *configs.Learn, value string) error {
	if o.gave("report_every") || o.gave("loss_output_interval") {
		return nil
	}
	return l.Set("report_every", value)
}

// nothing is what a word does that has been dealt with.
func nothing(*learnOptions, *configs.Learn, string) error { return nil }

// oldScale is the scale of win probabilities of the old learner in raw units:
// 4·208 / ln 10.
const oldScale = "361"

// setEta follows the rate of the old learner. Its steps are eta times the batch's
// mean of q − t, at an output of which 1.0 is 600 raw units; here the derivative
// of the cross-entropy has the factor 600/net_scale besides.
func setEta(o *learnOptions, l *configs.Learn, value string) error {
	eta, err := strconv.ParseFloat(value, 64)
	if err != nil || !(eta > 0) {
		return fmt.Errorf("%w: eta: found %q, expected a number above 0", configs.ErrInvalid, value)
	}
	for key, old := range map[string]string{
		"optimiser": "sgd", "momentum": "0", "weight_decay": "0", "mean_decay": "0",
		"loss": "cross-entropy", "net_scale": oldScale, "score_scale": oldScale,
	} {
		if o.has(key) {
			continue
		}
		if err := l.Set(key, old); err != nil {
			return err
		}
	}
	rate := eta * l.NetScale / 600
	if l.Kind == configs.NNUE && rate > nnuefit.MaxRate {
		return fmt.Errorf("%w: eta: found %q, a learning rate of %.4g at net_scale %g, expected at most %.4g",
			configs.ErrInvalid, value, rate, l.NetScale, nnuefit.MaxRate*600/l.NetScale)
	}
	l.LR = trainer.ScheduleText(strconv.FormatFloat(rate, 'g', 6, 64))
	return nil
}

// setEvalLimit reads a limit of scores in units of 208 a pawn; 32000 and more
// limit nothing.
func setEvalLimit(_ *learnOptions, l *configs.Learn, value string) error {
	limit, err := strconv.Atoi(value)
	if err != nil || limit < 1 {
		return fmt.Errorf("%w: eval_limit: found %q, expected a number above 0", configs.ErrInvalid, value)
	}
	const none = 32000
	if limit >= none {
		l.MaxScore = 0
		return nil
	}
	l.MaxScore = int(sample.Convert(search.Score(limit), sample.InternalUnit, sample.CentipawnUnit))
	return nil
}

func setSwitch(key string) func(*learnOptions, *configs.Learn, string) error {
	return func(_ *learnOptions, l *configs.Learn, value string) error {
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%w: %s: found %q, expected 0 or 1", configs.ErrInvalid, key, value)
		}
		return l.Set(key, strconv.FormatBool(on))
	}
}

func setNot(key string) func(*learnOptions, *configs.Learn, string) error {
	return func(o *learnOptions, l *configs.Learn, value string) error {
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%w: %s: found %q, expected 0 or 1", configs.ErrInvalid, key, value)
		}
		return l.Set(key, strconv.FormatBool(!on))
	}
}

func setSkipLoading(_ *learnOptions, l *configs.Learn, value string) error {
	skip, err := strconv.ParseBool(value)
	if err != nil {
		return fmt.Errorf("%w: SkipLoadingEval: found %q, expected true or false", configs.ErrInvalid, value)
	}
	if skip {
		l.Init = ""
		return nil
	}
	if l.Init == "" {
		return fmt.Errorf("%w: SkipLoadingEval: found false, expected EvalFile beside it: a net, a checkpoint or a run's directory", configs.ErrInvalid)
	}
	return nil
}

// same reports whether two words are the same but for case and dashes.
func same(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "-", "_"), strings.ReplaceAll(b, "-", "_"))
}

// has reports whether a word was given, or is a key of the --config file.
func (o *learnOptions) has(word string) bool {
	return slices.Contains(o.inFile, word) || o.gave(word)
}

// gave reports whether a word was given on the command line.
func (o *learnOptions) gave(word string) bool {
	return slices.ContainsFunc(o.given, func(g wordValue) bool { return same(g.word, word) })
}

// known returns the name of a setting or a word, "" if text is neither.
func known(text string) string {
	for _, w := range guideWords {
		if same(w.name, text) {
			return w.name
		}
	}
	for key := range new(configs.Learn).Usage() {
		if same(key, text) {
			return key
		}
	}
	return ""
}

// bareWords takes the words with their values out of the arguments and returns
// the data that are left and that words name.
func (o *learnOptions) bareWords(args []string) ([]string, error) {
	var names []string
	for i := 0; i < len(args); i++ {
		word := known(args[i])
		if word == "" {
			names = append(names, args[i])
			continue
		}
		if i++; i == len(args) {
			return nil, fmt.Errorf("%w: found no value behind %s", cli.ErrUsage, word)
		}
		o.given = append(o.given, wordValue{word, args[i]})
	}
	base := ""
	var data []string
	for _, g := range o.given {
		switch g.word {
		case "basedir":
			base = g.value
		case "targetdir":
			names = append(names, g.value)
		case "EvalSaveDir":
			o.out = g.value
		}
	}
	for _, name := range names {
		if base != "" && !filepath.IsAbs(name) && !strings.HasPrefix(name, "replay:") {
			name = filepath.Join(base, name)
		}
		data = append(data, name)
	}
	return data, nil
}

// checkOnce refuses two values of one setting, however they are spelt.
func (o *learnOptions) checkOnce() error {
	first := make(map[string]wordValue)
	for _, g := range o.given {
		key, converts := decides(g.word)
		before, ok := first[key]
		if !ok {
			first[key] = g
			continue
		}
		_, converted := decides(before.word)
		if key != "" && (before.value != g.value || before.word != g.word && (converts || converted)) {
			return fmt.Errorf("%w: %s: found both %s %s and %s %s, expected one of them", cli.ErrUsage, key, before.word, before.value, g.word, g.value)
		}
	}
	return nil
}

// decides returns the setting that a word decides, "" if none, and whether its value
// is another than the word's.
func decides(word string) (key string, converts bool) {
	for _, w := range guideWords {
		if w.name == word {
			return w.key, w.set != nil
		}
	}
	return word, false
}

// apply gives the settings the values that flags and words have, but last those of
// words that depend on others.
func (o *learnOptions) apply(l *configs.Learn) error {
	for _, last := range []bool{false, true} {
		for _, g := range o.given {
			if (g.word == "eta" || g.word == "SkipLoadingEval") != last {
				continue
			}
			if err := o.set(l, g); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *learnOptions) set(l *configs.Learn, g wordValue) error {
	for _, w := range guideWords {
		if w.name == g.word && w.set != nil {
			return w.set(o, l, g.value)
		}
	}
	key, _ := decides(g.word)
	return l.Set(key, g.value)
}
