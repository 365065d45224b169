package dash

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
)

const (
	mostStreams  = 32               // server-sent events, at the same time
	slowClient   = 10 * time.Second // in which a client takes an event, or is dropped
	aliveEvery   = 15 * time.Second // something is sent to find clients that have gone
	mostHeaders  = 16 << 10
	readWithin   = 10 * time.Second
	idleWithin   = 2 * time.Minute
	closeWithin  = time.Second
	assetsMaxAge = "public, max-age=31536000, immutable" // their names have a hash of their content
)

//go:embed all:web/dist
var built embed.FS

// Server serves the page of a run.
type Server struct {
	watch    *Watch
	slow     time.Duration
	streams  atomic.Int64
	searches *searches

	changing sync.Mutex // of the net that the run plays with
	finding  sync.Mutex // a stored game by its id
}

// NewServer returns the server of a watch's page.
func NewServer(w *Watch) *Server {
	return &Server{watch: w, slow: slowClient, searches: newSearches(w.cfg.Status != nil)}
}

// Handler answers the requests of browsers. Name is a host name, beside localhost and
// addresses, by which they may ask; empty: none.
func (s *Server) Handler(name string) http.Handler {
	files, err := fs.Sub(built, "web/dist")
	if err != nil {
		panic(fmt.Sprintf("dash: the page is part of the program: %v", err))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/state", s.state)
	mux.HandleFunc("GET /api/stream", s.stream)
	mux.HandleFunc("GET /api/learning", s.learning)
	mux.HandleFunc("GET /api/games", s.games)
	mux.HandleFunc("GET /api/games/{id}", s.game)
	mux.HandleFunc("GET /api/stored", s.stored)
	mux.HandleFunc("GET /api/nets", s.nets)
	mux.HandleFunc("GET /api/actors", s.actors)
	mux.HandleFunc("GET /api/opponent", s.opponent)
	mux.HandleFunc("GET /api/boards", s.boards)
	mux.HandleFunc("GET /api/neurons/{neuron}", s.neuron)
	mux.HandleFunc("GET /api/comparison", s.comparison)
	mux.HandleFunc("POST "+controlPath+"promote", s.change(promote))
	mux.HandleFunc("POST "+controlPath+"rollback", s.change(rollback))
	mux.HandleFunc("POST "+askPath+"position", s.position)
	mux.HandleFunc("POST "+askPath+"move", s.move)
	mux.HandleFunc("POST "+askPath+"text", s.text)
	mux.HandleFunc("POST "+askPath+"analysis", s.analysis)
	mux.HandleFunc("POST "+askPath+"inputs", s.inputs)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "there is nothing here") })
	pages := http.FileServerFS(files)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		if strings.HasPrefix(r.URL.Path, "/assets/") {
			w.Header().Set("Cache-Control", assetsMaxAge)
		}
		pages.ServeHTTP(w, r)
	})
	return guard(name, mux)
}

// Serve answers the browsers of a listener until ctx ends, and then its watch ends too.
func (s *Server) Serve(ctx context.Context, l net.Listener, name string) error {
	defer s.watch.close()
	server := &http.Server{
		Handler:           s.Handler(name),
		ReadHeaderTimeout: readWithin,
		ReadTimeout:       readWithin,
		IdleTimeout:       idleWithin,
		MaxHeaderBytes:    mostHeaders,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("page: %w", err)
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	if err := server.Shutdown(closing); err != nil {
		err = server.Close()
		if err != nil && !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("page: %w", err)
		}
	}
	return nil
}

// encode is JSON of a value of this package.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("dash: %T is always JSON: %v", v, err))
	}
	return data
}

func answer(w http.ResponseWriter, data []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(data) // a client that has gone needs no answer
}

// Failure is what went wrong with a request.
type Failure struct {
	Error string `json:"error"`
}

func refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(encode(Failure{text}))
}

func (s *Server) stateNow() (data []byte) {
	s.watch.look(func(time.Time) { data = s.watch.stateAs })
	return data
}

func (s *Server) state(w http.ResponseWriter, _ *http.Request) { answer(w, s.stateNow()) }

func (s *Server) learning(w http.ResponseWriter, _ *http.Request) {
	var l Learning
	s.watch.look(func(time.Time) { l = s.watch.learning() })
	answer(w, encode(l))
}

func (s *Server) games(w http.ResponseWriter, _ *http.Request) {
	var g Games
	s.watch.look(func(time.Time) { g = s.watch.games() })
	answer(w, encode(g))
}

func (s *Server) game(w http.ResponseWriter, r *http.Request) {
	var record []byte
	var generation generations
	var search string
	s.watch.look(func(time.Time) {
		record = s.watch.record(r.PathValue("id"))
		generation, search = s.watch.generations(), s.watch.settings.Actor.Search
	})
	if record == nil {
		if record = s.find(w, r); record == nil {
			return
		}
	}
	g, err := replayed(record, generation, search)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the game cannot be replayed: "+err.Error())
		return
	}
	answer(w, encode(g))
}

func (s *Server) nets(w http.ResponseWriter, _ *http.Request) {
	var n Nets
	var err error
	var o opponent
	var v *chess.Variant
	s.watch.look(func(time.Time) { n, err = s.watch.netList(); o, v = s.watch.opponent(), s.watch.variant() })
	if o.id != "" {
		if net, failed := s.searches.read(o, v); failed == nil && net.NNUE != nil {
			n.Width = net.NNUE.Architecture().Width
		}
	}
	if err != nil && len(n.List) == 0 {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	answer(w, encode(n))
}

func (s *Server) actors(w http.ResponseWriter, _ *http.Request) {
	var a Actors
	s.watch.look(func(now time.Time) { a = s.watch.actors(now) })
	answer(w, encode(a))
}

func (s *Server) comparison(w http.ResponseWriter, _ *http.Request) {
	var c Comparison
	s.watch.look(func(now time.Time) {
		if s.watch.compared != nil {
			c = s.watch.compared.view(now)
		}
	})
	if c.Time.IsZero() {
		refuse(w, http.StatusNotFound, "this is a run, not a comparison")
		return
	}
	answer(w, encode(c))
}

// stream sends the state whenever it has changed. A client that does not take it in time
// is dropped; it may come again.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	if s.streams.Add(1) > mostStreams {
		s.streams.Add(-1)
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d browsers watch already", mostStreams))
		return
	}
	defer s.streams.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	c := http.NewResponseController(w)
	send := func(text string) bool {
		_ = c.SetWriteDeadline(time.Now().Add(s.slow)) // see guard
		_, err := w.Write([]byte(text))
		return err == nil && c.Flush() == nil
	}
	tick := time.NewTicker(s.watch.cfg.refresh)
	defer tick.Stop()
	sent, at := "", time.Now()
	for {
		if now := string(s.stateNow()); now != sent {
			if !send("event: state\ndata: " + now + "\n\n") {
				return
			}
			sent, at = now, time.Now()
		} else if time.Since(at) > aliveEvery {
			if !send(": alive\n\n") {
				return
			}
			at = time.Now()
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}
