package configs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ofMachine are the settings under IsShared's sections that each machine has for
// itself.
var ofMachine = []string{"actor.name", "actor.workers", "actor.spool_max_games", "gate.concurrency"}

// IsShared reports whether the setting called key is one that everybody who plays
// games for a run, wherever, has from the run: what decides the games. The others,
// among them all names of files and addresses of servers, are each machine's own. The
// book is shared by its content: see package selfplay.
func IsShared(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	if strings.HasPrefix(key, "replay.window_") { // trainers draw from the window that replay keeps
		return true
	}
	return slices.Contains([]string{"schema", "variant", "seed", "net", "actor", "gate", "verify"}, section) &&
		!slices.Contains(ofMachine, key)
}

// Shared returns the settings of c that are shared, as YAML that WithShared reads.
func Shared(c Config) []byte {
	values := map[string]any{}
	for key, field := range fields(&c) {
		if IsShared(key) {
			nest(values, key, field.Interface())
		}
	}
	return toYAML(values)
}

// nest puts a value under a dotted name.
func nest(values map[string]any, key string, value any) {
	section, rest, found := strings.Cut(key, ".")
	if !found {
		values[key] = value
		return
	}
	sub, ok := values[section].(map[string]any)
	if !ok {
		sub = map[string]any{}
		values[section] = sub
	}
	nest(sub, rest, value)
}

// WithShared returns c with the shared settings in text, called name in errors. A
// setting that is not shared is refused.
func WithShared(c Config, text []byte, name string) (Config, error) {
	values, err := decode(text, name)
	if err != nil {
		return c, err
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !IsShared(key) {
			return c, fmt.Errorf("%w: %s: found %s, expected only settings that decide the games", ErrInvalid, name, key)
		}
	}
	err = c.Merge(text, name)
	return c, err
}

// SharedGiven names the shared settings that a file's text, variables of environ and
// key=value pairs give values, whatever these are: the keys in order, those of environ as
// its variables. It passes over schema, which every file has. Text may be nil.
func SharedGiven(text []byte, name string, environ, pairs []string) ([]string, error) {
	var given []string
	if text != nil {
		values, err := decode(text, name)
		if err != nil {
			return nil, err
		}
		delete(values, "schema")
		given = slices.Sorted(maps.Keys(values))
	}
	for _, pair := range pairs {
		key, _, _ := strings.Cut(pair, "=")
		given = append(given, key)
	}
	given = slices.DeleteFunc(given, func(key string) bool { return !IsShared(key) })
	for key := range fields(new(Config)) {
		of := variable(key)
		if IsShared(key) && slices.ContainsFunc(environ, func(entry string) bool { return strings.HasPrefix(entry, of+"=") }) {
			given = append(given, of)
		}
	}
	return given, nil
}

// SharedDifferences names the shared settings in which two configurations differ, as
// Differences does.
func SharedDifferences(a, b Config) []string {
	return slices.DeleteFunc(Differences(a, b), func(d string) bool {
		key, _, _ := strings.Cut(d, ":")
		return !IsShared(key)
	})
}
