package configs

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// Learn is the settings of a training run on given data. A tag usage says in a
// few words what a setting means; it is the help of the flag of its name.
//
// Schedules are written as trainer.ParseSchedule reads them.
type Learn struct {
	Schema int    `yaml:"schema"`
	Preset string `yaml:"preset"`

	Variant string `yaml:"variant" usage:"crazyhouse or chess"`
	Seed    uint64 `yaml:"seed" usage:"seed of first weights, order and everything else left to chance"`

	Data       []string `yaml:"data"`
	Weights    string   `yaml:"weights" usage:"share of each name of data, a directory's files together, in every batch, such as 3,1; empty: all positions alike"`
	Validation string   `yaml:"validation" usage:"file of positions to measure instead of held-out games"`

	Net      `yaml:",inline"`
	Blocks   int `yaml:"blocks" usage:"its blocks; 0: as planes says"`
	Channels int `yaml:"channels" usage:"channels of its trunk; 0: as planes says"`

	Batch            int     `yaml:"batch" usage:"positions a step"`
	Epochs           float64 `yaml:"epochs" usage:"times each position is learned from"`
	LR               string  `yaml:"lr" usage:"learning rate: a number or a schedule"`
	Lambda           string  `yaml:"lambda" usage:"share of the score in the target, the rest is the result: a number or a schedule"`
	Optimiser        string  `yaml:"optimiser" usage:"sgd, adam, adamw, radam or ranger"`
	Momentum         float64 `yaml:"momentum" usage:"of sgd"`
	LeastMomentum    float64 `yaml:"least_momentum" usage:"of sgd at the highest rate, for planes: the two go opposite ways"`
	Nesterov         bool    `yaml:"nesterov" usage:"momentum of sgd is Nesterov's, as always for planes"`
	Loss             string  `yaml:"loss" usage:"power, cross-entropy or pqr: which of two moves was played, from whole games"`
	Power            float64 `yaml:"power" usage:"exponent of the loss power"`
	PQRPair          float64 `yaml:"pqr_pair" usage:"weight kappa of pqr's term that a good move changes nothing"`
	PQRTarget        float64 `yaml:"pqr_target" usage:"weight of the loss power, of scores and results, beside pqr"`
	PolicyWeight     float64 `yaml:"policy_weight" usage:"of planes: weight of the loss of moves"`
	ValueWeight      float64 `yaml:"value_weight" usage:"of planes: weight of the loss of scores and results"`
	PliesWeight      float64 `yaml:"plies_weight" usage:"of planes: weight of the loss of plies left"`
	Surprise         float64 `yaml:"surprise" usage:"of planes: share of the weight that goes by what surprised the search"`
	Part             int     `yaml:"part" usage:"of planes: positions normalised together"`
	NetScale         float64 `yaml:"net_scale" usage:"raw units (208 a pawn) of the net's output per unit of log-odds of winning"`
	ScoreScale       float64 `yaml:"score_scale" usage:"the same of the scores; 0: fitted to the data"`
	LambdaLimit      int     `yaml:"lambda_limit" usage:"centipawns beyond which lambda2 is the share of the score; 0: none"`
	Lambda2          float64 `yaml:"lambda2" usage:"share of scores beyond lambda_limit"`
	GradientNorm     float64 `yaml:"gradient_norm" usage:"largest norm of a batch's mean gradient; 0: no limit"`
	HiddenLimit      float64 `yaml:"hidden_limit" usage:"largest weight of the hidden layers; 0: what the integer net holds"`
	OutputLimit      float64 `yaml:"output_limit" usage:"the same of the output"`
	TransformerLimit float64 `yaml:"transformer_limit" usage:"the same of the transformer"`
	WeightDecay      float64 `yaml:"weight_decay" usage:"per step and unit of learning rate"`
	MeanDecay        float64 `yaml:"mean_decay" usage:"share the averaged net keeps per step; 0: no averaging"`
	RowRate          float64 `yaml:"row_rate" usage:"rate of rows beside a factoriser, as a share of the others'"`
	Epsilon          float64 `yaml:"epsilon" usage:"of Adam and its kind"`
	PSQTStart        string  `yaml:"psqt_start" usage:"first values of the PSQT weights: pieces, the material in raw units (208 a pawn) as far as the features tell it, hands included; or zero"`
	Factorise        bool    `yaml:"factorise" usage:"virtual rows for feature sets with king squares"`
	Quantise         bool    `yaml:"quantise" usage:"train through the integer net's rounding"`
	Workers          int     `yaml:"workers" usage:"threads of a step; 0: one per CPU"`

	MinPly         int     `yaml:"min_ply" usage:"leave out earlier plies"`
	ThinPly        int     `yaml:"thin_ply" usage:"keep ply n only with probability (n+1)/thin_ply"`
	MaxScore       int     `yaml:"max_score" usage:"leave out scores beyond, in centipawns; 0: none"`
	RequireScore   bool    `yaml:"require_score" usage:"leave out positions without a score"`
	SkipInCheck    bool    `yaml:"skip_in_check" usage:"leave out positions in check"`
	SkipCaptures   bool    `yaml:"skip_captures" usage:"leave out positions whose best move captures or promotes; drops are quiet"`
	SkipDraws      bool    `yaml:"skip_draws" usage:"leave out drawn games"`
	SkipDuplicates bool    `yaml:"skip_duplicates" usage:"leave out positions that were there before"`
	RandomSkip     float64 `yaml:"random_skip" usage:"leave out so many positions at random for each kept"`
	Mirror         float64 `yaml:"mirror" usage:"percentage of positions mirrored left to right; those with rights to castle never are"`
	HeldOut        int     `yaml:"held_out" usage:"positions measured, of held-out games and as many of the newest"`
	Newest         float64 `yaml:"newest" usage:"share of the data, at its end, kept from training to measure"`
	MemoryMB       int     `yaml:"memory_mb" usage:"memory for the positions of a run, MiB; data beyond it are read in parts"`

	ReportEvery int     `yaml:"report_every" usage:"positions between entries of the log; 0: a twentieth of an epoch"`
	SaveEvery   int     `yaml:"save_every" usage:"positions between validations and checkpoints; 0: an epoch"`
	KeepNets    bool    `yaml:"keep_nets" usage:"keep the net of every checkpoint, not only the last"`
	NewbobDecay float64 `yaml:"newbob_decay" usage:"factor of the learning rate when the held-out loss is no new best; 0 or 1: newbob is off"`
	NewbobTries int     `yaml:"newbob_trials" usage:"times in a row after which newbob ends the run"`
	NewbobKeep  bool    `yaml:"newbob_keep" usage:"newbob goes on from the latest net, not the best"`
	Init        string  `yaml:"init" usage:"checkpoint, run directory, or .nnue file of the same architecture, whose net training starts from"`
}

