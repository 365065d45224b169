package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// roleVariable makes a process of this program the server or the replay role: each is
// a process of its own, so that what it takes can be told apart.
const roleVariable = "SELFPLAY_LOAD_ROLE"

// Roles of processes.
const (
	roleServer = "server"
	roleReplay = "replay"
)

// runRole does the role until standard input ends: with the process that started it.
// The arguments are the directory and for replay the server's URL.
func runRole(role string, args []string) error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if profile := os.Getenv("SELFPLAY_LOAD_PROFILE"); profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	switch {
	case role == roleServer && len(args) == 1:
		return serve(ctx, args[0], log)
	case role == roleReplay && len(args) == 2:
		return keep(ctx, args[0], args[1], log)
	}
	return fmt.Errorf("role %q: found %d arguments", role, len(args))
}

// serve is the role of the server.
func serve(ctx context.Context, dir string, log *slog.Logger) error {
	conn, err := bus.Open(ctx, bus.Options{Dir: dir, Listen: "127.0.0.1:0", Name: roleServer, Log: log})
	if err != nil {
		return err
	}
	fmt.Printf("ready %s\n", conn.Addr())
	<-ctx.Done()
	return conn.Close()
}

// keep is the replay role of the program, whole.
func keep(ctx context.Context, dir, url string, log *slog.Logger) error {
	cfg, err := configs.Preset("laptop")
	if err != nil {
		return err
	}
	cfg.Bus.URL = url
	run, err := selfplay.Join(ctx, dir, runName, cfg, selfplay.Options{Build: "load", Log: log, Role: "replay"})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return errors.Join(run.Replay(ctx), run.Close())
}

// process is a role in a process of its own.
type process struct {
	role  string
	cmd   *exec.Cmd
	stdin io.Closer
	log   *os.File
	said  string // what it said when it was ready
}

// startRole starts a role and waits until it is ready. Its log is written to dir.
func startRole(dir, profile, role string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{role: role, cmd: exec.Command(self, args...)}
	p.cmd.Env = append(os.Environ(), roleVariable+"="+role, "SELFPLAY_LOAD_PROFILE="+profile)
	if p.log, err = os.Create(filepath.Join(dir, role+".log")); err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	said, ok := strings.CutPrefix(strings.TrimSpace(line), "ready")
	if err != nil || !ok {
		return nil, fmt.Errorf("%s did not become ready: %w; see %s", role, errors.Join(err, p.stop()), p.log.Name())
	}
	p.said = strings.TrimSpace(said)
	return p, nil
}

// stop ends the role in order.
func (p *process) stop() error {
	err := errors.Join(p.stdin.Close(), p.cmd.Wait(), p.log.Close())
	if err != nil {
		return fmt.Errorf("%s: %w; see %s", p.role, err, p.log.Name())
	}
	return nil
}

// usage is what a process takes.
type usage struct {
	CPUSeconds    float64 `json:"cpu_seconds"`
	CPUShare      float64 `json:"cpu_share"`       // of one core
	MicrosPerGame float64 `json:"micros_per_game"` // of CPU time
	PeakMiB       float64 `json:"peak_mib"`        // of memory, resident
}

// usageOf is what a process took since it had used the given CPU time.
func usageOf(pid int, before, took time.Duration, games int64) usage {
	cpu := cputime.Process(pid) - before
	u := usage{CPUSeconds: cpu.Seconds(), CPUShare: cpu.Seconds() / took.Seconds(), PeakMiB: peakMiB(pid)}
	if games > 0 {
		u.MicrosPerGame = float64(cpu.Microseconds()) / float64(games)
	}
	return u
}

// peakMiB is the most memory that a process has had resident, 0 where the system does
// not say.
func peakMiB(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			if err == nil {
				return kib / 1024
			}
		}
	}
	return 0
}
