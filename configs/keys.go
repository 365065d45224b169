package configs

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// EnvPrefix begins the name of every environment variable that sets a key:
// SELFPLAY_TRAIN_LR sets train.lr.
const EnvPrefix = "SELFPLAY_"

// Keys returns the dotted name of every setting with its Go type.
func Keys() map[string]reflect.Type {
	keys := map[string]reflect.Type{}
	walk(reflect.ValueOf(&Config{}).Elem(), "", func(key string, v reflect.Value) { keys[key] = v.Type() })
	return keys
}

// walk visits every leaf of a struct under its dotted YAML name.
func walk(v reflect.Value, prefix string, visit func(key string, v reflect.Value)) {
	for i := range v.NumField() {
		key := prefix + v.Type().Field(i).Tag.Get("yaml")
		if v.Field(i).Kind() == reflect.Struct {
			walk(v.Field(i), key+".", visit)
			continue
		}
		visit(key, v.Field(i))
	}
}

// Set gives the setting called key the value written in text, read as YAML.
func (c *Config) Set(key, text string) error {
	found := false
	var failed error
	walk(reflect.ValueOf(c).Elem(), "", func(k string, v reflect.Value) {
		if k != key {
			return
		}
		found = true
		into := reflect.New(v.Type())
		if err := yaml.Unmarshal([]byte(text), into.Interface()); err != nil {
			failed = fmt.Errorf("%w: %s: found %q, expected a value of type %s", ErrInvalid, key, text, v.Type())
			return
		}
		v.Set(into.Elem())
	})
	if !found {
		return fmt.Errorf("%w: unknown key %q, the nearest known one is %q", ErrInvalid, key, nearest(key, Keys()))
	}
	return failed
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
// "key: a → b".
func Differences(a, b Config) []string {
	values := map[string]any{}
	walk(reflect.ValueOf(&a).Elem(), "", func(key string, v reflect.Value) { values[key] = v.Interface() })
	var out []string
	walk(reflect.ValueOf(&b).Elem(), "", func(key string, v reflect.Value) {
		if values[key] != v.Interface() {
			out = append(out, fmt.Sprintf("%s: %v → %v", key, values[key], v.Interface()))
		}
	})
	return out
}

// flatten returns the dotted names of the leaves of a decoded YAML mapping.
func flatten(prefix string, m map[string]any) []string {
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if sub, ok := m[k].(map[string]any); ok {
			keys = append(keys, flatten(prefix+k+".", sub)...)
			continue
		}
		keys = append(keys, prefix+k)
	}
	return keys
}

// nearest returns the key with the smallest edit distance to name.
func nearest[T any](name string, keys map[string]T) string {
	best, bestDistance := "", 1<<30
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if d := distance(name, k); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two ASCII strings.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
