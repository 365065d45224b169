package tune

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/search/option"
	"github.com/crazyhouse-rl/selfplay/tune"
)

// params are the parameters of a player, with its values.
type params []option.Option

// newParams returns the parameters that a variant is played with, changed as the
// player says.
func newParams(v *chess.Variant, changed map[string]string) (params, error) {
	values := ab.DefaultParams(v)
	if err := values.Set(changed); err != nil {
		return nil, err
	}
	return option.All(&values), nil
}

// find takes the parameter that an argument NAME or NAME=REST is about.
func (p params) find(arg string) (o option.Option, rest string, err error) {
	key, rest, given := strings.Cut(arg, "=")
	o, ok := option.Find(p, key)
	switch {
	case !ok:
		return o, "", fmt.Errorf("%w: found %q, the nearest parameter is %s (see tune --list)", cli.ErrUsage, key, words.Nearest(key, option.Keys(p)))
	case given && rest == "":
		return o, "", fmt.Errorf("%w: %s: found nothing after =", cli.ErrUsage, arg)
	}
	return o, rest, nil
}

// number reads NAME[=START[:STEP[:RATE]]]. Package tune checks the values.
func (p params) number(arg string, rate float64) (tune.Number, error) {
	o, rest, err := p.find(arg)
	if err != nil {
		return tune.Number{}, err
	}
	low, high, ok := o.Bounds()
	if !ok {
		return tune.Number{}, fmt.Errorf("%w: found the switch %s, expected a number: --screen compares switches", cli.ErrUsage, o.Key)
	}
	start, err := strconv.ParseFloat(o.String(), 64)
	if err != nil {
		return tune.Number{}, err
	}
	n := tune.Number{Key: o.Key, Low: int(low), High: int(high), Start: start, Step: tune.DefaultStep(int(low), int(high)), Rate: rate}
	if rest == "" {
		return n, nil
	}
	fields := []*float64{&n.Start, &n.Step, &n.Rate}
	texts := strings.Split(rest, ":")
	if len(texts) > len(fields) {
		return n, fmt.Errorf("%w: found %q, expected NAME=START:STEP:RATE at most", cli.ErrUsage, arg)
	}
	for i, text := range texts {
		if *fields[i], err = strconv.ParseFloat(text, 64); err != nil {
			return n, fmt.Errorf("%w: %s: found %q, expected a number", cli.ErrUsage, arg, text)
		}
	}
	return n, nil
}

// factor reads NAME of a switch, or NAME=LOW:HIGH.
func (p params) factor(arg string) (tune.Factor, error) {
	o, rest, err := p.find(arg)
	if err != nil {
		return tune.Factor{}, err
	}
	low, high, ok := strings.Cut(rest, ":")
	_, _, isNumber := o.Bounds()
	switch {
	case rest == "" && !isNumber:
		low, high = "false", "true"
	case !ok:
		return tune.Factor{}, fmt.Errorf("%w: found %q, expected two levels, %s=LOW:HIGH", cli.ErrUsage, arg, o.Key)
	}
	f := tune.Factor{Key: o.Key}
	before := o.String()
	f.Low, err = canonical(o, low)
	if err == nil {
		f.High, err = canonical(o, high)
	}
	if err = errors.Join(err, o.Set(before)); err != nil {
		err = fmt.Errorf("%w: %s: %w", cli.ErrUsage, arg, err)
	}
	return f, err
}

// canonical returns a value as the option writes it.
func canonical(o option.Option, text string) (string, error) {
	if err := o.Set(text); err != nil {
		return "", err
	}
	return o.String(), nil
}

// listed is a parameter as the list has it.
type listed struct {
	Key     string   `json:"key"`
	Low     *float64 `json:"low,omitempty"` // of a number
	High    *float64 `json:"high,omitempty"`
	Default string   `json:"default"`
	Usage   string   `json:"usage"`
}

// printList prints the parameters of a variant.
func printList(w io.Writer, v *chess.Variant, asJSON bool) error {
	all, err := newParams(v, nil)
	if err != nil {
		return err
	}
	list := make([]listed, len(all))
	for i, o := range all {
		list[i] = listed{Key: o.Key, Default: o.String(), Usage: o.Usage}
		if low, high, ok := o.Bounds(); ok {
			list[i].Low, list[i].High = &low, &high
		}
	}
	return cli.WriteReport(w, asJSON, list, func(w io.Writer) error {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "parameter\trange\tdefault\tmeaning")
		for _, l := range list {
			values := "false, true"
			if l.Low != nil {
				values = fmt.Sprintf("%.0f..%.0f", *l.Low, *l.High)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", l.Key, values, l.Default, l.Usage)
		}
		return t.Flush()
	})
}
