package selfplay

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

const (
	boardsWatched = 10 * time.Second // after somebody looked, boards are kept
	boardLine     = 6                // plies of the line expected
)

// LiveBoard is a game that an actor of this process plays.
type LiveBoard struct {
	Worker int
	Game   string    // its id
	Nets   [2]string // ids, White's first
	Plies  int
	FEN    string
	UCI    string // the newest move
	SAN    string
	Check  bool
	Mover  chess.Color  // who made it
	Score  search.Score // that its search gave it
	Line   []string     // how that search expects the game to go on, in SAN
}

// boards are the games that are being played, as far as somebody looks: an actor does
// nothing for them otherwise.
type boards struct {
	looked atomic.Int64 // when, in seconds since 1970
	mu     sync.Mutex
	now    map[int]LiveBoard // by worker
}

// watcher is what a worker calls after every ply of the game with an id.
func (b *boards) watcher(id game.ID, nets [2]string) func(*chess.Line, game.Ply, []chess.Move) {
	return func(line *chess.Line, ply game.Ply, pv []chess.Move) {
		if time.Now().Unix()-b.looked.Load() > int64(boardsWatched/time.Second) {
			return
		}
		p := line.Pos()
		at := LiveBoard{
			Worker: id.Worker, Game: id.String(), Nets: nets, Plies: line.Len(), FEN: p.FEN(), Check: p.InCheck(),
			Mover: p.SideToMove().Other(), Score: ply.Score,
		}
		before := line.At(line.Len() - 1)
		at.UCI, at.SAN = before.UCI(ply.Move), before.SAN(ply.Move)
		next := *p
		for _, m := range pv[min(1, len(pv)):min(1+boardLine, len(pv))] {
			if !next.IsLegal(m) {
				break
			}
			at.Line = append(at.Line, next.SAN(m))
			next.Make(m)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.now == nil {
			b.now = map[int]LiveBoard{}
		}
		b.now[id.Worker] = at
	}
}

// look returns the games under way, by worker, and has actors keep them for a while.
func (b *boards) look() []LiveBoard {
	b.looked.Store(time.Now().Unix())
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []LiveBoard
	for _, at := range b.now {
		list = append(list, at)
	}
	slices.SortFunc(list, func(x, y LiveBoard) int { return cmp.Compare(x.Worker, y.Worker) })
	return list
}

// Boards returns the games that this process plays, each as it stood after its newest
// search. The first call after a while finds old ones or none: boards are kept only while
// somebody looks.
func (r *Run) Boards() []LiveBoard { return r.boards.look() }
