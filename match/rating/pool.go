package rating

import (
	"errors"
	"fmt"
	"math"
)

// Errors of a rating pool.
var (
	// ErrPool is wrapped by every error about the games or settings of a pool.
	ErrPool = errors.New("rating: bad pool")
	// ErrUnconnected says that results leave ratings of some players without
	// a finite value; the error is an [UnconnectedError].
	ErrUnconnected = errors.New("rating: results do not connect all players")
	// ErrWhiteAdvantage says that results give White's advantage no finite
	// value, or cannot tell it from strength.
	ErrWhiteAdvantage = errors.New("rating: White's advantage cannot be fitted")
)

// maxPlayers bounds a pool: a fit takes time with the cube of the players.
const maxPlayers = 2000

// PoolGame is a game of a pool.
type PoolGame struct {
	White, Black string  // names, not equal
	Result       Outcome // for White
	Seconds      float64 // it took; 0 if that is not known
}

// A Pool holds games among any number of players, in blocks. A block is one
// game, or the games from one opening whose results hang together, as a rule
// the two of a pair; see [Pool.Resample]. The zero Pool is empty and ready.
type Pool struct {
	names   []string
	players map[string]int
	records []record // by player

	edges   []edge
	edgeOf  map[edge]int
	spent   []spent  // by edge
	results []result // of all games, block by block
	ends    []int    // of each block in results
}

// edge is a meeting of two players with given colours; players are indices.
type edge struct{ white, black int }

// spent is how long games with a known time took.
type spent struct {
	games   int
	seconds float64
}

// result is a game's: the index of its edge, and the outcome for White.
type result struct {
	edge    int32
	outcome uint8
}

// record is what one player did.
type record struct {
	games Trinomial
	pairs Pentanomial
}

// Add adds a block of games to the pool, with players it has not met before.
// An error wraps [ErrPool] and leaves the pool as it was.
func (p *Pool) Add(block ...PoolGame) error {
	for _, g := range block {
		switch {
		case g.White == g.Black:
			return fmt.Errorf("%w: %.80q plays itself, expected two players", ErrPool, g.White)
		case g.Result != Loss && g.Result != Draw && g.Result != Win:
			return fmt.Errorf("%w: outcome %d, expected Loss, Draw or Win", ErrPool, g.Result)
		case !(g.Seconds >= 0) || math.IsInf(g.Seconds, 1):
			return fmt.Errorf("%w: a game of %g seconds, expected 0 or more", ErrPool, g.Seconds)
		}
	}
	if len(p.names)+2*len(block) > maxPlayers {
		if n := p.newcomers(block); len(p.names)+n > maxPlayers {
			return fmt.Errorf("%w: more than %d players", ErrPool, maxPlayers)
		}
	}
	for _, g := range block {
		e := edge{p.player(g.White), p.player(g.Black)}
		i := indexOf(&p.edgeOf, &p.edges, e)
		p.results = append(p.results, result{int32(i), uint8(g.Result)})
		if i == len(p.spent) {
			p.spent = append(p.spent, spent{})
		}
		if g.Seconds > 0 {
			p.spent[i].games++
			p.spent[i].seconds += g.Seconds
		}
		p.records[e.white].games[g.Result]++
		p.records[e.black].games[Win-g.Result]++
	}
	if len(block) > 0 {
		p.ends = append(p.ends, len(p.results))
	}
	p.countPair(block)
	return nil
}

// newcomers counts the players of a block that the pool does not have.
func (p *Pool) newcomers(block []PoolGame) int {
	names := make(map[string]bool)
	for _, g := range block {
		names[g.White], names[g.Black] = true, true
	}
	for name := range names {
		if _, known := p.players[name]; known {
			delete(names, name)
		}
	}
	return len(names)
}

// player returns the index of a player, given now if the name is new.
func (p *Pool) player(name string) int {
	i := indexOf(&p.players, &p.names, name)
	if i == len(p.records) {
		p.records = append(p.records, record{})
	}
	return i
}

// indexOf returns the index of key in list, to whose end it goes if it is new.
// The map has the indices of all of list.
func indexOf[K comparable](indices *map[K]int, list *[]K, key K) int {
	i, known := (*indices)[key]
	if !known {
		if *indices == nil {
			*indices = make(map[K]int)
		}
		i = len(*list)
		(*indices)[key] = i
		*list = append(*list, key)
	}
	return i
}

// countPair counts a block that is a pair of games with colours swapped.
func (p *Pool) countPair(block []PoolGame) {
	if len(block) != 2 || block[0].White != block[1].Black || block[0].Black != block[1].White {
		return
	}
	first, second := p.players[block[0].White], p.players[block[0].Black]
	p.records[first].pairs.Add(block[0].Result, Win-block[1].Result)
	p.records[second].pairs.Add(Win-block[0].Result, block[1].Result)
}

// Players returns the names of all players; elsewhere a player is an index
// into it. The order is that of their first games.
func (p *Pool) Players() []string { return append([]string(nil), p.names...) }

// Player returns the index of a player, and false if the pool has none of that
// name.
func (p *Pool) Player(name string) (int, bool) {
	i, ok := p.players[name]
	return i, ok
}

// Record returns the results of one player: those of all games, and those of
// the blocks that were pairs of games with colours swapped.
func (p *Pool) Record(player int) (Trinomial, Pentanomial) {
	r := p.records[player]
	return r.games, r.pairs
}

// tallies counts the outcomes of every edge, by index of the edge.
func (p *Pool) tallies() []Trinomial {
	t := make([]Trinomial, len(p.edges))
	for _, r := range p.results {
		t[r.edge][r.outcome]++
	}
	return t
}
