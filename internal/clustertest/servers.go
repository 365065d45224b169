//go:build unix

package clustertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ports of a server, on the loopback address.
type ports struct {
	Client  int `json:"client"`
	Monitor int `json:"monitor"`
	Route   int `json:"route"`
}

// server is one of a cluster of NATS servers.
type server struct {
	*Process
	ports ports
	store string // directory
}

// Ports of servers are drawn below those that systems give to outgoing connections: a
// server that is started again finds its own free.
const (
	firstPort = 20000
	lastPort  = 32000
)

// FreePorts draws ports that nobody listens on.
func FreePorts(n int) ([]int, error) {
	var free []int
	for range 1000 {
		if len(free) == n {
			return free, nil
		}
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer l.Close() // held until all are drawn
		free = append(free, port)
	}
	return nil, fmt.Errorf("found %d free ports between %d and %d, expected %d", len(free), firstPort, lastPort, n)
}

func drawPorts(servers int) ([]ports, error) {
	free, err := FreePorts(3 * servers)
	if err != nil {
		return nil, err
	}
	all := make([]ports, servers)
	for i := range all {
		all[i] = ports{free[3*i], free[3*i+1], free[3*i+2]}
	}
	return all, nil
}

// ServerConfig is the configuration of a NATS server on ports of this machine, with what it
// stores in a directory. cluster is what the block of that name says besides the cluster's
// name, empty for a server alone.
func ServerConfig(name string, client, monitor int, store, cluster string) string {
	config := fmt.Sprintf(`server_name: %s
listen: "127.0.0.1:%d"
http: "127.0.0.1:%d"
jetstream {
  store_dir: %q
  sync_interval: always
  max_memory_store: 256MB
  max_file_store: 8GB
}
`, name, client, monitor, store)
	if cluster != "" {
		config += fmt.Sprintf("cluster {\n  name: selfplay\n  %s\n}\n", cluster)
	}
	return config
}

// newServer writes the configuration of one of the servers with these ports.
func newServer(dir, program string, i int, all []ports) (*server, error) {
	s := &server{ports: all[i], store: filepath.Join(dir, fmt.Sprintf("n%d", i+1), "store")}
	name := fmt.Sprintf("n%d", i+1)
	var routes []string
	for _, p := range all {
		routes = append(routes, fmt.Sprintf("nats-route://127.0.0.1:%d", p.Route))
	}
	cluster := ""
	if len(all) > 1 {
		cluster = fmt.Sprintf("listen: \"127.0.0.1:%d\"\n  routes: [%s]", s.ports.Route, strings.Join(routes, ", "))
	}
	config := ServerConfig(name, s.ports.Client, s.ports.Monitor, s.store, cluster)
	if err := os.MkdirAll(s.store, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name, "server.conf")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		return nil, err
	}
	s.Process = &Process{Name: name, Log: filepath.Join(dir, "logs", name+".log"), path: program, args: []string{"--config", path}}
	return s, nil
}

// healthy reports whether the server says that JetStream and all its streams are up to
// date.
func (s *server) healthy(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/healthz", s.ports.Monitor), nil)
	if err != nil {
		return false
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return false
	}
	a.Body.Close()
	return a.StatusCode == http.StatusOK
}

// url returns the addresses of all servers, as --nats takes them.
func url(servers []*server) string {
	var all []string
	for _, s := range servers {
		all = append(all, fmt.Sprintf("nats://127.0.0.1:%d", s.ports.Client))
	}
	return strings.Join(all, ",")
}
