//go:build unix && !linux

package clustertest

import "errors"

// arrivals tells which files lie in directories. What comes and goes between two calls it
// misses: the system does not name it.
type arrivals struct{ dirs []string }

func watchArrivals(dirs []string) (*arrivals, error) { return &arrivals{dirs}, nil }

// names returns the names of the files that are there.
func (a *arrivals) names() (names []string, err error) {
	for _, dir := range a.dirs {
		files, failed := list(dir)
		names, err = append(names, files...), errors.Join(err, failed)
	}
	return names, err
}

func (a *arrivals) close() error { return nil }
