//go:build linux

package fault

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
)

var overlayDir = flag.String("overlay", "", "directory for what is built with; default a temporary one")

// writer builds testdata/writer with a disk that fails.
func writer(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the standard library anew")
	}
	dir := *overlayDir
	if dir == "" {
		dir = t.TempDir()
	}
	overlay, err := Overlay(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "writer")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", path, "./testdata/writer").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// machine is a disk on which writers work until the power is cut.
type machine struct {
	t       *testing.T
	dev     *Device
	program string
	root    string
}

func newMachine(t *testing.T, program string) *machine {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, program: program, root: filepath.Join(dir, "root")}
	if m.dev, err = Open(filepath.Join(dir, "faults"), m.root); err != nil {
		t.Fatal(err)
	}
	return m
}

// run runs the program and returns whether it came to its end.
func (m *machine) run(what string) bool {
	cmd := exec.CommandContext(m.t.Context(), m.program, what, m.root)
	cmd.Env = append(os.Environ(), m.dev.Env()...)
	return cmd.Run() == nil
}

// cut cuts the power and returns what had been promised before.
func (m *machine) cut() (promised []string) {
	m.t.Helper()
	names, _ := os.ReadDir(filepath.Join(m.root, "promised"))
	for _, n := range names {
		promised = append(promised, n.Name())
	}
	if _, err := m.dev.CutPower(); err != nil {
		m.t.Fatal(err)
	}
	if err := m.dev.Close(); err != nil {
		m.t.Fatal(err)
	}
	return promised
}

// broken returns the promises that the disk does not keep.
func (m *machine) broken(promised []string) (broken []string) {
	m.t.Helper()
	stored := map[string]bool{}
	dir := filepath.Join(m.root, "replay")
	if segments, manifest := replay.Contents(dir); segments || manifest {
		b, err := replay.Open(dir, replay.Options{Variant: chess.Crazyhouse, MaxBytes: 1 << 20, SegmentBytes: 4 << 10, Window: replay.WindowRule{Min: 100, Exponent: 0.65, Slope: 0.4}})
		if err != nil {
			return []string{err.Error()}
		}
		if err := b.Close(); err != nil {
			m.t.Fatal(err)
		}
		if err := replay.VisitIDs(dir, func(id string) { stored[id] = true }); err != nil {
			m.t.Fatal(err)
		}
	}
	spooled, _ := filepath.Glob(filepath.Join(m.root, "spool", "*.game"))
	for _, path := range spooled { // promised or not, a file holds the game of its name
		data, _ := os.ReadFile(path)
		if h, err := game.DecodeHeader(data); err != nil || h.ID+".game" != filepath.Base(path) {
			broken = append(broken, fmt.Sprintf("%s holds game %q, error %v", filepath.Base(path), h.ID, err))
		}
	}
	text, _ := os.ReadFile(filepath.Join(m.root, "state"))
	state, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	for _, p := range promised {
		if number, is := strings.CutPrefix(p, "state-"); is {
			if n, _ := strconv.Atoi(number); state < n {
				broken = append(broken, p)
			}
			continue
		}
		data, _ := os.ReadFile(filepath.Join(m.root, "spool", p+".game"))
		if h, err := game.DecodeHeader(data); (err != nil || h.ID != p) && !stored[p] {
			broken = append(broken, p)
		}
	}
	return broken
}

// The power is cut at every change of a file that the writer makes: what it promised is
// there.
func TestPowerCutAtEveryChange(t *testing.T) {
	program := writer(t)
	for at, done := uint64(1), false; !done; at++ {
		m := newMachine(t, program)
		m.dev.DieAt(at)
		done = m.run("write")
		promised := m.cut()
		if b := m.broken(promised); len(b) > 0 {
			t.Errorf("dead at change %d: promised %d things, broken: %v", at, len(promised), b)
		}
		if done && at < 100 {
			t.Errorf("found %d changes, expected 100 or more", at)
		}
	}
}

// The writer is killed at every change; another process takes up what is there and relies
// on it; then the power is cut.
func TestPowerCutAfterKill(t *testing.T) {
	program := writer(t)
	for at, done := uint64(1), false; !done; at++ {
		m := newMachine(t, program)
		m.dev.DieAt(at)
		done = m.run("write")
		m.dev.DieAt(0)
		if !m.run("open") {
			t.Errorf("killed at change %d: the buffer does not open", at)
		}
		promised := m.cut()
		if b := m.broken(promised); len(b) > 0 {
			t.Errorf("killed at change %d: promised %d things, broken: %v", at, len(promised), b)
		}
	}
}

// Syncs fail from some change on until the writer ends; another process takes up what is
// there, with syncs that succeed, but do not write what the failed ones were to.
func TestPowerCutAfterFailedSync(t *testing.T) {
	program := writer(t)
	m := newMachine(t, program)
	m.dev.Begin(NoSync)
	if m.run("write") {
		t.Error("the writer does not notice that no sync succeeds")
	}
	m.dev.End(NoSync)
	if !m.run("write") || !m.run("open") {
		t.Error("the writer does not go on")
	}
	if b := m.broken(m.cut()); len(b) > 0 {
		t.Errorf("broken: %v", b)
	}
}

// A writer that promises before it syncs is found out.
func TestCarelessWriterIsFound(t *testing.T) {
	m := newMachine(t, writer(t))
	if !m.run("careless") {
		t.Fatal("the writer failed")
	}
	if b := m.broken(m.cut()); len(b) != 1 {
		t.Errorf("found broken promises %v, expected one", b)
	}
}

// Disks that are full or cannot be written to fail, and say so.
func TestFullAndReadOnlyDisks(t *testing.T) {
	program := writer(t)
	for _, mode := range []Mode{Full, ReadOnly} {
		m := newMachine(t, program)
		m.dev.Begin(mode)
		if m.run("write") {
			t.Errorf("mode %d: the writer did not notice", mode)
		}
		m.dev.End(mode)
		if !m.run("write") {
			t.Errorf("mode %d is over: the writer fails", mode)
		}
		if b := m.broken(m.cut()); len(b) > 0 {
			t.Errorf("mode %d: broken: %v", mode, b)
		}
	}
}
