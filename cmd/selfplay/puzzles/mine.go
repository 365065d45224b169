package puzzles

import (
	"context"
	"fmt"
	"io"
	"iter"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/lab/puzzles"
	"github.com/crazyhouse-rl/selfplay/player"
)

type mineOptions struct {
	out, net, variant string
	settings          puzzles.Settings
	count, games      int
	seed              uint64
	hash, concurrency int
}

func newMineCommand() *cobra.Command {
	var o mineOptions
	c := &cobra.Command{
		Use:   "mine GAMES... --out FILE",
		Short: "Find mates and wins with one best move in games",
		Long: `Look through games for positions with one best move and write them as EPD.

A puzzle is a mate in at most --mate moves that no other move gives as fast, or a
move worth at least --win where no other is worth more than --rest. Every position
gets a search of --screen nodes for the two best moves; where that finds a mate or a
win, or the game's own searches found one two plies later, it gets one of --nodes.
Mates in up to three moves are then proved by looking at every defence, and that no
other move is as fast. Of longer ones it is proved that they mate; that no other move
does so sooner than two moves later is what the search says.

The grade of a puzzle, 1 to 4, says how many nodes the search needs to find the move
and hold it with more: 100, 1,000, 10,000 or 100,000.

GAMES are training data as convert takes it (.chain, .bin, .plain, .binpack, replay
buffers and runs), .pgn, or .epd and .fen for positions. --count puzzles are chosen
of those found: 30 % mates in one and two, 40 % longer ones, 15 % wins by a drop and
15 % by other moves, each even over grades and lengths as far as possible.

What is found stands in FILE.journal at once, game by game: an interrupted command
goes on where it was, and one with another --count, --seed or --games does not search
anew what was searched. The result does not depend on --concurrency. Games are counted
from the oldest: a replay buffer that begins with another one meanwhile, because old
games were deleted or actors excluded, is refused if more games are to be searched.
Journals of earlier builds are gone on with unchecked. Of several GAMES only the last may
grow meanwhile, which is not checked.

Operations of the EPD: bm the move, dm moves to mate, ce centipawns, acn and acd
nodes and depth of the search that finds and holds it, id the game and the ply.

Exit codes: 0 done, 1 failed, 2 wrong usage, 4 interrupted but to be continued by
the same command.`,
		Example: `  selfplay puzzles mine games.chain --out puzzles.epd --count 1000
  selfplay puzzles mine runs/crazyhouse-laptop --games 500 --out run.epd
  selfplay puzzles mine match.pgn --net runs/best --mate 3 --out short.epd`,
		Args: cli.AtLeastArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return mine(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), args, &o)
		},
	}
	d := puzzles.DefaultSettings()
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "file to write (required)")
	f.StringVar(&o.net, "net", player.Builtin, "who searches: a net or any player that knows MultiPV")
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.IntVar(&o.count, "count", 0, "puzzles to choose; 0: all that are found")
	f.IntVar(&o.games, "games", 0, "games to look through; 0: all")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the choice")
	f.Uint64Var(&o.settings.Screen, "screen", d.Screen, "nodes of the search that every position gets")
	f.Uint64Var(&o.settings.Nodes, "nodes", d.Nodes, "nodes of the searches that verify")
	f.IntVar(&o.settings.Mate, "mate", d.Mate, "most moves of a mate")
	f.IntVar((*int)(&o.settings.Win), "win", int(d.Win), "least score of a winning move, centipawns")
	f.IntVar((*int)(&o.settings.Rest), "rest", int(d.Rest), "greatest score of the other moves where one wins, centipawns")
	f.IntVar(&o.settings.PerGame, "per-game", d.PerGame, "most puzzles of one game")
	f.IntVar(&o.hash, "hash", 4, "transposition table of each search, MiB")
	f.IntVar(&o.concurrency, "concurrency", runtime.NumCPU(), "games looked through at the same time")
	return c
}

func mine(ctx context.Context, stdout, stderr io.Writer, args []string, o *mineOptions) error {
	switch {
	case o.out == "":
		return fmt.Errorf("%w: --out is required (see selfplay puzzles mine --help)", cli.ErrUsage)
	case o.count < 0 || o.games < 0 || o.hash < 1 || o.concurrency < 1:
		return fmt.Errorf("%w: found --count %d --games %d --hash %d --concurrency %d, expected 0 or more of the first two, 1 or more of the others",
			cli.ErrUsage, o.count, o.games, o.hash, o.concurrency)
	}
	if err := o.settings.Validate(); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	v, err := cli.Variant(o.variant)
	if err != nil {
		return err
	}
	m, err := cli.LoadPlayer(ctx, stderr, o.net, v, player.Defaults{HashMB: o.hash})
	if err != nil {
		return err
	}
	if err := cli.AtATime("concurrency", o.concurrency, m); err != nil {
		return err
	}
	src := &source{variant: v, stderr: stderr}
	names, err := src.names(args)
	if err != nil {
		return err
	}
	path := o.out + ".journal"
	j, err := o.journal(ctx, path, src, names, m)
	if err != nil {
		return err
	}
	defer j.Close()
	if j.Games > 0 {
		fmt.Fprintf(stderr, "going on after game %d, %d puzzles found\n", j.Games, len(j.Found))
	}
	shown := time.Now()
	err = puzzles.Mine(ctx, o.settings, m.New, o.concurrency, part(src.games(ctx, names), j.Games, o.games), func(found []puzzles.Puzzle) error {
		if now := time.Now(); now.Sub(shown) > 10*time.Second {
			shown = now
			fmt.Fprintf(stderr, "%d games, %d puzzles\n", j.Games, len(j.Found))
		}
		return j.Add(found)
	})
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "interrupted; the same command goes on from", path)
		return cli.ErrResumable
	}
	if err != nil {
		return err
	}
	done, found := j.First(o.games)
	chosen := puzzles.Select(found, o.count, o.seed)
	if len(chosen) < max(1, o.count) {
		fmt.Fprintf(stderr, "found %d puzzles in %d games, expected %d; more games give more\n", len(chosen), done, max(1, o.count))
	}
	if len(chosen) == 0 {
		return cli.ErrSilent
	}
	if err := durable.WriteFile(o.out, puzzles.EPD(chosen)); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %d puzzles of %d found in %d games\n%s\n", o.out, len(chosen), len(found), done, strings.Join(puzzles.Contents(chosen), "\n"))
	return nil
}

// part leaves out the first games, and those after the last; last 0 is none.
func part(games iter.Seq2[*game.Game, error], first, last int) iter.Seq2[*game.Game, error] {
	return func(yield func(*game.Game, error) bool) {
		if last > 0 && first >= last {
			return
		}
		number := 0
		for g, err := range games {
			if err != nil {
				yield(nil, err)
				return
			}
			if number++; number <= first {
				continue
			}
			if !yield(g, nil) || number == last {
				return
			}
		}
	}
}
