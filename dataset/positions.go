package dataset

import (
	"context"
	"errors"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/game/positions"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// ErrVariant says that games are of another variant than asked for.
var ErrVariant = errors.New("games of another variant")

// BufferPositions is the positions of the replay buffer in dir in which a search chose
// the move: opening and random moves are passed over. The buffer may be in use.
func BufferPositions(ctx context.Context, dir string, v *chess.Variant) positions.Source {
	return func(yield func(*chess.Position, error) bool) {
		var failed error
		stopped := false
		_, err := replay.VisitGames(dir, func(g *game.Game) bool {
			if g.Variant != v {
				failed = fmt.Errorf("%s: %w: found %s, expected %s", dir, ErrVariant, g.Variant.Name, v.Name)
			} else if failed = ctx.Err(); failed == nil {
				stopped = !positions.OfGame(g, yield)
			}
			return failed == nil && !stopped
		}, nil)
		if err == nil {
			err = failed
		}
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}
