package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/spf13/cobra"
)

// profiling gives every command the hidden flag --cpuprofile, a file for what the profiler
// of Go finds while the command runs. The function returned ends the profile.
func profiling(root *cobra.Command) func() error {
	end := func() error { return nil }
	path := root.PersistentFlags().String("cpuprofile", "", "write a CPU profile, for go tool pprof, to this file")
	if err := root.PersistentFlags().MarkHidden("cpuprofile"); err != nil {
		panic(err) // there is no such flag
	}
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if *path == "" {
			return nil
		}
		f, err := os.Create(*path)
		if err != nil {
			return fmt.Errorf("--cpuprofile: %w", err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return errors.Join(fmt.Errorf("--cpuprofile: %w", err), f.Close())
		}
		end = func() error {
			pprof.StopCPUProfile()
			return f.Close()
		}
		return nil
	}
	return func() error { return end() }
}
