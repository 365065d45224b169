// Package positions supplies positions to measure nets and features on: those
// of a file of FENs, of a game, or of games it plays itself.
package positions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrLine says that a line of a file is no position.
var ErrLine = errors.New("bad position")

// Source is a sequence of positions. A position lasts until the next one comes
// and must not be changed. An error is the last element; its position is nil.
type Source = iter.Seq2[*chess.Position, error]

// OfGame yields the positions of a game in which a search chose the move. It
// returns false if no more are wanted.
func OfGame(g *game.Game, yield func(*chess.Position, error) bool) bool {
	p := g.Start
	for _, ply := range g.Plies {
		if ply.Train && !yield(&p, nil) {
			return false
		}
		p.Make(ply.Move)
	}
	return true
}

// Lines is the positions of a text with one position a line, as FEN or as EPD;
// what follows a tab is ignored. Empty lines and those that begin with # are
// skipped. Errors wrap ErrLine and begin with name and the line's number.
func Lines(ctx context.Context, r io.Reader, name string, v *chess.Variant) Source {
	return func(yield func(*chess.Position, error) bool) {
		lines := bufio.NewScanner(r)
		for number := 1; lines.Scan(); number++ {
			text := strings.TrimSpace(lines.Text())
			if text == "" || text[0] == '#' {
				continue
			}
			text, _, _ = strings.Cut(text, "\t")
			p, _, err := chess.ParseEPD(v, text)
			if err != nil {
				err = fmt.Errorf("%s:%d: %w: %w", name, number, ErrLine, err)
			} else {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&p, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("%s: %w", name, err))
		}
	}
}

// Settings of the games that SelfPlay plays: quick, and as varied as those of
// a run.
const (
	openingMin = 4 // random plies
	openingMax = 11
	nodes      = 150 // of each search
	maxPlies   = 300
	randomPly  = 24 // random moves come before this ply
	randomProb = 0.04
)

// SelfPlay is the positions of games that the material evaluation plays against
// itself, without end. The same seed gives the same positions.
func SelfPlay(ctx context.Context, v *chess.Variant, seed uint64) Source {
	return func(yield func(*chess.Position, error) bool) {
		player := ab.New(func() ab.Evaluator { return ab.NewMaterial() }, ab.Options{HashMB: 1, Threads: 1})
		cfg := game.Config{
			Limits: game.Both(search.Limits{Nodes: nodes}), MaxPlies: maxPlies,
			Noise: game.Noise{Plies: randomPly, Prob: randomProb},
		}
		for i := uint64(0); ; i++ {
			g, err := playOne(ctx, player, v, cfg, rand.New(rand.NewPCG(seed, i)))
			if err != nil {
				yield(nil, fmt.Errorf("self-play: %w", errors.Join(ctx.Err(), err)))
				return
			}
			if !OfGame(g, yield) {
				return
			}
		}
	}
}

// playOne plays one game of a player against itself.
func playOne(ctx context.Context, player game.Player, v *chess.Variant, cfg game.Config, rng *rand.Rand) (*game.Game, error) {
	opening, err := game.RandomOpening(v.Start(), rng, openingMin, openingMax, nil)
	if err != nil {
		return nil, err
	}
	return game.Play(ctx, player, player, opening, cfg, rng)
}

// First returns the first n positions of a source, or all if it has fewer.
func First(s Source, n int) ([]chess.Position, error) {
	var list []chess.Position
	if n <= 0 {
		return nil, nil
	}
	for p, err := range s {
		if err != nil {
			return list, err
		}
		if list = append(list, *p); len(list) == n {
			break
		}
	}
	return list, nil
}

const (
	calibrated      = 256        // how many positions Calibration returns
	calibrationSeed = 0x63616c69 // of their games, which measurements do not use
)

// Calibration returns the planes of positions of games of a variant, for nets to
// be quantised on. They are always the same, so that a net in bytes is the same net
// in a loop, a match and a measurement. They are computed once and must
// not be changed.
func Calibration(v *chess.Variant) ([]float32, error) { return calibrations[v]() }

var calibrations = func() map[*chess.Variant]func() ([]float32, error) {
	all := map[*chess.Variant]func() ([]float32, error){}
	for _, v := range chess.Variants() {
		all[v] = sync.OnceValues(func() ([]float32, error) {
			list, err := First(SelfPlay(context.Background(), v, calibrationSeed), calibrated)
			if err != nil {
				return nil, err
			}
			return Planes(list), nil
		})
	}
	return all
}()

// Planes encodes positions, one after the other, as if none had been seen before.
func Planes(list []chess.Position) []float32 {
	all := make([]float32, len(list)*planes.Size)
	for i := range list {
		planes.Encode(all[i*planes.Size:], &list[i], 0)
	}
	return all
}

// Draw returns n positions of a source that ends, or all if it has fewer. Each
// position of the source is as likely as any other to be among them.
func Draw(s Source, n int, rng *rand.Rand) ([]chess.Position, error) {
	var list []chess.Position
	seen := 0
	for p, err := range s {
		if err != nil {
			return list, err
		}
		seen++
		if len(list) < n {
			list = append(list, *p)
		} else if at := rng.IntN(seen); at < n { // so that each of those seen stays with equal chance
			list[at] = *p
		}
	}
	return list, nil
}
