// Package check words what is wrong with settings: by the key that a person writes,
// what was found there and what was expected.
package check

import (
	"fmt"
	"strings"
)

// Error is one setting that cannot be used. It wraps Of and Why.
type Error struct {
	Of  error // the same for all settings of a package
	Key string
	Why error
}

func (e *Error) Error() string { return fmt.Sprintf("%v: %s: %v", e.Of, e.Key, e.Why) }

// Unwrap returns Of and Why.
func (e *Error) Unwrap() []error { return []error{e.Of, e.Why} }

// Errors are all that is wrong, one a line.
type Errors []error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors.
func (e Errors) Unwrap() []error { return e }

// List gathers what is wrong with the settings of one package.
type List struct {
	of    error
	wrong Errors
}

// Of returns an empty list, whose errors wrap err.
func Of(err error) *List { return &List{of: err} }

// Err returns what is wrong, an Errors, or nil.
func (l *List) Err() error {
	if len(l.wrong) == 0 {
		return nil
	}
	return l.wrong
}

// Add appends an error, or those of an Errors. Of a key that the list has, no
// second one is added. A nil error adds nothing.
func (l *List) Add(err error) {
	switch e := err.(type) {
	case nil:
	case Errors:
		for _, one := range e {
			l.Add(one)
		}
	case *Error:
		if !l.has(e.Key) {
			l.wrong = append(l.wrong, e)
		}
	default:
		l.wrong = append(l.wrong, err)
	}
}

func (l *List) has(key string) bool {
	for _, err := range l.wrong {
		if e, ok := err.(*Error); ok && e.Key == key {
			return true
		}
	}
	return false
}

// That adds what was found under a key unless it is ok.
func (l *List) That(ok bool, key string, found any, expected string) {
	if ok {
		return
	}
	text := fmt.Sprint(found)
	if text == "" {
		text = "nothing"
	}
	l.Because(key, fmt.Errorf("found %s, expected %s", text, expected))
}

// Because adds an error about the value of a key, unless it is nil.
func (l *List) Because(key string, err error) {
	if err != nil {
		l.Add(&Error{l.of, key, err})
	}
}

// OneOf expects one of the known names.
func OneOf[T ~string](l *List, key string, found T, known ...T) {
	names := make([]string, len(known))
	ok := false
	for i, name := range known {
		names[i] = string(name)
		ok = ok || name == found
	}
	l.That(ok, key, found, "one of "+strings.Join(names, ", "))
}

type number interface {
	~int | ~int16 | ~int32 | ~int64 | ~uint64 | ~float64
}

// Within expects a number from low to high.
func Within[T number](l *List, key string, found, low, high T) {
	l.That(found >= low && found <= high, key, found, fmt.Sprintf("%v to %v", low, high))
}

// Above expects a number more than low and at most high.
func Above[T number](l *List, key string, found, low, high T) {
	l.That(found > low && found <= high, key, found, fmt.Sprintf("more than %v, at most %v", low, high))
}

// Positive expects a number above 0.
func Positive[T number](l *List, key string, found T) {
	l.That(found > 0, key, found, "a number above 0")
}

// Natural expects a number from 0.
func Natural[T number](l *List, key string, found T) {
	l.That(found >= 0, key, found, "a number from 0")
}

// Under returns err with the prefix before the keys of its Errors: section.key, for
// a prefix of "section.". Other errors begin with the section's name.
func Under(prefix string, err error) error {
	switch e := err.(type) {
	case nil:
		return nil
	case Errors:
		all := make(Errors, len(e))
		for i := range e {
			all[i] = Under(prefix, e[i])
		}
		return all
	case *Error:
		return &Error{e.Of, prefix + e.Key, e.Why}
	}
	return fmt.Errorf("%s: %w", strings.TrimSuffix(prefix, "."), err)
}
