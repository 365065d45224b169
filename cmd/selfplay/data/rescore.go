package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/rescore"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

type rescoreOptions struct {
	dataOptions
	to              string
	player, filter  string
	first           string
	surprise        int
	seed            uint64
	nodes           uint64
	depth           int
	threads, hashMB int
	saveInterval    time.Duration
}

func newRescoreCommand() *cobra.Command {
	var o rescoreOptions
	c := &cobra.Command{
		Use:   "rescore IN... OUT",
		Short: "Give training data the scores of other searches",
		Long: `Have a player search the positions of one or more files again, and write them
with its scores and best moves to a new file. Results and plies stay. Games come out
as single positions: the moves played are not those of the searches.

--filter says which positions, by the scores and moves they have before. Each is
searched by itself, without what was found for others, so positions, scores and their
order depend neither on --threads nor on interruptions, if the player is deterministic,
as ours are with one thread and a limit of nodes or depth.

With --first and --surprise, another player searches each position first, with one
node unless its settings say otherwise. A position is searched again and written only
if that score differs from the one it has by at least --surprise centipawns. Scores
beyond ±1,000 count as ±1,000.

A run may be stopped at any moment: the same command goes on where the file ends.
OUT.run says how far it is, and of which input; other input is refused. What has come
after it, as in a replay buffer that grows, is searched too. Of a buffer that deletes its
oldest games meanwhile, rescore a copy.

` + dataHelp + `

` + player.Help + `

Exit codes: 0 complete, 1 failed, 2 wrong usage, 4 interrupted but to be
continued by the same command.`,
		Example: `  selfplay rescore games.chain deeper.chain --nodes 2000
  selfplay rescore replay:runs/crazyhouse-laptop labels.bin --player best.nnue --nodes 1500 --filter no-check,no-capture,keep=0.1
  selfplay rescore replay:runs/nnue labels.chain --player runs/planes,nodes=400 --first runs/planes --surprise 200
  selfplay rescore games.chain teacher.bin --player uci:fairy-stockfish --depth 8 --threads 4`,
		Args: cli.AtLeastArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return runRescore(c, &o, args[:len(args)-1], args[len(args)-1])
		},
	}
	f := c.Flags()
	o.dataOptions.addFlags(f)
	f.StringVar(&o.to, "to", "", "format of the output, whatever its name: as --from, but for replay")
	f.StringVar(&o.player, "player", player.Builtin, "who searches, as described above")
	f.Uint64Var(&o.nodes, "nodes", 1000, "nodes of a search; 0: no limit")
	f.IntVar(&o.depth, "depth", 0, "depth of a search, plies; 0: no limit; without --nodes it is the only one")
	f.StringVar(&o.first, "first", "", "player that searches each position first, as described above; needs --surprise")
	f.IntVar(&o.surprise, "surprise", 0, "least difference in centipawns between the score of --first and the one a position has, 1 to 2000")
	f.StringVar(&o.filter, "filter", "", "which positions, "+sample.FilterHelp)
	f.Uint64Var(&o.seed, "seed", 1, "seed of filters that leave out at random")
	f.IntVar(&o.threads, "threads", 1, "positions searched at a time")
	f.IntVar(&o.hashMB, "hash", 2, "transposition table of each player of our own, MiB")
	f.DurationVar(&o.saveInterval, "save-interval", 10*time.Second, "time between savings, which a kill may cost")
	return c
}