//go:embed learn/*.yaml
var learnPresets embed.FS

// learnBase is the preset of Learn that gives every value.
const learnBase = "small"

// LearnPresets lists the names that LearnPreset knows, sorted.
func LearnPresets() []string {
	files, _ := fs.Glob(learnPresets, "learn/*.yaml")
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".yaml")
	}
	slices.Sort(files)
	return files
}

// LearnPreset returns the named preset.
func LearnPreset(name string) (Learn, error) {
	var l Learn
	for _, layer := range []string{learnBase, name} {
		text, err := learnPresets.ReadFile(path.Join("learn", layer+".yaml"))
		if err != nil {
			return Learn{}, fmt.Errorf("%w: preset: found %q, expected one of %s", ErrInvalid, name, strings.Join(LearnPresets(), ", "))
		}
		all, err := l.Sweep(text, layer+".yaml")
		if err != nil {
			return Learn{}, err
		}
		l = all[0]
	}
	l.Preset = name
	return l, nil
}

// Settings yields every setting under its name, with its usage, in the order of
// the file.
func (l *Learn) Settings() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, field := range reflect.VisibleFields(reflect.TypeFor[Learn]()) {
			usage := field.Tag.Get("usage")
			if usage != "" && !yield(field.Tag.Get("yaml"), usage) {
				return
			}
		}
	}
}

