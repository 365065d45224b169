package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game/positions"
)

// positionsOptions say which positions a command looks at.
type positionsOptions struct {
	file, replay string
	count        int
	seed         uint64
}

const positionsHelp = `Positions come from a file of FENs or EPDs, one a line (--positions), from a
replay buffer or a run's directory, those in which a search chose the move
(--replay), or else from quick games that the material evaluation plays against
itself, the same for the same --seed.`

func (o *positionsOptions) addFlags(f *pflag.FlagSet, count int, countUsage string) {
	f.StringVar(&o.file, "positions", "", "FEN or EPD file (- for standard input), or a directory as for --replay")
	f.StringVar(&o.replay, "replay", "", "directory of a replay buffer or of a run")
	f.IntVar(&o.count, "count", count, countUsage)
	f.Uint64Var(&o.seed, "seed", 1, "seed of the choice of positions and of self-play")
}

// given reports whether positions were named.
func (o *positionsOptions) given() bool { return o.file != "" || o.replay != "" }

// check refuses contradictions and turns a directory of --positions into one of
// --replay.
func (o *positionsOptions) check() error {
	if o.file != "" && o.replay != "" {
		return fmt.Errorf("%w: found --positions with --replay, expected one of them", errUsage)
	}
	if o.count < 0 {
		return fmt.Errorf("%w: --count: found %d, expected 0 or more", errUsage, o.count)
	}
	if info, err := os.Stat(o.file); err == nil && info.IsDir() {
		o.file, o.replay = "", o.file
	}
	return nil
}

// source opens the positions for a variant. Those of a file or a buffer end.
func (o *positionsOptions) source(ctx context.Context, stdin io.Reader, v *chess.Variant) (s positions.Source, ends bool, err error) {
	switch {
	case o.replay != "":
		dir, err := bufferDir(o.replay)
		if err != nil {
			return nil, false, err
		}
		return interruptible(ctx, dataset.BufferPositions(ctx, dir, v)), true, nil
	case o.file == "-":
		return interruptible(ctx, positions.Lines(ctx, stdin, o.file, v)), true, nil
	case o.file != "":
		return interruptible(ctx, fileLines(ctx, o.file, v)), true, nil
	}
	return positions.SelfPlay(ctx, v, o.seed), false, nil
}

// fileLines is the positions of a file, opened when they are asked for.
func fileLines(ctx context.Context, name string, v *chess.Variant) positions.Source {
	return func(yield func(*chess.Position, error) bool) {
		f, err := os.Open(name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		positions.Lines(ctx, f, name, v)(yield)
	}
}

var errEnough = errors.New("no more positions wanted")

// interruptible is a source that ends with ctx, even while it reads.
func interruptible(ctx context.Context, s positions.Source) positions.Source {
	return func(yield func(*chess.Position, error) bool) {
		err := stream(ctx, func(emit func(chess.Position) bool) error {
			for p, err := range s {
				if err != nil {
					return err
				}
				if !emit(*p) {
					return nil
				}
			}
			return nil
		}, func(p chess.Position) error {
			if !yield(&p, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// draw returns count positions: of sources that end, any with equal chance, of
// self-play the first. None at all is an error.
func (o *positionsOptions) draw(ctx context.Context, stdin io.Reader, stderr io.Writer, v *chess.Variant) ([]chess.Position, error) {
	if o.count == 0 {
		return nil, fmt.Errorf("%w: --count: found 0, expected 1 or more", errUsage)
	}
	s, ends, err := o.source(ctx, stdin, v)
	if err != nil {
		return nil, err
	}
	s = counted(s, newProgress(stderr, "positions read"))
	var list []chess.Position
	if ends {
		list, err = positions.Draw(s, o.count, rand.New(rand.NewPCG(o.seed, 0)))
	} else {
		list, err = positions.First(s, o.count)
	}
	if err == nil && len(list) == 0 {
		err = o.errNone()
	}
	return list, err
}

// errNone is the error of a file or buffer without positions.
func (o *positionsOptions) errNone() error {
	if o.replay != "" {
		return fmt.Errorf("%s: found no positions in which a search chose the move, expected some", o.replay)
	}
	return fmt.Errorf("%s: found no positions, expected one a line", o.file)
}

// progress tells now and then how far long work has come.
type progress struct {
	w     io.Writer
	what  string
	done  int
	shown time.Time
}

// progressPeriod is the time between two lines of a progress.
const progressPeriod = 5 * time.Second

func newProgress(w io.Writer, what string) *progress {
	return &progress{w: w, what: what, shown: time.Now()}
}

// step counts one more.
func (p *progress) step() {
	if p.done++; p.done%256 != 0 {
		return
	}
	if now := time.Now(); now.Sub(p.shown) > progressPeriod {
		p.shown = now
		fmt.Fprintf(p.w, "%d %s\n", p.done, p.what)
	}
}

// counted is a source with progress.
func counted(s positions.Source, p *progress) positions.Source {
	return func(yield func(*chess.Position, error) bool) {
		s(func(position *chess.Position, err error) bool {
			p.step()
			return yield(position, err)
		})
	}
}
