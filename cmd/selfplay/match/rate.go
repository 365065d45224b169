package match

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

type rateOptions struct {
	anchors    []string
	white      string
	priorDraws float64
	resample   int
	seed       uint64
	variant    string
	noReplay   bool
	json       bool
	plot       string
	plan       float64
	planFor    []string
	planAmong  []string
}

func newRateCommand() *cobra.Command {
	var o rateOptions
	c := &cobra.Command{
		Use:   "rate FILE...",
		Short: "Rate the players of PGN files and match logs together",
		Long: `Rate all players of PGN files, of any program, and of logs of selfplay match on
one scale of Elo; - is standard input. A log and the PGN of the same match hold
the same games: give one of them.

The model is Bradley's and Terry's, a draw half a win, with White's advantage
fitted and draws after Davidson. Without --anchor the mean of all players is 0.
Errors are those of 95 % intervals: "±" by the curvature of the likelihood,
which takes games as independent, and "± pairs" by drawing pairs of games from
one opening anew, which does not. In a PGN a pair is what has one PairId, or
else two games of the same players with colours swapped, equal start and the
same or successive rounds; every other game stands for itself.

Games are replayed by the rules if these are known, and what is wrong with a
game is said with its line; such games, and those without a result or without
two names, do not count.

With --plan, rate says which games to add so that every error falls below a
margin in little time. Only players who have met and are at most 400 Elo apart
are paired; the match that lowers the errors most for its time comes first. The
time of a game is that of the games so far, by the tags GameStartTime and
GameEndTime of PGN; without them the number of games is kept small instead. A
plan rests on the ratings now: play a part of it, best first, and rate again.
--plan-for names the players whose errors count, --plan-among those who can
play, each by default all.`,
		Example: `  selfplay rate games.pgn
  selfplay rate match.log old.pgn --anchor fairy-stockfish=2000 --plot ratings.svg
  selfplay rate ladder.pgn --anchor first=0/30 --prior-draws 1 --json
  selfplay rate list/*.pgn --plan 25 --plan-for ours --plan-for sjeng`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return rate(c, args, o) },
	}
	f := c.Flags()
	f.StringArrayVar(&o.anchors, "anchor", nil, "NAME=ELO fixes a player; NAME=ELO/SD ties it with a standard deviation; may be repeated")
	f.StringVar(&o.white, "white-advantage", "fit", "fit, or its value in Elo")
	f.Float64Var(&o.priorDraws, "prior-draws", 0, "draws that any two players who met are taken to have played besides")
	f.IntVar(&o.resample, "resample", 1000, "times to draw pairs anew for their errors; 0: never")
	f.Uint64Var(&o.seed, "seed", 1, "seed of drawing anew")
	f.StringVar(&o.variant, "variant", "", "count only games of PGN files of this variant: crazyhouse or chess")
	f.BoolVar(&o.noReplay, "no-replay", false, "trust the moves of PGN files")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.Float64Var(&o.plan, "plan", 0, "say which games bring all errors below this many Elo; 0: do not")
	f.StringArrayVar(&o.planFor, "plan-for", nil, "player whose error counts for --plan; may be repeated; none: all")
	f.StringArrayVar(&o.planAmong, "plan-among", nil, "player whom --plan can tell to play; may be repeated; none: all")
	f.StringVar(&o.plot, "plot", "", "draw the ratings with their errors into this file, .png or .svg")
	return c
}

// maxResample bounds the samples, whose ratings are all kept.
const maxResample = 100_000

func rate(c *cobra.Command, files []string, o rateOptions) error {
	if len(files) == 0 {
		return fmt.Errorf("%w: found no files, expected one or more (see %s --help)", cli.ErrUsage, c.CommandPath())
	}
	if o.resample < 0 || o.resample == 1 || o.resample > maxResample {
		return fmt.Errorf("%w: --resample: found %d, expected 0 or 2 to %d", cli.ErrUsage, o.resample, maxResample)
	}
	if err := cli.CheckPlot("--plot", o.plot); err != nil {
		return err
	}
	loader := &match.PoolLoader{NoReplay: o.noReplay, Step: cli.NewProgress(c.ErrOrStderr(), "games read").Step, Warn: c.ErrOrStderr()}
	if o.variant != "" {
		v, err := cli.Variant(o.variant)
		if err != nil {
			return err
		}
		loader.Variant = v
	}
	cfg, err := o.whiteAdvantage()
	if err != nil {
		return err
	}
	anchors, err := parseAnchors(o.anchors)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := loader.Load(c.Context(), file, c.InOrStdin()); err != nil {
			return err
		}
	}
	loader.Summary()
	seen := make(map[string]bool)
	for _, a := range anchors {
		if seen[a.name] {
			return fmt.Errorf("%w: --anchor: found %q twice, expected once", cli.ErrUsage, a.name)
		}
		seen[a.name] = true
		player, err := playerOf(&loader.Pool, "--anchor", a.name)
		if err != nil {
			return err
		}
		cfg.Anchors = append(cfg.Anchors, rating.Anchor{Player: player, Elo: a.elo, SD: a.sd})
	}
	if err := cfg.Validate(len(loader.Pool.Players())); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	planned, err := o.planConfig(&loader.Pool)
	if err != nil {
		return err
	}
	ratings, err := loader.Pool.Fit(cfg)
	if err != nil {
		return withHint(err)
	}
	var samples *rating.Resampling
	if o.resample > 0 {
		rng := rand.New(rand.NewPCG(o.seed, 0))
		if samples, err = loader.Pool.Resample(c.Context(), cfg, ratings, o.resample, rng); err != nil {
			return err
		}
	}
	report := rating.NewPoolReport(&loader.Pool, loader.Counts, cfg, ratings, samples, o.seed)
	if o.plan != 0 {
		errors := ratings.Errors
		if samples != nil {
			errors = samples.Errors
		}
		plan, err := loader.Pool.Plan(c.Context(), ratings, errors, planned)
		if err != nil {
			return err
		}
		report.Plan = rating.NewPlanReport(&loader.Pool, planned, errors, plan)
	}
	err = cli.WriteReport(c.OutOrStdout(), o.json, report, report.WriteText)
	if err != nil || o.plot == "" {
		return err
	}
	return report.Figure().Save(o.plot)
}