// field returns the setting of a name.
func (l *Learn) field(key string) (reflect.Value, bool) {
	for k, field := range l.fields() {
		if k == key {
			return field, true
		}
	}
	return reflect.Value{}, false
}

func (l *Learn) fields() iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		walk(reflect.ValueOf(l).Elem(), "", yield)
	}
}

func (l *Learn) keys() []string {
	var keys []string
	for key := range l.fields() {
		keys = append(keys, key)
	}
	return keys
}

// Get returns the value of the setting called key as text.
func (l *Learn) Get(key string) string {
	field, ok := l.field(key)
	if !ok {
		return ""
	}
	return fmt.Sprint(field.Interface())
}

// IsSwitch reports whether the setting called key is true or false.
func (l *Learn) IsSwitch(key string) bool {
	field, ok := l.field(key)
	return ok && field.Kind() == reflect.Bool
}

// Set gives the setting called key the value written in text.
func (l *Learn) Set(key, text string) error {
	field, ok := l.field(key)
	if !ok || field.Kind() == reflect.Slice {
		return fmt.Errorf("%w: unknown key %q, the nearest known one is %q", ErrInvalid, key, words.Nearest(key, l.keys()))
	}
	return assignText(field, key, text)
}

// MaxSweep is the most runs that one file may ask for.
const MaxSweep = 10_000

// Sweep overlays the YAML text of the file called name and returns one result
// for every combination of the values it lists: of a key with the value
// [64, 128] each of them in turn, the last such key in the order of the file's
// format varying fastest. Keys that are absent keep their values. A file without
// lists gives one result. No value may be listed twice.
func (l Learn) Sweep(text []byte, name string) ([]Learn, error) {
	values, err := l.parse(text, name)
	if err != nil {
		return nil, err
	}
	all := []Learn{l}
	for _, key := range l.keys() {
		value, ok := values[key]
		if !ok {
			continue
		}
		list, isList := value.([]any)
		if !isList || key == "data" {
			list = []any{value}
		}
		if len(list) == 0 || len(all)*len(list) > MaxSweep {
			return nil, fmt.Errorf("%w: %s: %s: found %d values, expected 1 or more, and at most %d runs in all", ErrInvalid, name, key, len(list), MaxSweep)
		}
		var next []Learn
		for _, one := range all {
			for _, v := range list {
				if err := one.assign(key, v); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				next = append(next, one)
			}
		}
		if again, found := repeated(next[:len(list)], key); found {
			return nil, fmt.Errorf("%w: %s: %s: found %q twice in the list, expected different values", ErrInvalid, name, key, again)
		}
		all = next
	}
	return all, nil
}

// repeated looks for a value that more than one of the runs have under a key.
func repeated(runs []Learn, key string) (value string, found bool) {
	seen := make(map[string]bool, len(runs))
	for i := range runs {
		if value = runs[i].Get(key); seen[value] {
			return value, true
		}
		seen[value] = true
	}
	return "", false
}

// parse reads a file's settings and checks its schema and that every name is
// known.
func (l *Learn) parse(text []byte, name string) (map[string]any, error) {
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, name, err)
	}
	if found, ok := values["schema"]; !ok || fmt.Sprint(found) != fmt.Sprint(Schema) {
		if !ok {
			found = "none"
		}
		return nil, fmt.Errorf("%w: %s: schema: found %v, expected %d as the file's first key", ErrInvalid, name, found, Schema)
	}
	known := l.keys()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("%w: %s: unknown key %q, the nearest known one is %q", ErrInvalid, name, key, words.Nearest(key, known))
		}
	}
	return values, nil
}

