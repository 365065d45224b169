package bench

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
)

// peer is another program's UCI engine that a benchmark measures itself by.
// Unlike a player of package uci it is asked for what no game needs, and for
// the CPU time it takes.
type peer struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Scanner
	patience time.Duration
	ctx      context.Context
	kill     context.CancelCauseFunc
	closeOut func() bool
}

// startPeer starts a binary and waits for its answer to "uci". The peer has
// patience's time for that and for ending after "quit"; other work may take as
// long as it needs.
func startPeer(ctx context.Context, binary string, patience time.Duration) (*peer, error) {
	ctx, kill := context.WithCancelCause(ctx)
	p := &peer{cmd: exec.CommandContext(ctx, binary), patience: patience, ctx: ctx, kill: kill}
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
	if _, err := p.ask("uci", "uciok"); err != nil {
		return nil, p.abandon(err)
	}
	return p, nil
}

// within kills the peer unless the timer is stopped in time.
func (p *peer) within(what string) *time.Timer {
	return time.AfterFunc(p.patience, func() { p.kill(fmt.Errorf("found no %s within %s", what, p.patience)) })
}

// ask sends commands and returns the first line of the answer that begins with
// prefix.
func (p *peer) ask(commands, prefix string) (string, error) {
	_, _ = io.WriteString(p.in, commands+"\n") // a peer that does not read does not answer either
	for p.out.Scan() {
		if strings.HasPrefix(p.out.Text(), prefix) {
			return p.out.Text(), nil
		}
	}
	return "", fmt.Errorf("found the end of its output, expected %s", prefix)
}

// timed is ask, and also returns the CPU time the peer took, or the wall clock's
// where the system does not tell.
func (p *peer) timed(commands, prefix string) (string, time.Duration, error) {
	start := processCPU(p.cmd.Process.Pid)
	line, err := p.ask(commands, prefix)
	return line, processCPU(p.cmd.Process.Pid) - start, err
}

// quit ends a peer that has answered everything.
func (p *peer) quit() error {
	end := p.within("end after quit")
	_, _ = io.WriteString(p.in, "quit\n") // a peer that has gone already is reported by Wait
	_ = p.in.Close()
	for p.out.Scan() {
	}
	err := p.cmd.Wait()
	end.Stop()
	return p.release(err)
}

// abandon ends a peer at once and returns why.
func (p *peer) abandon(err error) error {
	p.kill(err)
	_ = p.cmd.Wait() // killed; why is the context's cause
	return p.release(err)
}

func (p *peer) release(err error) error {
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
