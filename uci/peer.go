package uci

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/cputime"
)

// A Peer is another program's UCI engine that a benchmark measures itself by.
// Unlike a [Client] it is asked for what no game needs, and for the CPU time it
// takes.
type Peer struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Scanner
	patience time.Duration
	ctx      context.Context
	kill     context.CancelCauseFunc
	closeOut func() bool
}

// StartPeer starts a binary and waits for its answer to "uci". The peer has
// patience's time for that and for ending after "quit"; other work may take as
// long as it needs.
func StartPeer(ctx context.Context, binary string, patience time.Duration) (*Peer, error) {
	ctx, kill := context.WithCancelCause(ctx)
	p := &Peer{cmd: exec.CommandContext(ctx, binary), patience: patience, ctx: ctx, kill: kill}
	in, errIn := p.cmd.StdinPipe()
	out, errOut := p.cmd.StdoutPipe()
	if err := cmp.Or(errIn, errOut); err != nil {
		kill(nil)
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		kill(nil)
		return nil, err
	}
	// A killed peer may leave children that hold its output open.
	p.closeOut = context.AfterFunc(ctx, func() { out.Close() })
	p.in, p.out = in, bufio.NewScanner(out)
	greeting := p.within("answer uciok to uci")
	defer greeting.Stop()
	if _, err := p.Ask("uci", "uciok"); err != nil {
		return nil, p.Abandon(err)
	}
	return p, nil
}

// within kills the peer unless the timer is stopped in time.
func (p *Peer) within(what string) *time.Timer {
	return time.AfterFunc(p.patience, func() { p.kill(fmt.Errorf("found no %s within %s", what, p.patience)) })
}

// Ask sends commands and returns the first line of the answer that begins with
// prefix.
func (p *Peer) Ask(commands, prefix string) (string, error) {
	_, _ = io.WriteString(p.in, commands+"\n") // a peer that does not read does not answer either
	for p.out.Scan() {
		if strings.HasPrefix(p.out.Text(), prefix) {
			return p.out.Text(), nil
		}
	}
	return "", fmt.Errorf("found the end of its output, expected %s", prefix)
}

// Timed is Ask, and also returns the CPU time the peer took, or the wall clock's
// where the system does not report it.
func (p *Peer) Timed(commands, prefix string) (string, time.Duration, error) {
	start := cputime.Process(p.cmd.Process.Pid)
	line, err := p.Ask(commands, prefix)
	return line, cputime.Process(p.cmd.Process.Pid) - start, err
}

// Quit ends a peer that has answered everything.
func (p *Peer) Quit() error {
	end := p.within("end after quit")
	_, _ = io.WriteString(p.in, "quit\n") // a peer that has gone already is reported by Wait
	_ = p.in.Close()
	for p.out.Scan() {
	}
	err := p.cmd.Wait()
	end.Stop()
	return p.release(err)
}

// Abandon ends a peer at once and returns why.
func (p *Peer) Abandon(err error) error {
	p.kill(err)
	_ = p.cmd.Wait() // killed; why is the context's cause
	return p.release(err)
}

func (p *Peer) release(err error) error {
	if p.ctx.Err() != nil {
		err = context.Cause(p.ctx)
	}
	p.closeOut()
	p.kill(nil)
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return err
}
