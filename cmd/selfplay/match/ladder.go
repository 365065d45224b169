package match

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/player"
)

// maxMargin bounds --margin, as the ladder's file does.
const maxMargin = 10_000

type ladderOptions struct {
	config      string
	games       int
	most        int
	margin      float64
	marginSet   bool // by the flag
	engine      string
	gainEngine  string
	concurrency int
	log         string
	appendTo    string
	json        bool
	history     bool
	every       int
}

func newLadderCommand() *cobra.Command {
	var o ladderOptions
	c := &cobra.Command{
		Use:   "ladder NET... | DIR --history",
		Short: "Rate nets against opponents of known strength",
		Long: `Play every net, or the newest net of a run's directory, against the opponents of
the ladder and print its rating on their scale, with the 95 % interval that
resampling the opening pairs gives. A few games are played against each; then
more, most of them against those of about the net's own strength, until half of
the interval is --margin. One draw against each opponent is added to the games,
so that a net that wins all of them has a rating too.

Opponents and their ratings are those of --config, in the form of
configs/ladder.yaml, which is the default. It needs fairy-stockfish 11.1 (Debian:
apt-get install fairy-stockfish; --engine if it is not on the PATH). Without it
nets are rated against material alone.

A net of Fairy-Stockfish's own architecture also plays in that program, against
its classical evaluation: its gain. That needs a version that loads nets, by
--gain-engine, such as one built from its source with nnue=yes.

A NET may have settings of its own, as a player of match has them. With --log
the same command goes on after it was stopped, and its rating is what it would
have been without. --append adds a dated row to the table of a Markdown file for
every net.

With --history the nets of a run's directory are rated, as many as are still there
of those that the gate let through, the newest first; with --every N each Nth of
them and the newest. A net that was rated before is not rated again, but for a
smaller --margin. Games and ratings are kept in the folder ladder of the run, and the
run's page draws them over time (selfplay dash DIR, view Learning). The run may go on
meanwhile, or be over; so that it keeps its cores, one pair is played at a time unless
--concurrency says otherwise. The same command goes on after it was stopped.

Exit codes: 0 rated, 1 failed, 2 wrong usage, 4 interrupted but to be continued
by the same command, 130 interrupted without --log or --history.`,
		Example: `  selfplay ladder builtin
  selfplay ladder best.nnue --log runs/ladder --append ladder.md
  selfplay ladder fairy.nnue --engine /usr/games/fairy-stockfish --gain-engine ./stockfish
  selfplay ladder new.nnue,nodes=1000 old.nnue,nodes=1000 --config my-ladder.yaml --margin 25
  selfplay ladder runs/crazyhouse-laptop --history --every 5 --margin 40`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%w: found no nets, expected one or more (see %s --help)", cli.ErrUsage, c.CommandPath())
			}
			return o.check(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if o.history {
				return rateHistory(c, args[0], o)
			}
			return playLadder(c, args, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.config, "config", "", "YAML file of the ladder; default the one of the program")
	f.IntVar(&o.games, "games", 0, "games against each opponent at least, an even number; default that of the ladder")
	f.IntVar(&o.most, "most", 0, "games of a net at most, where there is a margin; default that of the ladder, or of the program's own if it has no margin")
	f.Float64Var(&o.margin, "margin", 0, "Elo: play until half of the 95 % interval is this; 0: no more than --games; default that of the ladder")
	f.StringVar(&o.engine, "engine", "", "the program of the ladder's UCI opponents; default as the ladder has it")
	f.StringVar(&o.gainEngine, "gain-engine", "", "a Fairy-Stockfish that loads nets, where the ladder has a gain; default as the ladder has it")
	f.IntVar(&o.concurrency, "concurrency", 0, "pairs played at the same time; 0: one for every core; with --history 1 unless given")
	f.StringVar(&o.log, "log", "", "directory of game logs, one for each opponent; makes the command resumable")
	f.StringVar(&o.appendTo, "append", "", "add a row for every net to this Markdown file")
	f.BoolVar(&o.history, "history", false, "rate the nets of a run's directory, and keep the ratings there for its page")
	f.IntVar(&o.every, "every", 1, "with --history: rate every Nth net, counted from the run's first, and the newest")
	f.BoolVar(&o.json, "json", false, "print a JSON object every 10 s, and one for the ratings")
	return c
}

// check refuses flags that are out of range or do not go together.
func (o *ladderOptions) check(c *cobra.Command, args []string) error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{cli.ErrUsage}, a...)...)
	}
	switch o.marginSet = c.Flags().Changed("margin"); {
	case o.marginSet && !(o.margin >= 0 && o.margin <= maxMargin):
		return bad("--margin: found %v, expected 0 to %d Elo", o.margin, maxMargin)
	case o.games < 0 || o.games%2 != 0, o.most < 0 || o.most%2 != 0:
		return bad("found --games %d --most %d, expected even numbers, 0 for those of the ladder", o.games, o.most)
	case o.concurrency < 0:
		return bad("--concurrency: found %d, expected 0 or more", o.concurrency)
	}
	if err := cli.CheckFolder("--append", o.appendTo); err != nil {
		return err
	}
	if !o.history {
		if c.Flags().Changed("every") {
			return bad("found --every without --history, expected both or neither")
		}
		return nil
	}
	for _, name := range []string{"log", "append", "gain-engine"} {
		if c.Flags().Changed(name) {
			return bad("found --history with --%s, expected one of them: games and ratings of a history are kept in the run's directory", name)
		}
	}
	if len(args) != 1 {
		return bad("--history: found %d arguments, expected one, the directory of a run", len(args))
	}
	if o.every < 1 {
		return bad("--every: found %d, expected 1 or more", o.every)
	}
	return nil
}

