package configs

import "fmt"

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
	return wrong
}
