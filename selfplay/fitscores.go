package selfplay

import (
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/sample"
)

// Positions at most that scores are fitted to. The score of an even chance that 20,000
// tell is off by some 20 raw units, a tenth of a pawn.
const (
	fitSamples           = 200_000
	relabelledFitSamples = 20_000 // with train.relabel: each may take a search
)

// fitDue reports whether scores are to be fitted before the next net, given how many
// positions were stored when they last were and are now. The first games to end are
// short ones, in which the side to move needs another score for an even chance.
func fitDue(fitted, stored uint64) bool { return stored >= 2*fitted }

// fitScores measures what the scores of the present window say about results.
// Scores that say nothing leave the scale as it is, as do those that have a known
// one.
func (l *learner) fitScores() {
	if l.training.Settings.ScoreScale != 0 {
		return
	}
	stats, most := l.buffer.Stats(), uint64(fitSamples)
	if l.source.relabel != nil {
		most = relabelledFitSamples
	}
	// More than twice the window would draw the same positions again.
	samples := make([]sample.Sample, min(most, 2*stats.WindowPlies))
	rng := rand.New(rand.NewPCG(l.run.cfg.Seed, l.trainer.Steps()))
	if err := l.buffer.Draw(rng, drawingOf(l.run.cfg.Train), samples); err != nil {
		l.run.log.Warn("score scale not fitted", "error", err)
		return
	}
	l.source.relabel.label(samples)
	if _, err := l.training.FitScores(l.model, samples); err != nil {
		l.run.log.Warn("score scale not fitted", "error", err)
		return
	}
	l.state.Fitted = stats.Plies
}
