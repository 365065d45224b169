package run

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
)

// Runs have data in common unless a setting says which positions they are, or how
// they are described.
func TestDataKeys(t *testing.T) {
	base := settings(t, "a.chain", "b.chain")
	base.RandomSkip = 1
	key := func(change func(*configs.Learn)) string {
		cfg := base
		change(&cfg)
		p, err := newPlan(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return p.dataKeys()[0]
	}
	same := key(func(*configs.Learn) {})
	for i, change := range []func(*configs.Learn){
		func(l *configs.Learn) { l.Width, l.L2, l.Features = 64, 8, "All + PH + Hand" },
		func(l *configs.Learn) { l.LR, l.Batch, l.Epochs, l.Loss = "0.1", 512, 1, "cross-entropy" },
	} {
		if key(change) != same {
			t.Errorf("change %d needs data of its own", i)
		}
	}
	for i, change := range []func(*configs.Learn){
		func(l *configs.Learn) { l.Data = []string{"a.chain"} },
		func(l *configs.Learn) { l.Weights = "1,2" },
		func(l *configs.Learn) { l.Validation = "v.chain" },
		func(l *configs.Learn) { l.Seed = 9 }, // of the positions skipped
		func(l *configs.Learn) { l.MinPly = 3 },
		func(l *configs.Learn) { l.SkipDraws = true },
		func(l *configs.Learn) { l.Mirror = 10 },
		func(l *configs.Learn) { l.HeldOut = 10 },
		func(l *configs.Learn) { l.Newest = 0.5 },
		func(l *configs.Learn) { l.MemoryMB = 1 },
		func(l *configs.Learn) { l.Buckets = "board" },
	} {
		if key(change) == same {
			t.Errorf("change %d shares the data", i)
		}
	}
}

// Data are read once, and forgotten with their last user.
func TestSharing(t *testing.T) {
	p, err := newPlan(settings(t, "a.chain"))
	if err != nil {
		t.Fatal(err)
	}
	key := p.dataKeys()[0]
	reads := 0
	read := func() (*dataset.Data, error) { reads++; return new(dataset.Data), nil }
	var s sharing
	s.expect(p)
	s.expect(p)
	a, _ := s.get(key, read)
	s.release(p)
	b, _ := s.get(key, read)
	if reads != 1 || a != b {
		t.Errorf("read %d times", reads)
	}
	if s.release(p); len(s.data) != 0 {
		t.Error("data without users are kept")
	}
}
