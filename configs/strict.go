package configs

import (
	"fmt"
	"reflect"
	"time"

	"github.com/goccy/go-yaml"
)

// unmarshalStrictly decodes YAML into a struct, as unmarshal does, and refuses unknown
// keys and values that the library would change or pass over on the way.
func unmarshalStrictly(text []byte, to any) error {
	var raw any
	if err := unmarshal(text, &raw); err != nil {
		return err
	}
	if raw != nil { // else there is nothing but comments
		if err := checkValues(reflect.TypeOf(to).Elem(), "", raw); err != nil {
			return err
		}
	}
	return unmarshal(text, to, yaml.Strict())
}

// checkValues refuses a decoded YAML value that is to become one of type t, where assign
// would refuse it or where there is none. A pointer may be null, as it is written. Types
// that decode themselves check themselves; what is no mapping or list where one should be
// is left to the library.
func checkValues(t reflect.Type, key string, value any) error {
	if t.Kind() == reflect.Pointer {
		if value == nil {
			return nil
		}
		t = t.Elem()
	}
	switch {
	case value == nil:
		return fmt.Errorf("%w: %s: found nothing, expected a value, or not this key", ErrInvalid, key)
	case reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.InterfaceUnmarshaler]()),
		t == reflect.TypeFor[time.Duration](), t.Kind() == reflect.Map:
		return nil
	case t.Kind() == reflect.Struct:
		values, _ := value.(map[string]any)
		for i := range t.NumField() {
			field := t.Field(i)
			name := field.Tag.Get("yaml")
			if v, given := values[name]; given {
				if key != "" {
					name = key + "." + name
				}
				if err := checkValues(field.Type, name, v); err != nil {
					return err
				}
			}
		}
		return nil
	case t.Kind() == reflect.Slice:
		list, _ := value.([]any)
		for i, v := range list {
			if err := checkValues(t.Elem(), fmt.Sprintf("%s[%d]", key, i), v); err != nil {
				return err
			}
		}
		return nil
	}
	return assign(reflect.New(t).Elem(), key, value)
}
