package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// settle writes the settings, or compares them with those of the run that is
// there and returns what came of it if it is over. A start that did not come to
// its first checkpoint holds nothing to go on with and makes way.
func (r *runner) settle() (*Summary, error) {
	// A temporary file is no checkpoint to go on with.
	if err := errors.Join(durable.RemoveTemps(r.Dir), durable.RemoveTemps(r.path(checkpoints))); err != nil {
		return nil, err
	}
	text, err := configs.ReadFile(r.path(configFile))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(r.path(tableJSON)); err == nil {
			return nil, fmt.Errorf("%w: %s: found a sweep; use another directory", ErrOther, r.Dir)
		}
		if err := r.unused(); err != nil {
			return nil, err
		}
		return nil, durable.WriteFile(r.path(configFile), r.cfg.YAML())
	}
	if err != nil {
		return nil, err
	}
	was, err := savedSettings(text, r.path(configFile))
	if err != nil {
		return nil, err
	}
	begun, err := r.begun()
	if err != nil {
		return nil, err
	}
	if !begun {
		if err := r.removeStart(); err != nil {
			return nil, err
		}
		return nil, durable.WriteFile(r.path(configFile), r.cfg.YAML())
	}
	was.Workers = r.cfg.Workers // has no influence on what is learned
	if differing := configs.Varied([]configs.Learn{was, r.cfg}); len(differing) > 0 {
		var words []string
		for _, key := range differing {
			words = append(words, fmt.Sprintf("%s: %s there, %s now", key, was.Get(key), r.cfg.Get(key)))
		}
		return nil, fmt.Errorf("%w: %s: %s; use the same settings to go on, or another directory", ErrOther, r.Dir, strings.Join(words, "; "))
	}
	s := new(Summary)
	err = durable.ReadObject(r.path(summaryFile), "remove it, and the end of the run is measured again", s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.NetFile = r.path(r.netName()) // the directory may have another name by now
	if _, err := os.Stat(s.NetFile); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the end is made again
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// begun reports whether the run in the directory has come to a checkpoint, whole
// or damaged, or to its end.
func (r *runner) begun() (bool, error) {
	if _, err := os.Stat(r.path(summaryFile)); !errors.Is(err, fs.ErrNotExist) {
		return err == nil, err
	}
	entries, err := os.ReadDir(r.path(checkpoints))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(entries) > 0, err
}

// unused returns an error if the directory of a run that is to begin has files that it
// would write over.
func (r *runner) unused() error {
	for _, name := range []string{dataText, dataJSON, dataFigure, replayFile, logFile, checkpoints, netFile, planesFile, summaryFile, divergedFile, lossFigure, pauseFile, bestDir, netsDir} {
		if _, err := os.Lstat(r.path(name)); err == nil {
			return fmt.Errorf("%w: found %s without %s, expected a run or none of its files; use another directory", ErrOther, r.path(name), configFile)
		}
	}
	return nil
}

// removeStart removes what a start leaves before its first checkpoint, all but
// the settings: until they are written anew this can be done again.
func (r *runner) removeStart() error {
	paths := []string{r.path(dataText), r.path(dataJSON), r.path(dataFigure), r.path(replayFile), r.path(logFile)}
	for _, pattern := range []string{"data-*.png", "events.out.tfevents.*"} {
		several, err := durable.Glob(r.Dir, pattern)
		if err != nil {
			return err
		}
		paths = append(paths, several...)
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// savedSettings reads a run's settings. One that the file does not have, an older
// build's, is the preset's.
func savedSettings(text []byte, name string) (configs.Learn, error) {
	preset, err := configs.FilePreset(text, name)
	if err != nil {
		return configs.Learn{}, err
	}
	base, err := configs.LearnPreset(preset)
	if err != nil {
		return configs.Learn{}, fmt.Errorf("%s: %w", name, err)
	}
	all, err := base.Sweep(text, name)
	if err != nil {
		return configs.Learn{}, err
	}
	return all[0], nil
}

// openData reads the data and describes them.
func (r *runner) openData(ctx context.Context, share *sharing) error {
	fmt.Fprintf(r.Progress, "reading %s\n", strings.Join(r.cfg.Data, ", "))
	own, err := GamesOf(r.Dir)
	if err != nil {
		return err
	}
	known := extents(own)
	for dir, games := range GamesFor(r.Games, r.cfg) {
		if _, begun := known[dir]; !begun {
			known[dir] = games
		}
	}
	if r.source, err = r.plan.openData(ctx, share, known, r.Progress); err != nil {
		return err
	}
	var text strings.Builder
	if err := r.source.print(&text); err != nil {
		return err
	}
	fmt.Fprint(r.Out, text.String())
	facts := make([]dataFacts, len(r.source.sets))
	for i, set := range r.source.sets {
		facts[i] = dataFacts{set.Counts, set.Len(), set.Stats, set.Windows()}
	}
	data, err := json.MarshalIndent(facts, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if before, err := os.ReadFile(r.path(dataJSON)); err == nil {
		if err := sameData(before, data, r.path(dataJSON)); err != nil {
			return err
		}
		return writeGames(r.Dir, known)
	}
	return errors.Join(
		writeGames(r.Dir, known),
		r.source.draw(r.path(dataFigure)),
		durable.WriteFile(r.path(dataText), []byte(text.String())),
		durable.WriteFile(r.path(dataJSON), data))
}

// dataFacts describe a set. Its keys are in the order of their names.
type dataFacts struct {
	Counts     dataset.Counts   `json:"counts"`
	Positions  uint64           `json:"positions"` // to train on
	Statistics dataset.SetStats `json:"statistics"`
	Windows    int              `json:"windows"`
}

// sameData compares descriptions of data with those of the run's beginning.
func sameData(before, now []byte, name string) error {
	if bytes.Equal(before, now) {
		return nil
	}
	var words [2]string
	for i, text := range [][]byte{now, before} {
		var facts []dataFacts
		if err := json.Unmarshal(text, &facts); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		var c dataset.Counts
		trained := uint64(0)
		for _, f := range facts {
			trained += f.Positions
			c.Games, c.Samples, c.Kept = c.Games+f.Counts.Games, c.Samples+f.Counts.Samples, c.Kept+f.Counts.Kept
		}
		words[i] = fmt.Sprintf("%d games of %d positions, %d of them kept, %d to train on", c.Games, c.Samples, c.Kept, trained)
	}
	return fmt.Errorf("%w: the data are not those of %s: found %s, expected %s; give the same data to go on, or use another directory", ErrOther, name, words[0], words[1])
}

// GamesOf returns which games of replay buffers a run is of, by directory, from the file of
// its directory that says so; none at its beginning.
func GamesOf(dir string) (map[string]dataset.Extent, error) {
	known := map[string]dataset.Extent{}
	path := filepath.Join(dir, replayFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return known, nil
}

// GamesFor returns those of games, by directory, that are of replay buffers that runs name.
func GamesFor(games map[string]dataset.Extent, runs ...configs.Learn) map[string]dataset.Extent {
	of := map[string]dataset.Extent{}
	for i := range runs {
		for _, name := range slices.Concat(runs[i].Data, []string{runs[i].Validation}) {
			dir, isBuffer := strings.CutPrefix(name, dataset.BufferPrefix)
			if extent, known := games[dir]; isBuffer && known {
				of[dir] = extent
			}
		}
	}
	return of
}

// writeGames writes what GamesOf reads.
func writeGames(dir string, known map[string]dataset.Extent) error {
	if len(known) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(dir, replayFile), append(text, '\n'))
}

// Rename gives a run, if one was begun in a directory, the settings by which its data have the
// names of now, and the games of replay buffers by these names. They must be what they were.
func Rename(dir string, cfg configs.Learn, games map[string]dataset.Extent) error {
	path := filepath.Join(dir, configFile)
	before, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if was, err := savedSettings(before, path); err == nil { // else it is written anew
		cfg.Workers = was.Workers // has no influence on what is learned
	}
	text := cfg.YAML()
	if bytes.Equal(before, text) {
		return nil
	}
	// The settings are last: as long as they are those of before, the next call writes both.
	if err := writeGames(dir, GamesFor(games, cfg)); err != nil {
		return err
	}
	return durable.WriteFile(path, text)
}
