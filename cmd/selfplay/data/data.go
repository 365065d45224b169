// Package data has the commands for training data: convert, rescore, shuffle, split,
// validate, stats and replay.
package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Commands returns the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{newConvertCommand(), newValidateCommand(), newStatsCommand(), newShuffleCommand(), newSplitCommand(), newRescoreCommand()}
}

// dataHelp describes the files of the commands that read training data.
const dataHelp = `Formats go by extension:

  .chain     our own: games and chains of positions, all that is known of them
  .bin       72-byte records of variant-nnue-tools; .bin256: 40 bytes, chess
  .plain     text of the same tools, six lines a position
  .binpack   chains of Stockfish's tools, chess
  .txt       FEN,score,move; .compact: the same in chains
  replay:DIR the games of a replay buffer or of a run, for reading only

"-" is standard input or output and needs --from or --to.`

// dataOptions say how files of training data are to be read.
type dataOptions struct {
	variant, from string
}

func (o *dataOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.variant, "variant", "crazyhouse", "variant of files that do not say: crazyhouse or chess")
	f.StringVar(&o.from, "from", "", "format of the input, whatever its name: "+dataset.FormatNames())
}

// format returns the format of a file, which name, if not empty, overrides. Flag
// is where name came from.
func format(flag, name, path string) (dataset.Format, error) {
	f, err := dataset.Format(0), error(nil)
	switch {
	case name != "":
		f, err = dataset.ParseFormat(name)
	case path == "-":
		err = fmt.Errorf("the format of - is not known, expected it here: %s", dataset.FormatNames())
	default:
		if f, err = dataset.FormatOf(path); err != nil {
			err = fmt.Errorf("%w; or the format here", err)
		}
	}
	if err != nil {
		return f, fmt.Errorf("%w: %s: %w", cli.ErrUsage, flag, err)
	}
	return f, nil
}

// open opens the named files. The caller closes them.
func (o *dataOptions) open(c *cobra.Command, names []string) (list []*dataset.Source, err error) {
	v, err := cli.Variant(o.variant)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			closeAll(list)
		}
	}()
	for _, name := range names {
		f, err := format("--from", o.from, name)
		if err != nil {
			return list, err
		}
		if dir, ok := strings.CutPrefix(name, dataset.BufferPrefix); ok {
			found, err := dataset.BufferDir(dir)
			if err != nil {
				return list, err
			}
			name = dataset.BufferPrefix + found
		}
		s, err := dataset.Open(name, f, v, interruptibleReader{c.Context(), c.InOrStdin()})
		if err != nil {
			return list, err
		}
		list = append(list, s)
		if c.Flags().Changed("variant") && s.Variant != nil && s.Variant != v {
			return list, fmt.Errorf("%w: --variant: found %s, but %s is %s", cli.ErrUsage, v, s.Name, s.Variant)
		}
	}
	return list, nil
}

func closeAll(list []*dataset.Source) {
	for _, s := range list {
		s.Close()
	}
}

// variantOf returns the variant of the sources, which must be one.
func variantOf(sources []*dataset.Source) (*chess.Variant, error) {
	var v *chess.Variant
	for _, s := range sources {
		switch {
		case s.Variant == nil: // without a position
		case v == nil:
			v = s.Variant
		case v != s.Variant:
			return nil, fmt.Errorf("%w: %s has positions of %s, expected %s as in the files before", cli.ErrUsage, s.Name, s.Variant, v)
		}
	}
	if v == nil {
		v = chess.Crazyhouse
	}
	return v, nil
}

// unitOf returns the unit to write the scores of the sources in where the format
// leaves a choice: theirs, if it is one.
func unitOf(sources []*dataset.Source) sample.Unit {
	unit := sources[0].Unit()
	for _, s := range sources {
		if s.Unit() != unit {
			return sample.CentipawnUnit
		}
	}
	return unit
}

// outputOptions say how files of training data are to be written.
type outputOptions struct {
	to    string
	force bool
}

func (o *outputOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.to, "to", "", "format of the output, whatever its name: as --from, but for replay")
	f.BoolVar(&o.force, "force", false, "replace an output file that exists")
}

