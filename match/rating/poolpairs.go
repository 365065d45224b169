package rating

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A PairFinder puts together the games of pairs, which with several games under
// way need not follow each other.
type PairFinder struct {
	waiting map[pairKey]waitingGame
	games   int
}

// pairKey is what the games of a pair have in common.
type pairKey struct {
	low, high string // players in order of their names
	id        string // run and pair
	fen       string // of the start, without id
	round     string // of the game, without id
}

// waitingGame is a game whose other one has not been seen.
type waitingGame struct {
	PoolGame
	number int // in order of the file
}

// Next takes a game and returns the blocks that it completes: its pair, or
// itself if it can have none.
func (f *PairFinder) Next(g PoolGame, tags map[string]string) (blocks [][]PoolGame) {
	f.games++
	own := pairKey{low: min(g.White, g.Black), high: max(g.White, g.Black)}
	candidates := []pairKey{own}
	if id := tags["PairId"]; id != "" {
		own.id = tags["RunId"] + "/" + id
		candidates[0] = own
	} else {
		own.fen, own.round = tags["FEN"], tags["Round"]
		rounds := roundsNear(own.round)
		if len(rounds) == 0 {
			return [][]PoolGame{{g}}
		}
		candidates = candidates[:0]
		for _, round := range rounds {
			key := own
			key.round = round
			candidates = append(candidates, key)
		}
	}
	for _, key := range candidates {
		if other, ok := f.waiting[key]; ok && other.White == g.Black {
			delete(f.waiting, key)
			return [][]PoolGame{{other.PoolGame, g}}
		}
	}
	if old, ok := f.waiting[own]; ok { // the same colours again: it was no pair
		blocks = append(blocks, []PoolGame{old.PoolGame})
	}
	if f.waiting == nil {
		f.waiting = make(map[pairKey]waitingGame)
	}
	f.waiting[own] = waitingGame{g, f.games}
	return blocks
}

// Rest returns the games still waiting, at the end of a file.
func (f *PairFinder) Rest() (blocks [][]PoolGame) {
	byNumber := make(map[int]PoolGame, len(f.waiting))
	for _, g := range f.waiting {
		byNumber[g.number] = g.PoolGame
	}
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		blocks = append(blocks, []PoolGame{byNumber[number]})
	}
	f.waiting = nil
	return blocks
}

// roundsNear returns the rounds in which the other game of a pair may be, best
// first: the same, for runners that number pairs; that with which it makes a
// couple of an odd and an even number; the other one beside it. Of a round such
// as 3.1 the last number counts. Without a number there are none.
func roundsNear(round string) []string {
	dot := strings.LastIndexByte(round, '.')
	n, err := strconv.Atoi(round[dot+1:])
	if err != nil || n < 0 || n > 1e9 {
		return nil
	}
	partner, other := n+1, n-1
	if n%2 == 0 {
		partner, other = other, partner
	}
	return []string{round, round[:dot+1] + strconv.Itoa(partner), round[:dot+1] + strconv.Itoa(other)}
}
