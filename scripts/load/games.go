package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// maxSources is how many games of the run are kept to be sent again; they differ
// enough.
const maxSources = 20_000

// readSources returns games of the run in dir, and the number of their positions.
func readSources(dir string) (games []*game.Game, plies int, err error) {
	_, err = replay.VisitGames(filepath.Join(dir, "replay"), func(g *game.Game) bool {
		games = append(games, g)
		plies += len(g.Plies)
		return len(games) < maxSources
	}, nil)
	if err == nil && len(games) == 0 {
		err = errors.New("found no games")
	}
	if err != nil {
		return nil, 0, fmt.Errorf("games from %s: %w", dir, err)
	}
	return games, plies, nil
}

// sealed is a game that an actor will finish.
type sealed struct {
	id    string
	data  []byte // encoded and sealed
	plies int
}

// share is what one actor sends.
type share struct {
	name  string
	games []sealed
}

// makeShares makes games for actors beforehand, so that making them takes no time
// from what is measured: those of sources in turn, under new ids, signed by each
// actor's own key.
func makeShares(run string, actors, perActor int, sources []*game.Game) ([]share, error) {
	shares := make([]share, actors)
	var mu sync.Mutex
	var failed error
	parallel.Do(runtime.GOMAXPROCS(0), actors, func(_, i int) {
		s, err := makeShare(run, i, perActor, sources)
		if err != nil {
			mu.Lock()
			failed = err
			mu.Unlock()
		}
		shares[i] = s
	})
	return shares, failed
}

func makeShare(run string, number, n int, sources []*game.Game) (share, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return share{}, err
	}
	s := share{name: fmt.Sprintf("sim%05d", number), games: make([]sealed, n)}
	for i := range s.games {
		g := *sources[(number*n+i)%len(sources)]
		g.ID = game.ID{Run: run, Actor: s.name, Counter: uint64(i)}.String()
		record, err := game.Encode(nil, &g)
		if err != nil {
			return s, fmt.Errorf("game %s: %w", g.ID, err)
		}
		s.games[i] = sealed{id: g.ID, data: game.Seal(record, key), plies: len(g.Plies)}
	}
	return s, nil
}

// audit counts what the buffer in dir has of the games that were finished.
type audit struct {
	Stored int `json:"stored"` // different games that were finished
	Lost   int `json:"lost"`   // finished and not stored
	Twice  int `json:"twice"`  // records of games that came before
	Alien  int `json:"alien"`  // stored games that nobody finished
}

func auditBuffer(dir string, finished map[string]bool) (audit, error) {
	var a audit
	seen := make(map[string]bool, len(finished))
	var damage error
	_, err := replay.VisitGames(dir, func(g *game.Game) bool {
		switch {
		case seen[g.ID]:
			a.Twice++
		case finished[g.ID]:
			a.Stored++
		default:
			a.Alien++
		}
		seen[g.ID] = true
		return true
	}, func(d replay.Damage) { damage = fmt.Errorf("damaged: %s", d) })
	a.Lost = len(finished) - a.Stored
	return a, errors.Join(err, damage)
}
