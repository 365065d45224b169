package bus

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/crazyhouse-rl/selfplay/nets"
)

// clusterURL waits until servers take connections, and returns their addresses.
func clusterURL(t *testing.T, servers []*server.Server) string {
	t.Helper()
	var urls []string
	for _, s := range servers {
		if !s.ReadyForConnections(serverStartWait) {
			t.Fatal("server is not ready")
		}
		urls = append(urls, "nats://"+s.Addr().String())
	}
	return strings.Join(urls, ",")
}

// startCluster starts servers that know each other, and returns them.
func startCluster(t *testing.T, n int) []*server.Server {
	t.Helper()
	ports := make([]int, n)
	routes := make([]string, n)
	for i := range n {
		_, port, err := net.SplitHostPort(freeAddr(t))
		if err != nil {
			t.Fatal(err)
		}
		if ports[i], err = strconv.Atoi(port); err != nil {
			t.Fatal(err)
		}
		routes[i] = "nats://127.0.0.1:" + port
	}
	servers := make([]*server.Server, n)
	for i := range n {
		s, err := server.NewServer(&server.Options{
			ServerName: "node-" + strconv.Itoa(i), Host: "127.0.0.1", Port: server.RANDOM_PORT,
			NoSigs: true, NoLog: true,
			JetStream: true, StoreDir: t.TempDir(), SyncAlways: true, JetStreamMaxStore: 1 << 40, JetStreamMaxMemory: 1 << 30,
			Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[i]},
			Routes:  server.RoutesFromStr(strings.Join(routes, ",")),
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() {
			s.Shutdown()
			s.WaitForShutdown()
		})
		servers[i] = s
	}
	return servers
}

// A run with three copies of everything goes on when one of three servers is lost:
// the one that it is connected to.
func TestClusterLosesAServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute) // elections take their time
	defer cancel()
	servers := startCluster(t, 3)
	var log lines
	c := openConn(t, Options{URL: clusterURL(t, servers), Log: log.logger()}) // waits for the cluster's leader
	if err := c.CreateRun(ctx, testRun("name", "test")); err != nil {
		t.Fatal(err)
	}
	o := JoinOptions{Replicas: 3, MaxBytes: 1 << 20, LeaseTTL: 3 * time.Second}
	b := joinRun(t, c, "test", o)
	for stream := range map[string]bool{registryName: true, "test-ctl": true, "test-roles": true} {
		copies(t, c, "KV_"+stream)
	}
	for _, stream := range []string{"test-games", "test-rejects", "OBJ_test-nets"} {
		copies(t, c, stream)
	}
	l := lease(t, b, "one")
	if err := l.Touch(ctx, "best"); err != nil {
		t.Fatal(err)
	}
	var sequence uint64
	for i := range 10 {
		sequence = publish(t, b, i).Sequence
	}

	again := c.again.wait()
	lost := slices.IndexFunc(servers, func(s *server.Server) bool { return s.ID() == c.nc.ConnectedServerId() })
	servers[lost].Shutdown()
	select {
	case <-again:
	case <-ctx.Done():
		t.Fatalf("not connected again:\n%s", log.String())
	}
	// Until there are new leaders, requests fail; what was published is not
	// stored again.
	retry := func(what string, f func() error) {
		t.Helper()
		for {
			err := f()
			if err == nil {
				return
			}
			if ctx.Err() != nil || errors.Is(err, ErrFenced) || errors.Is(err, ErrConflict) {
				t.Fatalf("%s: %v\n%s", what, err, log.String())
			}
		}
	}
	for i := range 20 {
		retry("publish", func() error {
			r, err := b.PublishGames(ctx, "actor-1", gameID(i), [][]byte{gameData(i)})
			if err == nil && i < 10 && !r.Duplicate {
				t.Errorf("game %d was stored twice", i)
			}
			sequence = max(sequence, r.Sequence)
			return err
		})
	}
	if sequence != 20 {
		t.Errorf("20 games have sequences up to %d", sequence)
	}
	retry("registry", func() error {
		r, err := c.FindRun(ctx, "name")
		if err == nil && r.ID != "test" {
			t.Errorf("registry: %+v", r)
		}
		return err
	})
	fence := l.Fence()
	var rev uint64
	retry("pointer under the lease", func() (err error) {
		rev, err = l.SetPointer(ctx, "best", "net", rev)
		if errors.Is(err, ErrConflict) { // an answer was lost, and the write was not
			var p Pointer
			if p, err = b.Pointer(ctx, "best"); err == nil && p.Value != "net" {
				t.Errorf("pointer %+v", p)
			}
		}
		return err
	})
	if l.Fence() != fence {
		t.Error("the lease changed hands")
	}
	var second *Bus
	retry("join", func() (err error) {
		second, err = c.Join(ctx, "test", JoinOptions{})
		return err
	})
	if s := stats(t, second); s.Messages != 20 || s.MaxBytes != o.MaxBytes {
		t.Errorf("joined with two of three servers: %+v", s)
	}
	copies(t, c, "test-games") // joining without a wish changed nothing
	got := 0
	for got < 20 {
		retry("games", func() error {
			batch, err := b.Games(ctx, 20, time.Second)
			if err != nil || len(batch.Msgs) == 0 {
				return err
			}
			got += batch.Games()
			return b.AckGames(ctx, batch.Msgs[len(batch.Msgs)-1])
		})
	}
	if got != 20 {
		t.Errorf("20 games came as %d", got)
	}
}