func runRescore(c *cobra.Command, o *rescoreOptions, in []string, out string) error {
	stderr := c.ErrOrStderr()
	if o.depth < 0 || o.saveInterval < 0 {
		return fmt.Errorf("%w: found --depth %d --save-interval %v, expected 0 or more of each", cli.ErrUsage, o.depth, o.saveInterval)
	}
	filter, err := sample.ParseFilter(o.filter)
	if err != nil {
		return fmt.Errorf("%w: --filter: %w", cli.ErrUsage, err)
	}
	sources, err := o.open(c, in)
	if err != nil {
		return err
	}
	defer closeAll(sources)
	outputs := outputOptions{to: o.to}
	target, err := outputs.target(c, out, sources)
	if err != nil {
		return err
	}
	target.Unit = sample.CentipawnUnit
	limits := search.Limits{Nodes: o.nodes, Depth: o.depth}
	if o.depth > 0 && !c.Flags().Changed("nodes") {
		limits.Nodes = 0
	}
	who, err := cli.LoadPlayer(c.Context(), stderr, o.player, target.Variant, player.Defaults{Limits: limits, HashMB: o.hashMB})
	if err != nil {
		return err
	}
	first, newFirst, err := o.firstPlayer(c, target.Variant)
	if err != nil {
		return err
	}
	if err := cli.AtATime("threads", o.threads, who); err != nil {
		return err
	}
	tellMissing(stderr, sources, &target)
	shown := time.Now()
	done, err := rescore.Run(c.Context(), rescore.Config{
		Settings: rescore.Settings{Player: who.Settings, Net: who.Net, Limits: who.Limits, Filter: filter, Seed: o.seed, First: first},
		Sources:  sources, Target: target, New: who.New, NewFirst: newFirst, Threads: o.threads, SaveInterval: o.saveInterval,
		Note: func(text string) { fmt.Fprintln(stderr, text) },
		Progress: func(p rescore.Progress) {
			if time.Since(shown) > 5*time.Second {
				shown = time.Now()
				fmt.Fprintf(stderr, "%d samples read, %d positions written, %.0f positions/s\n", p.Read, p.Written, float64(p.Searched)/p.Elapsed.Seconds())
			}
		},
	})
	if errors.Is(err, rescore.ErrConfig) || errors.Is(err, rescore.ErrOther) {
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	if err != nil && c.Context().Err() == context.Canceled {
		fmt.Fprintf(stderr, "resume with: %s\n", cli.CommandLine(os.Args[1:]...))
		return fmt.Errorf("%w after %d positions", cli.ErrResumable, done.Written)
	}
	switch {
	case errors.Is(err, rescore.ErrUnfit):
		err = fmt.Errorf("%w (choose another format, or leave such positions out by --filter)", err)
	case errors.Is(err, sample.ErrRecord):
		err = fmt.Errorf("%w (selfplay convert --skip-bad leaves such records out)", err)
	}
	if err != nil {
		return err
	}
	tellDamage(stderr, sources)
	tellParted(stderr, sources, target.Name)
	for why, n := range done.Counts.LeftOut {
		fmt.Fprintf(stderr, "%d positions left out: %s\n", n, why)
	}
	if done.Stuck > 0 {
		fmt.Fprintf(stderr, "%d positions left out: no legal move, or the player resigned\n", done.Stuck)
	}
	if done.Calm > 0 {
		fmt.Fprintf(stderr, "%d positions left out: no surprise\n", done.Calm)
	}
	if done.Searched == 0 {
		fmt.Fprintf(stderr, "%s: complete, %d positions\n", out, done.Written)
		return nil
	}
	seconds := max(done.Elapsed.Seconds(), 1e-9)
	fmt.Fprintf(stderr, "%d positions written; now %d in %.1f s, %.0f a second, %.0f nodes each\n", done.Written, done.Searched, seconds,
		float64(done.Searched)/seconds, float64(done.Nodes)/float64(done.Searched))
	return nil
}

// firstPlayer loads the player of --first, if there is one.
func (o *rescoreOptions) firstPlayer(c *cobra.Command, v *chess.Variant) (first rescore.First, newFirst func() (game.Player, error), err error) {
	if (o.first == "") != (o.surprise == 0) || o.surprise < 0 || o.surprise > 2*game.SurpriseLimit {
		return first, nil, fmt.Errorf("%w: found --first %q and --surprise %d, expected both, with 1 to %d centipawns, or neither", cli.ErrUsage, o.first, o.surprise, 2*game.SurpriseLimit)
	}
	if o.first == "" {
		return first, nil, nil
	}
	who, err := cli.LoadPlayer(c.Context(), c.ErrOrStderr(), o.first, v, player.Defaults{Limits: search.Limits{Nodes: 1}, HashMB: 1})
	if err != nil {
		return first, nil, err
	}
	return rescore.First{Player: who.Settings, Net: who.Net, Limits: who.Limits, Surprise: o.surprise}, who.New, nil
}
