// Package dash is the command dash: the page on which people watch a run.
package dash

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dash"
)

// Commands returns the command.
func Commands() []*cobra.Command { return []*cobra.Command{newDash(), newReport()} }

func newDash() *cobra.Command {
	address := ""
	c := &cobra.Command{
		Use:   "dash DIR",
		Short: "Serve the page on which a run can be watched",
		Long: `Serve a page for browsers that shows the run in a directory: its data path, how it
learns, its games and its nets. The run may be under way in another process, or over.
Of the directory of a comparison (selfplay compare --dir) it shows that.
The page only reads, and the run does no work for it. A loop serves its own page with
--dash; that one also knows what only the process itself does, such as who waits for
whom.

Only this machine reaches the page unless --listen says otherwise. There is no password:
whoever reaches it can look at everything on it.`,
		Example: `  selfplay dash runs/crazyhouse-laptop
  selfplay dash hands
  selfplay dash runs/crazyhouse-laptop --listen 127.0.0.1:9000
  selfplay --variant crazyhouse --dash 127.0.0.1:8080`,
		Args: cli.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			w, err := dash.NewWatch(dash.Config{Dir: args[0]})
			if err != nil {
				return err
			}
			page, err := cli.OpenPage(address)
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), page)
			return page.Serve(c.Context(), w)
		},
	}
	c.Flags().StringVar(&address, "listen", "127.0.0.1:8080", "host:port to serve on; without host, this machine alone; port 0: a free one")
	return c
}
