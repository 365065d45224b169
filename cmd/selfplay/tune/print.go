package tune

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search/option"
	"github.com/crazyhouse-rl/selfplay/tune"
)

// progressEvery is the time between two lines of progress where no terminal shows it
// all the time.
const progressEvery = 10 * time.Second

// progress shows how far a run is. Package tune calls it one call at a time.
type progress struct {
	out    *cli.Live
	of     int // pairs in all
	played int // since began
	began  time.Time
	shown  time.Time
	values string // of SPSA, after the last batch
}

func newProgress(w io.Writer, pairs int) *progress {
	return &progress{out: cli.NewLive(w), of: pairs, began: time.Now(), shown: time.Now()}
}

// pair takes the number of pairs finished.
func (p *progress) pair(finished int) {
	p.played++
	left := float64(p.of-finished) / float64(p.played) * float64(time.Since(p.began))
	text := fmt.Sprintf("%d of %d pairs%s, ETA %v", finished, p.of, p.values, time.Duration(left).Round(time.Second))
	if p.out.Width > 0 {
		_ = p.out.Show(text) // if nobody reads, the run goes on
	} else if time.Since(p.shown) >= progressEvery {
		p.shown = time.Now()
		fmt.Fprintln(p.out, text)
	}
}

// runSPSA tunes numbers and prints their values, also those of a run that was stopped.
func (o *options) runSPSA(c *cobra.Command, p params, cfg tune.Config, live *progress, base *player.Maker, args []string) error {
	s := tune.SPSA{Batch: o.batch}
	for _, arg := range args {
		n, err := p.number(arg, o.rate)
		if err != nil {
			return err
		}
		s.Numbers = append(s.Numbers, n)
	}
	s.OnBatch = func(_ int, values []float64) {
		live.values = ""
		for i, n := range s.Numbers {
			live.values += fmt.Sprintf(", %s %.2f", n.Key, values[i])
		}
	}
	path, err := s.Run(c.Context(), cfg)
	_ = live.out.Show()
	if len(path.Pairs) == 0 {
		return err
	}
	r := newTuned(&path, p, o.pairs, base)
	if endErr := cli.WriteReport(c.OutOrStdout(), o.json, r, r.text); endErr != nil {
		return errors.Join(err, endErr)
	}
	return errors.Join(err, o.draw(path.Figure()))
}

// draw draws a figure if it is asked for.
func (o *options) draw(f *figure.Figure) error {
	if o.plot == "" {
		return nil
	}
	return f.Save(o.plot)
}

// tuned is the result of SPSA as --json prints it.
type tuned struct {
	Type    string        `json:"type"`  // "spsa"
	Pairs   int           `json:"pairs"` // that the values follow from
	Of      int           `json:"of"`
	Numbers []tunedNumber `json:"numbers"`
	Player  string        `json:"player"` // with the values rounded
}

type tunedNumber struct {
	Key     string  `json:"key"`
	Start   float64 `json:"start"`
	Value   float64 `json:"value"`
	Rounded string  `json:"rounded"`

	field string // in ab.Params
}

func newTuned(path *tune.Path, p params, pairs int, base *player.Maker) *tuned {
	rounded := path.Rounded()
	spec := base.Tuned(rounded).Spec
	r := &tuned{Type: "spsa", Pairs: path.Pairs[len(path.Pairs)-1], Of: pairs, Player: spec.String()}
	for i, n := range path.Numbers {
		o, _ := option.Find(p, n.Key)
		r.Numbers = append(r.Numbers, tunedNumber{n.Key, n.Start, path.Last()[i], rounded[n.Key], o.Field})
	}
	return r
}

// text prints a table, then the values as a player's text, as fields of ab.Numbers and
// as keys of YAML.
func (r *tuned) text(w io.Writer) error {
	fmt.Fprintf(w, "%d of %d pairs\n", r.Pairs, r.Of)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "parameter\tstart\tvalue\trounded\t")
	var fields, keys []string
	for _, n := range r.Numbers {
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%s\t\n", n.Key, n.Start, n.Value, n.Rounded)
		fields = append(fields, n.field+": "+n.Rounded)
		keys = append(keys, n.Key+": "+n.Rounded)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "player: %s\nGo:     %s\nYAML:   {%s}\n", r.Player, strings.Join(fields, ", "), strings.Join(keys, ", "))
	return err
}

// screened is the result of a screen as --json prints it.
type screened struct {
	Type string `json:"type"` // "screen"
	Of   int    `json:"of"`   // pairs in all
	tune.Effects
}

// runScreen measures factors and prints their effects, also those of a run that was
// stopped.
func (o *options) runScreen(c *cobra.Command, p params, cfg tune.Config, live *progress, args []string) error {
	var s tune.Screen
	for _, arg := range args {
		f, err := p.factor(arg)
		if err != nil {
			return err
		}
		s.Factors = append(s.Factors, f)
	}
	effects, err := s.Run(c.Context(), cfg)
	_ = live.out.Show()
	if len(effects.Effects) == 0 {
		return err
	}
	r := &screened{"screen", o.pairs, effects}
	if endErr := cli.WriteReport(c.OutOrStdout(), o.json, r, r.text); endErr != nil {
		return errors.Join(err, endErr)
	}
	return errors.Join(err, o.draw(effects.Figure()))
}

func (r *screened) text(w io.Writer) error {
	fmt.Fprintf(w, "%d of %d pairs\n", r.Pairs, r.Of)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "change\tElo")
	for _, e := range r.Effects.Effects {
		margin, _ := e.Elo.Margin()
		fmt.Fprintf(t, "%v\t%+6.1f ± %.1f\n", e.Factor, e.Elo.Value, margin)
	}
	return t.Flush()
}
