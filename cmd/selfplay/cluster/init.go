package cluster

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/crazyhouse-rl/selfplay/cluster"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
)

// idLength is that of a run's id, as trainers make them.
const idLength = 10

func newInit() *cobra.Command {
	c := &cobra.Command{
		Use:   "init",
		Short: "Write what a cluster is set up with",
		Args:  cli.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newInitCluster())
	return c
}

type initOptions struct {
	run, store     string
	image          string
	servers, roles []string
	renewTLS       bool
}

func newInitCluster() *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "cluster DIR",
		Short: "Write configuration, keys, users, certificates and units of a cluster",
		Long: `Write into DIR all that a cluster for one run is set up with: the configuration of its
NATS servers, keys, a user with the least rights for each role, certificates with an
authority of their own, units of systemd, a compose file, manifests of Kubernetes, and a
README that says what to do with them. Without --server it asks, on a terminal.

Written again, DIR keeps its keys and users, whose rights become those that this version
of the program needs; --role adds to what is there, and certificates that end within 30
days are made anew. Keep DIR/keys secret and off the cluster, and make a backup.`,
		Example: `  selfplay init cluster zh --server n1=10.9.0.1 --server n2=10.9.0.2 --server n3=10.9.0.3 \
      --role trainer=10.9.0.4 --role replay=10.9.0.4 --role gate=10.9.0.5 --role verify=10.9.0.5 --role actor=10.9.0.6 --role actor=10.9.0.7
  selfplay init cluster zh --role actor=10.9.0.8
  selfplay init cluster zh --store 500GB
  selfplay init cluster zh --renew-tls
  selfplay init cluster zh --image registry.example/selfplay:v1.2
  selfplay init cluster zh     # after an update of the program: the users' rights anew`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return fmt.Errorf("%w: found %d arguments, expected a directory (see %s --help)", cli.ErrUsage, len(args), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			p, err := o.plan(c, args[0])
			if err != nil {
				return err
			}
			if err := os.MkdirAll(args[0], 0o700); err != nil {
				return err
			}
			if err := cluster.Write(args[0], p, cluster.Options{RenewTLS: o.renewTLS, Now: time.Now()}); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "run %s with id %s: %d servers, %d roles in %s; README.md there says what to do next\n", p.Run, p.ID, len(p.Servers), len(p.Roles), args[0])
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&o.run, "run", "", "name of the run, a-z, 0-9 and -; default crazyhouse")
	f.StringArrayVar(&o.servers, "server", nil, "a server's NAME=HOST, such as n1=10.9.0.1; 1, 3 or 5 of them")
	f.StringArrayVar(&o.roles, "role", nil, "ROLE=HOST: trainer, replay, gate, verify or actor, and where it runs; may be given several times")
	f.StringVar(&o.store, "store", "", "room that each server may take on its disk, such as 500GB; default that of before, or "+cluster.DefaultStore)
	f.StringVar(&o.image, "image", "", "the program's image, for containers; default that of before, or "+cluster.DefaultImage)
	f.BoolVar(&o.renewTLS, "renew-tls", false, "make a new certificate of the servers")
	return c
}

// plan is that of the directory, if there is one, with what the flags or a person say.
func (o *initOptions) plan(c *cobra.Command, dir string) (cluster.Plan, error) {
	usage := func(err error) error {
		if errors.Is(err, cluster.ErrPlan) {
			err = fmt.Errorf("%w: %w", cli.ErrUsage, err)
		}
		return err
	}
	p, found, err := cluster.ReadPlan(dir)
	if err != nil {
		return p, err
	}
	if found && o.run != "" && o.run != p.Run {
		return p, fmt.Errorf("%w: --run: found %s, expected %s, the run of %s: give another directory", cli.ErrUsage, o.run, p.Run, dir)
	}
	if !found {
		p = cluster.Plan{Schema: cluster.Schema, Run: cmp.Or(o.run, "crazyhouse"), ID: strings.ToLower(rand.Text()[:idLength])}
		if in, ok := c.InOrStdin().(*os.File); len(o.servers) == 0 && ok && term.IsTerminal(int(in.Fd())) {
			if err := o.ask(in, c.OutOrStdout()); err != nil {
				return p, err
			}
		}
		if len(o.servers) == 0 {
			return p, fmt.Errorf("%w: --server: found none, expected 1, 3 or 5, such as --server n1=10.9.0.1", cli.ErrUsage)
		}
	}
	p.Image, p.Store = cmp.Or(o.image, p.Image), cmp.Or(o.store, p.Store)
	if len(o.servers) > 0 {
		p.Servers = nil
	}
	for _, list := range []struct {
		texts []string
		to    *[]cluster.Machine
	}{{o.servers, &p.Servers}, {o.roles, &p.Roles}} {
		for _, text := range list.texts {
			m, err := cluster.ParseMachine(text)
			if err != nil {
				return p, usage(err)
			}
			if !slices.Contains(*list.to, m) {
				*list.to = append(*list.to, m)
			}
		}
	}
	return p, usage(p.Check())
}

// ask has a person say which hosts there are, in place of the flags.
func (o *initOptions) ask(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	question := func(text, otherwise string) ([]string, error) {
		fmt.Fprintf(out, "%s", text)
		if otherwise != "" {
			fmt.Fprintf(out, " [%s]", otherwise)
		}
		fmt.Fprint(out, ": ")
		if !lines.Scan() {
			return nil, cmp.Or(lines.Err(), error(fmt.Errorf("%w: found the end of what was typed, expected an answer", cli.ErrUsage)))
		}
		return strings.Fields(cmp.Or(strings.TrimSpace(lines.Text()), otherwise)), nil
	}
	hosts, err := question("hosts of the servers, 1, 3 or 5, with blanks between them", "")
	if err != nil {
		return err
	}
	for i, host := range hosts {
		o.servers = append(o.servers, fmt.Sprintf("n%d=%s", i+1, host))
	}
	before := ""
	for _, role := range []struct{ name, text string }{
		{"trainer", "host of the trainer"}, {"replay", "host of replay, which keeps the games"}, {"gate", "hosts of gates"},
		{"verify", "hosts of verifiers, - for none"}, {"actor", "hosts of actors"},
	} {
		hosts, err := question(role.text, before)
		if err != nil {
			return err
		}
		for _, host := range hosts {
			if host != "-" {
				o.roles = append(o.roles, role.name+"="+host)
			}
		}
		if before = strings.Join(hosts, " "); before == "-" {
			before = ""
		}
	}
	return nil
}
