package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game/positions"
)

// Position parses fen, or gives the start position when it is empty.
func Position(v *chess.Variant, fen string, chess960 bool) (chess.Position, error) {
	if fen == "" {
		p := v.Start()
		p.SetChess960(chess960)
		return p, nil
	}
	return FenField(v, fen, chess960)
}

// FenField parses a FEN of a file, where nothing stands for the start position. What has
// a semicolon is an EPD, whose operations are left out; of Chess960 there are only FENs.
func FenField(v *chess.Variant, fen string, chess960 bool) (chess.Position, error) {
	switch {
	case chess960:
		return chess.ParseFEN960(v, fen)
	case strings.Contains(fen, ";"):
		p, _, err := chess.ParseEPD(v, fen)
		return p, err
	}
	return chess.ParseFEN(v, fen)
}

// Positions say which positions a command looks at.
type Positions struct {
	file, replay string
	Count        int
	seed         uint64
}

const PositionsHelp = `Positions come from a file of FENs or EPDs, one a line (--positions), from a
replay buffer or a run's directory, those in which a search chose the move
(--replay), or else from quick games that the material evaluation plays against
itself, the same for the same --seed.`

func (o *Positions) AddFlags(f *pflag.FlagSet, count int, countUsage string) {
	f.StringVar(&o.file, "positions", "", "FEN or EPD file (- for standard input), or a directory as for --replay")
	f.StringVar(&o.replay, "replay", "", "directory of a replay buffer or of a run")
	f.IntVar(&o.Count, "count", count, countUsage)
	f.Uint64Var(&o.seed, "seed", 1, "seed of the choice of positions and of self-play")
}

// Given reports whether positions were named.
func (o *Positions) Given() bool { return o.file != "" || o.replay != "" }

// Check refuses contradictions and turns a directory of --positions into one of
// --replay.
func (o *Positions) Check() error {
	if o.file != "" && o.replay != "" {
		return fmt.Errorf("%w: found --positions with --replay, expected one of them", ErrUsage)
	}
	if o.Count < 0 {
		return fmt.Errorf("%w: --count: found %d, expected 0 or more", ErrUsage, o.Count)
	}
	if info, err := os.Stat(o.file); err == nil && info.IsDir() {
		o.file, o.replay = "", o.file
	}
	return nil
}

// Source opens the positions for a variant. Those of a file or a buffer end.
func (o *Positions) Source(ctx context.Context, stdin io.Reader, v *chess.Variant) (s positions.Source, ends bool, err error) {
	switch {
	case o.replay != "":
		dir, err := dataset.BufferDir(o.replay)
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
		err := Stream(ctx, func(emit func(chess.Position) bool) error {
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

// Draw returns count positions: of sources that end, any with equal chance, of
// self-play the first. None at all is an error.
func (o *Positions) Draw(ctx context.Context, stdin io.Reader, stderr io.Writer, v *chess.Variant) ([]chess.Position, error) {
	if o.Count == 0 {
		return nil, fmt.Errorf("%w: --count: found 0, expected 1 or more", ErrUsage)
	}
	s, ends, err := o.Source(ctx, stdin, v)
	if err != nil {
		return nil, err
	}
	s = Counted(s, NewProgress(stderr, "positions read"))
	var list []chess.Position
	if ends {
		list, err = positions.Draw(s, o.Count, rand.New(rand.NewPCG(o.seed, 0)))
	} else {
		list, err = positions.First(s, o.Count)
	}
	if err == nil && len(list) == 0 {
		err = o.None()
	}
	return list, err
}

// None is the error of a file or buffer without positions.
func (o *Positions) None() error {
	if o.replay != "" {
		return fmt.Errorf("%s: found no positions in which a search chose the move, expected some", o.replay)
	}
	return fmt.Errorf("%s: found no positions, expected one a line", o.file)
}

// Counted is a source with progress.
func Counted(s positions.Source, p *Progress) positions.Source {
	return func(yield func(*chess.Position, error) bool) {
		s(func(position *chess.Position, err error) bool {
			p.Step()
			return yield(position, err)
		})
	}
}
