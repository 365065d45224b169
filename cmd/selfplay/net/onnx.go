package net

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
)

// inspectONNX prints what an ONNX file is. Nothing can be drawn of one, nor
// watched.
func inspectONNX(c *cobra.Command, path string, o inspectOptions) error {
	if o.draw != "" || o.Given() {
		return fmt.Errorf("%w: %s is an ONNX file: found a flag for NNUE nets, expected --json at most", cli.ErrUsage, path)
	}
	r, err := arch.InspectFile(path)
	if err != nil {
		return err
	}
	return cli.WriteReport(c.OutOrStdout(), o.json, r, r.WriteText)
}
