// Package clitest runs commands in tests, and makes the files they work on.
package clitest

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/mockengine"
)

// root is the program with a few of its commands.
func root(commands []*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: "selfplay", Version: "test"}
	c.AddCommand(commands...)
	return c
}

// Run executes the command line with these commands and returns what it printed
// and the exit code.
func Run(t *testing.T, commands []*cobra.Command, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Run(root(commands), args, strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String(), code
}

// AsSelfplay as its first argument makes a test binary that calls [Main] the program
// itself.
const AsSelfplay = "-as-selfplay"

// Main runs the tests of a package, or, if the binary was started for that, the
// program with these commands or the mock engine.
func Main(m *testing.M, commands []*cobra.Command) {
	mockengine.Main()
	if len(os.Args) > 1 && os.Args[1] == AsSelfplay {
		os.Exit(cli.Run(root(commands), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
