package learn

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/planesfit"
)

// planesPlan is the settings of a run of a convolutional net.
type planesPlan struct {
	arch arch.Architecture
	fit  planesfit.Config
}

func newPlanesPlan(cfg configs.Learn) (*planesPlan, error) {
	a, err := arch.Parse(cfg.Planes)
	if err != nil {
		return nil, err
	}
	if cfg.Blocks > 0 {
		a.Blocks = cfg.Blocks
	}
	if cfg.Channels > 0 {
		a.Channels = cfg.Channels
	}
	if err := a.Check(); err != nil {
		return nil, err
	}
	c := planesfit.DefaultConfig()
	c.PolicyWeight, c.ValueWeight, c.PliesWeight, c.SurpriseShare = cfg.PolicyWeight, cfg.ValueWeight, cfg.PliesWeight, cfg.Surprise
	if cfg.ScoreScale > 0 {
		c.ScoreScale = cfg.ScoreScale
	}
	c.Optimiser, c.Momentum, c.LeastMomentum = trainer.Optimiser(cfg.Optimiser), cfg.Momentum, min(cfg.LeastMomentum, cfg.Momentum)
	c.WeightDecay, c.GradientNorm, c.MeanDecay, c.Part = cfg.WeightDecay, cfg.GradientNorm, cfg.MeanDecay, cfg.Part
	if c.Workers = cfg.Workers; c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	return &planesPlan{a, c}, c.Validate()
}

// newModel returns the model of a run of so many steps at a rate.
func (p *planesPlan) newModel(v *chess.Variant, rate trainer.Schedule, steps, seed uint64) (*planesfit.Model, error) {
	fit := p.fit
	for step := range steps {
		fit.PeakRate = max(fit.PeakRate, rate.At(step))
	}
	return planesfit.New(p.arch, v, fit, seed)
}

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
	var values []Value
	for _, fen := range fixed(r.variant) {
		pos, err := chess.ParseFEN(r.variant, fen)
		if err != nil {
			return nil, err
		}
		var moves chess.MoveList
		pos.Legal(&moves)
		leaves := []search.Leaf{{Pos: &pos, Moves: moves.Moves[:moves.N]}}
		if err := net.Evaluate(context.Background(), leaves); err != nil {
			return nil, err
		}
		win := (1 + float64(leaves[0].Value)) / 2
		values = append(values, Value{
			FEN: fen, Net: r.centipawns(win), Model: r.centipawns((1 + m.Values([]sample.Sample{{Pos: pos}})[0]) / 2), Win: win,
		})
	}
	return values, nil
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
	fmt.Fprintf(r.Out, "%v: %d parameters, %.1f million multiplications a position\n", r.planes.arch, r.planes.arch.Count(), float64(r.planes.arch.MACs())/1e6)
	fmt.Fprintf(r.Out, "%s; loss of moves times %g, of results times %g, of plies left times %g; measured with lambda %g\n",
		r.cfg.Optimiser, r.cfg.PolicyWeight, r.cfg.ValueWeight, r.cfg.PliesWeight, r.measureLambda)
}
