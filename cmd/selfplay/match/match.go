// Package match has the commands that compare players: match, ladder and rate.
package match

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Commands returns the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{newMatchCommand(), newLadderCommand(), newRateCommand()}
}

type matchOptions struct {
	flags   *pflag.FlagSet
	variant string
	format  string
	seeds   int
	games   int

	nodes       uint64
	depth       int
	moveTime    time.Duration
	timeControl string
	timeMargin  time.Duration
	moveMargin  time.Duration
	moveTimeout time.Duration
	hashMB      int
	concurrency int

	seed    uint64
	opening cli.Openings
	rules   cli.Adjudication

	sprt        bool
	elo0, elo1  float64
	alpha, beta float64
	normalized  bool

	log    string
	pgn    string
	eval   bool
	pv     bool
	output string
	json   bool
}

func newMatchCommand() *cobra.Command {
	var o matchOptions
	c := &cobra.Command{
		Use:   "match A B [C D ...]",
		Short: "Play a match or a tournament of opening pairs and print Elo with its error",
		Long: `Play every opening with both colours and print the result: for two players Elo
and normalised Elo of the first with 95 % intervals, the five pair counts, and
with --sprt the sequential test's verdict; for more a table and every encounter.

With --log the match can be killed at any moment: the same command resumes it,
and the result is the same as without the interruption if players are
deterministic, as they are with one thread and limits of nodes or depth. The
games of --pgn are kept in step with the log.

Such players would play the same games from an opening again. So a match ends
after a pair for each opening of the book, whatever --games says: the program's
own has 5,000, and --book none gives random openings without end. Another --seed
only changes their order.

` + player.Help + `

Exit codes: 0 played to the end, 1 failed, 2 wrong usage, 3 the sequential test
has not decided, 4 interrupted but to be continued by the same command, 130
interrupted without a log.`,
		Example: `  selfplay match new.nnue old.nnue --games 400 --nodes 400
  selfplay match new.nnue material --games 10000 --sprt --elo0 0 --elo1 20 --log test.jsonl
  selfplay match new.nnue,nodes=400 uci:fairy-stockfish,Hash=16,nodes=1000 --games 100 --pgn games.pgn
  selfplay match builtin xboard:sjeng --games 20 --tc 10+0.1
  selfplay match a.nnue b.nnue material uci:fairy-stockfish --games 100 --log cup.jsonl
  selfplay match new.nnue a.nnue b.nnue --format gauntlet --tc 10+0.1 --output fastchess`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 || len(args) > match.MaxPlayers {
				return fmt.Errorf("%w: found %d players, expected 2 to %d (see %s --help)", cli.ErrUsage, len(args), match.MaxPlayers, c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			players, err := cli.ParsePlayers(args)
			if err != nil {
				return err
			}
			cfg, err := o.config(c.Context(), c.ErrOrStderr(), players, c.Root().Version)
			if err != nil {
				return err
			}
			return playMatch(c, cfg, o.printer(c), o.log != "")
		},
	}
	o.addFlags(c.Flags())
	return c
}

// addFlags declares the flags of match, which also sets their defaults.
func (o *matchOptions) addFlags(f *pflag.FlagSet) {
	o.flags = f
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.StringVar(&o.format, "format", "roundrobin", "pairings: roundrobin, or gauntlet (the first players against all others)")
	f.IntVar(&o.seeds, "seeds", 1, "of a gauntlet: how many first players meet all others")
	f.IntVar(&o.games, "games", 400, "games of every two players at most, an even number")
	f.Uint64Var(&o.nodes, "nodes", 0, "nodes a move; if no limit is given 400, or --movetime 1s if a player is xboard:COMMAND")
	f.IntVar(&o.depth, "depth", 0, "depth of each search, plies")
	f.DurationVar(&o.moveTime, "movetime", 0, "time a move, e.g. 50ms")
	f.StringVar(&o.timeControl, "tc", "", "clock for the game, [MIN:]SEC[+SEC], e.g. 10+0.1")
	f.DurationVar(&o.timeMargin, "time-margin", 20*time.Millisecond, "how far a clock may be overstepped")
	f.DurationVar(&o.moveMargin, "movetime-margin", 0, "how far a time for the move may be overstepped; 0: until the engine is given up")
	f.DurationVar(&o.moveTimeout, "move-timeout", 0, "a player that takes longer for a move loses, whatever its limits; 0: only as its own limits say")
	f.IntVar(&o.hashMB, "hash", 4, "transposition table of our own players, MiB")
	f.IntVar(&o.concurrency, "concurrency", 0, "pairs played at the same time; 0: one for every core, less if players have several threads")
	f.Uint64Var(&o.seed, "seed", 1, "seed of openings")
	o.opening.AddFlags(f)
	o.rules.AddFlags(f)
	f.BoolVar(&o.sprt, "sprt", false, "stop when a sequential test of --elo0 against --elo1 decides")
	f.Float64Var(&o.elo0, "elo0", 0, "Elo of H0")
	f.Float64Var(&o.elo1, "elo1", 20, "Elo of H1")
	f.Float64Var(&o.alpha, "alpha", 0.05, "error rate of accepting H1 under H0")
	f.Float64Var(&o.beta, "beta", 0.05, "error rate of accepting H0 under H1")
	f.BoolVar(&o.normalized, "nelo", false, "hypotheses are normalised Elo, not logistic")
	f.StringVar(&o.log, "log", "", "game log; makes the match resumable")
	f.BoolVar(&o.eval, "eval", false, "comments of the games as lichess writes them, %eval and %clk from White's side")
	f.BoolVar(&o.pv, "pv", false, "comments of the games hold the line each search expected")
	f.StringVar(&o.pgn, "pgn", "", "write the games to this file, which must be new or the one of --log")
	f.StringVar(&o.output, "output", outputCompact, "compact, or fastchess: a line for every game as that program prints it")
	f.BoolVar(&o.json, "json", false, "print a JSON object for every pair and for the result")
}

// config makes the match of the players given.
func (o *matchOptions) config(ctx context.Context, stderr io.Writer, players []player.Spec, build string) (match.Config, error) {
	var cfg match.Config
	v, err := cli.Variant(o.variant)
	if err != nil {
		return cfg, err
	}
	if err := o.check(); err != nil {
		return cfg, err
	}
	limits, err := o.limits(players)
	if err != nil {
		return cfg, err
	}
	rules, err := o.rules.Config()
	if err != nil {
		return cfg, err
	}
	cfg = match.Config{
		Variant:     v,
		Pairs:       o.games / 2,
		Concurrency: o.concurrency,
		Seed:        o.seed,
		Game:        rules,
		MoveTimeout: o.moveTimeout,
		Log:         o.log,
		PGN:         o.pgn,
		PGNOptions:  game.PGNOptions{Eval: o.eval, PV: o.pv},
		Build:       build,
	}
	cfg.Game.TimeMargin, cfg.Game.MoveTimeMargin = o.timeMargin, o.moveMargin
	if cfg.Format, err = match.ParseFormat(o.format); err != nil {
		return cfg, fmt.Errorf("%w: --format: %w", cli.ErrUsage, err)
	}
	if cfg.Format == match.Gauntlet {
		cfg.Seeds = o.seeds
	}
	if o.sprt {
		cfg.SPRT = &rating.SPRT{Elo0: o.elo0, Elo1: o.elo1, Alpha: o.alpha, Beta: o.beta, Normalized: o.normalized}
	}
	if cfg.Openings, err = o.opening.Openings(v, o.seed); err != nil {
		return cfg, err
	}
	makers, err := player.LoadAll(ctx, players, v, player.Defaults{Limits: limits, HashMB: o.hashMB})
	if err != nil {
		return cfg, err
	}
	for _, m := range makers {
		cli.ShowOrigin(stderr, m.Origin)
		cfg.Players = append(cfg.Players, match.NewContestant(m))
	}
	if cfg.Concurrency == 0 {
		cfg.Concurrency = 1
		cfg.Concurrency = max(1, runtime.NumCPU()/cfg.Load())
	}
	if err := cli.AtATime("concurrency", cfg.Concurrency, largest(makers)...); err != nil {
		return cfg, err
	}
	return cfg, nil
}

// largest returns the two players with the largest tables, which may be those of a pair.
func largest(makers []*player.Maker) []*player.Maker {
	byTable := slices.SortedFunc(slices.Values(makers), func(a, b *player.Maker) int { return b.TableMB() - a.TableMB() })
	return byTable[:min(2, len(byTable))]
}

// check refuses flags that do nothing, and those that package match would refuse in other
// words.
func (o *matchOptions) check() error {
	switch {
	case o.games < 2 || o.games%2 != 0:
		return fmt.Errorf("%w: --games: found %d, expected an even number from 2: every opening is played with both colours", cli.ErrUsage, o.games)
	case o.depth < 0:
		return fmt.Errorf("%w: --depth: found %d, expected 1 or more, or 0 for no limit of depth", cli.ErrUsage, o.depth)
	case o.moveTime < 0:
		return fmt.Errorf("%w: --movetime: found %v, expected a time above 0, or 0 for no limit of time", cli.ErrUsage, o.moveTime)
	case o.concurrency < 0:
		return fmt.Errorf("%w: --concurrency: found %d, expected 0 or more", cli.ErrUsage, o.concurrency)
	case o.output != outputCompact && o.output != outputFastchess:
		return fmt.Errorf("%w: --output: found %q, expected %s or %s", cli.ErrUsage, o.output, outputCompact, outputFastchess)
	case o.json && o.output != outputCompact:
		return fmt.Errorf("%w: found --json with --output %s, expected one of them", cli.ErrUsage, o.output)
	}
	return cmp.Or(
		cli.Needs(o.flags, "--sprt", o.sprt, "elo0", "elo1", "alpha", "beta", "nelo"),
		cli.Needs(o.flags, "--format gauntlet", o.format == match.Gauntlet.String(), "seeds"),
		cli.Needs(o.flags, "--pgn", o.pgn != "", "eval", "pv"),
	)
}

// limits are those of players that have none of their own. Where nothing is said they
// are nodes, or a time if there is a player that cannot count nodes, as few engines of
// CECP can.
func (o *matchOptions) limits(players []player.Spec) (search.Limits, error) {
	limits := search.Limits{Nodes: o.nodes, Depth: o.depth, MoveTime: o.moveTime}
	if o.timeControl != "" {
		base, inc, err := player.ParseTimeControl(o.timeControl)
		if err != nil {
			return limits, fmt.Errorf("%w: --tc: %w", cli.ErrUsage, err)
		}
		limits.Time, limits.Inc = [2]time.Duration{base, base}, [2]time.Duration{inc, inc}
	}
	if o.nodes == 0 && o.depth == 0 && o.moveTime == 0 && o.timeControl == "" {
		limits.Nodes = 400
		if slices.ContainsFunc(players, func(s player.Spec) bool { return s.Search == player.XBoard && !s.HasLimits() }) {
			limits = search.Limits{MoveTime: time.Second}
		}
	}
	return limits, nil
}
