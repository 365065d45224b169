package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// Options say what runs and for how long.
type Options struct {
	Program string        // selfplay
	Dir     string        // holds the run, its log and soak.csv; it is made
	Args    []string      // of the loop beside --dir, --for and --metrics; none: Settings
	For     time.Duration // how long the loop runs
	Every   time.Duration // between samples
	Log     io.Writer     // a line now and then
}

// Settings are those of a small loop that soon reaches all its limits: nets, segments and
// blocks of streams come and go.
var Settings = []string{"--preset", "tiny", "--set", "bus.keep_nets=5", "--set", "replay.max_bytes=2097152", "--set", "bus.max_bytes=4194304"}

const (
	endWait   = time.Minute      // for the loop to end in order
	readyWait = 2 * time.Minute  // for its first figures
	sayEvery  = 10 * time.Minute // lines on Log
	tryEvery  = 200 * time.Millisecond
)

// Run runs a loop and samples it. The samples are in soak.csv at any time. A loop that
// ends before its time is an error, and so is one that does not end in order.
func Run(ctx context.Context, o Options) (all []Sample, err error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(o.Dir, "soak.csv"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := NewWriter(f)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(o.Dir, "soak.log"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(o.Dir, "run")
	args := slices.Concat(o.Args, []string{"--dir", dir, "--metrics", address})
	if len(o.Args) == 0 {
		args = slices.Concat(Settings, args)
	}
	cmd := exec.Command(o.Program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	all, err = watch(ctx, o, ended, func(at time.Duration) (Sample, error) { return Take(ctx, "http://"+address+"/metrics", dir, at) }, w)
	if errors.Is(err, errEnded) {
		return all, fmt.Errorf("%w; see %s", err, log.Name())
	}
	_ = cmd.Process.Signal(os.Interrupt)
	select {
	case e := <-ended:
		err = errors.Join(err, e)
	case <-time.After(endWait):
		err = errors.Join(err, fmt.Errorf("found the loop still running %v after it was asked to end; see %s", endWait, log.Name()), cmd.Process.Kill())
		<-ended
	}
	return all, err
}

var errEnded = errors.New("the loop ended by itself")

// watch takes samples until the time is over or the loop has ended.
func watch(ctx context.Context, o Options, ended <-chan error, take func(time.Duration) (Sample, error), w *Writer) (all []Sample, err error) {
	began := time.Now()
	var said time.Time
	next := tryEvery
	for {
		select {
		case <-ctx.Done():
			return all, ctx.Err()
		case err := <-ended:
			return all, fmt.Errorf("%w: %w", errEnded, errors.Join(err))
		case <-time.After(next):
		}
		at := time.Since(began)
		s, err := take(at)
		if len(all) == 0 && err != nil && at < readyWait {
			continue // it is beginning
		}
		if err == nil {
			err = w.Write(s)
		}
		if err != nil {
			return all, err
		}
		all, next = append(all, s), o.Every
		if time.Since(said) > sayEvery {
			said = time.Now()
			fmt.Fprintf(o.Log, "%v: %.0f MiB of memory, %.0f games\n", at.Round(time.Second), s.Values[0]/mib, s.Values[len(columns)-counters])
		}
		if at > o.For {
			return all, nil
		}
	}
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