// assign stores a decoded value under a key.
func (l *Learn) assign(key string, value any) error {
	if key != "data" {
		field, _ := l.field(key)
		if _, isText := value.(string); !isText && (key == "lr" || key == "lambda") {
			value = fmt.Sprint(value) // the simplest schedule is a number
		}
		return assign(field, key, value)
	}
	if one, ok := value.(string); ok {
		value = []any{one}
	}
	list, ok := value.([]any)
	l.Data = nil
	for _, v := range list {
		name, isText := v.(string)
		ok = ok && isText
		l.Data = append(l.Data, name)
	}
	if !ok {
		return fmt.Errorf("%w: data: found %v, expected names of files or directories", ErrInvalid, value)
	}
	return nil
}

// LearnPresetOf returns the preset that a file's key preset names, "" if it has
// no such key.
func LearnPresetOf(text []byte, name string) (string, error) {
	values, err := new(Learn).parse(text, name)
	if err != nil {
		return "", err
	}
	preset, isName := values["preset"].(string)
	if found, given := values["preset"]; given && !isName {
		return "", fmt.Errorf("%w: %s: preset: found %v, expected one name", ErrInvalid, name, found)
	}
	return preset, nil
}

// LearnKeys returns the keys that a file gives values, sorted.
func LearnKeys(text []byte, name string) ([]string, error) {
	values, err := new(Learn).parse(text, name)
	return slices.Sorted(maps.Keys(values)), err
}

// YAML returns the settings as a file that Sweep reads back.
func (l Learn) YAML() []byte {
	text, err := yaml.Marshal(l)
	if err != nil { // plain values only: cannot happen
		panic(err)
	}
	return text
}

// Varied names the settings in which runs differ, in the order of the file.
func Varied(runs []Learn) []string {
	var keys []string
	for _, key := range new(Learn).keys() {
		for i := range runs {
			if runs[i].Get(key) != runs[0].Get(key) {
				keys = append(keys, key)
				break
			}
		}
	}
	return keys
}

// Validate checks the architecture and the values that only this package knows
// the range of; those of optimiser and schedules are checked where they are used.
func (l Learn) Validate() error {
	var wrong []error
	check := func(ok bool, key string, expected string) {
		if !ok {
			wrong = append(wrong, fmt.Errorf("%w: %s: found %s, expected %s", ErrInvalid, key, l.Get(key), expected))
		}
	}
	for key, field := range l.fields() {
		switch {
		case field.CanFloat():
			v := field.Float()
			check(v >= 0 && !math.IsInf(v, 0), key, "a finite number from 0")
		case field.CanInt():
			check(field.Int() >= 0, key, "a number from 0")
		}
	}
	check(l.Schema == Schema, "schema", fmt.Sprint(Schema))
	check(slices.Contains(LearnPresets(), l.Preset), "preset", "one of "+strings.Join(LearnPresets(), ", "))
	check(l.Variant == "crazyhouse" || l.Variant == "chess", "variant", "crazyhouse or chess")
	if _, err := l.Architecture(l.Variant); err != nil {
		wrong = append(wrong, err)
	}
	check(l.Kind == NNUE || l.Kind == Planes, "kind", NNUE+" or "+Planes)
	check(l.Batch >= 1 && l.Batch <= 1<<20, "batch", "1 to 1048576")
	check(l.Epochs > 0, "epochs", "a number above 0")
	check(l.Mirror <= 100, "mirror", "0 to 100")
	check(l.Newest < 1, "newest", "0 to less than 1")
	check(l.HeldOut <= 1<<20, "held_out", "at most 1048576")
	check(l.NewbobDecay <= 1, "newbob_decay", "at most 1")
	check(l.NewbobDecay == 0 || l.NewbobTries > 0, "newbob_trials", "1 or more")
	return errors.Join(wrong...)
}