// withHint adds to the error of a fit what may help.
func withHint(err error) error {
	var unconnected *rating.UnconnectedError
	switch {
	case errors.As(err, &unconnected) && unconnected.Apart:
		return fmt.Errorf("%w (rate them apart, or tie one player of each with --anchor)", err)
	case errors.As(err, &unconnected):
		return fmt.Errorf("%w (--prior-draws 1 bounds ratings)", err)
	case errors.Is(err, rating.ErrWhiteAdvantage):
		return fmt.Errorf("%w (--white-advantage 0 leaves it out)", err)
	}
	return err
}

// whiteAdvantage returns the settings of a fit but for the anchors.
func (o *rateOptions) whiteAdvantage() (rating.PoolConfig, error) {
	cfg := rating.PoolConfig{PriorDraws: o.priorDraws}
	if o.white == "fit" {
		return cfg, nil
	}
	var err error
	cfg.FixWhite = true
	if cfg.White, err = strconv.ParseFloat(o.white, 64); err != nil {
		return cfg, fmt.Errorf("%w: --white-advantage: found %q, expected fit or a number of Elo", cli.ErrUsage, o.white)
	}
	return cfg, nil
}

// planConfig returns the settings of --plan, if it is asked for.
func (o *rateOptions) planConfig(pool *rating.Pool) (rating.PlanConfig, error) {
	c := rating.PlanConfig{Margin: o.plan}
	if o.plan == 0 {
		if len(o.planFor)+len(o.planAmong) > 0 {
			return c, fmt.Errorf("%w: found --plan-for or --plan-among without --plan, expected both", cli.ErrUsage)
		}
		return c, nil
	}
	var err error
	if c.Targets, err = playersOf(pool, "--plan-for", o.planFor); err != nil {
		return c, err
	}
	if c.Among, err = playersOf(pool, "--plan-among", o.planAmong); err != nil {
		return c, err
	}
	if err := c.Validate(len(pool.Players())); err != nil {
		return c, fmt.Errorf("%w: --plan: %w", cli.ErrUsage, err)
	}
	return c, nil
}

// playersOf returns the indices of players that a flag names.
func playersOf(pool *rating.Pool, flag string, names []string) (list []int, err error) {
	for _, name := range names {
		player, err := playerOf(pool, flag, name)
		if err != nil {
			return nil, err
		}
		list = append(list, player)
	}
	return list, nil
}

// playerOf returns the index of a player that a flag names.
func playerOf(pool *rating.Pool, flag, name string) (int, error) {
	player, ok := pool.Player(name)
	if !ok {
		return 0, fmt.Errorf("%w: %s: found %q, expected one of the players: %s", cli.ErrUsage, flag, name, someNames(pool.Players()))
	}
	return player, nil
}

// anchor is a --anchor, before it is known which player has the name.
type anchor struct {
	name    string
	elo, sd float64
}

// parseAnchors reads NAME=ELO and NAME=ELO/SD; the name may hold both signs.
func parseAnchors(texts []string) ([]anchor, error) {
	var list []anchor
	for _, text := range texts {
		at := strings.LastIndexByte(text, '=')
		elo, sd, soft := strings.Cut(text[at+1:], "/")
		a := anchor{name: text[:max(at, 0)]}
		var err, sdErr error
		a.elo, err = strconv.ParseFloat(elo, 64)
		if soft {
			a.sd, sdErr = strconv.ParseFloat(sd, 64)
		}
		if at < 1 || err != nil || sdErr != nil || soft && !(a.sd > 0) || math.IsNaN(a.elo) {
			return nil, fmt.Errorf("%w: --anchor: found %q, expected NAME=ELO or NAME=ELO/SD", cli.ErrUsage, text)
		}
		list = append(list, a)
	}
	return list, nil
}

// someNames lists names, as many as an error can take.
func someNames(names []string) string {
	const most = 20
	text := strings.Join(names[:min(len(names), most)], ", ")
	if n := len(names) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
