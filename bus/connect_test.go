package bus

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/crazyhouse-rl/selfplay/internal/secret"
)

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	more signal
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.more.announce()
	return l.text.Write(p)
}

// wait returns when the log has the text n times.
func (l *lines) wait(ctx context.Context, text string, n int) error {
	for {
		more := l.more.wait()
		if strings.Count(l.String(), text) >= n {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("no %q in the log: %w:\n%s", text, ctx.Err(), l)
		}
	}
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// secretFile writes a file that only its owner may read.
func secretFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// freeAddr is an address of this machine that nobody listens at.
func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// startServer starts a server of other options than the embedded one's, and
// returns its address.
func startServer(t testing.TB, o *server.Options) string {
	t.Helper()
	o.Host, o.NoSigs, o.NoLog = "127.0.0.1", true, true
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if o.JetStream {
		o.StoreDir = t.TempDir()
		// Not derived from what is free on the disk of the moment.
		o.JetStreamMaxStore = 1 << 40
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(serverStartWait) {
		t.Fatal("server is not ready")
	}
	return s.Addr().String()
}

// openFails opens a connection that must fail, and returns the error.
func openFails(t testing.TB, o Options) error {
	t.Helper()
	c, err := Open(testContext(t), o)
	if err == nil {
		c.Close()
		t.Fatalf("%+v: connected", o)
	}
	return err
}

// isSaidAtOnce fails if an error is one that came of waiting in vain.
func isSaidAtOnce(t testing.TB, what string, err error) {
	t.Helper()
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) {
		t.Errorf("%s: was waited for: %v", what, err)
	}
}

func TestOpenIsPatientThenSaysWhy(t *testing.T) {
	one, two := freeAddr(t), freeAddr(t)
	var log lines
	start := time.Now()
	err := openFails(t, Options{URL: "nats://" + one + ",nats://" + two, Patience: 700 * time.Millisecond, Log: log.logger()})
	if d := time.Since(start); d < 700*time.Millisecond {
		t.Errorf("gave up after %v, expected 700 ms at least", d)
	}
	for _, want := range []string{one, two, "connection refused", " times in "} {
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want ErrUnreachable with %q", err, want)
		}
	}
	text := log.String()
	if n := strings.Count(text, "not connected"); n == 0 || !strings.Contains(text, "connection refused") || !strings.Contains(text, one) {
		t.Errorf("%d failures in the log:\n%s", n, text)
	}
}

func TestNoServerWaitsForContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := Open(ctx, Options{URL: "nats://" + freeAddr(t)})
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v, want deadline exceeded and ErrUnreachable", err)
	}
}

// A role may start before its server.
func TestServerComesLate(t *testing.T) {
	addr := freeAddr(t)
	var log lines
	ctx, dir := testContext(t), t.TempDir()
	done := make(chan error, 1)
	var host *Conn
	go func() {
		err := log.wait(ctx, "not connected", 1)
		if err == nil {
			host, err = Open(ctx, Options{Dir: dir, Listen: addr})
		}
		done <- err
	}()
	c := openConn(t, Options{URL: "nats://" + freeAddr(t) + ",nats://" + addr, Log: log.logger()})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	publish(t, joinRun(t, c, "test", JoinOptions{}), 1)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := host.Close(); err != nil {
		t.Error(err)
	}
}

func TestReporterShowsEachCauseAndSaysItAgainLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		r := reporter{warn: func(msg string, args ...any) { said = append(said, fmt.Sprint(msg, args)) }}
		refused, slow := errors.New("refused"), errors.New("slow")
		for range 3600 { // an hour
			r.report("nats://me:word@host", refused)
			time.Sleep(time.Second)
		}
		if n := len(said); n < 60 || n > 70 {
			t.Errorf("the same failure was said %d times in an hour", n)
		}
		if !strings.Contains(said[1], "times 2") || strings.Contains(strings.Join(said, ""), "word") {
			t.Errorf("said %q", said[:2])
		}
		said = nil
		r.reset()
		for range 3 { // of two servers in turn
			r.report("", slow)
			r.report("", refused)
		}
		r.reset()
		r.report("", refused)
		if len(said) != 3 {
			t.Errorf("new failures: said %q", said)
		}
	})
}

