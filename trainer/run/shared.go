package run

import (
	"fmt"
	"sync"

	"github.com/crazyhouse-rl/selfplay/dataset"
)

// sharing lets runs with equal data read them once and hold them in memory
// together, for as long as one of them is to come or at work.
type sharing struct {
	mu   sync.Mutex
	data map[string]*shared
}

// shared is data that runs have in common.
type shared struct {
	users int
	read  func() (*dataset.Data, error) // at the first call
}

// dataKeys returns a key for each group of a run's data, which are read apart. Keys
// differ where the positions do, or what is said of them.
func (p *plan) dataKeys() []string {
	seed := uint64(0)
	if p.filter.Keep > 0 || p.filter.ThinPly > 0 {
		seed = p.cfg.Seed // decides what is left out
	}
	c := &p.cfg
	groups := p.groups()
	keys := make([]string, len(groups))
	for i, names := range groups {
		keys[i] = fmt.Sprintf("%q %s %+v kind %s seed %d memory %d of %d split %t measured %d newest %g mirror %g stacks %s %d",
			names, c.Variant, p.filter, c.Kind, seed, c.MemoryMB, len(groups), c.Validation == "", c.HeldOut, c.Newest, c.Mirror, c.Buckets, c.Stacks)
	}
	return keys
}

// expect announces a run.
func (s *sharing) expect(p *plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data == nil {
		s.data = make(map[string]*shared)
	}
	for _, key := range p.dataKeys() {
		if s.data[key] == nil {
			s.data[key] = new(shared)
		}
		s.data[key].users++
	}
}

// release ends what expect began; data without users are forgotten.
func (s *sharing) release(p *plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range p.dataKeys() {
		if s.data[key].users--; s.data[key].users == 0 {
			delete(s.data, key)
		}
	}
}

// get returns the data of an expected run, which read reads unless an equal
// reading was made or is being made.
func (s *sharing) get(key string, read func() (*dataset.Data, error)) (*dataset.Data, error) {
	s.mu.Lock()
	d := s.data[key]
	if d.read == nil {
		d.read = sync.OnceValues(read)
	}
	once := d.read
	s.mu.Unlock()
	return once()
}
