package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

const (
	// drainTime is how long the output of a process that has ended is still
	// read. It only matters if another process holds the pipe open.
	drainTime = 200 * time.Millisecond

	// exitTime is how long a process that has closed its pipes is given to end,
	// so that its exit status is known.
	exitTime = 2 * time.Second

	// writeTime bounds one command to an engine that does not read.
	writeTime = 5 * time.Second
)

// process is one running engine: pipes, the goroutine that reads its output
// and the goroutine that waits for its end.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File

	// lines carries the engine's output and is closed when that has ended.
	// readErr says why (io.EOF in the usual case) and may be read only then.
	lines   chan Line
	readErr error

	// exited is closed when the process has ended; waitErr may be read then.
	exited  chan struct{}
	waitErr error

	// gone is closed when nobody takes lines any more.
	gone chan struct{}
}

// Line is a line of the engine's output and when it was read, which is what its time
// is counted by, however late it is looked at.
type Line struct {
	Text string
	At   time.Time
}

// startProcess runs cmd with pipes on its input and output.
func startProcess(cmd *exec.Cmd) (*process, error) {
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), stdin.Close())
	}
	cmd.Stdin, cmd.Stdout = childIn, childOut
	cmd.WaitDelay = drainTime
	isolate(cmd)
	err = cmd.Start()
	childIn.Close()
	childOut.Close()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	p := &process{
		cmd: cmd, stdin: stdin, stdout: stdout,
		lines:  make(chan Line, 64),
		exited: make(chan struct{}),
		gone:   make(chan struct{}),
	}
	go p.read()
	go p.wait()
	return p, nil
}

func (p *process) read() {
	defer p.stdout.Close()
	defer close(p.lines)
	r := NewLineReader(p.stdout)
	for {
		line, err := r.Next()
		if err != nil {
			p.readErr = err
			return
		}
		select {
		case p.lines <- Line{line, time.Now()}:
		case <-p.gone:
			p.readErr = io.EOF
			return
		}
	}
}

func (p *process) wait() {
	p.waitErr = p.cmd.Wait()
	killGroup(p.cmd) // children that a wrapper script may have left running
	p.stdin.Close()
	if p.stdout.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		p.stdout.Close()
	}
	close(p.exited)
}

// send writes one command.
func (p *process) send(command string) error {
	// Pipes without deadlines (Windows) just write: commands are far smaller
	// than a pipe's buffer.
	_ = p.stdin.SetWriteDeadline(time.Now().Add(writeTime))
	_, err := io.WriteString(p.stdin, command+"\n")
	return err
}

// end makes sure that the process and its goroutines have ended, giving it a
// grace to end by itself.
func (p *process) end(grace time.Duration) {
	close(p.gone)
	p.stdin.Close()
	if !p.waitExit(grace) {
		killGroup(p.cmd)
		<-p.exited
	}
	for range p.lines { // until the reader has ended
	}
}

// waitExit reports whether the process ends within d.
func (p *process) waitExit(d time.Duration) bool {
	if d <= 0 {
		select {
		case <-p.exited:
			return true
		default:
			return false
		}
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		return false
	}
}

// endState describes how the process ended, for error messages.
func (p *process) endState() string {
	if !p.waitExit(exitTime) {
		return "closed its output but still runs"
	}
	if s := p.cmd.ProcessState; s != nil {
		return s.String()
	}
	return fmt.Sprint(p.waitErr)
}
