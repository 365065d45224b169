// Package script is the beginning and the end that the programs in scripts share.
package script

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// ErrUsage says that a script was called wrongly.
var ErrUsage = errors.New("wrong usage")

// Main runs a script with the command line's arguments, under a context that an interrupt or
// a request to end cancels, and prints its error after its name. The process exits with 1
// after an error, with 2 if that wraps ErrUsage, and otherwise returns from Main, as it does
// after flag.ErrHelp.
func Main(name string, run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	if errors.Is(err, ErrUsage) {
		os.Exit(2)
	}
	os.Exit(1)
}
