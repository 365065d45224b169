package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
)

// AtLeastArgs refuses fewer than n positional arguments.
func AtLeastArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n {
			return fmt.Errorf("%w: found %d arguments, expected %d or more (see %s --help)", ErrUsage, len(args), n, c.CommandPath())
		}
		return nil
	}
}

// CommandLine returns a command of this program, with arguments, for a shell.
func CommandLine(args ...string) string {
	return words.Shell(append(program(os.Args[0]), args...)...)
}

var madeByGoRun = regexp.MustCompile(`/go-build[0-9]*/`)

// program says how a program that runs from path is started again: what "go run" made is
// not there any more.
func program(path string) []string {
	if madeByGoRun.MatchString(filepath.ToSlash(path)) {
		return []string{"go", "run", "./cmd/selfplay"}
	}
	return []string{path}
}

// NoArgs refuses positional arguments with an error that exits 2. To a group of
// commands an argument is a command it does not have.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 || !c.HasSubCommands() {
		return ExactArgs(0)(c, args)
	}
	c.SuggestionsMinimumDistance = 2
	hint := ""
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = ", did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("%w: unknown command %q for %q%s (see %s --help)", ErrUsage, args[0], c.CommandPath(), hint, c.CommandPath())
}

// ExactArgs refuses any other number of positional arguments than n.
func ExactArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("%w: found %d arguments, expected %d (see %s --help)", ErrUsage, len(args), n, c.CommandPath())
		}
		return nil
	}
}

// Needs refuses flags that were given and would do nothing without another, which is named
// as the user would give it.
func Needs(f *pflag.FlagSet, other string, given bool, flags ...string) error {
	for _, flag := range flags {
		if !given && f.Changed(flag) {
			return fmt.Errorf("%w: found --%s without %s, expected both", ErrUsage, flag, other)
		}
	}
	return nil
}

// NeedsORT refuses --library unless one of some runtimes is the one that loads it.
func NeedsORT(f *pflag.FlagSet, names ...string) error {
	return Needs(f, "--runtime "+runtimes.ORT, slices.Contains(names, runtimes.ORT), "library")
}

// Variant returns the variant that a flag --variant names.
func Variant(name string) (*chess.Variant, error) {
	v, err := chess.ParseVariant(name)
	if err != nil {
		return nil, fmt.Errorf("%w: --variant: %w", ErrUsage, err)
	}
	return v, nil
}

// CheckPlot refuses a file name that no figure can be drawn into.
func CheckPlot(flag, path string) error {
	if path == "" {
		return nil
	}
	if err := figure.CheckPath(path); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUsage, flag, err)
	}
	return CheckFolder(flag, path)
}

// CheckFolder refuses a file name whose folder is not there, or that is a folder, before
// the work that ends in the file. No name is none to check.
func CheckFolder(flag, path string) error {
	if path == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%w: %s: found the directory %s, expected a file", ErrUsage, flag, path)
	}
	return nil
}
