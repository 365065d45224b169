package selfplay

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/search"
)

// gameMaker makes self-play games. Every byte of a game follows from its fields,
// the id of the game and the players: their nets and the same settings.
type gameMaker struct {
	settings configs.Actor
	variant  *chess.Variant
	book     []book.Entry // a share of the games begins where these end; empty if there are none
	seed     uint64       // of the run
	build    string       // of the program, as playingBuild has it
	log      *slog.Logger
	cores    *cores  // that searches wait for; nil: they do not
	boards   *boards // that show its games; nil: none do
}

// newGameMaker returns one that takes openings from b, which may be nil.
func newGameMaker(c configs.Actor, v *chess.Variant, b *book.Book, seed uint64, build string, log *slog.Logger) *gameMaker {
	m := &gameMaker{settings: c, variant: v, seed: seed, build: playingBuild(c, build), log: log}
	if c.BookShare > 0 && b != nil {
		m.book = b.Entries
	}
	return m
}

// play plays the game with the given id.
func (m *gameMaker) play(ctx context.Context, p pairing, id game.ID) (*game.Game, error) {
	m = m.at(p.games)
	c := m.settings
	seed := gameSeed(m.seed, id)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, player := range p.players {
		player.seed(seed)
	}
	white, black := m.cores.player(p.players[chess.White], playing), m.cores.player(p.players[chess.Black], playing)
	newest := p.players[p.newest]
	opening, err := m.opening(ctx, m.cores.player(newest, playing), rng)
	if err != nil {
		return nil, err
	}
	var onPly func(*chess.Line, game.Ply, []chess.Move)
	if m.boards != nil {
		onPly = m.boards.watcher(id, p.nets)
	}
	g, err := game.Play(ctx, white, black, opening, game.Config{
		Limits:            game.Both(limitsOf(c)),
		QuickNodes:        c.QuickNodes,
		MaxPlies:          c.MaxPlies,
		WinScore:          search.Score(c.WinScore),
		WinPlies:          c.WinPlies,
		NoAdjudicateShare: c.PlayOutShare,
		Noise:             game.Noise{Plies: c.RandomPlies, Prob: c.RandomProb},
		OnPly:             onPly,
	}, rng)
	if err != nil {
		return nil, err
	}
	g.ID, g.Seed, g.Nets, g.Build = id.String(), seed, p.nets, m.build
	p.leaveOut(c, g)
	return g, m.research(ctx, m.cores.player(newest, playing), g)
}

// at returns the maker of games with a net that was offered when as many games were
// stored: only their nodes a move may be others.
func (m *gameMaker) at(games uint64) *gameMaker {
	then := *m
	then.settings.Nodes = m.settings.NodesAt(games)
	return &then
}

// playingBuild names the build in games. Alpha–beta search computes in integers, the
// same everywhere. Tree search computes in floats, the same on all machines of an
// architecture that multiply and add at once: on others than those of amd64 it is as
// if another build had played.
func playingBuild(c configs.Actor, build string) string {
	if c.Search != configs.TreeSearch || runtime.GOARCH == "amd64" && kernel.Best() > kernel.Generic {
		return build
	}
	return fmt.Sprintf("%s %s %v", build, runtime.GOARCH, min(kernel.Best(), kernel.Generic+1))
}

// limitsOf returns the limits of every search of an actor with these settings.
func limitsOf(c configs.Actor) search.Limits { return search.Limits{Nodes: c.Nodes} }

// bookPlies is how many random plies at most follow a position of the book, so that
// games which begin with it differ.
const bookPlies = 2

// opening draws the opening of a game: a random one from the start of the variant,
// or from a position of the book.
func (m *gameMaker) opening(ctx context.Context, player game.Player, rng *rand.Rand) (game.Opening, error) {
	c := m.settings
	start, shortest, longest := m.variant.Start(), c.OpeningMin, c.OpeningMax
	if len(m.book) > 0 && rng.Float64() < c.BookShare {
		start, shortest, longest = endOf(m.book[rng.IntN(len(m.book))].Opening), 1, bookPlies
	}
	opening, err := game.RandomOpening(start, rng, shortest, longest, m.balanced(ctx, player))
	if errors.Is(err, game.ErrOpening) { // a net that thinks every opening is lost must not end the run
		m.log.Warn("no balanced opening found, playing an unbalanced one", "limit", c.OpeningScore, "error", err)
		opening, err = game.RandomOpening(start, rng, shortest, longest, nil)
	}
	return opening, err
}

// endOf returns the position after an opening.
func endOf(o game.Opening) chess.Position {
	line := chess.NewLine(o.Start)
	for _, m := range o.Moves {
		line.Push(m)
	}
	return *line.Pos()
}

// balanced accepts the openings that a search finds within the configured score.
func (m *gameMaker) balanced(ctx context.Context, player game.Player) func(*chess.Line) (bool, error) {
	return func(line *chess.Line) (bool, error) {
		if err := player.NewGame(); err != nil {
			return false, err
		}
		r, err := player.Search(ctx, line, limitsOf(m.settings))
		return max(r.Score, -r.Score) <= search.Score(m.settings.OpeningScore), err
	}
}

// gameSeed returns the seed of a game of the run with the given seed.
func gameSeed(run uint64, id game.ID) uint64 {
	values := []uint64{run, uint64(id.Epoch), uint64(id.Worker), id.Counter}
	if id.Actor != game.LocalActor { // whose games were numbered before actors had names
		sum := sha256.Sum256([]byte(id.Actor))
		values = append(values, binary.LittleEndian.Uint64(sum[:]))
	}
	return mix(values...)
}

// mix folds values into one seed.
func mix(values ...uint64) uint64 {
	h := uint64(0)
	for _, v := range values {
		h = splitmix.Hash(h + v)
	}
	return h
}
