package trainer

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/sample"
)

// Mixed is a Source that draws from several, of each a fixed share of the
// samples. If any of them is a Seeker, all whose draws depend on what they have
// given must be.
type Mixed struct {
	sources []Source
	// The samples are dealt to the sources by a cycle of mixCycle places.
	prefix [][mixCycle + 1]uint64 // by source: how many of the first places are its
	drawn  uint64
}

const (
	mixCycle = 1 << 12
	// mixStride goes round the cycle in steps that visit every place once and
	// spread those of a source evenly: about its golden section, and odd.
	mixStride = 2531
)

var _ Seeker = (*Mixed)(nil)

// NewMixed mixes sources by weights, one for each, all above 0. The error wraps
// ErrConfig.
func NewMixed(sources []Source, weights []float64) (*Mixed, error) {
	if len(sources) == 0 || len(weights) != len(sources) {
		return nil, fmt.Errorf("%w: found %d weights for %d sources, expected one for each", ErrConfig, len(weights), len(sources))
	}
	sum := 0.0
	for _, w := range weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("%w: found weight %g, expected a number above 0", ErrConfig, w)
		}
		sum += w
	}
	m := &Mixed{sources: sources, prefix: make([][mixCycle + 1]uint64, len(sources))}
	for place := range mixCycle {
		at, of := float64(place*mixStride%mixCycle)+0.5, 0
		for upTo := weights[0]; of < len(weights)-1 && at > upTo/sum*mixCycle; upTo += weights[of] {
			of++
		}
		for i := range m.prefix {
			m.prefix[i][place+1] = m.prefix[i][place]
		}
		m.prefix[of][place+1]++
	}
	for i, p := range m.prefix {
		if p[mixCycle] == 0 {
			return nil, fmt.Errorf("%w: weight %g of %g is less than one in %d", ErrConfig, weights[i], sum, mixCycle)
		}
	}
	return m, nil
}

// count returns how many of the first drawn samples are of source i.
func (m *Mixed) count(i int, drawn uint64) uint64 {
	return drawn/mixCycle*m.prefix[i][mixCycle] + m.prefix[i][drawn%mixCycle]
}

// Share returns how many of n samples are of source i.
func (m *Mixed) Share(i, n int) int { return int(m.count(i, uint64(n))) }

// Draw fills dst, source by source.
func (m *Mixed) Draw(rng *rand.Rand, dst []sample.Sample) error {
	next := m.drawn + uint64(len(dst))
	for i, s := range m.sources {
		n := m.count(i, next) - m.count(i, m.drawn)
		if err := s.Draw(rng, dst[:n]); err != nil {
			return err
		}
		dst = dst[n:]
	}
	m.drawn = next
	return nil
}

// Seek goes to where the sources are after drawn samples.
func (m *Mixed) Seek(drawn uint64) error {
	m.drawn = drawn
	for i, s := range m.sources {
		if s, ok := s.(Seeker); ok {
			if err := s.Seek(m.count(i, drawn)); err != nil {
				return err
			}
		}
	}
	return nil
}

// HeldOut fills dst with held-out samples of all sources, in the shares they are
// trained on, or fewer where a source has fewer.
func (m *Mixed) HeldOut(dst []sample.Sample) []sample.Sample {
	n := 0
	for i, s := range m.sources {
		n += len(s.HeldOut(dst[n : n+m.Share(i, len(dst))]))
	}
	return dst[:n]
}
