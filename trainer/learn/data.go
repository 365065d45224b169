package learn

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/pool"
)

// Files replaces the directories among the names of data by the sample files in
// them, sorted; a directory that is a replay buffer, or a run's with one in it,
// becomes replay:DIR, and of replay:DIR the directory may be a run's too. Names
// that are of no known format are an error.
func Files(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		if dir, ok := strings.CutPrefix(name, replayPrefix); ok {
			buffer, found := bufferIn(dir)
			if !found {
				return nil, fmt.Errorf("%s: found no segments (*.seg), expected those of a replay buffer, there or in %s", dir, filepath.Join(dir, "replay"))
			}
			files = append(files, replayPrefix+buffer)
			continue
		}
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			in, err := filesIn(name)
			if err != nil {
				return nil, err
			}
			files = append(files, in...)
			continue
		}
		_, unknown := dataset.FormatOf(name)
		switch {
		case err != nil && unknown != nil:
			return nil, fmt.Errorf("%w; %w", err, unknown)
		case err != nil || unknown != nil:
			return nil, cmp.Or(err, unknown)
		}
		files = append(files, name)
	}
	return files, nil
}

// replayPrefix begins the name of a replay buffer.
const replayPrefix = "replay:"

// bufferIn finds the replay buffer in a directory, its own or a run's.
func bufferIn(dir string) (string, bool) {
	for _, buffer := range []string{dir, filepath.Join(dir, "replay")} {
		if segments, _ := durable.Glob(buffer, "*.seg"); len(segments) > 0 {
			return buffer, true
		}
	}
	return "", false
}

func filesIn(dir string) ([]string, error) {
	if buffer, ok := bufferIn(dir); ok {
		return []string{replayPrefix + buffer}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if _, err := dataset.FormatOf(e.Name()); err == nil && e.Type().IsRegular() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: found no files of samples and no replay buffer, expected either", dir)
	}
	slices.Sort(files)
	return files, nil
}

// extents say which games of replay buffers a run is of, by directory.
type extents map[string]pool.Extent

// agree takes over what inputs turned out to be, unless that is other games than
// those known.
func (e extents) agree(inputs []pool.Input) bool {
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

// input opens one name of data.
func (e extents) input(name string, v *chess.Variant) (pool.Input, error) {
	format, err := dataset.FormatOf(name)
	if err != nil {
		return pool.Input{}, err
	}
	switch format {
	case dataset.Replay:
		dir := strings.TrimPrefix(name, replayPrefix)
		return pool.Replay(dir, e[dir]), nil
	case dataset.Chain:
		return pool.Chain(name), nil
	}
	return pool.Samples(name, func() (sample.Reader, func(), error) {
		s, err := dataset.Open(name, format, v, nil)
		if err != nil {
			return nil, nil, err
		}
		return s.Reader, s.Close, nil
	}), nil
}

// Inputs opens names of data as Files returns them.
func Inputs(names []string, v *chess.Variant) ([]pool.Input, error) {
	return extents(nil).inputs(names, v)
}

// inputs opens names of data, each once, so that what is named twice is the same
// both times.
func (e extents) inputs(names []string, v *chess.Variant) ([]pool.Input, error) {
	inputs := make([]pool.Input, len(names))
	for i, name := range names {
		if before := slices.Index(names[:i], name); before >= 0 {
			inputs[i] = inputs[before]
			continue
		}
		var err error
		if inputs[i], err = e.input(name, v); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// source is the data of a run.
type source struct {
	trainer.Seeker
	sets       []*pool.Set // as many as there are weights, or one
	titles     []string    // of the sets
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
	if name := p.cfg.Validation; name != "" { // before all is read
		if _, err := os.Stat(strings.TrimPrefix(name, replayPrefix)); err != nil {
			return nil, fmt.Errorf("validation: %w", err)
		}
	}
	groups := p.groups()
	cfg := pool.Config{
		Variant: p.variant, Seed: p.cfg.Seed, Filter: p.filter,
		Memory: int64(p.cfg.MemoryMB) << 20 / int64(len(groups)),
		Split:  p.cfg.Validation == "", Newest: p.cfg.Newest, Measured: p.cfg.HeldOut,
		Mirror: p.cfg.Mirror / 100, Bucket: p.arch.Bucket,
		Progress: func(name string, positions uint64) {
			fmt.Fprintf(progress, "reading %s, %d positions so far\n", name, positions)
		},
	}
	if p.planes != nil {
		cfg.Bucket, cfg.History = nil, true
	}
	s := &source{}
	var sources []trainer.Source
	keys := p.dataKeys()
	for i, names := range groups {
		readNames := func() (*pool.Data, error) {
			inputs, err := known.inputs(names, p.variant)
			if err != nil {
				return nil, err
			}
			return pool.Read(ctx, cfg, inputs...)
		}
		data, err := share.get(keys[i], readNames)
		if err == nil && !known.agree(data.Inputs()) {
			// A buffer grew between the beginnings of two runs.
			if data, err = readNames(); err == nil {
				known.agree(data.Inputs())
			}
		}
		var set *pool.Set
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
func (p *plan) openValidation(ctx context.Context, s *source, known extents, cfg pool.Config) error {
	if p.cfg.Validation == "" {
		return nil
	}
	in, err := known.input(p.cfg.Validation, p.variant)
	if err == nil {
		s.validation, err = pool.Measured(ctx, cfg, in)
	}
	if err != nil {
		s.close()
		return fmt.Errorf("validation: %w", err)
	}
	known.agree([]pool.Input{in})
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

// some returns up to n positions of the training data.
func (s *source) some(n int) []sample.Sample {
	dst := make([]sample.Sample, 0, n)
	for _, set := range s.sets {
		dst = append(dst, set.Some(n/len(s.sets))...)
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
