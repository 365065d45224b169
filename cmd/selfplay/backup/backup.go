// Package backup has the commands that keep copies of a run: backup, restore and drill.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/backup"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Commands returns the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{newBackup(), newRestore(), newDrill()}
}

// progressEvery is the time between two lines of progress; tests set it.
var progressEvery = 5 * time.Second

func newBackup() *cobra.Command {
	var flags cli.BusFlags
	var output string
	var o backup.Options
	var asJSON bool
	c := &cobra.Command{
		Use:   "backup [DIR] --output BACKUPDIR",
		Short: "Copy a run, while it runs, to where selfplay restore brings it back from",
		Long: `Copy the directory of a run and what its servers know to BACKUPDIR: games, nets,
checkpoints, settings, pointers with their history, and the games that are on their way
to the replay buffer. The run may go on meanwhile. A further backup in the same BACKUPDIR
writes only what is new; one that is interrupted, by whatever, leaves those before it.

Keys are left out unless --keys says otherwise: trainer.key, without which no net of the
run is taken any more, and actor.json. Keep copies of them elsewhere. Files of tokens and
credentials (.token, .creds, .key, .nk, .pem) are never kept.

With DIR the servers are those of the run's settings, or of --nats. Of a run on many
machines back up the directory of each role, best in a BACKUPDIR each: in one for several,
--keep counts the backups of each directory apart, and restore and drill ask for
--at. With --nats and --run alone the backup has what the servers know and the games that
the replay role serves, and no checkpoints.

Links in DIR are followed; one that leads to nothing, such as to a disk that is not
mounted, is an error. So is a BACKUPDIR in DIR or behind a link there.`,
		Example: `  selfplay backup runs/crazyhouse-laptop --output /mnt/backup/crazyhouse
  selfplay backup /data/crazyhouse --nats nats://10.0.0.1:4222 --run crazyhouse --output /mnt/backup/crazyhouse --keep 14
  selfplay backup --nats nats://10.0.0.1:4222 --run crazyhouse --output /mnt/backup/servers`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%w: found %d arguments, expected at most the directory of a run", cli.ErrUsage, len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if output == "" || o.Keep < 0 {
				return fmt.Errorf("%w: found --output %q --keep %d, expected a directory and a number of backups", cli.ErrUsage, output, o.Keep)
			}
			o.Build = c.Root().Version
			o.Progress = progress(c.ErrOrStderr())
			return runBackup(c, &flags, append(args, "")[0], output, o, asJSON)
		},
	}
	flags.Add(c)
	c.Flags().StringVar(&output, "output", "", "directory of the backups; made if it is not there")
	c.Flags().BoolVar(&o.Keys, "keys", false, "copy trainer.key and actor.json, too: whoever can read the backup can then sign nets and games of the run")
	c.Flags().IntVar(&o.Keep, "keep", 0, "backups of the same directory that stay in BACKUPDIR, the newest and always the one just made; 0: all, each of which restore and drill read unless --at says which")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// progress prints every few seconds how much has been read and written.
func progress(w io.Writer) func(read, written int64) {
	shown := time.Now()
	return func(read, written int64) {
		if now := time.Now(); now.Sub(shown) > progressEvery {
			shown = now
			fmt.Fprintf(w, "%d MiB read, %d MiB written\n", read>>20, written>>20)
		}
	}
}

func runBackup(c *cobra.Command, flags *cli.BusFlags, dir, output string, o backup.Options, asJSON bool) (err error) {
	cfg, err := flags.Configuration(c, dir)
	if err != nil {
		return err
	}
	servers, err := selfplay.ReadServers(c.Context(), dir, cfg, flags.Options(c))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, servers.Close()) }()
	repo, err := backup.OpenToWrite(output)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	sum, err := repo.Create(c.Context(), dir, servers, o)
	if err != nil {
		return err
	}
	return cli.WriteReport(c.OutOrStdout(), asJSON, sum, func(w io.Writer) error {
		fmt.Fprintf(w, "backup %s: %d files, %d bytes; %d of %d parts new, %d bytes written\n", sum.Label, sum.Files, sum.Bytes, sum.New, sum.Parts, sum.Written)
		fmt.Fprintf(w, "games %d, messages of games on their way %d, nets %d; the servers' state is from %s\n", sum.Games, sum.Pending, sum.Nets, servers.From)
		if sum.Pruned > 0 {
			fmt.Fprintf(w, "older backups removed: %d\n", sum.Pruned)
		}
		if len(sum.Keys) > 0 {
			fmt.Fprintf(w, "! it holds keys: %v\n", sum.Keys)
		}
		for _, n := range sum.Notes {
			fmt.Fprintln(w, "-", n)
		}
		return nil
	})
}

// which are the flags that choose a backup.
type which struct {
	at   string
	json bool
}

