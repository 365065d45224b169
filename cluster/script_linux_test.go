package cluster

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// standIn, in the environment, makes the test binary a server that answers at the address
// whether it serves JetStream.
const standIn = "SELFPLAY_TEST_SERVER"

func TestMain(m *testing.M) {
	if address := os.Getenv(standIn); address != "" {
		serveStandIn(address)
	}
	os.Exit(m.Run())
}

// serveStandIn answers as nats-server does to the script. /on and /off say whether it serves
// JetStream, /seen how often it was asked, reloaded, and with which arguments it runs. It does
// not at first.
func serveStandIn(address string) {
	var on atomic.Bool
	var asked, reloaded atomic.Int64
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGUSR2)
	go func() {
		for s := range signals {
			if s == syscall.SIGUSR2 {
				os.Exit(7)
			}
			reloaded.Add(1)
		}
	}()
	http.HandleFunc("/on", func(http.ResponseWriter, *http.Request) { on.Store(true) })
	http.HandleFunc("/off", func(http.ResponseWriter, *http.Request) { on.Store(false) })
	http.HandleFunc("/seen", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, asked.Load(), reloaded.Load(), strings.Join(os.Args[1:], " "))
	})
	http.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Query().Get("js-enabled-only") != "true" || !on.Load() {
			http.Error(w, "JetStream not enabled", http.StatusServiceUnavailable)
		}
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe(address, nil))
	os.Exit(1)
}

// scripted is a server that the script runs.
type scripted struct {
	t     *testing.T
	url   string
	ended chan error
	cmd   *exec.Cmd
}

func startScript(t *testing.T) *scripted {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, testPlan(), Options{})
	program, err := os.Executable()
	if err == nil {
		err = os.Symlink(program, filepath.Join(dir, "nats-server"))
	}
	if err != nil {
		t.Fatal(err)
	}
	address := network(t)(0) + ":8222"
	s := &scripted{t: t, url: "http://" + address, ended: make(chan error, 1)}
	s.cmd = exec.Command("/bin/sh", filepath.Join(dir, "machines", testPlan().Servers[0].Host, "etc", "nats", "server.sh"), "-c", "some.conf")
	s.cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", standIn + "=" + address, "WATCH_URL=" + s.url, "WATCH_EVERY=0.02", "WATCH_FAILS=3"}
	s.cmd.Stderr = os.Stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.WaitDelay = time.Second // a sleep of the script may have its output
	// Where signals of hanging up are ignored, as under nohup, a shell could not trap one.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) })
	go func() { s.ended <- s.cmd.Wait() }()
	return s
}

// await waits until the server was asked so often more, and reloaded so often at all.
func (s *scripted) await(more, reloaded int) {
	s.t.Helper()
	first, asked, again, args := -1, 0, 0, ""
	for end := time.Now().Add(patience); first < 0 || asked < first+more || again < reloaded; time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-s.ended:
			s.t.Fatalf("the script ended: %v", err)
		default:
		}
		if time.Now().After(end) {
			s.t.Fatalf("asked %d times, reloaded %d times, expected %d more than %d, and %d", asked, again, more, first, reloaded)
		}
		lines := get(s.url + "/seen")
		if len(lines) == 0 {
			continue // not there yet
		}
		if _, err := fmt.Sscanf(lines[0], "%d %d", &asked, &again); err != nil {
			s.t.Fatal(err)
		}
		if first < 0 {
			first = asked
		}
		args = lines[0]
	}
	if !strings.HasSuffix(args, " -c some.conf") {
		s.t.Errorf("found %q, expected the arguments of the script at its end", args)
	}
}

func (s *scripted) code() int {
	s.t.Helper()
	select {
	case <-s.ended:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		s.t.Fatal("the script has not ended")
	}
	return 0
}

// A server that served JetStream and does not any more is ended, so that it is started again;
// one that has not yet, since it reads its store, is left alone.
func TestServerWithoutJetStreamIsEnded(t *testing.T) {
	s := startScript(t)
	s.await(8, 0) // more than may fail
	get(s.url + "/on")
	s.await(8, 0)
	get(s.url + "/off")
	if code := s.code(); code == 0 {
		t.Errorf("exit %d, expected another", code)
	}
	if get(s.url+"/seen") != nil {
		t.Error("the server was not ended")
	}
}

// The server gets the signals of its script, and the script ends with its exit code.
func TestServerScriptPassesSignals(t *testing.T) {
	s := startScript(t)
	s.await(1, 0)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.await(1, 1)
	if err := s.cmd.Process.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	if code := s.code(); code != 7 {
		t.Errorf("exit %d, expected the server's, 7", code)
	}
}
