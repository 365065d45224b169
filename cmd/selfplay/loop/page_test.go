package loop

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
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

// watcher looks at the page as soon as the loop says where it is.
type watcher struct {
	mu    sync.Mutex
	text  bytes.Buffer
	asked bool
	look  func(url string)
	done  chan struct{} // look has returned
}

var address = regexp.MustCompile(`watch the run at (http://127\.0\.0\.1:[0-9]+)\n`)

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if found := address.FindSubmatch(w.text.Bytes()); found != nil && !w.asked {
		w.asked = true
		go func() {
			defer close(w.done)
			w.look(string(found[1]))
		}()
	}
	return len(p), nil
}

// get returns what the page answers, or what went wrong.
func get(url string) string {
	resp, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return string(data)
}

// A loop serves its own page while it runs, and ends with it.
func TestPageOfALoop(t *testing.T) {
	state := ""
	w := &watcher{done: make(chan struct{}), look: func(url string) { state = get(url + "/api/state") }}
	dir := filepath.Join(t.TempDir(), "run")
	code := cli.Run(New(), []string{"--preset", "tiny", "--dir", dir, "--set", "gate.enabled=false", "--until-generation", "5", "--for", "5m", "--dash", ":0"}, strings.NewReader(""), w, w)
	if code != 0 || !w.asked {
		t.Fatalf("exit %d, asked %v:\n%s", code, w.asked, &w.text)
	}
	if <-w.done; !strings.Contains(state, `"live":true`) || !strings.Contains(state, `"name":"run"`) {
		t.Errorf("found %s, expected the state of the run", state)
	}
}

// Who has the token chooses the net of a loop under way on its own page; others do not, and
// the token stands in nothing that the loop writes.
func TestTokenOfALoop(t *testing.T) {
	const token = "0123456789-a-token"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	order := func(url, token string) (int, string) {
		r, err := http.NewRequest(http.MethodPost, url+"/api/control/rollback", strings.NewReader(`{"generation":0,"why":"a test"}`))
		if err != nil {
			return 0, err.Error()
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", url)
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		data, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(data)
	}
	current := regexp.MustCompile(`"current":"[0-9a-f]{64}"`)
	var found []string
	w := &watcher{done: make(chan struct{}), look: func(url string) {
		for !current.MatchString(get(url + "/api/nets")) {
			if strings.Contains(get(url+"/api/state"), "refused") { // the loop has ended
				return
			}
		}
		for _, given := range []string{"", "another-token-of-16", token} {
			code, text := order(url, given)
			found = append(found, fmt.Sprint(code))
			if strings.Contains(text, token) {
				t.Errorf("the answer has the token: %s", text)
			}
		}
	}}
	dir := filepath.Join(t.TempDir(), "run")
	code := cli.Run(New(), []string{"--preset", "tiny", "--dir", dir, "--set", "gate.enabled=false", // or no net might pass
		"--until-generation", "20", "--for", "5m", "--dash", ":0", "--page-token", file}, strings.NewReader(""), w, w)
	<-w.done
	if want := "401 401 200"; code != 0 || strings.Join(found, " ") != want {
		t.Errorf("exit %d, answers %v, expected 0 and %s:\n%s", code, found, want, &w.text)
	}
	if strings.Contains(w.text.String(), token) {
		t.Error("the terminal has the token")
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(token)) {
			t.Errorf("%s has the token", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A token is of no use without a page.
func TestTokenWithoutPage(t *testing.T) {
	var out bytes.Buffer
	dir := filepath.Join(t.TempDir(), "run")
	code := cli.Run(New(), []string{"--preset", "tiny", "--dir", dir, "--page-token", "page.token"}, strings.NewReader(""), &out, &out)
	if code != 2 || !strings.Contains(out.String(), "--page-token without --dash") {
		t.Errorf("exit %d, %q, expected 2 and what is missing", code, &out)
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

// TestSettingsOfTheRun: flags of a run that goes on are checked with the run's settings, not
// with those of the usual preset.
func TestSettingsOfTheRun(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"--preset", "tiny"}, {"--set", "gate.elo1=-100"}} { // laptop's elo0 is above it
		var out strings.Builder
		if code := cli.Run(New(), append(args, "--dir", dir, "--for", "100ms"), strings.NewReader(""), &out, &out); code != 0 {
			t.Errorf("%q: code %d\n%s", args, code, out.String())
		}
	}
}
