//go:build unix

package clustertest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

const tailBytes = 2000 // of a log, shown when a process fails

// Process is a program that is started, killed and started again. What it prints is
// appended to a file.
type Process struct {
	Name string
	Log  string // path

	path string
	args []string
	env  []string // beside that of this process

	mu       sync.Mutex
	cmd      *exec.Cmd
	ended    chan struct{} // closed when cmd has ended
	err      error         // of cmd, once ended
	expected bool          // that cmd ends
	starts   int
	started  time.Time // the last of them
}

// NewProcess returns the process of a program with these arguments, with env beside this
// process's environment, whose output goes to the file log.
func NewProcess(name, log, path string, args, env []string) *Process {
	return &Process{Name: name, Log: log, path: path, args: args, env: env}
}

// Start starts the program; it is not running now.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	log, err := os.OpenFile(p.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own descriptor
	p.starts++
	began := time.Now()
	fmt.Fprintf(log, "=== start %d, %s\n", p.starts, began.Format(time.TimeOnly))
	cmd := exec.Command(p.path, p.args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), p.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in a terminal is not for it
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	ended := make(chan struct{})
	p.cmd, p.ended, p.err, p.expected, p.started = cmd, ended, nil, false, began
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(ended)
	}()
	return nil
}

// Pid returns the id of the process that was started last.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Pid
}

// lastStart returns when the program was started last.
func (p *Process) lastStart() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// Ended reports whether the program does not run.
func (p *Process) Ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return true
	}
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Failed returns an error if the process ended without being asked to.
func (p *Process) Failed() error {
	p.mu.Lock()
	cmd, ended, expected := p.cmd, p.ended, p.expected
	p.mu.Unlock()
	if cmd == nil || expected {
		return nil
	}
	select {
	case <-ended:
		return fmt.Errorf("%s ended by itself: %v; the end of %s:\n%s", p.Name, p.err, p.Log, p.tail())
	default:
		return nil
	}
}

// send sends a signal to the running process.
func (p *Process) send(s os.Signal, ends bool) (ended chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return nil, fmt.Errorf("%s was never started", p.Name)
	}
	p.expected = p.expected || ends
	if err := p.cmd.Process.Signal(s); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	return p.ended, nil
}

// Kill ends the process with signal 9 and waits until it is gone. A process that had
// ended before is an error.
func (p *Process) Kill() error {
	if err := p.Failed(); err != nil {
		return err
	}
	ended, err := p.send(syscall.SIGKILL, true)
	if err != nil {
		return err
	}
	<-ended
	return nil
}

// Stop suspends the process.
func (p *Process) Stop() error {
	_, err := p.send(syscall.SIGSTOP, false)
	return err
}

// Continue lets a suspended process go on.
func (p *Process) Continue() error {
	_, err := p.send(syscall.SIGCONT, false)
	return err
}

// End asks the process to end in order, and waits for that. An exit code other than 0,
// or none within the limit, is an error.
func (p *Process) End(limit time.Duration) error {
	if err := p.Failed(); err != nil {
		return err
	}
	ended, err := p.send(syscall.SIGTERM, true)
	if err != nil {
		return err
	}
	select {
	case <-ended:
	case <-time.After(limit):
		return fmt.Errorf("%s: asked to end, found it still running after %v; the end of %s:\n%s", p.Name, limit, p.Log, p.tail())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return fmt.Errorf("%s: asked to end: %w; the end of %s:\n%s", p.Name, p.err, p.Log, p.tail())
	}
	return nil
}

// fails waits until the process has ended by itself, which must be with an exit code other
// than 0 and after it printed the text.
func (p *Process) fails(limit time.Duration, text string) error {
	p.mu.Lock()
	p.expected = true
	ended := p.ended
	p.mu.Unlock()
	select {
	case <-ended:
	case <-time.After(limit):
		p.Abandon()
		return fmt.Errorf("%s: found it still running after %v, expected it to say %q; the end of %s:\n%s", p.Name, limit, text, p.Log, p.tail())
	}
	if said := p.tail(); p.err == nil || !strings.Contains(said, text) {
		return fmt.Errorf("%s: ended with error %v, expected one and %q; the end of %s:\n%s", p.Name, p.err, text, p.Log, said)
	}
	return nil
}

// Abandon kills the process if it runs, also if it is suspended.
func (p *Process) Abandon() {
	if ended, err := p.send(syscall.SIGKILL, true); err == nil {
		<-ended
	}
}

// tail returns the end of the log.
func (p *Process) tail() string {
	f, err := os.Open(p.Log)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		_, _ = f.Seek(-tailBytes, io.SeekEnd)
	}
	data, err := io.ReadAll(io.LimitReader(f, tailBytes))
	return string(data) + errorText(err)
}

func errorText(err error) string {
	if err == nil || errors.Is(err, io.EOF) {
		return ""
	}
	return err.Error()
}
