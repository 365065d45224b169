package run

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// weight is the share that some names of data, which are read together, have of
// every batch.
type weight struct {
	share float64
	names int
}

// parseWeights reads shares with commas between, one for each name of data: 3,1.
// With xN after it a share is that of the next N names together: 3x2,1.
func parseWeights(text string, names int) ([]weight, error) {
	var weights []weight
	left := names
	for word := range strings.SplitSeq(text, ",") {
		share, several, found := strings.Cut(strings.TrimSpace(word), "x")
		w := weight{names: 1}
		var err error
		if found {
			w.names, err = strconv.Atoi(several)
		}
		if err == nil {
			w.share, err = strconv.ParseFloat(share, 64)
		}
		if err != nil || !(w.share > 0) || math.IsInf(w.share, 0) || w.names < 1 || w.names > left {
			return nil, weightsError(text, names)
		}
		left -= w.names
		weights = append(weights, w)
	}
	if left > 0 {
		return nil, weightsError(text, names)
	}
	return weights, nil
}

func weightsError(text string, names int) error {
	return fmt.Errorf("%w: found weights %q, expected a number above 0 for each of %d names of data, with commas between", trainer.ErrConfig, text, names)
}

// Expand replaces the names of data, and that of the positions to measure, by those
// of files, as Files does. Weights stay those of the names: of a directory's files
// together.
func Expand(cfg configs.Learn) (configs.Learn, error) {
	var files []string
	var counts []int
	for _, name := range cfg.Data {
		of, err := dataset.Files([]string{name})
		if err != nil {
			return cfg, err
		}
		files, counts = append(files, of...), append(counts, len(of))
	}
	if cfg.Weights != "" && len(files) > len(counts) {
		weights, err := parseWeights(cfg.Weights, len(counts))
		if err != nil {
			return cfg, err
		}
		words := make([]string, len(weights))
		for i, w := range weights {
			n := 0
			for _, count := range counts[:w.names] {
				n += count
			}
			counts = counts[w.names:]
			if words[i] = fmt.Sprint(w.share); n > 1 {
				words[i] += fmt.Sprintf("x%d", n)
			}
		}
		cfg.Weights = strings.Join(words, ",")
	}
	cfg.Data = files
	if cfg.Validation != "" {
		of, err := dataset.Files([]string{cfg.Validation})
		if err == nil && len(of) > 1 {
			err = fmt.Errorf("%w: %s: found %d files of samples, expected one: give its name", trainer.ErrConfig, cfg.Validation, len(of))
		}
		if err != nil {
			return cfg, fmt.Errorf("validation: %w", err)
		}
		cfg.Validation = of[0]
	}
	return cfg, nil
}

// groups are the names of data that are read together: all, or those that have a
// weight together.
func (p *plan) groups() [][]string {
	if p.weights == nil {
		return [][]string{p.cfg.Data}
	}
	groups, left := make([][]string, len(p.weights)), p.cfg.Data
	for i, w := range p.weights {
		groups[i], left = left[:w.names], left[w.names:]
	}
	return groups
}