func TestBackoffGrowsAndIsSpread(t *testing.T) {
	for attempts, base := range map[int]time.Duration{
		0: firstBackoff, 1: firstBackoff, 2: 2 * firstBackoff, 5: 16 * firstBackoff, 7: maxBackoff, 1 << 40: maxBackoff,
	} {
		seen := map[time.Duration]bool{}
		for range 100 {
			d := backoff(attempts)
			if d < base/2 || d >= base*3/2 {
				t.Errorf("after %d attempts: %v", attempts, d)
			}
			seen[d] = true
		}
		if len(seen) < 50 {
			t.Errorf("after %d attempts: %d different times of 100", attempts, len(seen))
		}
	}
}

func TestVersions(t *testing.T) {
	for version, old := range map[string]bool{
		"2.9.10": true, "2.13.9": true, "1.99.99": true, "2.14": true, "": true, "nats": true, "2.14.x": true, "2.-14.0": true,
		"2.14.0": false, "2.14.0-preview.1": false, "2.15.2": false, "3.0.0": false, "10.0.0": false,
	} {
		err := checkVersion(version)
		if errors.Is(err, ErrServer) != old {
			t.Errorf("%q: %v", version, err)
		}
		if old && (!strings.Contains(err.Error(), fmt.Sprintf("%q", version)) || !strings.Contains(err.Error(), neededVersion)) {
			t.Errorf("%v does not say what was found and what is needed", err)
		}
	}
}

// An old server is recognised before anything is asked of it.
func TestOldServerIsRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := make(chan []string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, "INFO {\"server_id\":\"X\",\"version\":\"2.9.10\",\"proto\":1,\"headers\":true,\"max_payload\":1048576,\"jetstream\":true}\r\n")
		var said []string
		for in := bufio.NewScanner(conn); in.Scan(); {
			verb, _, _ := strings.Cut(in.Text(), " ")
			said = append(said, verb)
			if verb == "PING" {
				fmt.Fprint(conn, "PONG\r\n")
			}
		}
		asked <- said
	}()
	err = openFails(t, Options{URL: "nats://" + l.Addr().String()})
	for _, want := range []string{"2.9.10", neededVersion, l.Addr().String()} {
		if !errors.Is(err, ErrServer) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want ErrServer with %q", err, want)
		}
	}
	if said := fmt.Sprint(<-asked); said != "[CONNECT PING]" {
		t.Errorf("the server was asked %s", said)
	}
}

func TestServersThatCannotBeUsed(t *testing.T) {
	limits := func(o *server.Options, p *server.Permissions) *server.Options {
		user := &server.User{Username: "u", Permissions: p}
		o.Users, o.NoAuthUser = []*server.User{user}, "u"
		return o
	}
	account := server.NewAccount("poor")
	for what, tc := range map[string]struct {
		o    *server.Options
		want string
	}{
		"no JetStream": {&server.Options{}, "JetStream is not enabled: start the server with -js"},
		"no JetStream for the account": {&server.Options{
			JetStream: true, Accounts: []*server.Account{account}, NoAuthUser: "u",
			Users: []*server.User{{Username: "u", Account: account}},
		}, "JetStream is not enabled"},
		"may not publish": {
			limits(&server.Options{JetStream: true}, &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"$JS.>"}}}),
			"does not permit JetStream",
		},
		"may not listen": {
			limits(&server.Options{JetStream: true}, &server.Permissions{Subscribe: &server.SubjectPermission{Deny: []string{"_INBOX.>"}}}),
			"does not permit JetStream",
		},
		"asks for a token": {&server.Options{JetStream: true, Authorization: "word"}, "refused who we are"},
	} {
		t.Run(what, func(t *testing.T) {
			err := openFails(t, Options{URL: "nats://" + startServer(t, tc.o)})
			if !errors.Is(err, ErrServer) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want ErrServer with %q", err, tc.want)
			}
			isSaidAtOnce(t, what, err)
		})
	}
}

func TestFilesOfSecretsAreChecked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	open := secretFile(t, "word")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	url := "nats://" + freeAddr(t)
	for what, o := range map[string]Options{
		"token of a server elsewhere":    {URL: url, TokenFile: open},
		"token of the embedded server":   {Dir: t.TempDir(), Listen: "127.0.0.1:0", TokenFile: open},
		"credentials":                    {URL: url, Creds: open},
		"credentials beside good tokens": {URL: url, Creds: open, TokenFile: secretFile(t, "word")},
	} {
		err := openFails(t, o)
		for _, want := range []string{"0644", "chmod 600 " + open} {
			if !errors.Is(err, ErrConfig) || !errors.Is(err, secret.ErrMode) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want ErrConfig with %q", what, err, want)
			}
		}
	}
	for what, o := range map[string]Options{
		"no token":       {URL: url, TokenFile: open + "2"},
		"no credentials": {URL: url, Creds: open + "2"},
	} {
		if err := openFails(t, o); !errors.Is(err, ErrConfig) || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: got %v, want ErrConfig and os.ErrNotExist", what, err)
		}
	}
}

