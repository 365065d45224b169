// Package option describes the settings of searches, each once, by tags of the
// struct fields that hold them:
//
//	CPuct float64 `yaml:"cpuct" uci:"CPuct" range:"0..100" usage:"weight of priors against values"`
//
// YAML files, the texts of players and the options of a UCI engine all read this
// table. The tags are
//
//	yaml    key of the setting in files and in the text of a player
//	key     the same for a field that YAML leaves out (yaml:"-")
//	alias   another key that is understood
//	uci     name of the UCI option; without it there is none
//	range   least and greatest value of a number, LOW..HIGH
//	values  the only values of a number, with commas between
//	random  "true": the setting needs a source of randomness, so it serves
//	        self-play only, and neither matches nor a UCI engine
//	usage   what the setting means, in a few words
//	prefix  of a struct inside: what the keys of its settings begin with
//
// Fields are int, uint64, float64 or bool. A struct inside is searched too.
package option

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Option is one setting, bound to the field that holds its value.
type Option struct {
	Key    string
	Alias  string // empty: none
	UCI    string // empty: no UCI option
	Usage  string
	Random bool
	Field  string // name of the field in its struct, after those of structs with a prefix

	field     reflect.Value
	low, high float64 // of a number, unless choices is set
	choices   []string
}

// All returns the settings of a struct that holds points to, in the order of its
// fields. It panics if a tag cannot be read, which a test of the struct shows.
func All(holds any) []Option {
	var all []Option
	collect(reflect.ValueOf(holds).Elem(), "", "", &all)
	return all
}

// collect appends the settings of v to all. Their keys begin with prefix, the names of
// their fields with path.
func collect(v reflect.Value, prefix, path string, all *[]Option) {
	for i := range v.NumField() {
		tag, field := v.Type().Field(i).Tag, v.Field(i)
		if field.Kind() == reflect.Struct {
			inside, fields := prefix, path
			if p := tag.Get("prefix"); p != "" {
				inside, fields = prefix+p, path+v.Type().Field(i).Name+"."
			}
			collect(field, inside, fields, all)
			continue
		}
		key := tag.Get("key")
		if key == "" {
			key = tag.Get("yaml")
		}
		if key == "" || key == "-" {
			continue
		}
		o := Option{
			Key: prefix + key, Alias: tag.Get("alias"), UCI: tag.Get("uci"), Usage: tag.Get("usage"),
			Random: tag.Get("random") == "true", Field: path + v.Type().Field(i).Name, field: field,
		}
		if text := tag.Get("values"); text != "" {
			o.choices = strings.Split(text, ",")
		} else if field.Kind() != reflect.Bool {
			o.low, o.high = mustRange(key, tag.Get("range"))
		}
		*all = append(*all, o)
	}
}

func mustRange(key, text string) (low, high float64) {
	first, second, _ := strings.Cut(text, "..")
	low, err1 := strconv.ParseFloat(first, 64)
	high, err2 := strconv.ParseFloat(second, 64)
	if err1 != nil || err2 != nil || low > high {
		panic(fmt.Sprintf("option %s: found range %q, expected LOW..HIGH", key, text))
	}
	return low, high
}

// Find returns the option with a key or alias; it is false if there is none.
func Find(all []Option, key string) (Option, bool) {
	for _, o := range all {
		if o.Key == key || o.Alias == key && key != "" {
			return o, true
		}
	}
	return Option{}, false
}

// Keys returns the keys of options.
func Keys(all []Option) []string {
	keys := make([]string, len(all))
	for i, o := range all {
		keys[i] = o.Key
	}
	return keys
}

// Bounds returns the least and greatest value of a number; it is false for a switch and
// for a number that has only certain values.
func (o Option) Bounds() (low, high float64, ok bool) {
	return o.low, o.high, o.choices == nil && o.field.Kind() != reflect.Bool
}

// Within returns the option of a whole number with closer bounds.
func (o Option) Within(low, high float64) Option {
	o.low, o.high = max(o.low, low), min(o.high, high)
	return o
}

// Set gives the setting the value written in text. On an error the value stays.
func (o Option) Set(text string) error { return o.set(text, strconv.Quote(text)) }

// set is Set with the words that an error has for what was found.
func (o Option) set(text, found string) error {
	if n := len(o.choices); n > 0 && !slices.Contains(o.choices, text) {
		return fmt.Errorf("found %s, expected %s or %s", found, strings.Join(o.choices[:n-1], ", "), o.choices[n-1])
	}
	switch o.field.Kind() {
	case reflect.Bool:
		switch strings.ToLower(text) {
		case "true":
			o.field.SetBool(true)
		case "false":
			o.field.SetBool(false)
		default:
			return fmt.Errorf("found %s, expected true or false", found)
		}
	case reflect.Float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("found %s, expected a decimal number", found)
		}
		if !o.within(v) {
			return fmt.Errorf("found %s, expected %v to %v", found, o.low, o.high)
		}
		o.field.SetFloat(v)
	default:
		n, err := strconv.Atoi(text)
		if err != nil || !o.within(float64(n)) {
			return fmt.Errorf("found %s, expected a whole number from %.0f to %.0f", found, o.low, o.high)
		}
		if o.field.CanUint() {
			o.field.SetUint(uint64(n))
		} else {
			o.field.SetInt(int64(n))
		}
	}
	return nil
}

func (o Option) within(v float64) bool { return o.choices != nil || v >= o.low && v <= o.high }

// Check reports a value that Set would refuse, such as one that YAML or a program
// has put there.
func (o Option) Check() error {
	trial := Option{field: reflect.New(o.field.Type()).Elem(), low: o.low, high: o.high, choices: o.choices}
	return trial.set(o.String(), o.String())
}

// Check reports the first setting of a struct that is out of its range, by its key.
func Check(holds any) error {
	for _, o := range All(holds) {
		if err := o.Check(); err != nil {
			return fmt.Errorf("%s: %w", o.Key, err)
		}
	}
	return nil
}

// String returns the value as Set reads it.
func (o Option) String() string {
	if o.field.Kind() == reflect.Float64 {
		return strconv.FormatFloat(o.field.Float(), 'f', -1, 64)
	}
	return fmt.Sprint(o.field.Interface())
}

// Describe returns what follows the option's name in the answer to "uci": its type,
// its value now as the default, and its bounds. UCI has no type for decimal
// numbers, which are strings there.
func (o Option) Describe() string {
	switch {
	case o.choices != nil:
		return "type combo default " + o.String() + " var " + strings.Join(o.choices, " var ")
	case o.field.Kind() == reflect.Bool:
		return "type check default " + o.String()
	case o.field.Kind() == reflect.Float64:
		return "type string default " + o.String()
	}
	return fmt.Sprintf("type spin default %s min %.0f max %.0f", o, o.low, o.high)
}
