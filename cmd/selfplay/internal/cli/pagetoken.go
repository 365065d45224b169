package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/dash"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// PageToken is the flag of commands that serve a page by which nets may be chosen.
type PageToken struct {
	file string
}

// Add defines the flag.
func (t *PageToken) Add(c *cobra.Command) {
	c.Flags().StringVar(&t.file, "page-token", "", fmt.Sprintf("file of a secret of at least %d characters, mode 0600, with which the page may promote nets and roll back; default: it only reads", dash.LeastToken))
}

// Given reports whether the flag was.
func (t *PageToken) Given() bool { return t.file != "" }

// ChooseNet makes a change with the choice of the net of the run that is shown.
type ChooseNet func(ctx context.Context, change func(*selfplay.NetChoice) error) error

// Control is what the page may change with the token, nil without a token. Errors wrap
// ErrUsage.
func (t *PageToken) Control(choose ChooseNet) (*dash.Control, error) {
	if t.file == "" {
		return nil, nil
	}
	token, err := secret.ReadFile(t.file)
	if err == nil && len(token) < dash.LeastToken {
		err = fmt.Errorf("%s: found a secret of %d characters, expected %d or more", t.file, len(token), dash.LeastToken)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: --page-token: %w", ErrUsage, err)
	}
	by := "page"
	if host, err := os.Hostname(); err == nil {
		by += "@" + host
	}
	return &dash.Control{
		Token: token,
		Promote: func(ctx context.Context, net, why string) (was, is nets.Record, err error) {
			err = choose(ctx, func(c *selfplay.NetChoice) (err error) { was, is, err = c.Promote(ctx, net, by, why); return err })
			return was, is, err
		},
		Rollback: func(ctx context.Context, generation int, why string) (was, is nets.Record, err error) {
			err = choose(ctx, func(c *selfplay.NetChoice) (err error) {
				was, is, err = c.Rollback(ctx, generation, by, why)
				return err
			})
			return was, is, err
		},
	}, nil
}
