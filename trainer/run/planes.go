package run

import (
	"context"
	"fmt"
	"math"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer/planesfit"
)

// planesValues evaluates the fixed positions with the net as written and with the
// model.
func (r *runner) planesValues(m *planesfit.Model) ([]Value, error) {
	file, err := runtimes.Read(r.path(r.netName()))
	if err != nil {
		return nil, err
	}
	net, err := file.Open(runtimes.Options{})
	if err != nil {
		return nil, err
	}
	defer net.Close()
	return r.values(func(p *chess.Position) (Value, error) {
		var moves chess.MoveList
		p.Legal(&moves)
		leaves := []search.Leaf{{Pos: p, Moves: moves.Moves[:moves.N]}}
		if err := net.Evaluate(context.Background(), leaves); err != nil {
			return Value{}, err
		}
		win := (1 + float64(leaves[0].Value)) / 2
		return Value{Net: r.centipawns(win), Model: r.centipawns((1 + m.Values([]sample.Sample{{Pos: *p}})[0]) / 2), Win: win}, nil
	})
}

// centipawns returns the score that stands for a win probability, as scores of
// samples do.
func (r *runner) centipawns(win float64) float64 {
	const most = 1 - 1e-6
	win = min(max(win, 1-most), most)
	return math.Log(win/(1-win)) * r.model.ScoreScale() / search.RawPerCentipawn
}

// describePlanes prints how a convolutional net is trained.
func (r *runner) describePlanes() {
	fmt.Fprintf(r.Out, "%v: %d parameters, %.1f million multiplications a position\n", r.planes, r.planes.Count(), float64(r.planes.MACs())/1e6)
	fmt.Fprintf(r.Out, "%s; loss of moves times %g, of results times %g, of plies left times %g; measured with lambda %g\n",
		r.cfg.Optimiser, r.cfg.PolicyWeight, r.cfg.ValueWeight, r.cfg.PliesWeight, r.measureLambda)
}
