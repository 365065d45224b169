package configs

import (
	"fmt"
	"slices"
	"strings"
)

// runtimes are what can run plane nets, as package planes/runtimes names them.
var runtimes = []string{"native", "int8", "onnxgo", "ort"}

const (
	treeRuntime = "actor.tree.runtime"
	oldInt8     = "actor.tree.int8" // in its place in files of earlier builds, true for int8
)

// translateTree replaces oldInt8 among a file's values by what it meant.
func translateTree(values map[string]any, name string) error {
	found, ok := values[oldInt8]
	if !ok {
		return nil
	}
	if _, both := values[treeRuntime]; both {
		return fmt.Errorf("%w: %s: found %s beside %s, expected one or the other", ErrInvalid, name, treeRuntime, oldInt8)
	}
	runtime, known := map[string]string{"true": "int8", "false": "native"}[fmt.Sprint(found)]
	if !known {
		return fmt.Errorf("%w: %s: %s: found %v, expected true or false, or instead %s", ErrInvalid, name, oldInt8, found, treeRuntime)
	}
	delete(values, oldInt8)
	values[treeRuntime] = runtime
	return nil
}

// validate returns what is wrong with t. Each error wraps ErrInvalid.
func (t Tree) validate() (wrong []error) {
	for _, c := range []struct {
		key       string
		v         float64
		low, high float64
	}{
		{"full_share", t.FullShare, 0, 1},
		{"gumbel", float64(t.Gumbel), 0, 512},
		{"noise", t.Noise, 0, 1},
		{"temperature", t.Temperature, 0, 10},
		{"temperature_final", t.TemperatureFinal, 0, 10},
		{"temperature_half_life", t.TemperatureHalfLife, 0, 10_000},
		{"batch", float64(t.Batch), 1, 1024},
		{"threads", float64(t.Threads), 1, 1024},
	} {
		if !(c.v >= c.low && c.v <= c.high) {
			wrong = append(wrong, fmt.Errorf("%w: actor.tree.%s: found %v, expected %v to %v", ErrInvalid, c.key, c.v, c.low, c.high))
		}
	}
	if t.MateProbe != 0 && t.MateProbe != 1 && t.MateProbe != 3 {
		wrong = append(wrong, fmt.Errorf("%w: actor.tree.mate_probe: found %d, expected 0, 1 or 3", ErrInvalid, t.MateProbe))
	}
	if !slices.Contains(runtimes, t.Runtime) {
		wrong = append(wrong, fmt.Errorf("%w: %s: found %q, expected one of %s", ErrInvalid, treeRuntime, t.Runtime, strings.Join(runtimes, ", ")))
	}
	return wrong
}
