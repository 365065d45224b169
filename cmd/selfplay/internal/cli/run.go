// Package cli holds what the commands share: running them and their exit codes,
// arguments and flags that several have, and how they show what they do.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/player"
)

// ErrUsage marks errors in how the command was called.
var ErrUsage = errors.New("wrong usage")

// ErrUndecided says that a match ended before its sequential test decided.
var ErrUndecided = errors.New("the sequential test has not decided")

// ErrResumable says that what was interrupted goes on with the same command.
var ErrResumable = errors.New("interrupted")

// ErrSilent is returned when what went wrong has been printed already.
var ErrSilent = errors.New("failed")

// output remembers the first error of writing, for commands that print many
// lines and ask for it once, at the end.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// WriteToNobody keeps the process alive when the reader of its output has ended; the system
// would end it by SIGPIPE.
func WriteToNobody() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// Run executes a command line and returns the exit code: 0 done, 1 failed or a
// check found something, 2 wrong usage, 3 a sequential test has not decided, 4
// interrupted and to be continued by the same command, 130 interrupted before it
// could finish in order.
func Run(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w: %w (see %s --help)", ErrUsage, err, c.CommandPath())
	})
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	out := &output{w: stdout}
	for _, c := range root.Commands() { // not the loop, which goes on when nobody reads
		c.SetOut(out)
	}
	endProfile := profiling(root)
	err := errors.Join(root.ExecuteContext(ctx), endProfile())
	if out.err != nil && (err == nil || errors.Is(err, ErrSilent)) {
		err = out.err
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrSilent):
		return 1
	}
	text := err.Error()
	if text == context.Canceled.Error() {
		text = "interrupted"
	}
	fmt.Fprintln(stderr, "selfplay:", text)
	switch {
	case errors.Is(err, ErrUsage), errors.Is(err, player.ErrUsage):
		return 2
	case errors.Is(err, ErrUndecided):
		return 3
	case errors.Is(err, ErrResumable):
		return 4
	case errors.Is(err, context.Canceled):
		return 130
	}
	return 1
}
