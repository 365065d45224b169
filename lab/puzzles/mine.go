package puzzles

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrSettings says that the settings of a Miner contradict each other.
var ErrSettings = errors.New("puzzles: bad settings")

// Settings say what is a puzzle.
type Settings struct {
	// Screen are the nodes of the search that every position gets, Nodes those of the
	// searches that verify what it finds.
	Screen uint64 `json:"screen"`
	Nodes  uint64 `json:"nodes"`
	// Mate is the most moves of a mate.
	Mate int `json:"mate"`
	// Win is the least score of a winning move, Rest the most that any other move of
	// the position may have, in centipawns.
	Win  search.Score `json:"win"`
	Rest search.Score `json:"rest"`
	// PerGame is the most puzzles of a game.
	PerGame int `json:"per_game"`
}

// DefaultSettings are those of the set of this module.
func DefaultSettings() Settings {
	return Settings{Screen: 1000, Nodes: gradeNodes[len(gradeNodes)-1], Mate: 5, Win: 300, Rest: 50, PerGame: 3}
}

// mostMate bounds Settings.Mate.
const mostMate = 20

// Validate returns an error that wraps ErrSettings if s is not usable.
func (s *Settings) Validate() error {
	switch {
	case s.Screen == 0 || s.Nodes < s.Screen:
		return fmt.Errorf("%w: found %d nodes to screen and %d to verify, expected 1 or more and no fewer", ErrSettings, s.Screen, s.Nodes)
	case s.Mate < 1 || s.Mate > mostMate:
		return fmt.Errorf("%w: found mates in %d, expected 1 to %d", ErrSettings, s.Mate, mostMate)
	case s.Rest >= s.Win || s.Win <= 0 || s.Win >= search.MateScore/2:
		return fmt.Errorf("%w: found scores %d of the best move and %d of the rest, expected a win above 0 and a lower rest", ErrSettings, s.Win, s.Rest)
	case s.PerGame < 1:
		return fmt.Errorf("%w: found %d puzzles of a game, expected 1 or more", ErrSettings, s.PerGame)
	}
	return nil
}

// Miner finds puzzles in games. What it finds in a game depends on the settings, the
// player and that game alone, if the player is deterministic.
type Miner struct {
	Settings Settings
	// Player searches for the two best moves; it must know search.Limits.MultiPV.
	Player game.Player
}

const (
	// proofBudget bounds the positions of a proof.
	proofBudget = 500_000
	// provedMate is the longest mate whose length and uniqueness are proved rather
	// than searched.
	provedMate = 3
)

// Game returns the puzzles of a game, in its order. A game without plies stands for
// its start position.
func (m *Miner) Game(ctx context.Context, g *game.Game) ([]Puzzle, error) {
	var found []Puzzle
	pos := g.Start
	skip := 0
	for ply := 0; len(found) < m.Settings.PerGame; ply++ {
		if skip--; skip < 0 {
			p, ok, err := m.position(ctx, &pos, m.hindsight(g, ply))
			if err != nil {
				return nil, fmt.Errorf("game %s, ply %d: %w", g.ID, ply, err)
			}
			if ok {
				p.ID = fmt.Sprintf("%s/%d", g.ID, ply)
				found = append(found, p)
				skip = max(1, 2*p.Mate-1) // what follows is its solution
			}
		}
		if ply == len(g.Plies) {
			break
		}
		pos.Make(g.Plies[ply].Move)
	}
	return found, nil
}

// hindsight reports whether the game's searches saw a win for the side to move two
// plies later, which a shallow search may not see yet.
func (m *Miner) hindsight(g *game.Game, ply int) bool {
	if ply+2 >= len(g.Plies) {
		return false
	}
	later := g.Plies[ply+2]
	return later.HasScore && later.Score >= m.Settings.Win
}

// position returns the puzzle of a position, if it is one.
func (m *Miner) position(ctx context.Context, pos *chess.Position, likely bool) (p Puzzle, ok bool, err error) {
	var list chess.MoveList
	if pos.Legal(&list); list.N < 2 {
		return p, false, nil
	}
	for _, nodes := range []uint64{m.Settings.Screen, min(10*m.Settings.Screen, m.Settings.Nodes)} {
		best, second, err := m.two(ctx, pos, nodes)
		if err != nil {
			return p, false, err
		}
		if m.mates(best.Score) {
			p = Puzzle{Position: *pos, Best: best.PV[0], Mate: best.Score.MateIn()}
			if p.Mate > provedMate {
				break
			}
			if ok, err = proveShort(&p, p.Mate); err == nil && ok {
				ok, err = m.grade(ctx, &p)
			}
			return p, ok, ignoreBudget(err)
		}
		middle := (m.Settings.Win + m.Settings.Rest) / 2
		if second.Score > middle || best.Score < middle && !(likely && nodes == m.Settings.Screen) {
			return p, false, nil
		}
	}
	best, second, err := m.two(ctx, pos, m.Settings.Nodes)
	if err != nil {
		return p, false, err
	}
	p = Puzzle{Position: *pos, Best: best.PV[0]}
	switch s := m.Settings; {
	case m.mates(best.Score):
		p.Mate = best.Score.MateIn()
		if ok, err = prove(&p, second.Score); err != nil || !ok {
			return p, false, ignoreBudget(err)
		}
	case !best.Score.IsMate() && best.Score >= s.Win && second.Score <= s.Rest:
		p.Score = best.Score
	default:
		return p, false, nil
	}
	ok, err = m.grade(ctx, &p)
	return p, ok, err
}

