package player

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/internal/memory"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/search/strength"
	"github.com/crazyhouse-rl/selfplay/uci"
	"github.com/crazyhouse-rl/selfplay/xboard"
)

// Player plays games until it is closed.
type Player interface {
	game.Player
	io.Closer
}

// Own is a player by a search of this program.
type Own interface {
	Player
	// Clear forgets what was searched and gives the memory back.
	Clear()
	// Resize bounds the table or tree by another number of MiB, and clears it.
	Resize(mb int)
	// Ponderhit tells a search that ponders that the expected move was played.
	Ponderhit()
	// Report has f called with what a search finds, from its goroutine; nil ends
	// that. No search may be running.
	Report(f func(search.Info))
}

type abPlayer struct{ *ab.Engine }

func (p abPlayer) Close() error               { return nil }
func (p abPlayer) Report(f func(search.Info)) { p.OnInfo = f }

type treePlayer struct {
	*mcts.Engine
	evaluators []TreeEvaluator // of each thread
}

func (p treePlayer) Report(f func(search.Info)) { p.OnInfo = f }

// Close releases the net.
func (p treePlayer) Close() error {
	var errs []error
	for _, e := range p.evaluators {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}

// Open returns a player by one of this program's searches with a net that has been
// read. Resources left at 0 are hashMB and one thread.
func (s *Spec) Open(n *Net, hashMB int) (Own, error) {
	p, err := s.openFull(n, hashMB)
	if err != nil || s.Elo == nil {
		return p, err
	}
	return Weaken(p, strength.ForElo(*s.Elo), s.Seed), nil
}

// openFull is Open at full strength.
func (s *Spec) openFull(n *Net, hashMB int) (Own, error) {
	r := s.resources(hashMB)
	if s.Search != TreeSearch {
		return abPlayer{ab.New(n.Evaluator, ab.Options{HashMB: r.HashMB, Threads: r.Threads, Params: s.Params})}, nil
	}
	var p treePlayer
	all := make([]mcts.Evaluator, r.Threads)
	for i := range all {
		e, err := n.OpenPlanes(s.Runtime, 1)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.evaluators, all[i] = append(p.evaluators, e), e
	}
	o := s.Tree
	o.MemoryMB = r.HashMB
	var err error
	if p.Engine, err = mcts.New(all[0], o, all[1:]...); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (s *Spec) resources(hashMB int) Resources {
	r := s.Resources
	if r.HashMB == 0 {
		r.HashMB = hashMB
	}
	r.Threads = max(r.Threads, 1)
	return r
}

// TableMB returns the size of the table, or tree, of one player, MiB; 0 for a foreign engine.
func (m *Maker) TableMB() int {
	if m.Spec.Search.Foreign() {
		return 0
	}
	return m.Spec.resources(m.hashMB).HashMB
}

// Maker opens players that are all alike.
type Maker struct {
	Spec   Spec
	Name   string        // for results
	Net    string        // id of its net; of a foreign engine its command, directory and options
	Origin string        // which net of a directory plays; else empty
	Limits search.Limits // of every search
	// Settings says in words what else decides the player's moves.
	Settings string
	Threads  int // of a search; 0: not known
	// Fresh says that a player must be opened for every pair of games, as it may
	// not forget all between games and limits would let them be repeated.
	Fresh bool

	net    *Net
	hashMB int
	engine engine.Config
	ctx    context.Context // of the start of engines
}

// hashRange bounds the table of a search, or its tree: the range of the option hash.
const hashRange = 65536

// MaxHashMB returns the size of the largest table, or tree, that a search may have on this
// machine, MiB: a larger one than the memory would end the program.
func MaxHashMB() int {
	if total := memory.Total() >> 20; total > 0 {
		return int(min(total, hashRange))
	}
	return hashRange
}

// Defaults are for players that say nothing themselves.
type Defaults struct {
	Limits search.Limits
	HashMB int
}

// Load reads what the player needs for a variant, so that nothing but an engine's
// start can fail later. ctx bounds the start of engines that it opens, not their lives.
func (s Spec) Load(ctx context.Context, v *chess.Variant, d Defaults) (*Maker, error) {
	m := &Maker{Spec: s, Limits: d.Limits, hashMB: d.HashMB, ctx: ctx}
	if s.HasLimits() {
		m.Limits = s.Limits
	}
	if hash := s.resources(d.HashMB).HashMB; !s.Search.Foreign() && (hash < 0 || hash > MaxHashMB()) {
		return nil, fmt.Errorf("%w: found a table of %d MiB, expected 0 to %d on this machine", ErrUsage, hash, MaxHashMB())
	}
	if s.Search.Foreign() {
		m.loadEngine(v)
	} else if err := m.loadOwn(v); err != nil {
		return nil, err
	}
	if s.Name != "" {
		m.Name = s.Name
	}
	return m, nil
}

// loadOwn reads the net of a player of this program.
func (m *Maker) loadOwn(v *chess.Variant) error {
	s := &m.Spec
	if s.Search != AlphaBeta && s.Search != TreeSearch { // which would play by AlphaBeta, whatever the net is
		return fmt.Errorf("%w: player of net %q: found search %q, expected %s or %s", ErrUsage, s.Net, s.Search, AlphaBeta, TreeSearch)
	}
	n, err := ReadNet(s.Net, v)
	switch {
	case err != nil:
		return err
	case s.Search == TreeSearch && (n.NNUE != nil || n.Planes == nil && s.Net != Uniform):
		return fmt.Errorf("%w: player %q: tree search needs a plane net or %q", ErrUsage, s, Uniform)
	case s.Search == AlphaBeta && (n.Planes != nil || s.Net == Uniform):
		return fmt.Errorf("%w: player %q: alpha-beta search needs an NNUE net or %q", ErrUsage, s, Material)
	}
	m.use(n)
	// What the runtime cannot compute is an error now, not in a game.
	if n.Planes == nil {
		return nil
	}
	p, err := m.Open()
	if err != nil {
		return err
	}
	return p.Close()
}

// use has the players play with a net that was read.
func (m *Maker) use(n *Net) {
	r := m.Spec.resources(m.hashMB)
	m.net, m.Name, m.Net, m.Origin, m.Threads = n, n.Name, n.ID, n.Origin, r.Threads
	if m.Spec.Search == TreeSearch {
		m.Settings = m.Spec.treeSettings(r)
	} else {
		m.Settings = fmt.Sprintf("hash %d MiB", r.HashMB)
		if r.Threads > 1 {
			m.Settings += fmt.Sprintf(", %d threads", r.Threads)
		}
	}
	if m.Spec.Elo != nil {
		m.Settings += fmt.Sprintf(", elo %d, seed %d", *m.Spec.Elo, m.Spec.Seed)
	}
	for _, key := range slices.Sorted(maps.Keys(m.Spec.Params)) {
		m.Settings += ", " + key + " " + m.Spec.Params[key]
	}
}

// With returns a Maker of the player with a net that has been read, in place of
// the one that s names.
func (s Spec) With(n *Net, d Defaults) *Maker {
	m := &Maker{Spec: s, Limits: d.Limits, hashMB: d.HashMB}
	m.use(n)
	return m
}

// Tuned returns a Maker of the same player, of an AlphaBeta search, with other values of
// some parameters, by the keys of ab.Params. The values must be in range.
func (m *Maker) Tuned(params map[string]string) *Maker {
	tuned := *m
	tuned.Spec.Params = map[string]string{}
	maps.Copy(tuned.Spec.Params, m.Spec.Params)
	maps.Copy(tuned.Spec.Params, params)
	tuned.use(m.net)
	tuned.Name = m.Name
	return &tuned
}

// treeSettings describes a TreeSearch. The first six settings are always there.
func (s *Spec) treeSettings(r Resources) string {
	o := &s.Tree
	text := fmt.Sprintf("mcts, hash %d MiB, batch %d, cpuct %v, fpu %v, probe %d, gumbel %d", r.HashMB, o.Batch, o.CPuct, o.FPU, o.MateProbe, o.Gumbel.Actions)
	always := []string{"hash", "threads", "batch", "cpuct", "fpu", "mate_probe", "gumbel"}
	for _, o := range s.changed() {
		if !slices.Contains(always, o.Key) {
			text += ", " + o.Key + " " + o.String()
		}
	}
	if r.Threads > 1 {
		text += fmt.Sprintf(", %d threads", r.Threads)
	}
	if s.Runtime.Name != "" && s.Runtime.Name != runtimes.Native {
		text += ", runtime " + s.Runtime.Name
	}
	return text
}

// loadEngine prepares a foreign engine. Its id is its command with the directory, in which
// a relative one is looked for, and the options, as there is no telling which program or
// net that is.
func (m *Maker) loadEngine(v *chess.Variant) {
	s := &m.Spec
	m.engine = engine.Config{
		Command: s.Command[0], Args: s.Command[1:], Dir: s.Dir, Variant: v, Options: s.Options,
		StartTimeout: s.Timeout, ReadyTimeout: s.Timeout, SearchTimeout: s.Timeout, MoveMargin: s.Margin,
	}
	words := []string{strings.Join(s.Command, " ")}
	if s.Dir != "" {
		words = append(words, "dir="+s.Dir)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		words = append(words, name+"="+s.Options[name])
		if n, err := strconv.Atoi(s.Options[name]); err == nil && (strings.EqualFold(name, "Threads") || s.Search == XBoard && strings.EqualFold(name, "cores")) {
			m.Threads = n
		}
		if s.Search == Engine && strings.EqualFold(name, "UCI_Chess960") { // the client has to know it too
			m.engine.Chess960 = strings.EqualFold(s.Options[name], "true")
		}
	}
	m.Name, m.Settings = filepath.Base(s.Command[0]), strings.Join(words, ",")
	m.Net = string(s.Search) + ":" + m.Settings
	// Not every engine forgets all at a new game. Where limits let games be
	// repeated, that must not stand in the way.
	m.Fresh = m.Limits.MoveTime == 0 && !m.Limits.Clock(chess.White)
}

// Open returns a player. It may be called from many goroutines.
func (m *Maker) Open() (Player, error) {
	switch m.Spec.Search {
	case Engine:
		return m.openUCI()
	case XBoard:
		return m.openXBoard()
	}
	return m.Spec.Open(m.net, m.hashMB)
}

// openUCI starts an engine.
func (m *Maker) openUCI() (Player, error) {
	c, err := uci.Start(m.ctx, m.engine)
	if err != nil {
		return nil, err // and not a Player that holds a nil client
	}
	return c, nil
}

// openXBoard starts an engine and asks it whether it can be limited as the player is.
func (m *Maker) openXBoard() (Player, error) {
	c, err := xboard.Start(m.ctx, m.engine)
	if err != nil {
		return nil, err
	}
	if err := c.Accepts(&m.Limits); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// New is Open for users that close what is an io.Closer.
func (m *Maker) New() (game.Player, error) { return m.Open() }
