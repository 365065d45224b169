package soak

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sample is what was found at one time.
type Sample struct {
	At     time.Duration // since the beginning
	Values []float64     // one for each column of Columns
}

// column is one thing that is sampled.
type column struct {
	name   string
	title  string
	metric string  // of /metrics; empty: bytes on disk
	slack  float64 // growth that says nothing, whatever the share
	perNet float64 // bytes that each net may leave for good
}

const (
	mib       = 1 << 20
	diskSlack = 4 * mib // a segment, a block of a stream, a net
	leftOfNet = 2000    // events, figures and the id of a net: 1.5 kB
)

// columns are what a soak samples: first the figures of the process, then the bytes of its
// directory by what lies there. The last ones are counters, which must go on.
var columns = []column{
	{"memory_bytes", "memory", "process_resident_memory_bytes", 16 * mib, 0},
	{"heap_bytes", "heap", "go_memstats_heap_inuse_bytes", 16 * mib, 0},
	{"descriptors", "descriptors", "process_open_fds", 8, 0},
	{"goroutines", "goroutines", "go_goroutines", 8, 0},
	{"disk_bus_bytes", "bus", "", diskSlack, 0},
	{"disk_replay_bytes", "replay", "", diskSlack, 0},
	{"disk_nets_bytes", "nets", "", diskSlack, 0},
	{"disk_train_bytes", "train", "", diskSlack, 0},
	{"disk_gate_bytes", "gate", "", mib, 0},
	{"disk_spool_bytes", "spool", "", mib, 0},
	{"disk_rest_bytes", "rest", "", mib, leftOfNet},
	{"games", "games", "selfplay_replay_games_total", 0, 0},
	{"steps", "steps", "selfplay_trainer_steps_total", 0, 0},
	{"nets", "nets", "selfplay_trainer_offered_generation", 0, 0},
}

// counters are the columns at the end that count what the run does.
const counters = 3

const (
	restOfDisk = "rest"          // what lies in none of the directories that have a column
	candidate  = "candidate.net" // a net that is being stored, and is there some of the time
)

// isDisk reports whether a column is bytes on disk.
func (c *column) isDisk() bool { return c.metric == "" }

// Columns are the names of what is sampled, in order.
func Columns() (names []string) {
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// Take samples a process, whose /metrics are at url, and the directory of its run.
func Take(ctx context.Context, url, dir string, at time.Duration) (Sample, error) {
	figures, err := scrape(ctx, url)
	if err != nil {
		return Sample{}, err
	}
	disk, err := usage(dir)
	if err != nil {
		return Sample{}, err
	}
	s := Sample{At: at}
	for _, c := range columns {
		value, found := figures[c.metric]
		if c.isDisk() {
			value = float64(disk[c.title])
		} else if !found {
			return s, fmt.Errorf("%s: found no %s, expected the figures of a loop", url, c.metric)
		}
		s.Values = append(s.Values, value)
	}
	return s, nil
}

const mostMetrics = 8 << 20 // bytes of /metrics

// scrape reads the figures without labels of a process.
func scrape(ctx context.Context, url string) (map[string]float64, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: found status %s, expected 200", url, a.Status)
	}
	figures := map[string]float64{}
	lines := bufio.NewScanner(io.LimitReader(a.Body, mostMetrics))
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			figures[name] = value
		}
	}
	return figures, lines.Err()
}

// usage returns the bytes of the files in a directory by the first part of their paths.
func usage(dir string) (map[string]int64, error) {
	sum := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return nil
		}
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil // removed meanwhile
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		kind, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		if kind == candidate {
			kind = "nets"
		}
		if !slices.ContainsFunc(columns, func(c column) bool { return c.isDisk() && c.title == kind }) {
			kind = restOfDisk
		}
		sum[kind] += info.Size()
		return nil
	})
	return sum, err
}

// Writer writes samples as CSV, each at once.
type Writer struct{ csv *csv.Writer }

// NewWriter writes the line of names.
func NewWriter(w io.Writer) (*Writer, error) {
	c := csv.NewWriter(w)
	if err := c.Write(append([]string{"seconds"}, Columns()...)); err != nil {
		return nil, err
	}
	c.Flush()
	return &Writer{c}, c.Error()
}

// Write writes a sample.
func (w *Writer) Write(s Sample) error {
	row := []string{strconv.FormatFloat(s.At.Seconds(), 'f', 1, 64)}
	for _, v := range s.Values {
		row = append(row, strconv.FormatFloat(v, 'f', -1, 64))
	}
	if err := w.csv.Write(row); err != nil {
		return err
	}
	w.csv.Flush()
	return w.csv.Error()
}

// Read reads what a Writer wrote.
func Read(r io.Reader) (all []Sample, err error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if want := append([]string{"seconds"}, Columns()...); len(rows) == 0 || !slices.Equal(rows[0], want) {
		return nil, fmt.Errorf("samples of a soak: found %.200q, expected the columns %s", rows[:min(1, len(rows))], strings.Join(want, ", "))
	}
	for i, row := range rows[1:] {
		values := make([]float64, len(row))
		for j, text := range row {
			if values[j], err = strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("samples of a soak: line %d: %w", i+2, err)
			}
			if math.IsNaN(values[j]) || math.IsInf(values[j], 0) { // grows by no bound, in any comparison
				return nil, fmt.Errorf("samples of a soak: line %d: found %s, expected a finite number", i+2, text)
			}
		}
		all = append(all, Sample{time.Duration(values[0] * float64(time.Second)), values[1:]})
	}
	return all, nil
}
