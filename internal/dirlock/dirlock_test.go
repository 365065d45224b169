package dirlock

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestSecondAcquireNamesTheOwner(t *testing.T) {
	dir := t.TempDir()
	l, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Acquire(dir)
	var held *HeldError
	if !errors.As(err, &held) || !errors.Is(err, ErrHeld) {
		t.Fatalf("second acquire: got %v, want HeldError", err)
	}
	if held.PID != os.Getpid() || held.Dir != dir {
		t.Errorf("owner %d of %s, want %d of %s", held.PID, held.Dir, os.Getpid(), dir)
	}
	if is, err := Held(dir); err != nil || !is {
		t.Errorf("while it is held: %v, error %v", is, err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	for _, free := range []string{dir, t.TempDir()} {
		if is, err := Held(free); err != nil || is {
			t.Errorf("after release, or before: %v, error %v", is, err)
		}
	}
	l, err = Acquire(dir)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	l.Release()
}

// helperFlag followed by a directory makes the test binary hold that
// directory until it is killed.
const helperFlag = "-hold"

// inheritFlag makes the test binary live for a fifth of the time of grace.
const inheritFlag = "-inherit"

// held keeps the helper's lock from being collected, which would release it.
var held *Lock

func TestMain(m *testing.M) {
	if n := len(os.Args); n > 2 && os.Args[n-2] == helperFlag {
		var err error
		if held, err = Acquire(os.Args[n-1]); err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("held\n")
		time.Sleep(time.Hour) // an empty select would be a deadlock, which ends the process
	}
	if n := len(os.Args); n > 1 && os.Args[n-1] == inheritFlag {
		time.Sleep(grace / 5)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A killed owner leaves its lock file but not its lock.
func TestKilledOwnerReleases(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, helperFlag, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("helper said %q, %v", line, err)
	}
	_, err = Acquire(dir)
	var other *HeldError
	if !errors.As(err, &other) || other.PID != cmd.Process.Pid {
		t.Fatalf("while held: got %v, want owner %d", err, cmd.Process.Pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	l, err := Acquire(dir)
	if err != nil {
		t.Fatalf("after kill: %v", err)
	}
	l.Release()
}

func TestLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := open(), open()
	defer second.Close()
	if err := LockFile(first); err != nil {
		t.Fatal(err)
	}
	if err := LockFile(second); !errors.Is(err, ErrFileHeld) {
		t.Fatalf("second lock: got %v, want ErrFileHeld", err)
	}
	if _, err := second.WriteString("text"); err != nil {
		t.Errorf("writing to a file another has locked: %v", err)
	}
	first.Close()
	if err := LockFile(second); err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
}

// A process that had begun to start another, which still has its open files, leaves
// its lock a moment later.
func TestLockOutlivesOwnerForAMoment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files are not inherited there")
	}
	dir := t.TempDir()
	l, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, inheritFlag)
	cmd.ExtraFiles = []*os.File{l.file}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if l, err = Acquire(dir); err != nil {
		t.Fatalf("while the other ends: %v", err)
	}
	l.Release()
}
