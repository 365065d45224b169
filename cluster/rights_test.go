package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// patience is for what has to happen on a busy machine.
const patience = 4 * time.Minute

// testCluster are the servers of a plan, started from the files that were written but
// for ports, and the address of the run's roles.
type testCluster struct {
	dir     string
	plan    Plan
	servers []*server.Server
	local   []*strings.Replacer // makes the configuration of each server one of this machine
	url     string
}

// configure writes the configuration of a server as it is on this machine, and returns
// its path.
func (c *testCluster) configure(t *testing.T, i int) string {
	t.Helper()
	etc := filepath.Join(c.dir, "machines", c.plan.Servers[i].Host, "etc", "nats")
	text, err := os.ReadFile(filepath.Join(etc, "nats.conf"))
	path := filepath.Join(etc, "test.conf")
	if err == nil {
		err = os.WriteFile(path, []byte(c.local[i].Replace(string(text))), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func startCluster(t *testing.T) *testCluster {
	t.Helper()
	c := &testCluster{dir: t.TempDir(), plan: testPlan()}
	write(t, c.dir, c.plan, Options{})
	var routes, urls []string
	for range c.plan.Servers {
		routes = append(routes, "127.0.0.1:"+freePort(t))
	}
	for i, s := range c.plan.Servers {
		etc := filepath.Join(c.dir, "machines", s.Host, "etc", "nats")
		client := "127.0.0.1:" + freePort(t)
		replace := []string{"/etc/nats", etc, "/var/lib/nats", t.TempDir(), "0.0.0.0:4222", client, "127.0.0.1:8222", "127.0.0.1:-1", "0.0.0.0:6222", routes[i]}
		for j, other := range c.plan.Servers {
			replace = append(replace, "nats-route://"+other.Host+":6222", "nats-route://"+routes[j])
		}
		c.local = append(c.local, strings.NewReplacer(replace...))
		o, err := server.ProcessConfigFile(c.configure(t, i))
		if err != nil {
			t.Fatal(err)
		}
		o.NoSigs, o.NoLog = true, true
		srv, err := server.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		srv.Start()
		t.Cleanup(func() {
			srv.Shutdown()
			srv.WaitForShutdown()
		})
		c.servers, urls = append(c.servers, srv), append(urls, "tls://"+client)
	}
	c.url = strings.Join(urls, ",")
	return c
}

func (c *testCluster) ca() string { return filepath.Join(c.dir, "ca.pem") }

// creds is the file of a role's user.
func (c *testCluster) creds(role, host string) string {
	return filepath.Join(c.dir, "machines", host, "etc", "selfplay", role+".creds")
}

// log collects what roles say, and what the servers did not permit them.
type log struct {
	t  *testing.T
	mu sync.Mutex
	b  strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.Contains(strings.ToLower(string(p)), "permissions violation") {
		l.t.Errorf("a role was refused what it needs: %s", p)
	}
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// config is that of a role, which connects as its user.
func (c *testCluster) config(t *testing.T, role, host string, more ...string) configs.Config {
	t.Helper()
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	err = cfg.SetPairs(append([]string{
		"run.name=" + c.plan.Run, "bus.url=" + c.url, "bus.creds=" + c.creds(role, host), "bus.tls_ca=" + c.ca(),
	}, more...))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// Every role does its work with the rights of its user: games are played, stored and
// verified, a net is trained, judged and played with, on three servers with TLS. No
// server refuses them anything.
func TestRolesWorkWithTheirRights(t *testing.T) {
	c := startCluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out := &log{t: t}
	logger := slog.New(slog.NewTextHandler(out, nil))
	options := func(role string) selfplay.Options {
		return selfplay.Options{Build: "test", Role: role, Log: logger.With("role", role), Patience: patience}
	}
	trainer, err := selfplay.Open(ctx, filepath.Join(t.TempDir(), c.plan.Run), c.config(t, "trainer", "t1",
		"run.id="+c.plan.ID, "bus.replicas=3", "actor.nodes=15", "actor.max_plies=60", "train.min_positions=300", "train.batch=64",
		"train.steps_per_net=20", "train.checkpoint=10", "train.held_out=100", "gate.pairs=1", "gate.nodes=10", "gate.elo0=-1000", "gate.elo1=-500", "verify.share=1"), options("trainer"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	working := []*selfplay.Run{trainer}
	failed := make(chan error, 8)
	var roles sync.WaitGroup
	work := func(role string, f func(context.Context) error) {
		roles.Go(func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				failed <- fmt.Errorf("%s: %w", role, err)
			}
		})
	}
	join := func(role, host string, more ...string) *selfplay.Run {
		r, err := selfplay.Join(ctx, t.TempDir(), c.plan.Run, c.config(t, role, host, more...), options(role))
		if err != nil {
			t.Fatalf("%s: %v\n%s", role, err, out)
		}
		working = append(working, r)
		return r
	}
	replay, gate, verifier, actor := join("replay", "t1"), join("gate", "g1"), join("verify", "g1"), join("actor", "a1", "actor.name=a1")
	work("trainer", func(ctx context.Context) error { return trainer.Trainer(ctx, selfplay.Limits{}) })
	work("replay", replay.Replay)
	work("gate", func(ctx context.Context) error { return gate.Gate(ctx, true) })
	work("verify", verifier.Verify)
	work("actor", func(ctx context.Context) error { return actor.Actor(ctx, selfplay.Limits{}) })

	for done := false; !done; {
		select {
		case err := <-failed:
			t.Fatalf("%v\n%s", err, out)
		case <-ctx.Done():
			t.Fatalf("actors have generation %d, gate %q, confirmed %d, verified %+v, expected a net and some of each\n%s", actor.Status().ActorGeneration, gate.Status().LastGate,
				actor.Status().Figures.Confirmed, verifier.Status().Figures.Verified, out)
		case <-time.After(100 * time.Millisecond):
		}
		done = actor.Status().ActorGeneration > 0 && actor.Status().Figures.Confirmed > 0 && verifier.Status().Figures.Verified.Same > 0
	}
	if n := replay.Status().Quarantined; n != 0 {
		t.Errorf("%d games are quarantined\n%s", n, out)
	}
	cancel()
	roles.Wait()
	for _, r := range working {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// connect connects a user, and returns what the servers refuse it from then on.
func connect(t *testing.T, c *testCluster, creds string) (*nats.Conn, <-chan error) {
	t.Helper()
	refused := make(chan error, 64)
	deadline := time.Now().Add(patience)
	for {
		nc, err := nats.Connect(c.url, nats.UserCredentials(creds), nats.RootCAs(c.ca()), nats.Timeout(10*time.Second),
			nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
		if err == nil {
			t.Cleanup(nc.Close)
			return nc, refused
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// What a role has no need of, the servers refuse it.
func TestRolesAreRefusedTheRest(t *testing.T) {
	c := startCluster(t)
	id := c.plan.ID
	pointer, game := "$KV."+id+"-ctl.current.crazyhouse.nnue", id+".game.a1"
	forAll := []string{"$JS.API.STREAM.DELETE." + id + "-games", "$JS.API.STREAM.DELETE.OBJ_" + id + "-nets", "$JS.API.STREAM.CREATE.other",
		"$JS.API.CONSUMER.CREATE." + id + "-games.mine", "$SYS.REQ.SERVER.PING", "other." + game, "$KV." + id + "-roles.operator.me", id + ".game.a2", "_INBOX_operator.x"}
	nets := []string{"$O." + id + "-nets.C.x", "$O." + id + "-nets.M.x", "$JS.API.STREAM.PURGE.OBJ_" + id + "-nets"}
	games := []string{game, "$JS.API.STREAM.PURGE." + id + "-games", "$JS.ACK." + id + "-games.ingest.1.1.1.1.1", id + ".reject"}
	pointers := []string{pointer, "$KV." + id + "-ctl.config", "$KV." + id + "-ctl.lease.trainer", "$KV." + id + "-ctl.lease.replay"}
	run := []string{"$KV.selfplay-runs.crazyhouse"}
	stored := []string{id + ".ask.replay.stored", id + ".ask.replay.game"} // only who watches asks for them
	for _, tc := range []struct {
		role, host string
		publish    [][]string
		may        []string
	}{
		{"actor", "a1", [][]string{forAll, nets, games[1:], pointers, run, stored, {id + ".ask.replay.exclude", id + ".ask.replay.window", id + ".ask.gate.next", "$KV." + id + "-roles.actor.a2"}}, []string{game, id + ".ask.replay.has"}},
		{"replay", "t1", [][]string{forAll, nets, games[:1], pointers[:3], run, stored}, []string{id + ".reject"}},
		{"trainer", "t1", [][]string{forAll, games, pointers[3:], stored, {id + ".ask.replay.exclude"}}, []string{pointers[1]}},
		{"gate", "g1", [][]string{forAll, nets, games, pointers[1:], run, stored}, []string{pointer}},
		{"verify", "g1", [][]string{forAll, nets, games, pointers, run, stored}, []string{id + ".ask.replay.exclude"}},
	} {
		t.Run(tc.role, func(t *testing.T) {
			nc, refused := connect(t, c, c.creds(tc.role, tc.host))
			expect := func(what string) {
				t.Helper()
				select {
				case err := <-refused:
					if !errors.Is(err, nats.ErrPermissionViolation) {
						t.Errorf("%s: found %v, expected a violation of permissions", what, err)
					}
				case <-time.After(patience):
					t.Errorf("%s: it was not refused", what)
				}
			}
			for _, list := range tc.publish {
				for _, subject := range list {
					if err := nc.Publish(subject, []byte("x")); err != nil {
						t.Fatal(err)
					}
					expect("publish " + subject)
				}
			}
			others := []string{">", id + ".>", id + ".game.*", "_INBOX.>", "_INBOX_*.>", "_INBOX_trainer-x.>", "$KV.>", "$JS.API.>", id + ".ask.other"}
			if tc.role != "replay" {
				others = append(others, id+".ask.replay.has", id+".ask.replay.stored", id+".ask.replay.game")
			}
			for _, subject := range others {
				sub, err := nc.SubscribeSync(subject)
				if err != nil {
					t.Fatal(err)
				}
				expect("subscribe to " + subject)
				_ = sub.Unsubscribe() // the server has not got it
			}
			for _, subject := range tc.may {
				if err := nc.Publish(subject, []byte("x")); err != nil {
					t.Fatal(err)
				}
			}
			own := "_INBOX_" + c.plan.User(Machine{tc.role, tc.host}) + ".>"
			if _, err := nc.SubscribeSync(own); err != nil {
				t.Fatal(err)
			}
			// The next refusal is that of what it may not do.
			const last = "other.last"
			if err := nc.Publish(last, nil); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-refused:
				if !strings.Contains(err.Error(), last) {
					t.Errorf("of what it may do, it was refused %v", err)
				}
			case <-time.After(patience):
				t.Errorf("publish %s: it was not refused", last)
			}
		})
	}

	t.Run("operator", func(t *testing.T) {
		nc, _ := connect(t, c, filepath.Join(c.dir, "operator.creds"))
		if err := errors.Join(nc.Publish(pointer, nil), nc.Publish("$JS.API.STREAM.DELETE.none", nil), nc.Flush()); err != nil {
			t.Fatal(err)
		}
		if err := nc.LastError(); err != nil { // the server has answered
			t.Errorf("refused %v", err)
		}
	})
	t.Run("system", func(t *testing.T) {
		nc, _ := connect(t, c, filepath.Join(c.dir, "system.creds"))
		if _, err := nc.Request("$SYS.REQ.SERVER.PING", nil, patience); err != nil {
			t.Error(err)
		}
		o := bus.Options{URL: c.url, Creds: filepath.Join(c.dir, "system.creds"), TLSCA: c.ca()}
		answers, err := bus.ServerFigures(t.Context(), o, len(c.servers))
		if err != nil || len(answers) != len(c.servers) || !bytes.Contains(answers[0], []byte(`"sync_always":true`)) {
			t.Errorf("found %d answers, %v, the first %.200q, expected one of each server with its settings", len(answers), err, slices.Concat(answers...))
		}
		o.Creds = filepath.Join(c.dir, "operator.creds") // of another account
		if answers, err := bus.ServerFigures(t.Context(), o, len(c.servers)); len(answers) != 0 {
			t.Errorf("a user of another account: found %d answers, %v, expected none", len(answers), err)
		}
	})
	t.Run("strangers", func(t *testing.T) {
		elsewhere := t.TempDir()
		write(t, elsewhere, c.plan, Options{})
		for what, o := range map[string][]nats.Option{
			"nobody":                  {nats.RootCAs(c.ca())},
			"user of another cluster": {nats.RootCAs(c.ca()), nats.UserCredentials(filepath.Join(elsewhere, "operator.creds"))},
			"who trusts another":      {nats.RootCAs(filepath.Join(elsewhere, "ca.pem")), nats.UserCredentials(filepath.Join(c.dir, "operator.creds"))},
		} {
			if nc, err := nats.Connect(c.url, append(o, nats.Timeout(10*time.Second))...); err == nil {
				nc.Close()
				t.Errorf("%s was let in", what)
			}
		}
	})
	t.Run("figures of the stream", func(t *testing.T) {
		conn, err := bus.Open(t.Context(), bus.Options{URL: c.url, Creds: c.creds("trainer", "t1"), TLSCA: c.ca(), Patience: patience})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		b, err := conn.Join(t.Context(), c.plan.ID, bus.JoinOptions{Replicas: 3})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Stats(t.Context()); !errors.Is(err, bus.ErrDenied) || errors.Is(err, bus.ErrUnavailable) || !strings.Contains(err.Error(), "operator.creds") {
			t.Errorf("a trainer: found %v, expected ErrDenied and what to do", err)
		}
	})
	t.Run("new certificate", func(t *testing.T) {
		serial := func() string {
			nc, _ := connect(t, c, filepath.Join(c.dir, "operator.creds"))
			state, err := nc.TLSConnectionState()
			if err != nil {
				t.Fatal(err)
			}
			return state.PeerCertificates[0].SerialNumber.String()
		}
		before := serial()
		write(t, c.dir, c.plan, Options{RenewTLS: true})
		for i, s := range c.servers {
			c.configure(t, i) // the written configuration comes with the certificate
			if err := s.Reload(); err != nil {
				t.Fatal(err)
			}
		}
		if serial() == before {
			t.Error("the servers show the former certificate")
		}
	})
}
