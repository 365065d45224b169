package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Who ends a command is told so in one word, and what else a command says is not lost.
func TestRunInterrupted(t *testing.T) {
	for want, err := range map[string]error{
		"selfplay: interrupted\n":               context.Canceled,
		"selfplay: no disk\ncontext canceled\n": errors.Join(errors.New("no disk"), context.Canceled),
	} {
		var out, errs strings.Builder
		root := &cobra.Command{RunE: func(*cobra.Command, []string) error { return err }}
		if code := Run(root, nil, nil, &out, &errs); code != 130 || errs.String() != want {
			t.Errorf("%v: found exit code %d and %q, expected 130 and %q", err, code, errs.String(), want)
		}
	}
}
