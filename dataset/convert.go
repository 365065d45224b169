package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Conversion copies samples from one file to another.
type Conversion struct {
	Filter   sample.Filter
	Rand     *rand.Rand // for what Filter leaves out at random
	Validate bool       // stop at the first illegal move
	SkipBad  bool       // leave out what cannot be read or written
	Step     func()     // called for every sample or game, unless nil

	Counts  sample.Counts // games copied whole count their plies as kept
	Games   int64         // copied whole
	Skipped int64         // by SkipBad

	selection sample.Selection
}

// Run copies src to dst. Games are copied whole if both files keep games and
// nothing is filtered. Errors name the file, the record, where it begins and, of
// an illegal move, the FEN.
func (c *Conversion) Run(ctx context.Context, src *Source, dst *Sink) error {
	whole := dst.Games() && c.Filter == sample.Filter{}
	c.selection.Filter = c.Filter
	c.selection.Chance = func(sample.Reason) float64 { return c.Rand.Float64() }
	var s sample.Sample
	for n := int64(0); ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.Step != nil {
			c.Step()
		}
		var record []byte
		var err error
		if whole {
			record, err = src.Game()
		}
		switch {
		case err != nil:
		case record != nil:
			err = c.game(src, dst, record, n)
		default:
			if err = src.Read(&s); err == nil {
				err = c.sample(src, dst, &s, n)
			}
		}
		if err == nil {
			continue
		}
		if err == io.EOF {
			c.Counts.Untrained += src.untrained()
			c.Counts.Samples += src.untrained()
			return nil
		}
		if !c.SkipBad || !errors.Is(err, sample.ErrRecord) {
			return err
		}
		c.Skipped++
	}
}

func (c *Conversion) game(src *Source, dst *Sink, record []byte, n int64) error {
	h, err := game.DecodeHeader(record)
	if err == nil && c.Validate {
		_, err = game.Decode(record)
	}
	if err == nil {
		err = dst.WriteGame(record)
	}
	if err != nil {
		return src.At(n, fmt.Errorf("game %q: %w", h.ID, err))
	}
	c.Games++
	c.Counts.Samples += uint64(h.Plies)
	c.Counts.Kept += uint64(h.Plies)
	return nil
}

func (c *Conversion) sample(src *Source, dst *Sink, s *sample.Sample, n int64) error {
	unit := src.Unit()
	why := c.selection.Against(s, unit, src.InGame())
	if why == sample.Kept {
		var err error
		if c.Validate {
			err = s.CheckLegal()
		}
		if err == nil {
			err = dst.Write(s, unit)
		}
		if err != nil {
			return src.At(n, err)
		}
	}
	c.Counts.Count(why)
	return nil
}

// At says that an error concerns the sample or game read last, number n of the
// source from 0.
func (s *Source) At(n int64, err error) error {
	if offset := s.Offset(); offset >= 0 {
		return fmt.Errorf("%s: record %d at byte %d: %w", s.Name, n, offset, err)
	}
	return fmt.Errorf("%s: record %d: %w", s.Name, n, err)
}

// Check reads src to its end and returns how many samples it has, each legal, and
// how many games are whole and true to the rules, whose plies are among the
// samples. The error is the first thing wrong; with all set each is passed to report
// and reading goes on where it can.
func Check(ctx context.Context, src *Source, all bool, step func(), report func(error)) (samples, games, bad int64, err error) {
	var s sample.Sample
	for n := int64(0); ; n++ {
		if err := ctx.Err(); err != nil {
			return samples, games, bad, err
		}
		step()
		record, err := src.Game()
		wrong := false // what was read is, and there may be more after it
		if err == nil && record != nil {
			var g *game.Game
			if g, err = game.Decode(record); err == nil {
				games++
				samples += int64(len(g.Plies))
			} else {
				err, wrong = src.At(n, err), true
			}
		} else if err == nil {
			if err = src.Read(&s); err == nil {
				samples++
				if err = s.CheckLegal(); err != nil {
					err, wrong = src.At(n, err), true
				}
			}
		}
		switch {
		case err == nil:
		case err == io.EOF:
			return samples, games, bad, nil
		case all && (wrong || errors.Is(err, sample.ErrRecord)):
			bad++
			report(err)
		default: // the first thing wrong, or nothing after it can be read
			return samples, games, bad + 1, err
		}
	}
}
