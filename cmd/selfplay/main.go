// Command selfplay teaches itself crazyhouse: actors play it, every game goes
// over NATS JetStream into a replay buffer, a trainer learns from that and
// publishes nets, and the actors pick those up.
//
// Exit codes: 0 done, 1 failed or a check found something, 2 wrong usage, 3 a
// sequential test has not decided, 4 interrupted and to be continued by the
// same command, 130 interrupted before it could finish in order.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/player"
)

// version is set by the linker; see build.
var version = ""

// build names the program's version: the linker's word, else the commit the Go
// tool recorded, else "devel".
func build() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value[:min(len(s.Value), 12)]
			}
		}
	}
	return "devel"
}

// errUsage marks errors in how the command was called.
var errUsage = errors.New("wrong usage")

// errUndecided says that a match ended before its sequential test decided.
var errUndecided = errors.New("the sequential test has not decided")

// errResumable says that what was interrupted goes on with the same command.
var errResumable = errors.New("interrupted")

// errSilent is returned when what went wrong has been printed already.
var errSilent = errors.New("failed")

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes the command line and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	out := &output{w: stdout}
	for _, c := range root.Commands() { // not the loop, which goes on when nobody reads
		c.SetOut(out)
	}
	err := root.ExecuteContext(ctx)
	if out.err != nil && (err == nil || errors.Is(err, errSilent)) {
		err = out.err
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errSilent):
		return 1
	}
	fmt.Fprintln(stderr, "selfplay:", err)
	switch {
	case errors.Is(err, errUsage), errors.Is(err, player.ErrUsage):
		return 2
	case errors.Is(err, errUndecided):
		return 3
	case errors.Is(err, errResumable):
		return 4
	case errors.Is(err, context.Canceled):
		return 130
	}
	return 1
}

// newRoot assembles every subcommand.
func newRoot() *cobra.Command {
	root := newLoopCommand()
	root.SilenceUsage, root.SilenceErrors = true, true
	root.Version = build()
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w: %w (see %s --help)", errUsage, err, c.CommandPath())
	})
	root.AddCommand(
		newUCICommand(),
		newMatchCommand(),
		newLadderCommand(),
		newRateCommand(),
		newBookCommand(),
		newGensfenCommand(),
		newLearnCommand(),
		newReplayCommand(),
		newNetCommand(),
		newConvertCommand(),
		newValidateCommand(),
		newStatsCommand(),
		newShuffleCommand(),
		newSplitCommand(),
		newEvalCommand(),
		newPlanesCommand(),
		newPerftCommand(),
		newBenchCommand(),
		newConfigCommand(),
	)
	return root
}

// noArgs refuses positional arguments with an error that exits 2. To a group of
// commands an argument is a command it does not have.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 || !c.HasSubCommands() {
		return exactArgs(0)(c, args)
	}
	c.SuggestionsMinimumDistance = 2
	hint := ""
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = ", did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("%w: unknown command %q for %q%s (see %s --help)", errUsage, args[0], c.CommandPath(), hint, c.CommandPath())
}

func exactArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("%w: found %d arguments, expected %d (see %s --help)", errUsage, len(args), n, c.CommandPath())
		}
		return nil
	}
}