// mates reports whether a score is that of a mate short enough.
func (m *Miner) mates(s search.Score) bool {
	return s.IsMate() && s > 0 && s.MateIn() <= m.Settings.Mate
}

// two returns the two best moves by a search of so many nodes. A short search may not
// come to the second, which is then worth as little as can be.
func (m *Miner) two(ctx context.Context, pos *chess.Position, nodes uint64) (best, second search.RootLine, err error) {
	r, err := m.search(ctx, pos, search.Limits{Nodes: nodes, MultiPV: 2})
	switch {
	case err != nil:
	case len(r.Lines) >= 2:
		return r.Lines[0], r.Lines[1], nil
	case nodes == m.Settings.Nodes:
		err = fmt.Errorf("found %d lines of a search of %d nodes for the two best moves, expected both; more --nodes, or another player, may give them", len(r.Lines), nodes)
	}
	return search.RootLine{Score: r.Score, PV: r.PV}, search.RootLine{Score: -search.Infinite}, err
}

// search searches a position as if nothing had been searched before.
func (m *Miner) search(ctx context.Context, pos *chess.Position, lim search.Limits) (search.Result, error) {
	return answer(ctx, m.Player, pos, lim)
}

// answer is what a player answers in a position of which it has seen nothing before.
func answer(ctx context.Context, p game.Player, pos *chess.Position, lim search.Limits) (search.Result, error) {
	if err := p.NewGame(); err != nil {
		return search.Result{}, err
	}
	r, err := p.Search(ctx, chess.NewLine(*pos), lim)
	return r, cmp.Or(err, ctx.Err()) // what a search found that was broken off is not its answer
}

// prove reports whether p, a mate that a search found, is a puzzle: its move mates,
// and no other does as fast. It corrects the number of moves if there is a shorter
// mate. The error is ErrBudget.
func prove(p *Puzzle, second search.Score) (bool, error) {
	searched, best := p.Mate, p.Best
	ok, err := proveShort(p, min(searched, provedMate))
	if ok || err != nil || p.Mate > 0 {
		return ok, err
	}
	// The search may have missed that the second move mates one move sooner.
	if second.IsMate() && second > 0 && second.MateIn() <= searched+1 {
		return false, nil
	}
	p.Mate, p.Best = searched, best
	return prover().Checks(&p.Position, best, searched)
}

// proveShort looks for the shortest mate of a position in at most n moves, and reports
// whether there is one that one move alone begins. Without any it sets the length of
// p to 0. The error is ErrBudget.
func proveShort(p *Puzzle, n int) (bool, error) {
	for p.Mate = 1; p.Mate <= n; p.Mate++ {
		mating, err := prover().Mating(&p.Position, p.Mate, 2)
		if err != nil || len(mating) > 0 {
			if len(mating) > 0 {
				p.Best = mating[0]
			}
			return len(mating) == 1, err
		}
	}
	p.Mate = 0
	return false, nil
}

func prover() *Prover { return &Prover{Budget: proofBudget} }

// ignoreBudget takes what would take too long to prove as no puzzle.
func ignoreBudget(err error) error {
	if errors.Is(err, ErrBudget) {
		return nil
	}
	return err
}

// grade finds the least of the grades' searches from which on all, and that of the
// settings' nodes, answer the puzzle's move. It reports false if the last does not.
func (m *Miner) grade(ctx context.Context, p *Puzzle) (bool, error) {
	for i := len(gradeNodes); i >= 0; i-- {
		nodes := m.Settings.Nodes
		if i < len(gradeNodes) {
			nodes = gradeNodes[i]
		}
		if nodes > m.Settings.Nodes || i < len(gradeNodes) && nodes == m.Settings.Nodes {
			continue
		}
		r, err := m.search(ctx, &p.Position, search.Limits{Nodes: nodes})
		if err != nil {
			return false, err
		}
		if r.Move != p.Best {
			break
		}
		p.Nodes, p.Depth = nodes, r.Depth
	}
	return p.Nodes > 0, nil
}
