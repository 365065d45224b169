package netstat

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// Report is what a net is and what its weights do.
type Report struct {
	ID           string            `json:"id"` // SHA-256 of the file
	Variant      string            `json:"variant"`
	Architecture nnue.Architecture `json:"architecture"`
	Description  string            `json:"description"`
	Features     FeaturesReport    `json:"features"`
	Manifest     *nets.Manifest    `json:"manifest,omitempty"`
	Overflow     string            `json:"overflow,omitempty"` // how it could happen
	Accumulator  nnue.Span         `json:"accumulator"`
	Saturations  []nnue.Saturation `json:"saturations,omitempty"`
	Ranges       []Range           `json:"ranges"`
	Dead         []Neuron          `json:"dead_by_weights"`
	Activity     *Activity         `json:"activity,omitempty"`
}

// FeaturesReport is what a net's feature set is.
type FeaturesReport struct {
	Expression string `json:"expression"`
	Describe   string `json:"describe"`
	Size       int    `json:"size"`
	MaxActive  int    `json:"max_active"`
	Dead       int    `json:"dead"` // never active in a legal game
}

// Inspect reports on a net, whose id is given. The report has no manifest and no activity.
func Inspect(id string, n *nnue.Network) Report {
	set := n.Features()
	r := Report{ID: id, Architecture: n.Architecture()}
	r.Variant, r.Description = r.Architecture.Variant, n.Description
	r.Features = FeaturesReport{set.String(), set.Describe(), set.Size(), set.MaxActive(), len(features.Dead(set))}
	if err := n.Check(); err != nil {
		r.Overflow = err.Error()
	}
	bounds := n.AccumulatorBounds()
	for _, b := range bounds {
		r.Accumulator.Low, r.Accumulator.High = min(r.Accumulator.Low, b.Low), max(r.Accumulator.High, b.High)
	}
	r.Saturations = n.Saturations()
	r.Ranges = Ranges(n)
	r.Dead = DeadByWeights(n, bounds)
	return r
}

// ManifestBeside reads the manifest that a net store keeps beside a net; nil if
// there is none.
func ManifestBeside(path string) (*nets.Manifest, error) {
	name := strings.TrimSuffix(path, filepath.Ext(path)) + ".json"
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := nets.ParseManifest(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &m, nil
}

// WriteText writes the report as text.
func (r *Report) WriteText(w io.Writer) error {
	f := r.Features
	fmt.Fprintf(w, "id            %s\nvariant       %s\narchitecture  %s\n", r.ID, r.Variant, r.Architecture)
	fmt.Fprintf(w, "features      %s: %s; %d, of them %d dead, at most %d active\n", f.Expression, f.Describe, f.Size, f.Dead, f.MaxActive)
	fmt.Fprintf(w, "description   %q\n", r.Description)
	if m := r.Manifest; m != nil {
		fmt.Fprintf(w, "manifest      generation %d, step %d, %d samples, %d games, held-out loss %.6f, parent %.12s, seed %d, build %s\n",
			m.Generation, m.Step, m.Samples, m.Games, m.HeldOutLoss, m.Parent, m.Seed, words.Printable(m.Build))
		if m.PSQTStart != "" {
			fmt.Fprintf(w, "psqt start    %s\n", words.Printable(m.PSQTStart))
		}
		if m.ID != r.ID {
			fmt.Fprintf(w, "              of another net: found id %s in it\n", m.ID)
		}
	}
	if r.Overflow != "" {
		fmt.Fprintf(w, "overflow      possible: %s\n", r.Overflow)
	} else {
		fmt.Fprintln(w, "overflow      impossible")
	}
	fmt.Fprintf(w, "accumulator   from %d to %d at worst, int16 holds -32768 to 32767\n", r.Accumulator.Low, r.Accumulator.High)
	fmt.Fprintf(w, "saturation    %s\n\n", r.saturation())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "layer\tvalues\t1.0 is\tleast\tmost\tmean size\tlimit\tat limit")
	for _, l := range r.Ranges {
		limit, share := "-", "-"
		if l.Limit > 0 {
			limit, share = strconv.FormatInt(l.Limit, 10), fmt.Sprintf("%.4f %%", 100*l.AtLimit)
		}
		fmt.Fprintf(t, "%s\t%d\t%.4g\t%d\t%d\t%.2f\t%s\t%s\n", l.Layer, l.Count, l.One, l.Min, l.Max, l.Mean, limit, share)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(w, "\ndead by weights: ")
	printDead(w, r.Dead)
	if r.Activity != nil {
		return r.printActivity(w)
	}
	return nil
}

func (r *Report) saturation() string {
	if len(r.Saturations) == 0 {
		return "impossible, also in builds of Fairy-Stockfish that add products in 16 bits"
	}
	s := r.Saturations[0]
	return fmt.Sprintf("possible in builds of Fairy-Stockfish that add products in 16 bits (AVX2): %d groups of weights, the first in stack %d, layer %d, output %d, between %d and %d",
		len(r.Saturations), s.Stack, s.Layer, s.Output, s.Lowest, s.Highest)
}

// printDead lists neurons by layer and reason.
func printDead(w io.Writer, dead []Neuron) {
	if len(dead) == 0 {
		fmt.Fprintln(w, "none")
		return
	}
	fmt.Fprint(w, len(dead))
	for i, d := range dead {
		if i == 0 || d.Layer != dead[i-1].Layer || d.Why != dead[i-1].Why {
			fmt.Fprintf(w, "\n  %s, %s:", d.Layer, d.Why)
		}
		fmt.Fprintf(w, " %d", d.Index)
	}
	fmt.Fprintln(w)
}

func (r *Report) printActivity(w io.Writer) error {
	a := r.Activity
	fmt.Fprintf(w, "\nin %d positions, by stack %s\n\n", a.Positions, strings.Trim(fmt.Sprint(a.Buckets), "[]"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "layer\toutputs\tactive: least\tmedian\tmost\tmean\tat limit: mean")
	for _, l := range a.Layers {
		sorted := slices.Sorted(slices.Values(l.Active))
		fmt.Fprintf(t, "%s\t%d\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", l.Layer, l.Outputs,
			sorted[0], sorted[len(sorted)/2], sorted[len(sorted)-1], mean(l.Active), mean(l.Full))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(w, "\ndead in these positions: ")
	printDead(w, a.Dead)
	return nil
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}
