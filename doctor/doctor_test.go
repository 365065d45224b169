package doctor

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
)

// find returns the finding of a check, and fails without one.
func find(t *testing.T, r *Report, check string) Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Check == check {
			return f
		}
	}
	t.Fatalf("no check %q in %+v", check, r.Findings)
	return Finding{}
}

// is fails unless a check came to a state, and says what to do unless that is OK.
func is(t *testing.T, r *Report, check string, want State) {
	t.Helper()
	if f := find(t, r, check); f.State != want || (f.Do == "") != (want == OK) || f.Found == "" || f.Expected == "" {
		t.Errorf("%s: found %+v, expected %s", check, f, want)
	}
}

func TestMachine(t *testing.T) {
	dir := t.TempDir()
	open, closed := filepath.Join(dir, "actor.json"), filepath.Join(dir, "run.token")
	for path, mode := range map[string]os.FileMode{open: 0o644, closed: 0o600} {
		if err := os.WriteFile(path, []byte("secret"), mode); err != nil {
			t.Fatal(err)
		}
	}
	var r Report
	r.Machine(dir, []string{closed, "", filepath.Join(dir, "no.creds")})
	is(t, &r, "secret actor.json", Wrong)
	is(t, &r, "secret run.token", OK)
	is(t, &r, "secret no.creds", Wrong)
	for _, check := range []string{"processor", "open files", "free disk", "disk sync"} {
		find(t, &r, check)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the check left files: %v, %v", entries, err)
	}

	r = Report{}
	r.Machine(filepath.Join(dir, "none"), nil)
	is(t, &r, "free disk", Wrong)
}