// copies fails unless a stream has three.
func copies(t *testing.T, c *Conn, stream string) {
	t.Helper()
	s, err := c.js.Stream(testContext(t), stream)
	if err != nil {
		t.Fatalf("%s: %v", stream, err)
	}
	if n := s.CachedInfo().Config.Replicas; n != 3 {
		t.Errorf("%s has %d copies", stream, n)
	}
}

// A server alone cannot hold three copies, and says so.
func TestThreeCopiesNeedACluster(t *testing.T) {
	_, err := openConn(t, Options{}).Join(testContext(t), "test", JoinOptions{Replicas: 3})
	var api *jetstream.APIError
	if !errors.As(err, &api) || !strings.Contains(err.Error(), "replicas") {
		t.Errorf("got %v, want the server's refusal", err)
	}
}

// What a cluster answers while its servers have not met yet can be tried again, and so can
// what was answered with an answer that cannot be read. That a record cannot be read is final;
// that there is no place for copies is so after a while.
func TestUnavailableErrors(t *testing.T) {
	noPeers := func(why string) error {
		return &jetstream.APIError{Code: 400, ErrorCode: codeNoPeers, Description: "no suitable peers for placement" + why}
	}
	_, record := parseRun([]byte("{"))
	_, manifest := nets.ParseManifest([]byte("{"))
	var answer struct{ N int }
	for _, tc := range []struct {
		err  error
		want error // nil: neither
	}{
		{nats.ErrNoResponders, ErrUnavailable},
		{noPeers(", peer offline"), ErrUnavailable},
		{noPeers(""), ErrNoPlace},
		{noPeers(", insufficient storage"), ErrNoPlace},
		{jetstream.ErrObjectNotFound, nil},
		{json.Unmarshal([]byte("{\x03}"), &answer), ErrUnavailable},
		{json.Unmarshal([]byte(`{"N":"3"}`), &answer), ErrUnavailable},
		{jetstream.ErrInvalidJSAck, ErrUnavailable},
		{jetstream.ErrBadObjectMeta, ErrUnavailable},
		{record, nil},
		{manifest, nil},
	} {
		got := mapUnavailable(tc.err)
		for _, kind := range []error{ErrUnavailable, ErrNoPlace} {
			if is := errors.Is(got, kind); is != (kind == tc.want) {
				t.Errorf("%v: found %v, expected that it wraps %v", tc.err, got, tc.want)
			}
		}
	}
}