// Secrets are in no error and no log, of either side.
func TestSecretsAreNotShown(t *testing.T) {
	const right, wrong = "right-word-of-the-server", "wrong-word-of-a-client"
	var log lines
	o := Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", TokenFile: secretFile(t, right), Log: log.logger()}
	host := openConn(t, o)
	url := "nats://" + host.Addr()
	remote := openConn(t, Options{URL: url, TokenFile: o.TokenFile, Log: log.logger()})
	publish(t, joinRun(t, remote, "test", JoinOptions{}), 1)
	errs := []error{
		openFails(t, Options{URL: url, TokenFile: secretFile(t, wrong), Log: log.logger()}),
		openFails(t, Options{URL: "nats://me:" + right + "@" + host.Addr(), Log: log.logger()}),
		openFails(t, Options{URL: "nats://" + right + "@" + host.Addr(), Log: log.logger()}),
		openFails(t, Options{URL: right + "@" + host.Addr() + ",nats://%zz", Log: log.logger()}),
		openFails(t, Options{URL: "nats://me:" + right + "@h", Dir: "d", Log: log.logger()}),
		openFails(t, Options{URL: url, Creds: secretFile(t, wrong), Log: log.logger(), Patience: time.Millisecond}),
	}
	if !errors.Is(errs[0], ErrServer) {
		t.Errorf("wrong token: got %v, want ErrServer", errs[0])
	}
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	if err := remote.Close(); err != nil {
		t.Fatal(err)
	}
	shown := log.String() + fmt.Sprint(errs)
	for _, word := range []string{right, wrong} {
		if strings.Contains(shown, word) {
			t.Errorf("%q is shown:\n%s", word, shown)
		}
	}
}

// A server may be given another secret; clients read theirs again.
func TestSecretIsReplaced(t *testing.T) {
	ctx := testContext(t)
	dir, addr := t.TempDir(), freeAddr(t)
	old, young := secretFile(t, "old"), secretFile(t, "new")
	host := openConn(t, Options{Dir: dir, Listen: addr, TokenFile: old})
	var log lines
	remote := openConn(t, Options{URL: "nats://" + addr, TokenFile: old, Log: log.logger()})
	b := joinRun(t, remote, "test", JoinOptions{})
	again := remote.again.wait()
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	openConn(t, Options{Dir: dir, Listen: addr, TokenFile: young})
	if err := log.wait(ctx, "authorization violation", 2); err != nil { // package nats gives up after two
		t.Fatal(err)
	}
	if err := os.Rename(young, old); err != nil {
		t.Fatal(err)
	}
	select {
	case <-again:
		publish(t, b, 1)
	case <-ctx.Done():
		t.Fatalf("not connected again:\n%s", log.String())
	}
}

// A cluster without a leader is one to wait for, by whichever of the client's interfaces it
// says so: a role that joins does not end.
func TestNoLeaderIsUnavailable(t *testing.T) {
	for _, err := range []error{
		&jetstream.APIError{Code: 503, ErrorCode: 10008, Description: "JetStream system temporarily unavailable"},
		&nats.APIError{Code: 503, ErrorCode: 10008, Description: "JetStream system temporarily unavailable"},
	} {
		if got := mapUnavailable(err); !errors.Is(got, ErrUnavailable) {
			t.Errorf("%T: found %v, expected ErrUnavailable", err, got)
		}
	}
}

// A server inside the process loses no answer: it is waited for as long as a starved machine
// may need. One elsewhere is asked again.
func TestEmbeddedServerIsWaitedFor(t *testing.T) {
	embedded := openConn(t, Options{})
	elsewhere := openConn(t, Options{URL: "nats://" + startServer(t, &server.Options{JetStream: true})})
	for _, c := range []struct {
		conn *Conn
		want time.Duration
	}{{embedded, embeddedWait}, {elsewhere, requestWait}} {
		ctx, cancel := c.conn.bound(context.Background())
		end, bounded := ctx.Deadline()
		cancel()
		if left := time.Until(end); !bounded || left > c.want || left < c.want-requestWait {
			t.Errorf("waits for %v, expected %v", left, c.want)
		}
	}
}
