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
	now    map[int]*seenGame // by worker
}

// seenGame is a game as its worker saw it last. The worker only copies: words are made for
// who looks, not at every ply.
type seenGame struct {
	id            game.ID
	nets          [2]string
	plies         int
	before, after chess.Position // the newest ply
	move          chess.Move
	score         search.Score
	line          [boardLine]chess.Move // as the search said it
	length        int                   // of line
}

// watcher is what a worker calls after every ply of the game with an id.
func (b *boards) watcher(id game.ID, nets [2]string) func(*chess.Line, game.Ply, []chess.Move) {
	return func(line *chess.Line, ply game.Ply, pv []chess.Move) {
		if time.Now().Unix()-b.looked.Load() > int64(boardsWatched/time.Second) {
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		at := b.now[id.Worker]
		if at == nil {
			if b.now == nil {
				b.now = map[int]*seenGame{}
			}
			at = &seenGame{}
			b.now[id.Worker] = at
		}
		at.id, at.nets, at.plies, at.move, at.score = id, nets, line.Len(), ply.Move, ply.Score
		at.before, at.after = *line.At(line.Len() - 1), *line.Pos()
		at.length = copy(at.line[:], pv[min(1, len(pv)):])
	}
}

// board says a game in words.
func (s *seenGame) board() LiveBoard {
	at := LiveBoard{
		Worker: s.id.Worker, Game: s.id.String(), Nets: s.nets, Plies: s.plies, FEN: s.after.FEN(), Check: s.after.InCheck(),
		UCI: s.before.UCI(s.move), SAN: s.before.SAN(s.move), Mover: s.before.SideToMove(), Score: s.score,
	}
	next := s.after
	for _, m := range s.line[:s.length] {
		if !next.IsLegal(m) {
			break
		}
		at.Line = append(at.Line, next.SAN(m))
		next.Make(m)
	}
	return at
}

// look returns the games under way, by worker, and has actors keep them for a while.
func (b *boards) look() []LiveBoard {
	b.looked.Store(time.Now().Unix())
	b.mu.Lock()
	seen := make([]seenGame, 0, len(b.now))
	for _, at := range b.now {
		seen = append(seen, *at)
	}
	b.mu.Unlock() // before words are made: workers wait for the lock
	list := make([]LiveBoard, len(seen))
	for i := range seen {
		list[i] = seen[i].board()
	}
	slices.SortFunc(list, func(x, y LiveBoard) int { return cmp.Compare(x.Worker, y.Worker) })
	return list
}

// Boards returns the games that this process plays, each as it stood after its newest
// search. The first call after a while finds old ones or none: boards are kept only while
// somebody looks.
func (r *Run) Boards() []LiveBoard { return r.boards.look() }