// netRating is what the command finds out of a net.
type netRating struct {
	match.LadderRating
	// Gain is the net's in Fairy-Stockfish: Elo of that program with the net over its
	// classical evaluation. It is nil if that was not measured, and NoGain says why
	// then.
	Gain   *match.LadderRating `json:"gain,omitempty"`
	NoGain string              `json:"no_gain,omitempty"`
}

// playLadder plays the nets against the ladder and rates them.
func playLadder(c *cobra.Command, args []string, o ladderOptions) error {
	ladder, err := o.ladder()
	if err != nil {
		return err
	}
	nets, err := cli.ParsePlayers(args)
	if err != nil {
		return err
	}
	dir, remove, err := o.directory()
	if err != nil {
		return err
	}
	defer remove()
	v, err := cli.Variant(ladder.Variant)
	if err != nil {
		return err
	}
	present, missing, err := presentAnchors(c.Context(), &ladder, v, o.engine != "")
	if err != nil {
		return err
	}
	if missing != "" {
		fmt.Fprintln(c.ErrOrStderr(), missing)
	}
	base, err := o.matchConfig(c.Context(), c.ErrOrStderr(), &ladder, nets, present, c.Root().Version)
	if err != nil {
		return err
	}
	fairy, err := gainNets(&ladder, nets, base)
	if err != nil {
		return err
	}
	p := newLadderPrinter(c, &o, ladder.Margin)
	var anchors []match.Anchor // the last players
	for i, a := range present {
		anchors = append(anchors, match.Anchor{Contestant: base.Players[len(nets)+i], Elo: a.Elo, SD: a.SD})
	}
	var ratings []netRating
	for i := range nets {
		l := climb(&ladder, base, base.Players[i], anchors, dir)
		r := netRating{}
		if r.LadderRating, err = p.rate(c.Context(), l); err == nil {
			r.Gain, r.NoGain, err = gain(c.Context(), p, &ladder, nets[i].Name, fairy[i], base, dir)
		}
		if err != nil {
			return o.stopped(c, p, l, err)
		}
		if err := p.net(&r); err != nil {
			return err
		}
		ratings = append(ratings, r)
	}
	if err := p.end(ratings, missing); err != nil || o.appendTo == "" {
		return err
	}
	return appendLadder(o.appendTo, ratings, p.began, c.Root().Version)
}

