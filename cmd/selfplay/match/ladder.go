package match

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

type ladderOptions struct {
	config      string
	games       int
	concurrency int
	log         string
	appendTo    string
	json        bool
}

func newLadderCommand() *cobra.Command {
	var o ladderOptions
	c := &cobra.Command{
		Use:   "ladder NET...",
		Short: "Rate nets against opponents of known strength",
		Long: `Play every net, or the newest net of a run's directory, against all opponents of
the ladder and print its rating on their scale, with the 95 % interval that
resampling the opening pairs gives. One draw against each opponent is added to
the games, so that a net that wins all of them has a rating too. Opponents and
their ratings are those of --config, in the form of configs/ladder.yaml, which is
the default and needs fairy-stockfish.

A NET may have settings of its own, as a player of match has them. With --log
the same command resumes the match after it was stopped. --append adds a dated row to the
table of a Markdown file for every net.`,
		Example: `  selfplay ladder best.nnue --append ladder.md
  selfplay ladder runs/crazyhouse-laptop --log ladder.jsonl
  selfplay ladder new.nnue,nodes=1000 old.nnue,nodes=1000 --config my-ladder.yaml --games 200`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%w: found no nets, expected one or more (see %s --help)", cli.ErrUsage, c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return playLadder(c, args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.config, "config", "", "YAML file of the ladder; default the one of the program")
	f.IntVar(&o.games, "games", 0, "games against each opponent, an even number; default that of the ladder")
	f.IntVar(&o.concurrency, "concurrency", 0, "pairs played at the same time; 0: one for every core")
	f.StringVar(&o.log, "log", "", "game log; makes the command resumable")
	f.StringVar(&o.appendTo, "append", "", "add a row for every net to this Markdown file")
	f.BoolVar(&o.json, "json", false, "print a JSON object for every pair, for the result and for the ratings")
	return c
}

// playLadder plays the nets against the ladder and rates them.
func playLadder(c *cobra.Command, args []string, o ladderOptions) error {
	ladder, err := o.ladder()
	if err != nil {
		return err
	}
	cfg, m, err := o.matchConfig(c.Context(), c.ErrOrStderr(), ladder, args, c.Root().Version)
	if err != nil {
		return err
	}
	if cfg.Log == "" { // ratings are made from the log
		dir, err := os.MkdirTemp("", "ladder-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		cfg.Log = filepath.Join(dir, "match.jsonl")
	}
	if err := playMatch(c, cfg, m.printer(c), o.log != ""); err != nil {
		return err
	}
	anchors := make([]match.Anchor, len(ladder.Anchors))
	for i, a := range ladder.Anchors {
		anchors[i] = match.Anchor{Name: a.Name, Elo: a.Elo, SD: a.SD}
	}
	ratings, err := match.RateGauntlet(c.Context(), cfg, anchors, c.ErrOrStderr())
	if err != nil {
		return err
	}
	if o.json {
		err = json.NewEncoder(c.OutOrStdout()).Encode(struct {
			Type string                 `json:"type"`
			Nets []match.GauntletRating `json:"nets"`
		}{"ladder", ratings})
	} else {
		err = printLadder(c.OutOrStdout(), ratings)
	}
	if err != nil || o.appendTo == "" {
		return err
	}
	return appendLadder(o.appendTo, ratings, time.Now(), c.Root().Version)
}

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
	ladder.Games = cmp.Or(o.games, ladder.Games)
	return ladder, nil
}

// matchConfig makes a gauntlet of the nets against the anchors.
func (o *ladderOptions) matchConfig(ctx context.Context, stderr io.Writer, ladder configs.Ladder, args []string, build string) (match.Config, *matchOptions, error) {
	var m matchOptions
	m.addFlags(pflag.NewFlagSet("ladder", pflag.ContinueOnError))
	m.variant, m.games, m.seed, m.nodes = ladder.Variant, ladder.Games, ladder.Seed, ladder.Nodes
	m.format, m.seeds = match.Gauntlet.String(), len(args)
	m.concurrency, m.log, m.json = o.concurrency, o.log, o.json
	players, err := cli.ParsePlayers(args)
	if err != nil {
		return match.Config{}, nil, err
	}
	for _, a := range ladder.Anchors {
		s := a.Player
		s.Name = a.Name
		players = append(players, s)
	}
	cfg, err := m.config(ctx, stderr, players, build)
	return cfg, &m, err
}

func printLadder(w io.Writer, ratings []match.GauntletRating) error {
	for _, c := range ratings {
		if _, err := fmt.Fprintf(w, "\n%s (%s): %s Elo\n", c.Name, c.Limits, ratingText(&c.Elo)); err != nil {
			return err
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "Elo\tscore\texpected\t  against")
		for _, s := range c.Scores {
			fmt.Fprintf(t, "%.0f\t%.1f %%\t%.1f %%\t  %s\n", s.Elo, 100*s.Score, 100*s.Expected, s.Anchor)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// ratingText is a rating with its error.
func ratingText(e *rating.Estimate) string {
	margin, _ := e.Margin()
	return fmt.Sprintf("%+.0f ± %.0f", e.Value, margin)
}

// The table that --append adds to. Its head is also how it is found again.
const (
	ladderHead    = "| date | net | limits | games | rating | scores | build |\n|---|---|---|---|---|---|---|\n"
	ladderSection = "\n## Strength ladder\n\nBy `selfplay ladder`: Elo on the scale of `configs/ladder.yaml`, intervals of 95 % from opening pairs.\n\n"
)

// appendLadder adds a row for every net to the table in a Markdown file, which
// is begun at its end if it is not there.
func appendLadder(path string, ratings []match.GauntletRating, now time.Time, build string) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("--append: %w", err)
	}
	var rows strings.Builder
	for _, c := range ratings {
		var scores []string
		for _, s := range c.Scores {
			scores = append(scores, fmt.Sprintf("%s %.0f %%", s.Anchor, 100*s.Score))
		}
		fmt.Fprintf(&rows, "| %s | %s (%.8s) | %s | %d | **%s** | %s | %s |\n", now.Format(time.DateOnly),
			strings.ReplaceAll(c.Name, "|", "/"), c.Net, c.Limits, c.Games, ratingText(&c.Elo), strings.Join(scores, ", "), build)
	}
	before, after, found := strings.Cut(string(text), ladderHead)
	if !found {
		if before != "" && !strings.HasSuffix(before, "\n") {
			before += "\n"
		}
		before += ladderSection
	}
	end := 0 // of the rows that are there
	for strings.HasPrefix(after[end:], "|") {
		line, _, whole := strings.Cut(after[end:], "\n")
		end += len(line)
		if !whole {
			after += "\n"
		}
		end++
	}
	if err := durable.WriteFile(path, []byte(before+ladderHead+after[:end]+rows.String()+after[end:])); err != nil {
		return fmt.Errorf("--append: %w", err)
	}
	return nil
}
