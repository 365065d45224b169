package observe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Flag and Usage are the option of the commands that serve metrics.
const (
	Flag  = "metrics"
	Usage = "serve /metrics for Prometheus, /healthz and /readyz on host:port; a port alone is one of this machine only"
)

// ErrAddress says that an address to serve on cannot be one.
var ErrAddress = errors.New("bad address")

const (
	askWait       = 2 * time.Second // for the server's answers to one scrape
	headerWait    = 5 * time.Second
	writeWait     = 30 * time.Second
	scrapesAtOnce = 4
)

// Address returns the host:port that a text means. A port alone, with or without a
// colon, is one of this machine only: 127.0.0.1. The error wraps ErrAddress.
func Address(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil && !strings.Contains(text, ":") {
		host, port, err = "", text, nil
	}
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", fmt.Errorf("%w: found %.80q, expected a port such as 9100, or host:port", ErrAddress, text)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// Server answers over HTTP for one process. Its methods may be called from several
// goroutines. A nil *Server serves nothing.
type Server struct {
	listener net.Listener
	http     http.Server
	registry *prometheus.Registry
	done     chan struct{}

	mu  sync.RWMutex // held while run is asked, so that it is not closed meanwhile
	run *selfplay.Run
}

// Listen serves on an address as Address takes it; an empty one serves nothing and
// returns nil. Until Watch is called, the process is alive and not ready. The error
// wraps ErrAddress if the address cannot be one.
func Listen(address, build string) (*Server, error) {
	if address == "" {
		return nil, nil
	}
	address, err := Address(address)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	s := &Server{listener: listener, registry: prometheus.NewRegistry(), done: make(chan struct{})}
	s.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(build),
		&collector{observe: s.observe},
	)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesAtOnce}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	s.http = http.Server{Handler: mux, ReadHeaderTimeout: headerWait, WriteTimeout: writeWait}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(listener) // ends with Close
	}()
	return s, nil
}

// Addr is the address that s listens on, host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Watch says what to show from now on; nil: nothing, since the run is to be closed.
func (s *Server) Watch(run *selfplay.Run) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = run
}

// Close ends the server.
func (s *Server) Close() error {
	if s == nil {
		return nil
	}
	err := s.http.Close()
	<-s.done
	return err
}

// observe looks at the run; ok is false before there is one.
func (s *Server) observe(ask bool) (o selfplay.Observation, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.run == nil {
		return o, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), askWait)
	defer cancel()
	return s.run.Observe(ctx, ask), true
}

// ready answers 200 if the process can do its work, else 503 and why not.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	o, ok := s.observe(false)
	if !ok {
		o.Problems = []string{"the process has not joined its run yet, or leaves it"}
	}
	if len(o.Problems) == 0 {
		fmt.Fprintln(w, "ready")
		return
	}
	http.Error(w, strings.Join(o.Problems, "\n"), http.StatusServiceUnavailable)
}
