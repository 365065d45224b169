package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// Names in a sweep's directory, beside one directory for each run.
const (
	outputFile = "output.txt" // of a run: what it would have printed
	tableText  = "table.txt"
	tableJSON  = "table.json"
)

// SweepOptions say how the runs of a sweep are made.
type SweepOptions struct {
	Options
	Jobs int // runs at the same time; 0: one per CPU
	// Names are those of the runs' directories, all different; nil: the settings in which
	// they differ.
	Names []string
	// Over, if not nil, is called when a run is over, by one run at a time.
	Over func(i int)
	// OnStep of a sweep is called for every run, by runs at the same time.
	OnStep func(i int, step, total uint64)
}

// Result is what came of a run of a sweep.
type Result struct {
	Dir     string            `json:"dir"`
	Varied  map[string]string `json:"varied"` // the settings in which the runs differ
	Summary Summary           `json:"summary"`
	Error   string            `json:"error,omitempty"` // why there is none
}

// Sweep makes all runs, some at a time, each in a directory within opt.Dir that is
// named by the settings in which they differ, and a table of what came of them.
// Runs with equal data that fit into memory hold them there together; of others
// each run at work loads windows of its own, within a budget of its own. Each
// learns what it would by itself.
// Runs that are over are not made again, and those begun are continued. A run that
// fails does not end the others; the error then joins those of all that did.
func Sweep(ctx context.Context, runs []configs.Learn, opt SweepOptions) (all []Result, err error) {
	jobs := opt.Jobs
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	jobs = min(jobs, len(runs))
	plans := make([]*plan, len(runs))
	var share sharing
	for i, cfg := range runs {
		if cfg.Workers == 0 {
			cfg.Workers = max(1, runtime.GOMAXPROCS(0)/jobs)
		}
		var err error
		if plans[i], err = newPlan(cfg); err != nil {
			return nil, err
		}
		share.expect(plans[i])
	}
	keys := configs.Varied(runs)
	names := opt.Names
	if names == nil {
		var err error
		if names, err = dirNames(runs, keys); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(filepath.Join(opt.Dir, configFile)); err == nil {
		return nil, fmt.Errorf("%w: %s: found one run, expected a sweep; use another directory", ErrOther, opt.Dir)
	}
	lock, err := dirlock.Acquire(opt.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	results, failures := make([]Result, len(runs)), make([]error, len(runs))
	progress := &lockedWriter{w: opt.Progress}
	var over sync.Mutex
	var group errgroup.Group
	group.SetLimit(jobs)
	for i, cfg := range runs {
		results[i] = Result{Varied: map[string]string{}}
		for _, key := range keys {
			results[i].Varied[key] = cfg.Get(key)
		}
		name := names[i]
		results[i].Dir = filepath.Join(opt.Dir, name)
		group.Go(func() error {
			defer share.release(plans[i])
			if failures[i] = ctx.Err(); failures[i] == nil {
				of := Options{Dir: results[i].Dir, Progress: progress.prefixed(name), Games: opt.Games, Validations: opt.Validations, Build: opt.Build}
				if opt.OnStep != nil {
					of.OnStep = func(step, total uint64) { opt.OnStep(i, step, total) }
				}
				results[i].Summary, failures[i] = runOne(ctx, plans[i], of, &share)
			}
			if failures[i] != nil {
				results[i].Error = failures[i].Error()
				failures[i] = fmt.Errorf("%s: %w", results[i].Dir, failures[i])
			} else if opt.Over != nil {
				over.Lock()
				defer over.Unlock()
				opt.Over(i)
			}
			return nil
		})
	}
	_ = group.Wait() // the functions return none
	if err := ctx.Err(); err != nil {
		failures = slices.DeleteFunc(failures, func(failure error) bool { return errors.Is(failure, err) })
		return results, besides(err, failures...)
	}
	if slices.ContainsFunc(failures, func(failure error) bool { return errors.Is(failure, ErrOther) }) {
		return results, errors.Join(failures...) // the table there is another sweep's
	}
	return results, errors.Join(errors.Join(failures...), saveTable(opt.Dir, keys, results))
}

// runOne makes a run whose output goes into a file of its directory.
func runOne(ctx context.Context, p *plan, opt Options, share *sharing) (_ Summary, err error) {
	if err := os.MkdirAll(opt.Dir, 0o755); err != nil {
		return Summary{}, err
	}
	out, err := os.OpenFile(filepath.Join(opt.Dir, outputFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return Summary{}, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	opt.Out = out
	s, err := p.run(ctx, opt, share)
	if err != nil {
		return s, err
	}
	return s, s.Print(out)
}

// dirName names a run by the settings in which it differs from the others.
func dirName(cfg configs.Learn, keys []string) string {
	var words []string
	for _, key := range keys {
		value := strings.Map(func(r rune) rune {
			if strings.ContainsRune(`/\:*?"<>| `, r) {
				return '-'
			}
			return r
		}, cfg.Get(key))
		words = append(words, key+"="+value)
	}
	if len(words) == 0 {
		return "run"
	}
	return strings.Join(words, ",")
}

// dirNames names all runs, and refuses those that would happen in the same directory.
func dirNames(runs []configs.Learn, keys []string) ([]string, error) {
	var names []string
	for _, cfg := range runs {
		name := dirName(cfg, keys)
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("%w: found two runs called %s, expected settings that differ, and not in punctuation only", trainer.ErrConfig, name)
		}
		names = append(names, name)
	}
	return names, nil
}

// saveTable writes the table as text and as JSON.
func saveTable(dir string, keys []string, results []Result) error {
	var text strings.Builder
	if err := PrintTable(&text, keys, results); err != nil {
		return err
	}
	data, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		durable.WriteFile(filepath.Join(dir, tableText), []byte(text.String())),
		durable.WriteFile(filepath.Join(dir, tableJSON), append(data, '\n')))
}

// columns are what the table says of a run, after the settings that vary.
var columns = []struct {
	name string
	of   func(s *Summary) string
}{
	{"loss held out", func(s *Summary) string { return ifAny(s.HeldOut.Positions, loss(s.HeldOut.Mean)) }},
	{"of scores", func(s *Summary) string { return ifAny(s.HeldOut.Positions, loss(s.HeldOut.Score)) }},
	{"of results", func(s *Summary) string { return ofResults(&s.HeldOut) }},
	{"newest", func(s *Summary) string { return ifAny(s.Newest.Positions, loss(s.Newest.Mean)) }},
	{"winners named", func(s *Summary) string { return ifAny(s.HeldOut.Decided, percent(s.HeldOut.SignAccuracy)) }},
	{"moves ranked", func(s *Summary) string { return ifAny(s.HeldOut.Triples, percent(s.HeldOut.Ranked)) }},
	{"moves named", func(s *Summary) string { return ifAny(s.HeldOut.Moves, percent(s.HeldOut.MoveAccuracy)) }},
	{"loss of moves", func(s *Summary) string { return ifAny(s.HeldOut.Moves, loss(s.HeldOut.Policy)) }},
	{"epochs", func(s *Summary) string { return fmt.Sprintf("%.2f", s.Epochs) }},
	{"positions/s", func(s *Summary) string { return fmt.Sprintf("%.0f", float64(s.Samples)/max(s.Seconds, 1e-3)) }},
	{"minutes", func(s *Summary) string { return fmt.Sprintf("%.1f", s.Seconds/60) }},
	{"export off by", func(s *Summary) string { return ifAny(s.Export.Positions, fmt.Sprintf("%.2f", s.Export.MeanRaw)) }},
	{"net bytes", func(s *Summary) string { return fmt.Sprint(s.NetSize) }},
}

func loss(mean float64) string { return fmt.Sprintf("%.6f", mean) }

// ofResults is the loss of results, which is 0 where no position has one.
func ofResults(l *trainer.Loss) string {
	if l.Result == 0 {
		return "-"
	}
	return loss(l.Result)
}

func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }

// ifAny is the text of a figure that was measured on n positions.
func ifAny(n int, text string) string {
	if n == 0 {
		return "-"
	}
	return text
}

// PrintTable writes a line for each run, with the values of the settings given.
func PrintTable(w io.Writer, keys []string, results []Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, key := range keys {
		fmt.Fprintf(t, "%s\t", key)
	}
	for _, c := range columns {
		fmt.Fprintf(t, "%s\t", c.name)
	}
	fmt.Fprintln(t)
	for i := range results {
		r := &results[i]
		for _, key := range keys {
			fmt.Fprintf(t, "%s\t", r.Varied[key])
		}
		for i, c := range columns {
			switch {
			case r.Error == "":
				fmt.Fprintf(t, "%s\t", c.of(&r.Summary))
			case i == 0:
				fmt.Fprint(t, "failed\t")
			default:
				fmt.Fprint(t, "\t")
			}
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// lockedWriter lets several runs write lines to one writer.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// prefixed returns a writer of whole lines, which begin with a name.
func (l *lockedWriter) prefixed(name string) io.Writer { return &prefixedWriter{l, name} }

type prefixedWriter struct {
	to   *lockedWriter
	name string
}

func (p *prefixedWriter) Write(line []byte) (int, error) {
	p.to.mu.Lock()
	defer p.to.mu.Unlock()
	if _, err := fmt.Fprintf(p.to.w, "%s: %s", p.name, line); err != nil {
		return 0, err
	}
	return len(line), nil
}
