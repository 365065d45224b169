package selfplay

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// turnTail begins or ends a tail: the last steps before a net is offered, at a lower
// rate, on the newest games and through the integer net's rounding.
func (l *learner) turnTail() error {
	t := l.run.cfg.Train
	in := tailStep(l.trainer.Age(), t.StepsPerNet, t.TailShare)
	if in == (l.tailOf != nil) && (!in || l.tailOf == l.model) {
		return nil
	}
	if err := l.trainer.Close(); err != nil { // the batch drawn ahead is of the other kind
		return err
	}
	l.tailOf, l.source.drawing = nil, drawingOf(t)
	l.trainer.ScaleRate(0)
	if in {
		l.tailOf, l.source.drawing.Newest = l.model, t.TailNewest
		l.trainer.ScaleRate(t.TailRate)
	}
	run.SetQuantise(l.model, in || t.Quantise)
	return nil
}

// tailStep reports whether the step of a model made after age others is one of the
// given share, the last ones, of the steps before a net.
func tailStep(age uint64, stepsPerNet int, share float64) bool {
	tail := int(math.Round(share * float64(stepsPerNet)))
	return int(age%uint64(stepsPerNet)) >= stepsPerNet-tail
}
