package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// historyRating is the rating of a net of a run.
type historyRating struct {
	selfplay.RatedNet
	Before bool `json:"before"` // it was rated before this command
}

// rateHistory rates the nets of the run in a directory, and keeps the ratings there.
func rateHistory(c *cobra.Command, dir string, o ladderOptions) error {
	ladder, err := o.ladder()
	if err != nil {
		return err
	}
	v, err := cli.Variant(ladder.Variant)
	if err != nil {
		return err
	}
	history, err := selfplay.History(dir, o.every)
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, selfplay.LadderDir)
	lock, err := dirlock.Acquire(folder) // of the ladder alone: the run's own is the run's
	if err != nil {
		return err
	}
	defer lock.Release()
	ratings, err := selfplay.ReadRatings(dir)
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
	if !c.Flags().Changed("concurrency") {
		o.concurrency = 1
	}
	base, err := o.matchConfig(c.Context(), c.ErrOrStderr(), &ladder, nil, present, c.Root().Version)
	if err != nil {
		return err
	}
	var anchors []match.Anchor
	for i, a := range present {
		anchors = append(anchors, match.Anchor{Contestant: base.Players[i], Elo: a.Elo, SD: a.SD})
	}
	load := func(s player.Spec) (match.Contestant, error) {
		cfg, err := o.matchConfig(c.Context(), c.ErrOrStderr(), &ladder, []player.Spec{s}, nil, c.Root().Version)
		if err != nil {
			return match.Contestant{}, err
		}
		return cfg.Players[0], nil
	}
	plane, err := load(player.ForNet(player.Uniform)) // searches as plane nets do
	if err != nil {
		return err
	}
	// The settings of plane nets' search tell their ratings from those of builds that played
	// such nets by material; ratings of NNUE nets are kept without.
	keys := map[string]string{}
	for kind, settings := range map[string]string{nets.KindNNUE: "", nets.KindPlanes: plane.Settings} {
		us := match.Contestant{Limits: search.Limits{Nodes: ladder.Nodes}, Settings: settings}
		keys[kind] = climb(&ladder, base, us, anchors, "").Key()
	}
	p := newLadderPrinter(c, &o, ladder.Margin)
	var all []historyRating
	for _, n := range slices.Backward(history) {
		key := keys[nets.KindOf(n.Path)]
		if known, ok := ratings.Of(n.ID, key); ok && sure(&known, &ladder) {
			all = append(all, historyRating{known, true})
			continue
		}
		if n.Variant != ladder.Variant {
			return fmt.Errorf("%w: found nets of %s, expected %s, of which the ladder is; --config names another", cli.ErrUsage, n.Variant, ladder.Variant)
		}
		s := player.ForNet(n.Path)
		s.Name = fmt.Sprintf("generation %d", n.Generation)
		us, err := load(s)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(p.live, "generation %d: the run has deleted it meanwhile\n", n.Generation)
			continue
		}
		if err == nil && us.Net != n.ID {
			err = fmt.Errorf("%s: found net %.12s, expected %.12s: the file is damaged", n.Path, us.Net, n.ID)
		}
		if err != nil {
			return err
		}
		// A ladder of its own folder: its logs go on with the same opponents and rules only.
		logs := filepath.Join(folder, key)
		if err := os.MkdirAll(logs, 0o755); err != nil {
			return err
		}
		l := climb(&ladder, base, us, anchors, logs)
		r, err := p.rate(c.Context(), l)
		if err != nil {
			return o.stopped(c, p, l, err)
		}
		rated := selfplay.NewRatedNet(n, key, &r)
		rated.Rated, rated.Build = time.Now().UTC().Truncate(time.Second), c.Root().Version
		ratings.Put(rated)
		if err := ratings.Write(dir); err != nil {
			return err
		}
		fmt.Fprintf(p.live, "generation %d: %s Elo by %d games\n", n.Generation, ratingText(&r.Elo), r.Games)
		all = append(all, historyRating{rated, false})
	}
	slices.Reverse(all)
	return p.history(all, filepath.Join(folder, selfplay.RatingsFile), missing)
}

// sure reports whether a ladder plays no more games of a net with a rating.
func sure(r *selfplay.RatedNet, ladder *configs.Ladder) bool {
	return ladder.Margin == 0 || r.Margin() <= ladder.Margin || r.Games >= ladder.Most
}

// history prints the ratings of a run's nets.
func (p *ladderPrinter) history(all []historyRating, file, missing string) error {
	if p.json {
		return json.NewEncoder(p.stdout).Encode(struct {
			Type    string          `json:"type"`
			File    string          `json:"file"`
			Nets    []historyRating `json:"nets"`
			Missing string          `json:"missing,omitempty"`
		}{"history", file, all, missing})
	}
	t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "generation\tgames stored\tElo\tgames\t  score against each")
	for i := range all {
		n := &all[i]
		var scores []string
		for _, s := range n.Scores {
			scores = append(scores, fmt.Sprintf("%s %.1f %%", s.Opponent, 100*s.Score))
		}
		before := ""
		if n.Before {
			before = ", rated before"
		}
		fmt.Fprintf(t, "%d\t%d\t%+.0f ± %.0f\t%d\t  %s%s\n", n.Generation, n.Stored, n.Elo, n.Margin(), n.Games, strings.Join(scores, ", "), before)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.stdout, "in", file)
	return err
}
