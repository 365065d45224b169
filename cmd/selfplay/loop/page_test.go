package loop

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
)

// watcher asks for the state of the page as soon as the loop says where it is.
type watcher struct {
	mu    sync.Mutex
	text  bytes.Buffer
	asked bool
	state chan string
}

var address = regexp.MustCompile(`watch the run at (http://127\.0\.0\.1:[0-9]+)\n`)

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if found := address.FindSubmatch(w.text.Bytes()); found != nil && !w.asked {
		w.asked = true
		go func() {
			resp, err := http.Get(string(found[1]) + "/api/state")
			if err != nil {
				w.state <- err.Error()
				return
			}
			defer resp.Body.Close()
			data, _ := io.ReadAll(resp.Body)
			w.state <- string(data)
		}()
	}
	return len(p), nil
}

// A loop serves its own page while it runs, and ends with it.
func TestPageOfALoop(t *testing.T) {
	w := &watcher{state: make(chan string, 1)}
	dir := filepath.Join(t.TempDir(), "run")
	code := cli.Run(New(), []string{"--preset", "tiny", "--dir", dir, "--until-generation", "1", "--for", "3m", "--dash", ":0"}, strings.NewReader(""), w, w)
	if code != 0 || !w.asked {
		t.Fatalf("exit %d, asked %v:\n%s", code, w.asked, &w.text)
	}
	if state := <-w.state; !strings.Contains(state, `"live":true`) || !strings.Contains(state, `"name":"run"`) {
		t.Errorf("found %s, expected the state of the run", state)
	}
}

// A port that is taken is found before a run is begun.
func TestTakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := filepath.Join(t.TempDir(), "run")
	var out bytes.Buffer
	code := cli.Run(New(), []string{"--preset", "tiny", "--dir", dir, "--dash", l.Addr().String()}, strings.NewReader(""), &out, &out)
	if _, err := os.Stat(dir); code != 1 || !strings.Contains(out.String(), "listen for browsers") || err == nil {
		t.Errorf("exit %d, %q, directory there %v; expected 1, the reason, and no directory", code, &out, err == nil)
	}
}