// What to do about a secret is said by what is wrong with it, and a file has none in it.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{"open": 0o644, "empty": 0o600} {
		text := []byte("secret")
		if name == "empty" {
			text = nil
		}
		if err := os.WriteFile(path(name), text, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(path("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	var r Report
	r.secrets(path("open"), []string{path("open"), path("empty"), path("folder"), path("missing")})
	if len(r.Findings) != 4 {
		t.Errorf("found %+v, expected four findings: a file has no files in it", r.Findings)
	}
	for name, mode := range map[string]bool{"open": true, "empty": false, "folder": false, "missing": false} {
		is(t, &r, "secret "+name, Wrong)
		if f := find(t, &r, "secret "+name); strings.Contains(f.Do, "chmod") != mode || strings.Contains(f.Do, "put the file back") == mode {
			t.Errorf("%s: found %+v, expected chmod to be advised: %v", name, f, mode)
		}
	}
}

// openServer starts a server of its own that listens.
func openServer(t *testing.T) *bus.Conn {
	t.Helper()
	c, err := bus.Open(t.Context(), bus.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestCluster(t *testing.T) {
	c := openServer(t)
	s := Servers{URL: "nats://" + c.Addr(), Options: bus.Options{Patience: 20 * time.Second}}
	server := "server " + s.URL
	var r Report
	r.Cluster(t.Context(), s)
	for check, want := range map[string]State{server: OK, server + " max_payload": OK, server + " TLS": OK, "clock": Unknown, "sync of the servers": Unknown} {
		is(t, &r, check, want)
	}

	record := bus.RunRecord{Schema: bus.RunSchema, Name: "crazyhouse", ID: "abc", Variant: "crazyhouse", Kind: "nnue", Protocol: bus.Protocol, Created: time.Now()}
	if err := c.CreateRun(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Join(t.Context(), "abc", bus.JoinOptions{}); err != nil {
		t.Fatal(err)
	}
	r, s.Run = Report{}, "crazyhouse"
	r.Cluster(t.Context(), s)
	for check, want := range map[string]State{"clock": OK, "copies of selfplay-runs": OK, "copies of abc-games": OK, "copies of abc-ctl": OK, "copies of OBJ_abc-nets": OK} {
		is(t, &r, check, want)
	}
	if r.Wrong != 0 {
		t.Errorf("found %d wrong, expected none: %+v", r.Wrong, r.Findings)
	}

	// A second server that is away, and one copy where two servers are named.
	r, s.URL, s.Run, s.Options.Patience = Report{}, s.URL+",nats://127.0.0.1:1", "other", time.Second
	r.Cluster(t.Context(), s)
	for check, want := range map[string]State{server: OK, server + " cluster": Wrong, "server nats://127.0.0.1:1": Wrong, "run other": Wrong, "copies of selfplay-runs": Wrong} {
		is(t, &r, check, want)
	}
}

func TestMonitor(t *testing.T) {
	for body, want := range map[string]map[string]State{
		`{"server_name":"n1","auth_required":true,"jetstream":{"config":{"sync_always":true,"max_storage":100},"stats":{"storage":50}}}`: {
			"server n1 sync": OK, "server n1 asks who connects": OK, "server n1 store": OK,
		},
		`{"server_name":"n1","jetstream":{"config":{"sync_interval":120000000000,"max_storage":100},"stats":{"storage":95}}}`: {
			"server n1 sync": Wrong, "server n1 asks who connects": Wrong, "server n1 store": Wrong,
		},
		`{"server_name":"n1","jetstream":{}}`: {"server n1 JetStream": Wrong},
	} {
		var r Report
		r.monitors(t.Context(), []string{serve(t, body)}, []string{"n1"}, true)
		for check, state := range want {
			is(t, &r, check, state)
		}
	}
	for _, body := range []string{"", "<html>", `{"status":"ok"}`} {
		address := serve(t, body)
		var r Report
		r.monitors(t.Context(), []string{address}, nil, true)
		is(t, &r, "monitor "+address, Wrong)
	}
}

// Figures are of the servers that are looked at: one without is not known, and those of a
// stranger are wrong, if all of ours have said their names.
func TestMonitorsOfServers(t *testing.T) {
	body := func(name string) string {
		return `{"server_name":"` + name + `","auth_required":true,"jetstream":{"config":{"sync_always":true}}}`
	}
	one, other := serve(t, body("n1")), serve(t, body("m1"))
	var r Report
	r.monitors(t.Context(), []string{one, other}, []string{"n1", "n2"}, true)
	for check, want := range map[string]State{"server n1 sync": OK, "monitor " + other: Wrong} {
		is(t, &r, check, want)
	}
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Check == "server m1 sync" }) {
		t.Errorf("found %+v, expected no settings of a stranger", r.Findings)
	}
	r = Report{}
	r.monitors(t.Context(), []string{other}, []string{"n1"}, false)
	for check, want := range map[string]State{"server m1 sync": OK, "monitor " + other: Unknown} {
		is(t, &r, check, want)
	}

	c := openServer(t)
	f, err := c.Facts()
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]map[string]State{
		other: {"monitor " + other: Wrong, "server " + f.Name + " sync": Unknown}, serve(t, body(f.Name)): {"server " + f.Name + " sync": OK},
	} {
		r = Report{}
		r.Cluster(t.Context(), Servers{URL: "nats://" + c.Addr(), Monitors: []string{address}, Options: bus.Options{Patience: 20 * time.Second}})
		for check, state := range want {
			is(t, &r, check, state)
		}
	}
}

// A server of this machine is one at a loopback address, however that is written.
func TestServersOfThisMachine(t *testing.T) {
	for address, want := range map[string]bool{
		"nats://127.0.0.1:4222": true, "nats://127.0.0.2": true, "nats://localhost": true, "ws://LOCALHOST:80/": true, "nats://[::1]:4222": true,
		"nats://[0:0:0:0:0:0:0:1]:4222": true, "nats://localhost.example.com:4222": false, "nats://127.0.0.1.example.com": false, "nats://10.0.0.1:4222": false,
	} {
		if got := ofThisMachine(address); got != want {
			t.Errorf("%s: found %v, expected %v", address, got, want)
		}
	}
}

// Servers tell the same to a user of their own account.
func TestFiguresOfServers(t *testing.T) {
	const good = `{"server":{"name":"n1"},"data":{"server_name":"n1","auth_required":true,"jetstream":{"config":{"sync_always":true,"max_storage":100},"stats":{"storage":50}}}}`
	var r Report
	r.figures([][]byte{[]byte(good)}, 1)
	for _, check := range []string{"settings of the servers", "server n1 sync", "server n1 asks who connects", "server n1 store"} {
		is(t, &r, check, OK)
	}
	for what, answers := range map[string][][]byte{"one of two": {[]byte(good)}, "no figures": {[]byte(good), []byte(`{"data":{}}`)}, "no answer": nil} {
		r = Report{}
		r.figures(answers, 2)
		if r.Wrong == 0 {
			t.Errorf("%s: found nothing wrong: %+v", what, r.Findings)
		}
	}
}

// serve answers every request with a body.
func serve(t *testing.T, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
	t.Cleanup(s.Close)
	return s.URL
}

// A server far in the future is not taken for one of the same time.
func TestClockIsCompared(t *testing.T) {
	var r Report
	now := time.Now()
	r.clock(bus.StreamFacts{Time: now.Add(3 * time.Second), Asked: now})
	is(t, &r, "clock", Wrong)
	r = Report{}
	r.clock(bus.StreamFacts{Time: now.Add(-time.Second), Asked: now})
	is(t, &r, "clock", OK)
}

func TestReportIsPrinted(t *testing.T) {
	var r Report
	r.add(true, "first", "this", "that", "nothing")
	r.add(false, "second", "this", "that", "change it")
	r.unknown("third", "nothing", "that", "look")
	var out strings.Builder
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := "ok  first: this\n!   second: found this, expected that\n      change it\n?   third: found nothing, expected that\n      look\n3 checks: 1 wrong, 1 not known\n"
	if out.String() != want || r.Wrong != 1 {
		t.Errorf("found %q with %d wrong, expected %q", out.String(), r.Wrong, want)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var r Report
	r.Cluster(ctx, Servers{URL: "nats://127.0.0.1:1", Options: bus.Options{Patience: time.Minute}})
	is(t, &r, "server nats://127.0.0.1:1", Wrong)
}
