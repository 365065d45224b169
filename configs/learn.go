package configs

import (
	"embed"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/check"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// Learn is the settings of a training run on given data. A tag usage says in a
// few words what a setting means; it is the help of the flag of its name.
type Learn struct {
	Schema int    `yaml:"schema"`
	Preset string `yaml:"preset"`

	Variant string `yaml:"variant" usage:"crazyhouse or chess"`
	Seed    uint64 `yaml:"seed" usage:"seed of first weights, order and everything else left to chance"`

	Data       []string `yaml:"data"`
	Weights    string   `yaml:"weights" usage:"share of each name of data, a directory's files together, in every batch, such as 3,1; empty: all positions alike"`
	Validation string   `yaml:"validation" usage:"file of positions to measure instead of held-out games"`

	Net `yaml:",inline"`

	Epochs           float64 `yaml:"epochs" usage:"times each position is learned from"`
	trainer.Settings `yaml:",inline"`
	SkipDuplicates   bool    `yaml:"skip_duplicates" usage:"leave out positions that were there before"`
	Newest           float64 `yaml:"newest" usage:"share of the data, at its end, kept from training to measure held_out positions of"`
	MemoryMB         int     `yaml:"memory_mb" usage:"memory for the positions of a run, MiB; data beyond it are read in parts"`

	ReportEvery int     `yaml:"report_every" usage:"positions between entries of the log; 0: a twentieth of an epoch"`
	SaveEvery   int     `yaml:"save_every" usage:"positions between validations and checkpoints; 0: an epoch"`
	KeepNets    bool    `yaml:"keep_nets" usage:"keep the net of every checkpoint, not only the last"`
	NewbobDecay float64 `yaml:"newbob_decay" usage:"factor of the learning rate when the held-out loss is no new best; 0 or 1: newbob is off"`
	NewbobTries int     `yaml:"newbob_trials" usage:"times in a row after which newbob ends the run"`
	NewbobKeep  bool    `yaml:"newbob_keep" usage:"newbob goes on from the latest net, not the best"`
}

//go:embed learn/*.yaml
var learnFiles embed.FS

var learnPresets = library{learnFiles, "learn", "small"}

// LearnPresets lists the names that LearnPreset knows, sorted.
func LearnPresets() []string { return learnPresets.names() }

// LearnPreset returns the named preset.
func LearnPreset(name string) (Learn, error) {
	var l Learn
	err := learnPresets.lay(name, func(text []byte, file string) error {
		all, err := l.Sweep(text, file)
		if err == nil {
			l = all[0]
		}
		return err
	})
	if err != nil {
		return Learn{}, err
	}
	l.Preset = name
	return l, nil
}

// Usage yields every setting under its name, with its usage, in the order of
// the file.
func (l *Learn) Usage() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		walk(reflect.ValueOf(l).Elem(), "", func(key string, field reflect.StructField, _ reflect.Value) bool {
			usage := field.Tag.Get("usage")
			return usage == "" || yield(key, usage)
		})
	}
}

// Get returns the value of the setting called key as text.
func (l *Learn) Get(key string) string { return get(l, key) }

// IsSwitch reports whether the setting called key is true or false.
func (l *Learn) IsSwitch(key string) bool {
	v, ok := field(l, key)
	return ok && v.Kind() == reflect.Bool
}

// Set gives the setting called key the value written in text.
func (l *Learn) Set(key, text string) error { return set(l, key, text) }

// maxSweep is the most runs that one file may ask for.
const maxSweep = 10_000

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
	for _, key := range keys(&l) {
		value, ok := values[key]
		if !ok {
			continue
		}
		list, isList := value.([]any)
		if !isList || key == "data" {
			list = []any{value}
		}
		if len(list) == 0 || len(all)*len(list) > maxSweep {
			return nil, fmt.Errorf("%w: %s: %s: found %d values, expected 1 or more, and at most %d runs in all", ErrInvalid, name, key, len(list), maxSweep)
		}
		var next []Learn
		for _, one := range all {
			for _, v := range list {
				to, _ := field(&one, key)
				if err := assign(to, key, v); err != nil {
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

// parse reads a file's settings and checks that every name is known.
func (l *Learn) parse(text []byte, name string) (map[string]any, error) {
	values, err := decode(text, name)
	if err != nil {
		return nil, err
	}
	return values, checkKeys(l, values, name)
}

// LearnKeys returns the keys that a file gives values, sorted.
func LearnKeys(text []byte, name string) ([]string, error) {
	values, err := new(Learn).parse(text, name)
	return slices.Sorted(maps.Keys(values)), err
}

// YAML returns the settings as a file that Sweep reads back.
func (l Learn) YAML() []byte { return toYAML(l) }

// Varied names the settings in which runs differ, in the order of the file.
func Varied(runs []Learn) []string {
	var varied []string
	for _, key := range keys(new(Learn)) {
		for i := range runs {
			if runs[i].Get(key) != runs[0].Get(key) {
				varied = append(varied, key)
				break
			}
		}
	}
	return varied
}

// Validate reports what is wrong with the values that this package gives their
// meaning. The others are checked by the packages that use them; package trainer/run
// checks all.
func (l Learn) Validate() error {
	wrong := check.Of(ErrInvalid)
	check.Within(wrong, "schema", l.Schema, Schema, Schema)
	check.OneOf(wrong, "preset", l.Preset, LearnPresets()...)
	check.OneOf(wrong, "variant", l.Variant, "crazyhouse", "chess")
	_, err := l.Text(l.Variant)
	wrong.Add(err)
	return wrong.Err()
}
