package dash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Bounds of the searches that the page may ask for. Each has one thread.
const (
	mostNodes    = 400_000
	mostTime     = 3 * time.Second
	searchHashMB = 16
	// A server in the process of a run searches for one page at a time, so that the run
	// loses one thread at most.
	searchesInRun  = 1
	searchesBeside = 2

	fetchWithin = 15 * time.Second // for a net on servers
)

var (
	errBusy   = errors.New("the server searches for others; try again")
	errSearch = errors.New("search failed")
)

// searches are the searches that a server does for its pages.
type searches struct {
	room chan struct{} // a token for each that is under way
	most search.Limits // of each

	mu  sync.Mutex
	net *player.Net // read last; nil: none yet
}

func newSearches(inRun bool) *searches {
	n := searchesBeside
	if inRun {
		n = searchesInRun
	}
	return &searches{room: make(chan struct{}, n), most: search.Limits{Nodes: mostNodes, MoveTime: mostTime}}
}

// enter takes room for a search until the function that it returns is called.
func (s *searches) enter() (leave func(), err error) {
	select {
	case s.room <- struct{}{}:
		return func() { <-s.room }, nil
	default:
		return nil, errBusy
	}
}

// limits are those of a search of so many nodes, 0 being as many as there may be.
func (s *searches) limits(nodes uint64) search.Limits {
	lim := s.most
	if nodes > 0 {
		lim.Nodes = min(nodes, lim.Nodes)
	}
	return lim
}

// opponent is the net that a page asks, by name.
type opponent struct {
	id   string // empty: that of the program
	path string // of the file, or a word that player.ReadNet knows
	name string
	// fetch returns the file, of a net that is on servers.
	fetch func(ctx context.Context, id string) (string, error)
}

// opponent returns the net that the run plays with, or that of the program where the run
// has none yet, or does not have its file.
func (w *Watch) opponent() opponent {
	own := opponent{path: player.Builtin, name: "the built-in net"}
	if builtin.Net(w.variant()) == nil {
		own = opponent{path: player.Material, name: player.Material}
	}
	r, ok := w.current()
	if !ok || w.onServers() && w.cfg.NetFile == nil {
		return own
	}
	if w.onServers() {
		return opponent{id: r.Net, name: fmt.Sprintf("generation %d of %s", r.Generation, w.run.Name), fetch: w.cfg.NetFile}
	}
	for _, ext := range []string{".nnue", ".onnx"} {
		path := w.path("nets/" + r.Net + ext)
		if _, err := os.Stat(path); err == nil {
			return opponent{id: r.Net, path: path, name: fmt.Sprintf("generation %d of %s", r.Generation, w.run.Name)}
		}
	}
	own.name += fmt.Sprintf(" (generation %d is not on disk)", r.Generation)
	return own
}

// variant is that of the run.
func (w *Watch) variant() *chess.Variant {
	if v, err := chess.ParseVariant(w.settings.Variant); err == nil {
		return v
	}
	return chess.Crazyhouse
}

// read returns the net of an opponent, read once.
func (s *searches) read(o opponent, v *chess.Variant) (*player.Net, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.net != nil && o.id != "" && s.net.ID == o.id {
		return s.net, nil
	}
	path := o.path
	if o.fetch != nil {
		ctx, cancel := context.WithTimeout(context.Background(), fetchWithin)
		defer cancel()
		var err error
		if path, err = o.fetch(ctx, o.id); err != nil {
			return nil, fmt.Errorf("%w: %w", errSearch, err)
		}
	}
	n, err := player.ReadNet(path, v)
	if err == nil && o.id != "" && n.ID != o.id {
		err = fmt.Errorf("%w: net %s: found content with the hash %s", nets.ErrCorrupt, shortID(o.id), shortID(n.ID))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSearch, err)
	}
	s.net = n
	return n, nil
}

// begin takes room for a search by an opponent and returns its player, until the function
// that it returns as well is called.
func (s *searches) begin(o opponent, v *chess.Variant) (p player.Own, by player.Search, end func(), err error) {
	leave, err := s.enter()
	if err != nil {
		return nil, "", nil, err
	}
	n, err := s.read(o, v)
	if err == nil {
		p, by, err = open(n)
	}
	if err != nil {
		leave()
		return nil, "", nil, err
	}
	return p, by, func() { p.Close(); leave() }, nil
}

// open returns a player with a net. It is to be closed.
func open(n *player.Net) (player.Own, player.Search, error) {
	spec := player.Spec{Search: player.AlphaBeta}
	if n.Planes != nil {
		spec.Search, spec.Tree = player.TreeSearch, mcts.DefaultOptions()
	}
	p, err := spec.Open(n, searchHashMB)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", errSearch, err)
	}
	return p, spec.Search, nil
}

// find searches the last position of a line. What a search found that was broken off is
// not its answer.
func find(ctx context.Context, p player.Player, line *chess.Line, lim search.Limits) (search.Result, error) {
	res, err := p.Search(ctx, line, lim)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errSearch, err)
	}
	return res, err
}
