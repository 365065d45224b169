package dataset

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/replay"
)

// Files replaces the directories among the names of data by the sample files in
// them, sorted; a directory that is a replay buffer, or a run's with one in it,
// becomes replay:DIR, and of replay:DIR the directory may be a run's too. Names
// that are of no known format are an error.
func Files(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		if dir, ok := strings.CutPrefix(name, BufferPrefix); ok {
			buffer, err := BufferDir(dir)
			if err != nil {
				return nil, err
			}
			files = append(files, BufferPrefix+buffer)
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
		_, unknown := FormatOf(name)
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

// BufferDir finds the replay buffer in a directory, its own or a run's.
func BufferDir(dir string) (string, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return "", err
	}
	for _, d := range []string{dir, filepath.Join(dir, "replay")} {
		if segments, manifest := replay.Contents(d); segments || manifest {
			return d, nil
		}
	}
	return "", fmt.Errorf("%s: found no segments (*.seg) and no manifest.json, expected those of a replay buffer, here or in %s", dir, filepath.Join(dir, "replay"))
}

// filesIn returns the replay buffer in a directory, or else the files of samples.
func filesIn(dir string) ([]string, error) {
	if buffer, err := BufferDir(dir); err == nil {
		if segments, _ := replay.Contents(buffer); segments {
			return []string{BufferPrefix + buffer}, nil
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if _, err := FormatOf(e.Name()); err == nil && e.Type().IsRegular() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: found no files of samples and no replay buffer, expected either", dir)
	}
	slices.Sort(files)
	return files, nil
}
