package player

import (
	"context"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/search/strength"
)

// limited is a player below its full strength.
type limited struct {
	Own
	limit  strength.Limit
	seed   uint64
	report func(search.Info)
}

// limitedQuieter is a limited player of which the full one is a search.Quieter.
type limitedQuieter struct {
	*limited
	search.Quieter
}

// Weaken returns a player that plays as p does below its full strength. Equal seeds
// give equal games, if those of p are. How quiet a position is it says as p does, if that
// does.
func Weaken(p Own, l strength.Limit, seed uint64) Own {
	weak := &limited{Own: p, limit: l, seed: seed}
	if q, ok := p.(search.Quieter); ok {
		return limitedQuieter{weak, q}
	}
	return weak
}

func (p *limited) Report(f func(search.Info)) { p.report = f }

// Search reports only as many lines as were asked for.
func (p *limited) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	asked := max(lim.MultiPV, 1)
	p.Own.Report(nil)
	if p.report != nil {
		p.Own.Report(func(i search.Info) {
			if i.MultiPV <= asked {
				p.report(i)
			}
		})
	}
	r, err := p.Own.Search(ctx, line, p.limit.Apply(lim))
	if err != nil {
		return r, err
	}
	return p.limit.Choose(r, line, asked, p.seed), nil
}

// WDL returns what a score of the search stands for.
func (s Search) WDL(score search.Score) search.WDL {
	if s == TreeSearch {
		return score.WDL(mcts.LogOdds)
	}
	return score.WDL(search.LogOdds)
}