func (o *which) add(c *cobra.Command) {
	c.Flags().StringVar(&o.at, "at", "", "beginning of the backup's name, such as 20260102; of several the newest, if all are of one directory; default any")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
}

func (o *which) open(dir string) (*backup.Repository, *backup.Snapshot, error) {
	repo, err := backup.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	s, err := repo.Snapshot(o.at)
	return repo, s, err
}

func newRestore() *cobra.Command {
	var flags cli.BusFlags
	var o which
	var replicas int
	c := &cobra.Command{
		Use:   "restore BACKUPDIR DIR",
		Short: "Bring a run back from a backup",
		Long: `Bring the directory of a run back from a backup, into DIR, which must not be there or be
empty. All of it is checked by its SHA-256 first. An interrupted restore leaves no DIR;
the same command begins again.

What the run's servers knew goes to the server inside the run's process, if it has one,
or with --nats to servers that do not have the run; they keep as many copies of it as its
settings say, or --replicas. Servers that have the run, or another of its name, stay as
they are, and nothing is restored then.

The keys, unless they are in the backup, have to be put back before the run is started.`,
		Example: `  selfplay restore /mnt/backup/crazyhouse runs/crazyhouse-laptop
  selfplay restore /mnt/backup/crazyhouse /data/crazyhouse --nats nats://10.0.0.1:4222
  selfplay restore /mnt/backup/crazyhouse /tmp/look --at 20260102`,
		Args: cli.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains([]int{0, 1, 3, 5}, replicas) {
				return fmt.Errorf("%w: --replicas: found %d, expected 1, 3 or 5", cli.ErrUsage, replicas)
			}
			if err := cli.Needs(c.Flags(), "--nats", c.Flags().Changed("nats"), "replicas", "run", "creds", "tls-ca", "token-file", "wait"); err != nil {
				return err
			}
			repo, s, err := o.open(args[0])
			if err != nil {
				return err
			}
			options := backup.RestoreOptions{Build: c.Root().Version, Replicas: replicas, Progress: progress(c.ErrOrStderr())}
			if c.Flags().Changed("nats") {
				if !c.Flags().Changed("run") {
					if err := c.Flags().Set("run", s.Name); err != nil {
						return err
					}
				}
				cfg, err := flags.Configuration(c, "")
				if err != nil {
					return err
				}
				options.Servers = &cfg
			}
			done, err := repo.Restore(c.Context(), s, args[1], options)
			if err != nil {
				return err
			}
			return cli.WriteReport(c.OutOrStdout(), o.json, done, func(w io.Writer) error {
				fmt.Fprintf(w, "restored %s: %d files, %d bytes in %s\n", done.Snapshot, done.Files, done.Bytes, done.Dir)
				if done.Servers {
					fmt.Fprintf(w, "the server has %d nets, %d messages of games and the pointers\n", done.Nets, done.Pending)
				}
				for _, n := range done.Notes {
					fmt.Fprintln(w, "-", n)
				}
				return nil
			})
		},
	}
	flags.Add(c)
	o.add(c)
	c.Flags().IntVar(&replicas, "replicas", 0, "copies of everything that the servers of --nats keep: 1, 3 or 5; 0: as the run's settings say, 1 without any")
	return c
}

func newDrill() *cobra.Command {
	var o which
	var temp string
	c := &cobra.Command{
		Use:   "drill BACKUPDIR",
		Short: "Restore a backup into a temporary directory and compare; exits 1 if anything differs",
		Long: `Restore a backup into a temporary directory, with a server inside the process, and
compare with the backup what is there then: every game of the replay buffer by id and
bytes, and by the rules; games on their way; every net by its SHA-256; pointers with
their history. The replay buffer is opened and the newest checkpoint loaded, as the run
would. Then the directory is removed. Lines that begin with ! say what differs; the exit
code is 1 then.`,
		Example: `  selfplay drill /mnt/backup/crazyhouse
  selfplay drill /mnt/backup/crazyhouse --at 20260102 --json | jq .differences`,
		Args: cli.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			repo, s, err := o.open(args[0])
			if err != nil {
				return err
			}
			options := backup.RestoreOptions{Build: c.Root().Version, Progress: progress(c.ErrOrStderr())}
			return drill(c.Context(), c.OutOrStdout(), repo, s, temp, options, o.json)
		},
	}
	o.add(c)
	c.Flags().StringVar(&temp, "temp", os.TempDir(), "where the temporary directory is made; it takes as much room as the run")
	return c
}

func drill(ctx context.Context, w io.Writer, repo *backup.Repository, s *backup.Snapshot, temp string, o backup.RestoreOptions, asJSON bool) error {
	report, err := repo.Drill(ctx, s, temp, o)
	if err != nil {
		return err
	}
	err = cli.WriteReport(w, asJSON, report, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, &report)
		return err
	})
	if err == nil && len(report.Differences) > 0 {
		err = cli.ErrSilent
	}
	return err
}
