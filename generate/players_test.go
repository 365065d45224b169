package generate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// resigning resigns every other game, one of five plies from the given one on.
type resigning struct {
	game.Player
	games, from int
}

func (r *resigning) NewGame() error {
	r.games++
	return r.Player.NewGame()
}

func (r *resigning) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	if r.games%2 == 0 && line.Len() == r.from+(r.games/2-1)%5 {
		return search.Result{}, fmt.Errorf("no hope: %w", game.ErrResigned)
	}
	return r.Player.Search(ctx, line, lim)
}

// TestResigned: a player that resigns, at its first move or where a random move is
// searched for too, loses that game, and the run goes on.
func TestResigned(t *testing.T) {
	const random = 5
	for _, from := range []int{0, random} {
		cfg := config(t, dataset.Chain)
		cfg.Random = Random{MinPly: -1, Count: random, MultiPV: 4, MultiPVDiff: search.MateScore}
		cfg.New = func() (game.Player, error) {
			p, err := newEngine()
			return &resigning{Player: p, from: from}, err
		}
		file, _ := mustRun(t, cfg)
		resigned := 0
		for i, g := range games(t, file) {
			if g.Reason != game.Resigned {
				continue
			}
			resigned++
			mover := chess.Color(len(g.Plies) % 2)
			if plies := len(g.Plies); g.Outcome != chess.Win(mover.Other()) || g.Adjudged != g.Outcome || plies < from || plies >= from+5 {
				t.Errorf("game %d: %v, adjudged %v, resigned at ply %d, expected a loss of the mover at %d to %d", i, g.Outcome, g.Adjudged, plies, from, from+4)
			}
		}
		if resigned == 0 {
			t.Errorf("no game resigned from ply %d on", from)
		}
		cfg.Count += 100
		mustRun(t, cfg) // goes on after such games
	}
}

// terse reports a few lines at most.
type terse struct {
	game.Player
	lines int
}

func (p terse) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	r, err := p.Player.Search(ctx, line, lim)
	r.Lines = r.Lines[:min(len(r.Lines), p.lines)]
	return r, err
}

// TestPlayerWithoutLines: a player that never reports several lines draws no move among
// the best ones; that is an error.
func TestPlayerWithoutLines(t *testing.T) {
	for lines := range 3 {
		cfg := config(t, dataset.Chain)
		cfg.Count, cfg.Random.MultiPV = 1000, 4
		cfg.New = func() (game.Player, error) {
			p, err := newEngine()
			return terse{p, lines}, err
		}
		_, err := Run(t.Context(), cfg)
		told := errors.Is(err, ErrConfig) && strings.Contains(err.Error(), "player material: found no more than one line")
		if told != (lines < 2) || err != nil != told {
			t.Errorf("%d lines: found error %v", lines, err)
		}
	}
}

// TestNothingNew: a run whose games have nothing new to train on ends.
func TestNothingNew(t *testing.T) {
	for name, set := range map[string]func(*Config){
		"all games the same": func(c *Config) { c.Random.Count = 0 },
		"all games drawn":    func(c *Config) { c.Random.Count, c.SkipDraws, c.SeenMB = 0, true, 0 },
	} {
		cfg := config(t, dataset.Chain)
		cfg.MinDepth, cfg.MaxDepth, cfg.Limits, cfg.WriteMaxPly = 1, 1, search.Limits{}, 6
		set(&cfg)
		if err := stopAfter(t, cfg, 6*3*mostBarren); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "nothing new to train on in 1000 games in a row") {
			t.Errorf("%s: found error %v", name, err)
		}
	}
}

// TestKingMoves: with N = 1 every random move is the king's if it has one, and replies
// come on top of the random moves asked for.
func TestKingMoves(t *testing.T) {
	cfg := config(t, dataset.Chain)
	cfg.Random.KingMoves = 1
	file, _ := mustRun(t, cfg)
	kings, more := 0, 0
	for i, g := range games(t, file) {
		pos, drawn := g.Start, 0
		for n, ply := range g.Plies {
			if !ply.HasScore {
				drawn++
				if kingMove(&pos, rand.New(rand.NewPCG(1, 1))) != chess.NoMove {
					kings++
					if m := ply.Move; m.IsDrop() || m.From() != pos.King(pos.SideToMove()) {
						t.Errorf("game %d, ply %d: drew %s, expected a move of the king", i, n, pos.UCI(m))
					}
				}
			}
			pos.Make(ply.Move)
		}
		if drawn > cfg.Random.Count {
			more++
		}
	}
	if kings == 0 || more == 0 {
		t.Errorf("%d moves of kings, %d games with replies, expected some", kings, more)
	}
}
