package match

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// A PoolLoader puts the games of PGN files and of logs of matches into a pool.
type PoolLoader struct {
	NoReplay bool           // trust the moves of PGN files
	Variant  *chess.Variant // only games of it; nil: of any
	Step     func()         // called after each game of a PGN file; may be nil
	Warn     io.Writer      // where malformed games are named, the first few

	Pool   rating.Pool
	Counts rating.GameCounts

	file  string // being read
	files int    // with it
	pairs rating.PairFinder
	seen  map[[sha256.Size]byte]int // pairs of logs and games of PGN, each with all that is said of it, and the first file that had it
}

// again reports whether an earlier file had what text identifies. Two games of one file may
// well be the same.
func (l *PoolLoader) again(text []byte) bool {
	if l.seen == nil {
		l.seen = map[[sha256.Size]byte]int{}
	}
	sum := sha256.Sum256(text)
	first, before := l.seen[sum]
	if !before {
		l.seen[sum] = l.files
	}
	return before && first != l.files
}

// maxWarnings is how many malformed games are shown one by one.
const maxWarnings = 20

// Load adds the games of one file, a log of a match or PGN; "-" is stdin.
func (l *PoolLoader) Load(ctx context.Context, path string, stdin io.Reader) error {
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
	l.files++
	buffered := bufio.NewReader(in)
	head, _ := buffered.Peek(len(logStart)) // a shorter file is no log
	if bytes.Equal(head, []byte(logStart)) {
		return l.loadLog(buffered)
	}
	return l.loadPGN(ctx, buffered)
}

// logStart is how the log of a match begins.
const logStart = `{"version":`

func (l *PoolLoader) loadLog(in io.Reader) error {
	log, err := ReadLog(in)
	if err != nil {
		return fmt.Errorf("%s: %w", l.file, err)
	}
	for _, p := range log.Pairs {
		a, b := log.Players[p.Players[0]], log.Players[p.Players[1]]
		l.Counts.Read += 2
		if l.again(fmt.Append(encodeLine(p), log.Settings)) {
			l.Counts.Repeated += 2
			continue
		}
		if err := l.add(pairGames(a, b, &p)...); err != nil {
			return err
		}
	}
	return nil
}

// pairGames are the two games of a pair of the players a and b.
func pairGames(a, b string, p *Pair) []rating.PoolGame {
	return []rating.PoolGame{
		{White: a, Black: b, Result: p.Outcome(0)},
		{White: b, Black: a, Result: rating.Win - p.Outcome(1)},
	}
}

func (l *PoolLoader) loadPGN(ctx context.Context, in io.Reader) error {
	reader := game.NewPGNReader(in)
	for ctx.Err() == nil {
		rec, err := reader.Next()
		var bad *game.PGNError
		switch {
		case err == io.EOF:
			return l.addAll(l.pairs.Rest())
		case errors.As(err, &bad):
			l.Counts.Read++
			l.malformed(err)
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", l.file, err)
		}
		l.Counts.Read++
		if l.Step != nil {
			l.Step()
		}
		if g, ok := l.poolGame(rec); ok {
			if err := l.addAll(l.pairs.Next(g, rec.Tags)); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func (l *PoolLoader) malformed(err error) {
	if l.Counts.Malformed++; l.Counts.Malformed <= maxWarnings {
		fmt.Fprintf(l.Warn, "%s: %v\n", l.file, err)
	}
}

// longestGame bounds the time that tags may give a game.
const longestGame = 30 * 24 * time.Hour

// poolGame returns what counts of a record; it is false if the game does not
// count.
func (l *PoolLoader) poolGame(rec *game.PGNRecord) (rating.PoolGame, bool) {
	g := rating.PoolGame{White: rec.Tags["White"], Black: rec.Tags["Black"]}
	if l.again(fmt.Append(nil, rec.Tags, rec.Moves, rec.Result)) {
		l.Counts.Repeated++
		return g, false
	}
	v, _, variantErr := rec.Variant()
	if l.Variant != nil && v != l.Variant {
		l.Counts.OtherVariant++
		return g, false
	}
	outcome := rec.Result
	if variantErr != nil {
		l.Counts.NotReplayed++
	} else if !l.NoReplay {
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
		l.Counts.Unfinished++
		return g, false
	case nameless(g.White) || nameless(g.Black) || g.White == g.Black:
		l.Counts.Nameless++
		return g, false
	}
	if began, ended := rec.Times(); !began.IsZero() && ended.After(began) && ended.Sub(began) < longestGame {
		g.Seconds = ended.Sub(began).Seconds()
	}
	g.Result = map[chess.Outcome]rating.Outcome{
		chess.WhiteWins: rating.Win, chess.BlackWins: rating.Loss, chess.Draw: rating.Draw,
	}[outcome]
	return g, true
}

// addAll adds blocks of games.
func (l *PoolLoader) addAll(blocks [][]rating.PoolGame) error {
	for _, block := range blocks {
		if err := l.add(block...); err != nil {
			return err
		}
	}
	return nil
}

func (l *PoolLoader) add(block ...rating.PoolGame) error {
	if err := l.Pool.Add(block...); err != nil {
		return fmt.Errorf("%s: %w", l.file, err)
	}
	l.Counts.Rated += len(block)
	l.Counts.Blocks++
	if len(block) == 2 {
		l.Counts.Pairs++
	}
	return nil
}

// Summary writes to Warn how many games did not count, and why.
func (l *PoolLoader) Summary() {
	c := &l.Counts
	for _, kind := range []struct {
		n    int
		what string
	}{
		{c.Malformed, "malformed"}, {c.Unfinished, "without a result"},
		{c.Nameless, "without names of two players"}, {c.OtherVariant, "of another variant"},
		{c.Repeated, "the same as in earlier files"},
	} {
		if kind.n > 0 {
			fmt.Fprintf(l.Warn, "not counted: %d of %d games, %s\n", kind.n, c.Read, kind.what)
		}
	}
	if c.NotReplayed > 0 {
		fmt.Fprintf(l.Warn, "counted, but not replayed: %d games of a variant without rules here\n", c.NotReplayed)
	}
}
