package netstat

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/crazyhouse-rl/selfplay/nnue"
)

// ErrMisfit says that an architecture is not the one asked for.
var ErrMisfit = errors.New("another architecture")

// Fits compares an architecture with the one expected. The error wraps ErrMisfit
// and names every field in which they differ.
func Fits(found, expected nnue.Architecture) error {
	f, e := reflect.ValueOf(found), reflect.ValueOf(expected)
	var differences []string
	for i := range f.NumField() {
		if !f.Field(i).Equal(e.Field(i)) {
			differences = append(differences, fmt.Sprintf("%s: found %v, expected %v", f.Type().Field(i).Name, f.Field(i), e.Field(i)))
		}
	}
	if differences == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrMisfit, strings.Join(differences, "; "))
}
