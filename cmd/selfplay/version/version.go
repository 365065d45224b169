// Package version has the command that says which build this is.
package version

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/kernel"
)

// Commands returns the command.
func Commands() []*cobra.Command { return []*cobra.Command{newVersion()} }

// build is what is known of this build.
type build struct {
	Version     string `json:"version"`
	Go          string `json:"go"`
	Platform    string `json:"platform"`
	Kernels     string `json:"kernels"` // chosen on this machine
	Protocol    int    `json:"protocol"`
	MinProtocol int    `json:"min_protocol"`
	Revision    string `json:"revision,omitempty"` // of the source, if the Go tool recorded it
	Modified    bool   `json:"modified,omitempty"` // the source had changes beside the revision
}

func newVersion() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Long:  "Say which build this is, and which protocols between the roles of a run it speaks.",
		Example: `  selfplay version
  selfplay version --json | jq -r .version`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b := this(c.Root().Version)
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(b)
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "selfplay %s, %s, %s, kernels for %s, protocols %d to %d\n", b.Version, b.Go, b.Platform, b.Kernels, b.MinProtocol, b.Protocol)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func this(version string) build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Kernels: kernel.Best().String(),
		Protocol: bus.Protocol, MinProtocol: bus.MinProtocol}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	return b
}