// stopped prints what is known of a net whose games were ended by an error.
func (o *ladderOptions) stopped(c *cobra.Command, p *ladderPrinter, l *match.Ladder, err error) error {
	if errors.Is(err, match.ErrConfig) {
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	if !errors.Is(err, context.Canceled) {
		return err
	}
	if r, rated := l.Rating(context.WithoutCancel(c.Context())); rated == nil {
		if err := p.net(&netRating{LadderRating: r}); err != nil {
			return err
		}
	}
	if o.log == "" && !o.history {
		return err
	}
	fmt.Fprintln(c.ErrOrStderr(), "resume with:", cli.CommandLine(os.Args[1:]...))
	return fmt.Errorf("%w", cli.ErrResumable)
}

// directory returns that of the logs, and what removes it if it is temporary.
func (o *ladderOptions) directory() (dir string, remove func(), err error) {
	if o.log == "" {
		dir, err = os.MkdirTemp("", "ladder-")
		return dir, func() { os.RemoveAll(dir) }, err
	}
	if info, err := os.Stat(o.log); err == nil && !info.IsDir() {
		return "", nil, fmt.Errorf("%w: --log: found the file %s, expected a directory: every opponent has a log of its own", cli.ErrUsage, o.log)
	}
	return o.log, func() {}, os.MkdirAll(o.log, 0o755)
}

// ladder reads the ladder and puts the flags over it.
func (o *ladderOptions) ladder() (configs.Ladder, error) {
	ladder := configs.DefaultLadder()
	if o.config != "" {
		text, err := configs.ReadFile(o.config)
		if err != nil {
			return ladder, fmt.Errorf("--config: %w", err)
		}
		if ladder, err = configs.ParseLadder(text, o.config); err != nil {
			return ladder, fmt.Errorf("%w: %w", cli.ErrUsage, err)
		}
	}
	ladder.Games, ladder.Most = cmp.Or(o.games, ladder.Games), cmp.Or(o.most, ladder.Most)
	if o.marginSet {
		ladder.Margin = o.margin
		ladder.Most = cmp.Or(ladder.Most, configs.DefaultLadder().Most) // a file without a margin has none
	}
	switch { // a flag that would do nothing
	case o.most > 0 && ladder.Margin == 0:
		return ladder, fmt.Errorf("%w: --most: found %d, expected nothing, as there is no margin to play for; give one by --margin", cli.ErrUsage, o.most)
	case o.gainEngine != "" && ladder.Gain == nil:
		return ladder, fmt.Errorf("%w: --gain-engine: found %s, expected nothing, as %s has no gain to measure; add one to it", cli.ErrUsage, o.gainEngine, o.config)
	}
	ladder.Most = max(ladder.Most, ladder.Games*len(ladder.Anchors))
	for i := range ladder.Anchors {
		if s := &ladder.Anchors[i].Player; o.engine != "" && s.Search == player.Engine {
			s.Command = []string{o.engine}
		}
	}
	if ladder.Gain != nil && o.gainEngine != "" {
		ladder.Gain.Command = []string{o.gainEngine}
	}
	return ladder, nil
}

// matchConfig is what all matches have in common, with the nets and the opponents as
// its players.
func (o *ladderOptions) matchConfig(ctx context.Context, stderr io.Writer, ladder *configs.Ladder, nets []player.Spec, anchors []configs.Anchor, build string) (match.Config, error) {
	var m matchOptions
	m.addFlags(pflag.NewFlagSet("ladder", pflag.ContinueOnError))
	m.variant, m.games, m.seed, m.nodes = ladder.Variant, ladder.Games, ladder.Seed, ladder.Nodes
	m.concurrency = o.concurrency
	players := append([]player.Spec(nil), nets...)
	for _, a := range anchors {
		s := a.Player
		s.Name = a.Name
		players = append(players, s)
	}
	return m.config(ctx, stderr, players, build)
}

// climb makes the ladder of a player.
func climb(ladder *configs.Ladder, base match.Config, p match.Contestant, anchors []match.Anchor, dir string) *match.Ladder {
	return &match.Ladder{
		Match: base, Player: p, Anchors: anchors, Dir: dir,
		Pairs: ladder.Games / 2, Margin: ladder.Margin, Most: ladder.Most / 2,
	}
}

// presentAnchors returns the opponents that can play here, and a sentence about the
// others. It is an error if none can play or, with all, if one of them cannot.
func presentAnchors(ctx context.Context, ladder *configs.Ladder, v *chess.Variant, all bool) (present []configs.Anchor, missing string, err error) {
	faults := make(map[string]error) // by command
	var names, reasons []string
	for _, a := range ladder.Anchors {
		if !a.Player.Search.Foreign() {
			present = append(present, a)
			continue
		}
		key := strings.Join(a.Player.Command, " ") + "\n" + a.Engine
		fault, asked := faults[key]
		if !asked {
			if fault = checkEngine(ctx, a.Player, a.Engine, v); ctx.Err() != nil {
				return nil, "", ctx.Err()
			}
			faults[key] = fault
			if fault != nil {
				reasons = append(reasons, fault.Error())
			}
		}
		if fault != nil {
			names = append(names, a.Name)
		} else {
			present = append(present, a)
		}
	}
	if names == nil {
		return present, "", nil
	}
	why := strings.Join(names, ", ") + ": " + strings.Join(reasons, "; ")
	if all {
		return nil, "", fmt.Errorf("--engine: opponents cannot play: %s", why)
	}
	missing = "left out " + why
	if present == nil {
		return nil, "", fmt.Errorf("no opponent is left: %s", missing)
	}
	var rest []string
	for _, a := range present {
		rest = append(rest, a.Name)
	}
	return present, missing + fmt.Sprintf(". Rated against %s alone; Debian has fairy-stockfish 11.1, and --engine names it if it is not on the PATH.", strings.Join(rest, ", ")), nil
}

// checkEngine loads an engine, starts it and compares how it calls itself.
func checkEngine(ctx context.Context, s player.Spec, expected string, v *chess.Variant) error {
	m, err := s.Load(ctx, v, player.Defaults{})
	if err != nil {
		return err
	}
	return match.CheckEngine(m, expected)
}
