package configs

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// EnvPrefix begins the name of every environment variable that sets a key:
// SELFPLAY_TRAIN_LR sets train.lr.
const EnvPrefix = "SELFPLAY_"

// Keys returns the dotted name of every setting with its Go type.
func Keys() map[string]reflect.Type {
	keys := map[string]reflect.Type{}
	for key, field := range new(Config).fields() {
		keys[key] = field.Type()
	}
	return keys
}

// fields yields every setting under its dotted YAML name, in the order of the
// file.
func (c *Config) fields() iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		walk(reflect.ValueOf(c).Elem(), "", yield)
	}
}

// walk yields the leaves of a struct; it returns false if yield did. The leaves
// of an inline struct are the outer one's.
func walk(v reflect.Value, prefix string, yield func(string, reflect.Value) bool) bool {
	for i := range v.NumField() {
		key := prefix + v.Type().Field(i).Tag.Get("yaml")
		inner := key + "."
		if v.Type().Field(i).Anonymous {
			inner = prefix
		}
		if v.Field(i).Kind() == reflect.Struct {
			if !walk(v.Field(i), inner, yield) {
				return false
			}
		} else if !yield(key, v.Field(i)) {
			return false
		}
	}
	return true
}

// Set gives the setting called key the value written in text: as it stands for
// a string, read as YAML for others. The preset cannot be set: it is what all
// settings are laid over.
func (c *Config) Set(key, text string) error {
	if key == "preset" {
		return fmt.Errorf("%w: preset: found %q among the settings, expected it to be chosen before them", ErrInvalid, text)
	}
	if key == oldArchitecture {
		return fmt.Errorf("%w: unknown key %q, replaced by net.features, net.buckets and so on; see also the preset fairy", ErrInvalid, key)
	}
	if key == oldInt8 {
		return fmt.Errorf("%w: unknown key %q, replaced by %s", ErrInvalid, key, treeRuntime)
	}
	for k, field := range c.fields() {
		if k == key {
			return assignText(field, key, text)
		}
	}
	return fmt.Errorf("%w: unknown key %q, the nearest known one is %q", ErrInvalid, key, nearest(key, Keys()))
}

// assignText stores the value written in text: as it stands for a string, read
// as YAML for others.
func assignText(field reflect.Value, key, text string) error {
	if field.Kind() == reflect.String {
		return assign(field, key, text)
	}
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		value = text // which assign refuses
	}
	return assign(field, key, value)
}

// assign stores a decoded YAML value in a field. Only a value of the field's
// own kind will do; nothing is cut off or filled in.
func assign(field reflect.Value, key string, value any) error {
	v := reflect.ValueOf(value)
	ok, expected := false, ""
	switch field.Kind() {
	case reflect.String:
		expected = "a text, in quotes if it looks like a number"
		if ok = v.Kind() == reflect.String; ok {
			field.SetString(v.String())
		}
	case reflect.Bool:
		expected = "true or false"
		if ok = v.Kind() == reflect.Bool; ok {
			field.SetBool(v.Bool())
		}
	case reflect.Float64:
		expected = "a number"
		if text, isText := value.(string); isText { // YAML takes 1e-05 for a text
			n, err := strconv.ParseFloat(text, 64)
			if ok = err == nil; ok {
				field.SetFloat(n)
			}
		} else if ok = v.CanFloat() || v.CanInt() || v.CanUint(); ok {
			field.SetFloat(v.Convert(field.Type()).Float())
		}
	case reflect.Uint64:
		expected = "a whole number, not negative"
		if ok = v.CanUint() || v.CanInt() && v.Int() >= 0; ok {
			field.SetUint(v.Convert(field.Type()).Uint())
		}
	default:
		expected = "a whole number"
		if ok = v.CanInt() || v.CanUint() && v.Uint() <= math.MaxInt64; ok {
			n := v.Convert(reflect.TypeFor[int64]()).Int()
			if ok = !field.OverflowInt(n); ok {
				field.SetInt(n)
			}
		}
	}
	if ok {
		return nil
	}
	found := "nothing"
	if text, isText := value.(string); isText {
		found = strconv.Quote(text)
	} else if value != nil {
		found = fmt.Sprint(value)
	}
	return fmt.Errorf("%w: %s: found %s, expected %s", ErrInvalid, key, found, expected)
}

// SetEnv applies the variables of environ (each "NAME=value") that begin with
// EnvPrefix. A variable that names no key is an error.
func (c *Config) SetEnv(environ []string) error {
	names := map[string]string{}
	for key := range Keys() {
		names[EnvPrefix+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))] = key
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, EnvPrefix) {
			continue
		}
		key, ok := names[name]
		if !ok {
			return fmt.Errorf("%w: environment: unknown variable %s, the nearest known one is %s", ErrInvalid, name, nearest(name, names))
		}
		if err := c.Set(key, value); err != nil {
			return fmt.Errorf("environment: %w", err)
		}
	}
	return nil
}

// SetPairs applies "key=value" pairs.
func (c *Config) SetPairs(pairs []string) error {
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%w: found %q, expected key=value", ErrInvalid, pair)
		}
		if err := c.Set(key, value); err != nil {
			return err
		}
	}
	return nil
}

// Differences names the settings in which two configurations differ, each as
// "key: a → b"; of the bus's token it says only that it changed.
func Differences(a, b Config) []string {
	values := map[string]any{}
	for key, field := range a.fields() {
		values[key] = field.Interface()
	}
	var out []string
	for key, field := range b.fields() {
		switch {
		case values[key] == field.Interface():
		case key == "bus.token":
			out = append(out, key+": changed")
		default:
			out = append(out, fmt.Sprintf("%s: %v → %v", key, values[key], field.Interface()))
		}
	}
	return out
}

// flatten puts the leaves of a decoded YAML mapping into values under their
// dotted names.
func flatten(prefix string, m, values map[string]any) {
	for k, v := range m {
		if sub, ok := v.(map[string]any); ok {
			flatten(prefix+k+".", sub, values)
			continue
		}
		values[prefix+k] = v
	}
}

// nearest returns the key with the smallest edit distance to name.
func nearest[T any](name string, keys map[string]T) string {
	return words.Nearest(name, slices.Sorted(maps.Keys(keys)))
}
