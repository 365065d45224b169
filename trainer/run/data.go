package run

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// Size reads the data that settings name and returns how many positions there are to
// train on: those of an epoch. Games is as in Options.
func Size(ctx context.Context, cfg configs.Learn, games map[string]dataset.Extent, progress io.Writer) (uint64, error) {
	p, err := newPlan(cfg)
	if err != nil {
		return 0, err
	}
	var share sharing
	share.expect(p)
	defer share.release(p)
	known := extents{}
	maps.Copy(known, games)
	s, err := p.openData(ctx, &share, known, progress)
	if err != nil {
		return 0, err
	}
	s.close()
	return s.size, nil
}

// extents say which games of replay buffers a run is of, by directory.
type extents map[string]dataset.Extent

// agree takes over what inputs turned out to be, unless that is other games than
// those known.
func (e extents) agree(inputs []dataset.Input) bool {
	for _, in := range inputs {
		found, _ := in.Extent()
		if known, ok := e[in.Name]; ok && known != found {
			return false
		}
	}
	for _, in := range inputs {
		if found, ok := in.Extent(); ok {
			e[in.Name] = found
		}
	}
	return true
}

// source is the data of a run.
type source struct {
	trainer.Seeker
	sets       []*dataset.Set // as many as there are weights, or one
	titles     []string       // of the sets
	newest     []sample.Sample
	size       uint64          // positions of an epoch
	validation []sample.Sample // of a file, measured instead of held-out games
	measures   string          // name of that file
}

// HeldOut copies the positions to measure to dst: those of the validation file, or
// of held-out games.
func (s *source) HeldOut(dst []sample.Sample) []sample.Sample {
	if s.validation != nil {
		return dst[:copy(dst, s.validation)]
	}
	return s.Seeker.HeldOut(dst)
}

// openData reads the data, or takes what another run has read, and writes to
// progress how far reading has come. Of replay buffers it reads the games known,
// and adds to these what it has read of others.
func (p *plan) openData(ctx context.Context, share *sharing, known extents, progress io.Writer) (*source, error) {
	groups := p.groups()
	cfg := dataset.SetConfig{
		Variant: p.Variant, Seed: p.cfg.Seed, Filter: p.filter,
		Memory: int64(p.cfg.MemoryMB) << 20 / int64(len(groups)),
		Split:  p.cfg.Validation == "", Newest: p.cfg.Newest, Measured: p.cfg.HeldOut,
		Mirror: p.cfg.Mirror / 100, Bucket: p.nnue.Bucket,
		Progress: func(name string, positions uint64) {
			fmt.Fprintf(progress, "reading %s, %d positions so far\n", name, positions)
		},
	}
	if p.Kind == configs.Planes {
		cfg.Bucket, cfg.Clock = nil, sample.PlanesClock
	}
	s := &source{}
	var sources []trainer.Source
	keys := p.dataKeys()
	for i, names := range groups {
		readNames := func() (*dataset.Data, error) {
			inputs, err := dataset.Inputs(names, p.Variant, known)
			if err != nil {
				return nil, err
			}
			return dataset.Read(ctx, cfg, inputs...)
		}
		data, err := share.get(keys[i], readNames)
		if err == nil && !known.agree(data.Inputs()) {
			// A buffer grew between the beginnings of two runs.
			if data, err = readNames(); err == nil {
				known.agree(data.Inputs())
			}
		}
		var set *dataset.Set
		if err == nil {
			set, err = data.Set(ctx, p.cfg.Seed)
		}
		if err != nil {
			s.close()
			return nil, err
		}
		s.sets, sources = append(s.sets, set), append(sources, set)
		s.titles = append(s.titles, p.title(i, names))
		s.newest = append(s.newest, set.Newest()...)
		s.size += set.Len()
	}
	if s.Seeker = s.sets[0]; len(sources) > 1 {
		shares := make([]float64, len(p.weights))
		for i, w := range p.weights {
			shares[i] = w.share
		}
		mixed, err := trainer.NewMixed(sources, shares)
		if err != nil {
			s.close()
			return nil, err
		}
		s.Seeker = mixed
	}
	return s, p.openValidation(ctx, s, known, cfg)
}

// openValidation reads the file of positions to measure, if there is one.
func (p *plan) openValidation(ctx context.Context, s *source, known extents, cfg dataset.SetConfig) error {
	if p.cfg.Validation == "" {
		return nil
	}
	in, err := dataset.Inputs([]string{p.cfg.Validation}, p.Variant, known)
	if err == nil {
		s.validation, err = dataset.Measured(ctx, cfg, in...)
	}
	if err != nil {
		s.close()
		return fmt.Errorf("validation: %w", err)
	}
	known.agree(in)
	s.measures = p.cfg.Validation
	return nil
}

// title says which data a group is.
func (p *plan) title(i int, names []string) string {
	text := names[0]
	if more := len(names) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if p.weights != nil {
		text += fmt.Sprintf(", weight %g", p.weights[i].share)
	}
	return text
}

// close ends reading ahead.
func (s *source) close() {
	for _, set := range s.sets {
		set.Close()
	}
}

// some returns up to n positions of the training data, of each set in the share that training
// draws of it: of one with fewer positions than that, the same ones several times, as
// training does.
func (s *source) some(n int) []sample.Sample {
	mixed, ok := s.Seeker.(*trainer.Mixed)
	if !ok {
		return s.sets[0].Some(n)
	}
	n = int(min(uint64(n), s.size))
	dst := make([]sample.Sample, 0, n)
	for i, set := range s.sets {
		share := mixed.Share(i, n)
		for found := set.Some(share); share > 0 && len(found) > 0; share -= len(found) {
			found = found[:min(share, len(found))]
			dst = append(dst, found...)
		}
	}
	return dst
}

// draw draws the statistics of the data, each set's into a file of its own.
func (s *source) draw(path string) error {
	for i, set := range s.sets {
		to := path
		if i > 0 {
			ext := filepath.Ext(path)
			to = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, ext), i+1, ext)
		}
		title := fmt.Sprintf("%s: %d positions", s.titles[i], set.Stats.Positions)
		if err := set.Stats.Draw(title).Save(to); err != nil {
			return err
		}
	}
	return nil
}

// print describes the data.
func (s *source) print(w io.Writer) error {
	for i, set := range s.sets {
		if len(s.sets) > 1 {
			fmt.Fprintf(w, "%s:\n", s.titles[i])
		}
		if err := set.Print(w); err != nil {
			return err
		}
	}
	if s.validation == nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "measured: %d positions of %s\n", len(s.validation), s.measures)
	return err
}
