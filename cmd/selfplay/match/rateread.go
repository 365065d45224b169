package match

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// poolLoader puts games of files into a pool.
type poolLoader struct {
	pool     rating.Pool
	noReplay bool
	variant  *chess.Variant // only games of it, nil: of any
	progress *cli.Progress
	warn     io.Writer

	counts gameCounts
	file   string
	pairs  pairFinder
}

// gameCounts counts the games of all files by what became of them.
type gameCounts struct {
	Read         int `json:"read"`
	Rated        int `json:"rated"`
	Malformed    int `json:"malformed"`
	Unfinished   int `json:"unfinished"`      // without a result
	Nameless     int `json:"nameless"`        // without names of two players
	OtherVariant int `json:"other_variant"`   // not of the variant asked for
	NotReplayed  int `json:"not_replayed"`    // rated though their rules are not known
	Blocks       int `json:"blocks"`          // what is drawn anew: pairs and single games
	Pairs        int `json:"pairs_of_blocks"` // blocks that are pairs
}

// maxWarnings is how many malformed games are shown one by one.
const maxWarnings = 20

// load adds the games of one file, a log of a match or PGN.
func (l *poolLoader) load(ctx context.Context, path string, stdin io.Reader) error {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	l.file = path
	buffered := bufio.NewReader(in)
	head, _ := buffered.Peek(len(logStart)) // a shorter file is no log
	if bytes.Equal(head, []byte(logStart)) {
		return l.loadLog(buffered)
	}
	return l.loadPGN(ctx, buffered)
}

// logStart is how the log of a match begins.
const logStart = `{"version":`

func (l *poolLoader) loadLog(in io.Reader) error {
	log, err := match.ReadLog(in)
	if err != nil {
		return fmt.Errorf("%s: %w", l.file, err)
	}
	for _, p := range log.Pairs {
		a, b := log.Players[p.Players[0]], log.Players[p.Players[1]]
		l.counts.Read += 2
		err := l.add(
			rating.PoolGame{White: a, Black: b, Result: p.Outcome(0)},
			rating.PoolGame{White: b, Black: a, Result: rating.Win - p.Outcome(1)})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *poolLoader) loadPGN(ctx context.Context, in io.Reader) error {
	reader := game.NewPGNReader(in)
	for ctx.Err() == nil {
		rec, err := reader.Next()
		var bad *game.PGNError
		switch {
		case err == io.EOF:
			return l.addAll(l.pairs.rest())
		case errors.As(err, &bad):
			l.counts.Read++
			l.malformed(err)
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", l.file, err)
		}
		l.counts.Read++
		l.progress.Step()
		if g, ok := l.poolGame(rec); ok {
			if err := l.addAll(l.pairs.next(g, rec.Tags)); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func (l *poolLoader) malformed(err error) {
	if l.counts.Malformed++; l.counts.Malformed <= maxWarnings {
		fmt.Fprintf(l.warn, "%s: %v\n", l.file, err)
	}
}

// poolGame returns what counts of a record; it is false if the game does not
// count.
func (l *poolLoader) poolGame(rec *game.PGNRecord) (rating.PoolGame, bool) {
	g := rating.PoolGame{White: rec.Tags["White"], Black: rec.Tags["Black"]}
	v, _, variantErr := rec.Variant()
	if l.variant != nil && v != l.variant {
		l.counts.OtherVariant++
		return g, false
	}
	outcome := rec.Result
	if variantErr != nil {
		l.counts.NotReplayed++
	} else if !l.noReplay {
		played, err := rec.Game()
		if err != nil {
			l.malformed(err)
			return g, false
		}
		outcome = played.Outcome
	}
	nameless := func(name string) bool { return name == "" || name == "?" }
	switch {
	case outcome == chess.Ongoing:
		l.counts.Unfinished++
		return g, false
	case nameless(g.White) || nameless(g.Black) || g.White == g.Black:
		l.counts.Nameless++
		return g, false
	}
	g.Result = map[chess.Outcome]rating.Outcome{
		chess.WhiteWins: rating.Win, chess.BlackWins: rating.Loss, chess.Draw: rating.Draw,
	}[outcome]
	return g, true
}

// addAll adds blocks of games.
func (l *poolLoader) addAll(blocks [][]rating.PoolGame) error {
	for _, block := range blocks {
		if err := l.add(block...); err != nil {
			return err
		}
	}
	return nil
}

func (l *poolLoader) add(block ...rating.PoolGame) error {
	if err := l.pool.Add(block...); err != nil {
		return fmt.Errorf("%s: %w", l.file, err)
	}
	l.counts.Rated += len(block)
	l.counts.Blocks++
	if len(block) == 2 {
		l.counts.Pairs++
	}
	return nil
}

// summary tells what does not count.
func (l *poolLoader) summary() {
	c := &l.counts
	for _, kind := range []struct {
		n    int
		what string
	}{
		{c.Malformed, "malformed"}, {c.Unfinished, "without a result"},
		{c.Nameless, "without names of two players"}, {c.OtherVariant, "of another variant"},
	} {
		if kind.n > 0 {
			fmt.Fprintf(l.warn, "not counted: %d of %d games, %s\n", kind.n, c.Read, kind.what)
		}
	}
	if c.NotReplayed > 0 {
		fmt.Fprintf(l.warn, "counted, but not replayed: %d games of a variant without rules here\n", c.NotReplayed)
	}
}

// pairFinder puts together the games of pairs, which with several games under
// way need not follow each other.
type pairFinder struct {
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
	rating.PoolGame
	number int // in order of the file
}

// next takes a game and returns the blocks that it completes: its pair, or
// itself if it can have none.
func (f *pairFinder) next(g rating.PoolGame, tags map[string]string) (blocks [][]rating.PoolGame) {
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
			return [][]rating.PoolGame{{g}}
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
			return [][]rating.PoolGame{{other.PoolGame, g}}
		}
	}
	if old, ok := f.waiting[own]; ok { // the same colours again: it was no pair
		blocks = append(blocks, []rating.PoolGame{old.PoolGame})
	}
	if f.waiting == nil {
		f.waiting = make(map[pairKey]waitingGame)
	}
	f.waiting[own] = waitingGame{g, f.games}
	return blocks
}

// rest returns the games still waiting, at the end of a file.
func (f *pairFinder) rest() (blocks [][]rating.PoolGame) {
	byNumber := make(map[int]rating.PoolGame, len(f.waiting))
	for _, g := range f.waiting {
		byNumber[g.number] = g.PoolGame
	}
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		blocks = append(blocks, []rating.PoolGame{byNumber[number]})
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
