package configs

import (
	"embed"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// What Config and Learn have in common: a struct of settings with their names as
// yaml tags, laid over by files and texts.
//
// Values are not decoded into the struct by the YAML library, not even strictly: it
// makes 2 of 2.7, and passes over a key without a value.

// fields yields every setting of the struct that c points to under its dotted YAML
// name, in the order of the file.
func fields(c any) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		walk(reflect.ValueOf(c).Elem(), "", func(key string, _ reflect.StructField, v reflect.Value) bool { return yield(key, v) })
	}
}

// inline is the tag of a struct whose settings are the outer one's.
const inline = ",inline"

// walk yields the leaves of a struct; it returns false if yield did. The leaves
// of an inline struct are the outer one's.
func walk(v reflect.Value, prefix string, yield func(string, reflect.StructField, reflect.Value) bool) bool {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag := field.Tag.Get("yaml")
		if tag == "-" {
			continue
		}
		key := prefix + tag
		inner := key + "."
		if tag == inline {
			inner = prefix
		}
		if v.Field(i).Kind() == reflect.Struct {
			if !walk(v.Field(i), inner, yield) {
				return false
			}
		} else if !yield(key, field, v.Field(i)) {
			return false
		}
	}
	return true
}

// keys returns the names of all settings, in the order of the file.
func keys(c any) []string {
	var all []string
	for key := range fields(c) {
		all = append(all, key)
	}
	return all
}

// field returns the setting of a name.
func field(c any, key string) (reflect.Value, bool) {
	for k, v := range fields(c) {
		if k == key {
			return v, true
		}
	}
	return reflect.Value{}, false
}

// get returns the value of a setting as text.
func get(c any, key string) string {
	if v, ok := field(c, key); ok {
		return fmt.Sprint(v.Interface())
	}
	return ""
}

// unknown is the error about a key that there is not.
func unknown(c any, key string) error {
	return fmt.Errorf("%w: unknown key %q, the nearest known one is %q", ErrInvalid, key, words.Nearest(key, keys(c)))
}

// decode reads a file's settings under their dotted names and checks its schema.
func decode(text []byte, name string) (map[string]any, error) {
	var raw map[string]any
	if err := unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, name, err)
	}
	if found, ok := raw["schema"]; !ok || fmt.Sprint(found) != fmt.Sprint(Schema) {
		if !ok {
			found = "none"
		}
		return nil, fmt.Errorf("%w: %s: schema: found %v, expected %d as the file's first key", ErrInvalid, name, found, Schema)
	}
	values := map[string]any{}
	if err := flatten("", raw, values); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, name, err)
	}
	return values, nil
}

// flatten puts the leaves of a decoded YAML mapping into values under their
// dotted names. It refuses a name that is given twice, with a dot and nested.
func flatten(prefix string, m, values map[string]any) error {
	for k, v := range m {
		key := prefix + k
		if sub, ok := v.(map[string]any); ok {
			if err := flatten(key+".", sub, values); err != nil {
				return err
			}
			continue
		}
		if _, twice := values[key]; twice {
			return fmt.Errorf("found the key %q twice", key)
		}
		values[key] = v
	}
	return nil
}

// checkKeys refuses names that are none of a setting.
func checkKeys(c any, values map[string]any, name string) error {
	known := keys(c)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("%w: %s: unknown key %q, the nearest known one is %q", ErrInvalid, name, key, words.Nearest(key, known))
		}
	}
	return nil
}

// FilePreset returns the preset that the key preset of a file names, of a loop or of
// learn; "" if it has no such key. A file is meant to be laid over that preset.
func FilePreset(text []byte, name string) (string, error) {
	values, err := decode(text, name)
	if err != nil {
		return "", err
	}
	preset, isName := values["preset"].(string)
	if found, given := values["preset"]; given && !isName {
		return "", fmt.Errorf("%w: %s: preset: found %v, expected one name", ErrInvalid, name, found)
	}
	return preset, nil
}

// set gives a setting the value written in text: as it stands for a string, read as
// YAML for others.
func set(c any, key, text string) error {
	to, ok := field(c, key)
	if !ok || to.Kind() == reflect.Slice {
		return unknown(c, key)
	}
	var value any = text
	if to.Kind() != reflect.String {
		if err := unmarshal([]byte(text), &value); err != nil {
			value = text // which assign refuses
		}
	}
	return assign(to, key, value)
}

// assign stores a decoded YAML value in a field. Only a value of the field's
// own kind will do; nothing is cut off or filled in. A number is a schedule too.
func assign(field reflect.Value, key string, value any) error {
	v := reflect.ValueOf(value)
	ok, expected := false, ""
	switch field.Kind() {
	case reflect.String:
		expected = "a text, in quotes if it looks like a number"
		isSchedule := field.Type() == reflect.TypeFor[trainer.ScheduleText]()
		if isSchedule {
			expected = "a number or a schedule"
			if v.CanFloat() || v.CanInt() || v.CanUint() {
				v = reflect.ValueOf(fmt.Sprint(value))
			}
		}
		if ok = v.Kind() == reflect.String && !(isSchedule && v.String() == ""); ok {
			field.SetString(v.String())
		}
	case reflect.Slice:
		expected = "names of files or directories"
		if v.Kind() == reflect.String {
			value = []any{value}
		}
		list, isList := value.([]any)
		names := make([]string, len(list))
		ok = isList
		for i := range list {
			var isText bool
			names[i], isText = list[i].(string)
			ok = ok && isText
		}
		if ok {
			field.Set(reflect.ValueOf(names))
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

// toYAML returns settings as a file that is read back as they are.
func toYAML(c any) []byte {
	text, err := yaml.Marshal(c)
	if err != nil { // plain values only: cannot happen
		panic(err)
	}
	return text
}

// library is the presets of one kind of settings, files of the program.
type library struct {
	files embed.FS
	dir   string
	base  string // gives every value; the others say what differs
}

// names lists the presets, sorted.
func (l library) names() []string {
	files, _ := fs.Glob(l.files, path.Join(l.dir, "*.yaml"))
	files = slices.DeleteFunc(files, func(f string) bool { return f == ladderFile })
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".yaml")
	}
	slices.Sort(files)
	return files
}

// known refuses names of no preset.
func (l library) known(name string) error {
	if slices.Contains(l.names(), name) {
		return nil
	}
	return fmt.Errorf("%w: preset: found %q, expected one of %s", ErrInvalid, name, strings.Join(l.names(), ", "))
}

// lay calls merge with what the named preset consists of: the base, then the preset.
func (l library) lay(name string, merge func(text []byte, file string) error) error {
	if err := l.known(name); err != nil {
		return err
	}
	for _, layer := range []string{l.base, name} {
		text, err := l.files.ReadFile(path.Join(l.dir, layer+".yaml"))
		if err != nil {
			return err
		}
		if err := merge(text, layer+".yaml"); err != nil {
			return err
		}
	}
	return nil
}
