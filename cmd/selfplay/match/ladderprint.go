package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// ladderPrinter prints ratings, and while games are played how far they are.
type ladderPrinter struct {
	stdout io.Writer
	json   bool
	live   *cli.Live // on standard error
	margin float64
	began  time.Time
}

func newLadderPrinter(c *cobra.Command, o *ladderOptions, margin float64) *ladderPrinter {
	return &ladderPrinter{
		stdout: c.OutOrStdout(), json: o.json, live: cli.NewLive(c.ErrOrStderr()), margin: margin, began: time.Now(),
	}
}

// rate plays a ladder and prints its rating every few seconds.
func (p *ladderPrinter) rate(ctx context.Context, l *match.Ladder) (match.LadderRating, error) {
	began, shown := time.Now(), time.Now()
	played := 0 // games, since began
	var last match.LadderRating
	opponent := ""
	l.OnStart = func(cfg *match.Config) { opponent = cfg.Players[1].Name }
	l.OnRating = func(r match.LadderRating) { last = r }
	l.OnPair = func(pair match.Pair, _ *match.Anchor) {
		played += 2
		for i := range pair.Games {
			if g := &pair.Games[i]; g.Error != "" {
				fmt.Fprintf(p.live, "%s vs %s, game %d: %s\n", l.Player.Name, opponent, 2*pair.Number+i+1, g.Error)
			}
		}
		if time.Since(shown) < progressEvery {
			return
		}
		if r, err := l.Rating(ctx); err == nil { // else the games will say why
			last = r
		}
		shown = time.Now()
		p.progress(&last, opponent, float64(played)/time.Since(began).Minutes())
	}
	r, err := l.Rate(ctx)
	_ = p.live.Show()
	return r, err
}

// ladderProgress is how far a ladder is, as --json prints it.
type ladderProgress struct {
	Type  string          `json:"type"` // "progress"
	Name  string          `json:"name"`
	Games int             `json:"games"`
	Elo   rating.Estimate `json:"elo"`
}

// progress shows how far a ladder is; perMinute games were played.
func (p *ladderPrinter) progress(r *match.LadderRating, opponent string, perMinute float64) {
	if p.json {
		_ = json.NewEncoder(p.stdout).Encode(ladderProgress{"progress", r.Name, r.Games, r.Elo}) // the end reports what cannot be written
		return
	}
	text := fmt.Sprintf("%s: %d games, %s Elo, against %s, %.0f games/min", r.Name, r.Games, ratingText(&r.Elo), opponent, perMinute)
	if margin, ok := r.Elo.Margin(); ok && p.margin > 0 && margin > p.margin {
		// The error falls with the square root of the games.
		more := float64(r.Games) * (margin*margin/(p.margin*p.margin) - 1)
		text += fmt.Sprintf(", about %v to ±%.0f", time.Duration(more/perMinute*float64(time.Minute)).Round(10*time.Second), p.margin)
	}
	if p.live.Width > 0 {
		_ = p.live.Show(text) // if nobody reads, the games go on
	} else {
		fmt.Fprintln(p.live, text)
	}
}

// net prints the rating of a net.
func (p *ladderPrinter) net(r *netRating) error {
	if p.json {
		return nil // all together, by end
	}
	if _, err := fmt.Fprintf(p.stdout, "%s (%s): %s Elo by %d games\n", r.Name, r.Limits, ratingText(&r.Elo), r.Games); err != nil {
		return err
	}
	t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "games\tscore\texpected\tElo by them alone\t  against")
	for i := range r.Scores {
		s := &r.Scores[i]
		fmt.Fprintf(t, "%d\t%.1f %%\t%.1f %%\t%s\t  %s (%.0f)\n", s.Games, 100*s.Score, 100*s.Expected, aloneText(s), s.Anchor, s.Elo)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	switch {
	case r.Gain != nil:
		_, err := fmt.Fprintf(p.stdout, "gain in Fairy-Stockfish (%s): %s Elo by %d games\n", r.Gain.Limits, ratingText(&r.Gain.Elo), r.Gain.Games)
		return err
	case r.NoGain != "":
		_, err := fmt.Fprintln(p.live, r.NoGain)
		return err
	}
	return nil
}

// aloneText is the rating by the games against one opponent.
func aloneText(s *match.AnchorScore) string {
	margin, ok := s.Difference.Margin()
	if !ok {
		return "n/a"
	}
	return fmt.Sprintf("%+.0f ± %.0f", s.Elo+s.Difference.Value, margin)
}

// end prints what is to be printed of all nets together.
func (p *ladderPrinter) end(ratings []netRating, missing string) error {
	if !p.json {
		return nil
	}
	return json.NewEncoder(p.stdout).Encode(struct {
		Type    string      `json:"type"`
		Nets    []netRating `json:"nets"`
		Missing string      `json:"missing,omitempty"`
	}{"ladder", ratings, missing})
}

// ratingText is a rating with its error.
func ratingText(e *rating.Estimate) string {
	margin, _ := e.Margin()
	return fmt.Sprintf("%+.0f ± %.0f", e.Value, margin)
}

// The table that --append adds to. Its head is also how it is found again.
const (
	ladderHead    = "| date | net | limits | games | rating | games and score against each | gain in Fairy-Stockfish | build |\n|---|---|---|---|---|---|---|---|\n"
	ladderSection = "\n## Ratings\n\nBy `selfplay ladder`: Elo on the scale of `configs/ladder.yaml`, intervals of 95 % from opening pairs.\n\n"
)

// appendLadder adds a row for every net to the table in a Markdown file, which
// is begun at its end if it is not there.
func appendLadder(path string, ratings []netRating, now time.Time, build string) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("--append: %w", err)
	}
	var rows strings.Builder
	for _, c := range ratings {
		var scores []string
		for _, s := range c.Scores {
			scores = append(scores, fmt.Sprintf("%s %d: %.0f %%", s.Anchor, s.Games, 100*s.Score))
		}
		gain := "–"
		if c.Gain != nil {
			gain = fmt.Sprintf("**%s** (%d, %s)", ratingText(&c.Gain.Elo), c.Gain.Games, c.Gain.Limits)
		}
		fmt.Fprintf(&rows, "| %s | %s (%.8s) | %s | %d | **%s** | %s | %s | %s |\n", now.Format(time.DateOnly),
			strings.ReplaceAll(c.Name, "|", "/"), c.Net, c.Limits, c.Games, ratingText(&c.Elo), strings.Join(scores, ", "), gain, build)
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
