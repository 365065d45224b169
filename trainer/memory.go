package trainer

import (
	"errors"
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/sample"
)

// ErrNoSamples says that a source has nothing to draw from.
var ErrNoSamples = errors.New("no samples to draw from")

// Memory is a Source over samples held in memory. The caller splits them by
// game: positions of one game are too much alike to test one by the other.
type Memory struct {
	Train, Held []sample.Sample
}

// Draw fills dst with samples drawn uniformly, with replacement.
func (m *Memory) Draw(rng *rand.Rand, dst []sample.Sample) error {
	if len(m.Train) == 0 {
		return ErrNoSamples
	}
	for i := range dst {
		dst[i] = m.Train[rng.IntN(len(m.Train))]
	}
	return nil
}

// HeldOut copies the first held-out samples to dst.
func (m *Memory) HeldOut(dst []sample.Sample) []sample.Sample {
	return dst[:copy(dst, m.Held)]
}
