package dash

import (
	"bufio"
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/await"
)

func TestOnlyThePageIsAnswered(t *testing.T) {
	s := newTestServer(t, Config{Dir: trial(t)})
	header := func(key, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(key, value) }
	}
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	method := func(m string) func(*http.Request) { return func(r *http.Request) { r.Method = m } }
	for _, tc := range []struct {
		name   string
		change func(*http.Request)
		code   int
	}{
		{"address", host("127.0.0.1:8080"), 200},
		{"IPv6", host("[::1]:8080"), 200},
		{"another port, as of a tunnel", host("localhost:9999"), 200},
		{"without a port", host("localhost"), 200},
		{"foreign name that resolves to this machine", host("evil.example:8080"), 421},
		{"name that begins like localhost", host("localhost.evil.example:8080"), 421},
		{"name that begins like an address", host("127.0.0.1.evil.example"), 421},
		{"no host", host(""), 421},
		{"own origin", header("Origin", "http://127.0.0.1:8080"), 200},
		{"foreign origin", header("Origin", "http://evil.example"), 403},
		{"another port of this machine", header("Origin", "http://127.0.0.1:3000"), 403},
		{"null origin", header("Origin", "null"), 403},
		{"foreign page", header("Sec-Fetch-Site", "cross-site"), 403},
		{"same machine, another site", header("Sec-Fetch-Site", "same-site"), 403},
		{"own page", header("Sec-Fetch-Site", "same-origin"), 200},
		{"a person", header("Sec-Fetch-Site", "none"), 200},
		{"POST", method(http.MethodPost), 405},
		{"DELETE", method(http.MethodDelete), 405},
		{"OPTIONS", method(http.MethodOptions), 405},
	} {
		if w := ask(t, s, "/api/state", tc.change); w.Code != tc.code {
			t.Errorf("%s: code %d, expected %d", tc.name, w.Code, tc.code)
		}
	}
	link := func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
	}
	if w := ask(t, s, "/", link); w.Code != 200 {
		t.Errorf("a link on another page: code %d, expected 200", w.Code)
	}
	r := httptest.NewRequest(http.MethodGet, "/api/state", nil)
	r.Host = "trainer.example:80"
	w := httptest.NewRecorder()
	if s.Handler("trainer.example").ServeHTTP(w, r); w.Code != 200 {
		t.Errorf("the name that it was told to listen on: code %d, expected 200", w.Code)
	}
}

// Nothing on the page is a script or a style of its own, or comes from elsewhere, and
// every answer says so to the browser.
func TestContentPolicy(t *testing.T) {
	s := newTestServer(t, Config{Dir: trial(t)})
	for _, path := range []string{"/", "/api/state", "/api/none", "/none", "/icon.svg"} {
		w := ask(t, s, path)
		got := w.Header().Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: policy %q lacks %q", path, got, want)
			}
		}
		if strings.Contains(got, "unsafe") || strings.Contains(got, "*") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", path, w.Header())
		}
	}
	page := ask(t, s, "/").Body.String()
	for _, forbidden := range []string{`<script[^>]*>[^<]`, `<style`, `\sstyle=`, `\son[a-z]+=`, `https?://`, `src="//`} {
		if found := regexp.MustCompile(forbidden).FindString(page); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
	assets := regexp.MustCompile(`(?:src|href)="\./([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(assets) < 3 {
		t.Fatalf("found %v, expected script, style and icon", assets)
	}
	for _, a := range assets {
		if w := ask(t, s, "/"+a[1]); w.Code != 200 || w.Body.Len() == 0 {
			t.Errorf("%s: code %d, %d bytes", a[1], w.Code, w.Body.Len())
		}
	}
}

// The files of the page name no other host that a browser would ask.
func TestNothingFromElsewhere(t *testing.T) {
	known := regexp.MustCompile(`http://www\.w3\.org/(2000/svg|1999/xhtml|1999/xlink|1998/Math/MathML|XML/1998/namespace)`)
	address := regexp.MustCompile(`(https?:)?//[a-z0-9-]+\.[a-z0-9.-]+`)
	files := 0
	err := fs.WalkDir(built, "web/dist", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, "licenses.txt") {
			return err
		}
		files++
		data, err := fs.ReadFile(built, path)
		if found := address.Find(known.ReplaceAll(data, nil)); found != nil {
			t.Errorf("%s has %q", path, found)
		}
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("found %d files, error %v", files, err)
	}
}

