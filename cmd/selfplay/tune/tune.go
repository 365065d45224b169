// Package tune has the command that tunes the parameters of alpha-beta search.
package tune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/tune"
)

// Commands returns the commands of this package.
func Commands() []*cobra.Command { return []*cobra.Command{newCommand()} }

type options struct {
	list    bool
	screen  bool
	variant string

	games, pairs int
	nodes        uint64
	hashMB       int
	concurrency  int
	batch        int
	rate         float64

	seed    uint64
	opening cli.Openings
	rules   cli.Adjudication

	timeMargin time.Duration

	state string
	plot  string
	json  bool
}

func newCommand() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "tune PLAYER NAME... | tune --list",
		Short: "Tune the parameters of alpha-beta search by games against itself",
		Long: `Find better values for parameters of a player's alpha-beta search. Both sides of
every pair of games are the player, with other values; both colours of an opening
are played, as in a match.

Without --screen numbers are moved by SPSA: every pair perturbs all of them at once
and moves them a little towards the side that won, by the schedule of fishtest. Each
is NAME[=START[:STEP[:RATE]]]: where it starts, by default the player's value; how
far from the present value both sides play in the end, c_end, by default a twentieth
of the range; and how fast it moves in the end, r_end, by default --rate. SPSA needs
tens of thousands of games. The values come out at any length, so play a match of
the player printed against the one given.

With --screen each parameter, NAME or NAME=LOW:HIGH, has two levels; those of a
switch are false and true. In every pair each is at one level for the one side, by
chance, and at the other level for the other side. What the high level of each is
worth comes out in Elo with its 95 % error, for all at once. With limits of nodes or
depth equal players repeat their games. So a screen of up to eight parameters has at
most as many pairs as the book has different openings, one of nine twice as many,
one of ten four times. --book none has openings without end.

With --state the same command resumes what was stopped or killed, and the end is the
same as without the interruption, at any concurrency, if limits are nodes or depth.
A screen can be continued with more games.

` + player.Help + `

Exit codes: 0 played to the end, 1 failed, 2 wrong usage, 4 interrupted but to be
continued by the same command, 130 interrupted without a state.`,
		Example: `  selfplay tune --list
  selfplay tune builtin aspiration reverse=150:20 futile_base --games 20000 --nodes 2000 --state spsa.json --plot spsa.svg
  selfplay tune builtin,singular=true singular_depth=6:1 singular_margin --games 20000 --nodes 5000 --state singular.json
  selfplay tune best.nnue probcut razoring null_verify reverse=120:180 --screen --pairs 2000 --nodes 2000 --state screen.json`,
		Args: func(c *cobra.Command, args []string) error {
			if o.list {
				return cli.NoArgs(c, args)
			}
			return cli.AtLeastArgs(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			v, err := cli.Variant(o.variant)
			if err != nil {
				return err
			}
			if o.list {
				return printList(c.OutOrStdout(), v, o.json)
			}
			return o.run(c, v, args)
		},
	}
	o.addFlags(c.Flags())
	return c
}

func (o *options) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.list, "list", false, "print all parameters with range, default and meaning")
	f.BoolVar(&o.screen, "screen", false, "measure what each parameter is worth, in place of SPSA")
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.IntVar(&o.games, "games", 0, "games to play, an even number")
	f.IntVar(&o.pairs, "pairs", 0, "pairs of games to play, in place of --games")
	f.Uint64Var(&o.nodes, "nodes", 400, "nodes a move, unless the player has limits of its own")
	f.IntVar(&o.hashMB, "hash", 4, "transposition table of each side, MiB")
	f.IntVar(&o.concurrency, "concurrency", 0, "pairs played at the same time, in SPSA those of a batch at most; 0: one for every core, less if the player has several threads")
	f.IntVar(&o.batch, "batch", 8, "pairs that SPSA plays from the same values")
	f.Float64Var(&o.rate, "rate", tune.DefaultRate, "SPSA's r_end: share of the step by which a won game more moves a value in the end")
	f.Uint64Var(&o.seed, "seed", 1, "seed of openings and values")
	o.opening.AddFlags(f)
	o.rules.AddFlags(f)
	f.DurationVar(&o.timeMargin, "time-margin", 20*time.Millisecond, "how far a clock may be overstepped")
	f.StringVar(&o.state, "state", "", "file of results; makes the command resumable")
	f.StringVar(&o.plot, "plot", "", "draw the paths of the values, or the effects, into this .svg or .png file")
	f.BoolVar(&o.json, "json", false, "print the result, or the list, as JSON")
}

