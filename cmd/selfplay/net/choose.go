package net

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// chooseOptions are those of the commands about the net that a run plays with.
type chooseOptions struct {
	bus        cli.BusFlags
	json       bool
	why        string
	generation int
}

func newHistoryCommand() *cobra.Command {
	var o chooseOptions
	c := &cobra.Command{
		Use:   "history [DIR]",
		Short: "List the nets that a run has played with, and who chose them",
		Long:  "List the nets that a run has played with, who chose them and why, the newest last, as\nfar as the server remembers: 64 changes." + cli.WhichRun,
		Example: `  selfplay net history runs/crazyhouse-laptop
  selfplay net history --nats nats://10.0.0.1:4222 --run crazyhouse --json`,
		Args: atMostArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.with(c, append(args, "")[0], func(ctx context.Context, choice *selfplay.NetChoice) error {
				changes, err := choice.History(ctx)
				if err != nil {
					return err
				}
				return printHistory(c.OutOrStdout(), changes, o.json)
			})
		},
	}
	o.bus.Add(c)
	c.Flags().BoolVar(&o.json, "json", false, "print JSON lines, with all that is known")
	return c
}

func newPromoteCommand() *cobra.Command {
	var o chooseOptions
	c := &cobra.Command{
		Use:   "promote [DIR] NET --why TEXT",
		Short: "Make a run play with a net that its gate has not chosen",
		Long: `Make a run play with a net of its own that is not older than the present one, such as
one that failed the gate. NET is its id or at least its first 8 digits. Who chose it
and why stands in the run's history.` + cli.WhichRun,
		Example: `  selfplay net promote runs/crazyhouse-laptop 5f0c2a91 --why "the gate's noise was against it"`,
		Args:    cli.AtLeastArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 2 {
				return atMostArgs(2)(c, args)
			}
			dir := append([]string{""}, args...)[len(args)-1]
			return o.choose(c, dir, func(ctx context.Context, choice *selfplay.NetChoice, by string) (was, is nets.Record, err error) {
				return choice.Promote(ctx, args[len(args)-1], by, o.why)
			})
		},
	}
	o.bus.Add(c)
	c.Flags().StringVar(&o.why, "why", "", "the reason, for the run's history")
	return c
}

func newRollbackCommand() *cobra.Command {
	var o chooseOptions
	c := &cobra.Command{
		Use:   "rollback [DIR] --why TEXT",
		Short: "Make a run play with an older net again",
		Long: `Make a run play with the net before the present one again, or with that of --to. The
trainer goes on from where it is; the next net that passes the gate against the older
one is played with.` + cli.WhichRun,
		Example: `  selfplay net rollback --nats nats://10.0.0.1:4222 --run crazyhouse --why "it hangs its queen"
  selfplay net rollback runs/crazyhouse-laptop --to 7 --why "8 and 9 lose to 7"`,
		Args: atMostArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			to := selfplay.Previous
			if c.Flags().Changed("to") {
				if to = o.generation; to < 0 {
					return fmt.Errorf("%w: --to: found %d, expected a generation, or 0 for none", cli.ErrUsage, to)
				}
			}
			return o.choose(c, append(args, "")[0], func(ctx context.Context, choice *selfplay.NetChoice, by string) (was, is nets.Record, err error) {
				return choice.Rollback(ctx, to, by, o.why)
			})
		},
	}
	o.bus.Add(c)
	c.Flags().StringVar(&o.why, "why", "", "the reason, for the run's history")
	c.Flags().IntVar(&o.generation, "to", 0, "generation to go back to, 0: to none; default the one before the present one")
	return c
}

// atMostArgs refuses more than n positional arguments.
func atMostArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return fmt.Errorf("%w: found %d arguments, expected at most %d (see %s --help)", cli.ErrUsage, len(args), n, c.CommandPath())
		}
		return nil
	}
}

// choose changes the net of a run and says so.
func (o *chooseOptions) choose(c *cobra.Command, dir string, change func(context.Context, *selfplay.NetChoice, string) (was, is nets.Record, err error)) error {
	if strings.TrimSpace(o.why) == "" {
		return fmt.Errorf("%w: --why: found nothing, expected the reason, for the run's history", cli.ErrUsage)
	}
	return o.with(c, dir, func(ctx context.Context, choice *selfplay.NetChoice) error {
		was, is, err := change(ctx, choice, cli.Person())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "the run plays with %s now, in the place of %s\n", netName(is), netName(was))
		return err
	})
}

// netName is a net in words.
func netName(r nets.Record) string {
	if r.Net == "" {
		return "no net"
	}
	return fmt.Sprintf("generation %d (%.8s)", r.Generation, r.Net)
}

// with opens the choice of the run of a directory, or of one on a server.
func (o *chooseOptions) with(c *cobra.Command, dir string, do func(context.Context, *selfplay.NetChoice) error) error {
	cfg, err := o.bus.Configuration(c, dir)
	if err != nil {
		return err
	}
	choice, err := selfplay.ChooseNet(c.Context(), dir, cfg, o.bus.Options(c))
	if err != nil {
		return err
	}
	err = do(c.Context(), choice)
	if closed := choice.Close(); err == nil {
		err = closed
	}
	return err
}

func printHistory(w io.Writer, changes []selfplay.NetChange, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(w)
		for _, change := range changes {
			if err := out.Encode(change); err != nil {
				return err
			}
		}
		return nil
	}
	if len(changes) == 0 {
		_, err := fmt.Fprintln(w, "the run has had no net yet")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "time\taction\tgeneration\tnet\tby\twhy")
	for _, change := range changes {
		net, why := fmt.Sprintf("%.8s", change.Net), change.Why
		if net == "" {
			net = "none"
		}
		if change.Error != "" {
			net, why = "unreadable", change.Error
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\n", change.Time.UTC().Format("2006-01-02 15:04:05Z"), change.Action, change.Generation, net, change.By, why)
	}
	return t.Flush()
}