// What must stay in the run's directory is on no path.
func TestNoSecrets(t *testing.T) {
	s := newTestServer(t, Config{Dir: trial(t)})
	for _, path := range []string{"/api/state", "/api/learning", "/api/games", "/api/nets", "/api/actors", "/api/games/abc-1",
		"/trainer.key", "/../trainer.key", "/assets/../../trainer.key", "/api/games/..%2f..%2ftrainer.key", "/config.yaml"} {
		if w := ask(t, s, path); strings.Contains(w.Body.String(), "SECRET") || strings.Contains(w.Body.String(), "public_key") {
			t.Errorf("%s gives away what it should not: %s", path, w.Body)
		}
	}
}

// serve serves until the test ends, and returns the address.
func serve(t *testing.T, s *Server) string {
	t.Helper()
	l, err := Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	if !Loopback(l) {
		t.Errorf("found address %s, expected that of this machine alone", l.Addr())
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, "") }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr().String()
}

// stream opens the stream and returns its body after the first event.
func stream(t *testing.T, address string) (*bufio.Reader, io.Closer) {
	t.Helper()
	resp, err := http.Get("http://" + address + "/api/stream")
	if err != nil {
		t.Fatal(err)
	}
	body := bufio.NewReader(resp.Body)
	if line, err := body.ReadString('\n'); err != nil || line != "event: state\n" || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("found %q, error %v, expected a state", line, err)
	}
	return body, resp.Body
}

// A stream goes on with what changes, and ends when the browser has gone.
func TestStream(t *testing.T) {
	dir := trial(t)
	s := newTestServer(t, Config{Dir: dir, refresh: 5 * time.Millisecond})
	body, closer := stream(t, serve(t, s))
	write(t, dir, "events.jsonl", testEvents+`{"time":"2026-01-02T03:05:00Z","level":"INFO","msg":"stopped","games":4}`+"\n")
	for {
		line, err := body.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, `"stopped":true`) {
			break
		}
	}
	closer.Close()
	await.True(t, "the stream ends", func() bool { return s.streams.Load() == 0 })
}

func TestStreamsAreBounded(t *testing.T) {
	s := newTestServer(t, Config{Dir: trial(t)})
	s.streams.Store(mostStreams)
	w := ask(t, s, "/api/stream")
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || s.streams.Load() != mostStreams {
		t.Errorf("code %d, %d streams, expected 503", w.Code, s.streams.Load())
	}
}

// A client that takes nothing is dropped; others are not kept waiting.
func TestSlowClientsAreDropped(t *testing.T) {
	s := newTestServer(t, Config{Dir: trial(t), refresh: time.Millisecond})
	s.slow = 100 * time.Millisecond
	address := serve(t, s)
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET /api/stream HTTP/1.1\r\nHost: "+address+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the stream begins", func() bool { return s.streams.Load() == 1 })
	body, closer := stream(t, address)
	defer closer.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, body) // until the test ends
	}()
	await.True(t, "the slow client is dropped", func() bool { return s.streams.Load() == 1 })
	select {
	case <-ended:
		t.Error("the client that reads was dropped, the slow one was not")
	default:
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &bounded{Listener: inner, room: make(chan struct{}, 1)}
	defer l.Close()
	accepted := make(chan net.Conn)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	dial()
	first := <-accepted
	if _, err := dial().Read(make([]byte, 1)); err == nil { // the second is closed at once
		t.Error("found a byte on a connection too many")
	}
	first.Close()
	first.Close()
	dial()
	(<-accepted).Close()
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"", "8080", "127.0.0.1", "a:b:c"} {
		if l, err := Listen(address); err == nil {
			l.Close()
			t.Errorf("%q: found no error", address)
		}
	}
}