// run tunes the player that is the first argument.
func (o *options) run(c *cobra.Command, v *chess.Variant, args []string) error {
	if err := o.check(c.Flags()); err != nil {
		return err
	}
	base, err := cli.LoadPlayer(c.Context(), c.ErrOrStderr(), args[0], v, player.Defaults{Limits: search.Limits{Nodes: o.nodes}, HashMB: o.hashMB})
	if err != nil {
		return err
	}
	if base.Spec.Search != player.AlphaBeta {
		return fmt.Errorf("%w: found the player %q, expected one of alpha-beta search: an NNUE net, %q or %q", cli.ErrUsage, args[0], player.Builtin, player.Material)
	}
	p, err := newParams(v, base.Spec.Params)
	if err != nil {
		return fmt.Errorf("%w: player %q: %w", cli.ErrUsage, args[0], err)
	}
	cfg, live, err := o.config(c, v, base, len(args)-1)
	if err != nil {
		return err
	}
	if o.screen {
		err = o.runScreen(c, p, cfg, live, args[1:])
	} else {
		err = o.runSPSA(c, p, cfg, live, base, args[1:])
	}
	switch {
	case errors.Is(err, tune.ErrConfig):
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	case errors.Is(err, context.Canceled) && o.state != "":
		fmt.Fprintln(c.ErrOrStderr(), "resume with:", cli.CommandLine(os.Args[1:]...))
		return cli.ErrResumable
	}
	return err
}

// check refuses flags that do not go together, and gives both numbers of games.
func (o *options) check(f *pflag.FlagSet) error {
	switch {
	case (o.games == 0) == (o.pairs == 0):
		return fmt.Errorf("%w: found --games %d and --pairs %d, expected one of them", cli.ErrUsage, o.games, o.pairs)
	case o.pairs < 0:
		return fmt.Errorf("%w: --pairs: found %d, expected 1 or more", cli.ErrUsage, o.pairs)
	case o.games < 0 || o.games%2 != 0:
		return fmt.Errorf("%w: --games: found %d, expected an even number from 2: every opening is played with both colours", cli.ErrUsage, o.games)
	case o.concurrency < 0:
		return fmt.Errorf("%w: --concurrency: found %d, expected 0 or more", cli.ErrUsage, o.concurrency)
	}
	for _, name := range []string{"batch", "rate"} {
		if o.screen && f.Changed(name) {
			return fmt.Errorf("%w: found --screen with --%s, expected one of them: SPSA alone has a %[2]s", cli.ErrUsage, name)
		}
	}
	if o.pairs == 0 {
		o.pairs = o.games / 2
	}
	return cli.CheckPlot("--plot", o.plot)
}

// mostScreened returns the most pairs of a screen with that many parameters from a number of
// different openings. A pair is the same two games as an earlier one from its opening with
// probability 2 to the power of 1 − parameters; so that few are, an opening comes again only
// where that is small.
func mostScreened(openings, parameters int) int {
	if again := 1 << min(max(0, parameters-8), 30); openings <= match.MaxPairs/again {
		return openings * again
	}
	return match.MaxPairs
}

// config says how pairs are played and shown.
func (o *options) config(c *cobra.Command, v *chess.Variant, base *player.Maker, parameters int) (tune.Config, *progress, error) {
	openings, err := o.opening.Openings(v, o.seed)
	if err != nil {
		return tune.Config{}, nil, err
	}
	rules, err := o.rules.Config()
	if err != nil {
		return tune.Config{}, nil, err
	}
	rules.TimeMargin = o.timeMargin
	cfg := match.Config{
		Players: []match.Contestant{match.NewContestant(base)}, Variant: v,
		Openings: openings, Seed: o.seed, Game: rules, Build: c.Root().Version,
	}
	if n := mostScreened(cfg.Bound(), parameters); o.screen && o.pairs > n {
		return tune.Config{}, nil, fmt.Errorf("%w: --screen: found %d pairs, expected at most %d of %d parameters from %d different openings: from an opening again players play the same games where the same values meet; ask for fewer, or name a larger book, or none, in --book", cli.ErrUsage, o.pairs, n, parameters, cfg.Bound())
	}
	concurrency := o.concurrency
	if concurrency == 0 {
		concurrency = max(1, runtime.NumCPU()/base.Threads)
	}
	if err := cli.AtATime("concurrency", concurrency, base, base); err != nil {
		return tune.Config{}, nil, err
	}
	live := newProgress(c.ErrOrStderr(), o.pairs)
	return tune.Config{
		Pairs: o.pairs, Concurrency: concurrency, Seed: o.seed, State: o.state, Settings: cfg.Settings(), OnPair: live.pair,
		Play: func(ctx context.Context, pair int, a, b tune.Values) (int, error) {
			return playPair(ctx, &cfg, live, pair, base.Tuned(a), base.Tuned(b))
		},
	}, live, nil
}

// playPair returns the half points of A in a pair of the match between two players.
func playPair(ctx context.Context, cfg *match.Config, live *progress, pair int, a, b *player.Maker) (points int, err error) {
	opening, err := cfg.Openings.Opening(pair)
	if err != nil {
		return 0, err
	}
	d := match.NewDuel(match.NewContestant(a), match.NewContestant(b))
	defer d.Close()
	played, err := d.Play(ctx, match.Task{
		Number: pair, Players: [2]int{0, 1}, Opening: opening, Game: cfg.Game, Seed: cfg.Seed, Build: cfg.Build,
	})
	if err != nil {
		return 0, err
	}
	for i := range played.Pair.Games {
		points += int(played.Pair.Outcome(i))
		if text := played.Pair.Games[i].Error; text != "" {
			fmt.Fprintf(live.out, "pair %d: a game was lost by failing: %s\n", pair, text)
		}
	}
	return points, nil
}
