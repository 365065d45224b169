package roles

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// ofRun is the run that a command is about.
type ofRun struct {
	bus cli.BusFlags
	dir string
	cfg configs.Config
	o   selfplay.Options
}

// choose finds the run of a directory, if one is given.
func (r *ofRun) choose(c *cobra.Command, args []string) (err error) {
	r.dir = append(args, "")[0]
	if r.cfg, err = r.bus.Configuration(c, r.dir); err != nil {
		return err
	}
	r.o = r.bus.Options(c)
	return nil
}

func newQuarantine() *cobra.Command {
	var r ofRun
	var why string
	var release, newKey bool
	c := &cobra.Command{
		Use:   "quarantine ACTOR [DIR] --why TEXT",
		Short: "Take an actor's games out of a run, or with --release back into it",
		Long: `Take the games of an actor out of the training window of a run and have its later games
refused. They stay on disk and stay counted. With --release they are trained on again,
as far as they are still on disk, and later ones are taken; those that were refused
meanwhile are gone from the run.

An actor that has lost its directory has lost the key that signs its games, and if its
settings give it the same name again, its games are refused. With --new-key, and nothing
else, the key of the actor's next game becomes that of its name; its former games stay.
Give it when replay has caught up: a game signed by the old key that is still on its way
sets that key again, and then it is to be given once more. A loop whose own actor this is
ends, and its replay role with it: then give the loop's directory.

ACTOR is the name that selfplay status shows. Who did it and why stands in selfplay audit.` + cli.WhichRun,
		Example: `  selfplay quarantine h3k2ab7x --nats nats://10.0.0.1:4222 --run crazyhouse --why "its clock is broken"
  selfplay quarantine h3k2ab7x runs/crazyhouse --release --why "it was the book"
  selfplay quarantine a1 --nats nats://10.0.0.1:4222 --run crazyhouse --new-key --why "its disk was replaced"`,
		Args: cli.AtLeastArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 2 || strings.TrimSpace(why) == "" {
				return fmt.Errorf("%w: found %d arguments and --why %q, expected an actor, at most one directory, and the reason", cli.ErrUsage, len(args), why)
			}
			if release && newKey {
				return fmt.Errorf("%w: found --release and --new-key, expected one of them", cli.ErrUsage)
			}
			if err := r.choose(c, args[1:]); err != nil {
				return err
			}
			if newKey {
				err := selfplay.NewActorKey(c.Context(), r.dir, r.cfg, r.o, args[0], cli.Person(), why)
				if err == nil {
					_, err = fmt.Fprintf(c.OutOrStdout(), "actor %s gets a new key: that of its next game\n", args[0])
				}
				return err
			}
			games, err := selfplay.Quarantine(c.Context(), r.dir, r.cfg, r.o, args[0], cli.Person(), why, release)
			if err != nil {
				return err
			}
			if games == 0 {
				fmt.Fprintf(c.ErrOrStderr(), "warning: no game changes, as none in the replay buffer is of actor %s or this was so before; selfplay status shows the names\n", args[0])
			}
			done := "in quarantine: its games are not trained on, later ones are refused"
			if release {
				done = "released: its games are trained on again"
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "actor %s is %s\n", args[0], done)
			return err
		},
	}
	r.bus.Add(c)
	c.Flags().StringVar(&why, "why", "", "the reason, for the audit")
	c.Flags().BoolVar(&release, "release", false, "take the actor's games again")
	c.Flags().BoolVar(&newKey, "new-key", false, "take games signed by a new key of the actor, which has lost the former one; excludes and releases nothing")
	return c
}

func newAudit() *cobra.Command {
	var r ofRun
	var asJSON bool
	c := &cobra.Command{
		Use:   "audit [DIR]",
		Short: "Say who did what to a run",
		Long: `Say who did what to a run and why, the newest last: nets published, promoted, rolled back
to and withdrawn; actors quarantined, released and given a new key; settings changed. The server keeps
the newest 512 entries, and of nets that the gate published the newest 64.` + cli.WhichRun,
		Example: `  selfplay audit runs/crazyhouse-laptop
  selfplay audit --nats nats://10.0.0.1:4222 --run crazyhouse --json | jq 'select(.action == "quarantine")'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%w: found %d arguments, expected at most the directory of a run", cli.ErrUsage, len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := r.choose(c, args); err != nil {
				return err
			}
			entries, err := selfplay.Audit(c.Context(), r.dir, r.cfg, r.o)
			if err != nil {
				return err
			}
			return printAudit(c.OutOrStdout(), entries, asJSON)
		},
	}
	r.bus.Add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON lines")
	return c
}

func printAudit(w io.Writer, entries []bus.AuditEntry, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(w)
		for _, e := range entries {
			if err := out.Encode(e); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "time\tby\taction\twhat\twhy")
	for _, e := range entries {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", e.Time.UTC().Format(time.DateTime+"Z"), words.Printable(e.By), words.Printable(e.Action), words.Printable(e.What), words.Printable(e.Why))
	}
	return t.Flush()
}
