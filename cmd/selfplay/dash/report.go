package dash

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dash"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/words"
)

const usualReportGames = 50

func newReport() *cobra.Command {
	var output string
	var games int
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Write the page of a run as one file that needs no server",
		Long: fmt.Sprintf(`Write the page that shows the run in a directory as one HTML file, for somebody who has
neither the run nor this program: its data path, how it learns, its newest games, its
nets and its actors, as they are now. A browser opens the file from disk; it asks nobody
for anything. It has no secrets of the run: what it shows is what the page shows.

The file is of at most %d MiB; games for which there is no room are left out.`, dash.MostReportBytes>>20),
		Example: `  selfplay report runs/crazyhouse-laptop
  selfplay report runs/crazyhouse-laptop --output crazyhouse.html --games 200`,
		Args: cli.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if games < 0 || games > dash.MostReportGames {
				return fmt.Errorf("%w: --games: found %d, expected 0 to %d", cli.ErrUsage, games, dash.MostReportGames)
			}
			if output == "" {
				output = filepath.Join(args[0], "report.html")
			}
			w, err := dash.NewWatch(dash.Config{Dir: args[0]})
			if err != nil {
				return err
			}
			r, err := w.Report(games)
			if err != nil {
				return err
			}
			if err := durable.WriteFile(output, r.HTML); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %.1f MB, the newest %s", output, float64(len(r.HTML))/1e6, words.Count(r.Games, "game", "games"))
			if err == nil && r.Left > 0 {
				_, err = fmt.Fprintf(c.OutOrStdout(), ", no room for %d more", r.Left)
			}
			if err == nil {
				_, err = fmt.Fprintln(c.OutOrStdout())
			}
			return err
		},
	}
	c.Flags().StringVar(&output, "output", "", "file to write; default report.html in DIR")
	c.Flags().IntVar(&games, "games", usualReportGames, fmt.Sprintf("newest games in it, at most %d", dash.MostReportGames))
	return c
}