// target describes the output file called name for what is in sources.
func (o *outputOptions) target(c *cobra.Command, name string, sources []*dataset.Source) (dataset.Target, error) {
	f, err := format("--to", o.to, name)
	if err != nil {
		return dataset.Target{}, err
	}
	v, err := variantOf(sources)
	if err != nil {
		return dataset.Target{}, err
	}
	return dataset.Target{
		Name: name, Format: f, Variant: v, Unit: unitOf(sources), Force: o.force, Stdout: c.OutOrStdout(),
		Note: func(text string) { fmt.Fprintln(c.ErrOrStderr(), text) },
	}, nil
}

// createError says what to do about an output file that exists.
func createError(err error) error {
	if errors.Is(err, dataset.ErrExists) {
		return fmt.Errorf("%w (--force replaces it)", err)
	}
	return err
}

// tellLosses says what does not survive the way from sources to the outputs, and whether
// scores are converted; of outputs that are alike once.
func tellLosses(w io.Writer, sources []*dataset.Source, outputs ...*dataset.Target) {
	tellMissing(w, sources, outputs...)
	for i, t := range outputs {
		if slices.ContainsFunc(outputs[:i], func(before *dataset.Target) bool { return before.Unit == t.Unit }) {
			continue
		}
		for _, s := range sources {
			if s.Unit() != t.Unit {
				fmt.Fprintf(w, "%s: scores are converted from %v to %v\n", s.Name, s.Unit(), t.Unit)
			}
		}
	}
}

// tellMissing says what of a sample but its score does not survive the way from sources
// to the outputs. What only games have is for tellParted.
func tellMissing(w io.Writer, sources []*dataset.Source, outputs ...*dataset.Target) {
	for _, s := range sources {
		if s.Format == dataset.Text || s.Format == dataset.Compact {
			fmt.Fprintf(w, "%s: has no results, which are taken to be 0; plies are those of the move numbers\n", s.Name)
		}
	}
	for i, t := range outputs {
		told := slices.ContainsFunc(outputs[:i], func(before *dataset.Target) bool { return before.Format == t.Format })
		foreign := func(s *dataset.Source) bool { return s.Format != t.Format }
		if loses := t.Format.Loses(); loses != "" && !told && slices.ContainsFunc(sources, foreign) {
			fmt.Fprintf(w, "%s: does not keep %s\n", t.Name, loses)
		}
	}
}

// tellParted says what is lost of the sources' games where they were not copied whole to
// the outputs.
func tellParted(w io.Writer, sources []*dataset.Source, outputs ...string) {
	if slices.ContainsFunc(sources, (*dataset.Source).Parted) {
		fmt.Fprintf(w, "%s: does not keep %s\n", strings.Join(outputs, ", "), dataset.PartingLoses)
	}
}

// tellDamage says which sources end in a part of a record, and what could not be
// read of replay buffers. It returns how much that was. It also says how many games of
// excluded actors were left out, which is no damage.
func tellDamage(w io.Writer, sources []*dataset.Source) (n int) {
	for _, s := range sources {
		if left := s.Excluded(); left > 0 {
			fmt.Fprintf(w, "%s: %d games of excluded actors left out\n", s.Name, left)
		}
		for _, what := range s.Damage() {
			fmt.Fprintf(w, "%s: not read: %s\n", s.Name, what)
			n++
		}
		if t := s.Trailing(); t > 0 {
			fmt.Fprintf(w, "%s: the last %d bytes are no whole record and were not read\n", s.Name, t)
			n++
		}
	}
	return n
}

// tellRate says how many of something were done since start.
func tellRate(w io.Writer, n int64, what string, start time.Time) {
	s := time.Since(start).Seconds()
	fmt.Fprintf(w, "%d %s in %.1f s, %.0f a second\n", n, what, s, float64(n)/max(s, 1e-9))
}

// interruptibleReader is a reader that fails once ctx has ended, even while it
// waits for input.
type interruptibleReader struct {
	ctx context.Context
	r   io.Reader
}

func (r interruptibleReader) Read(p []byte) (int, error) {
	if _, file := r.r.(*os.File); !file {
		return r.r.Read(p) // does not wait
	}
	type result struct {
		b   []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		b := make([]byte, len(p))
		n, err := r.r.Read(b)
		done <- result{b[:n], err}
	}()
	select {
	case got := <-done:
		return copy(p, got.b), got.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}
