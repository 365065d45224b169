package dataset

import (
	"context"
	"fmt"
	"io"
)

// SplitCounts says what Split wrote.
type SplitCounts struct {
	Games, HeldOut int64 // all, and of those the ones kept apart
}

// Split writes one game in every to heldOut and the others to rest. Step, unless
// nil, is called for each.
func Split(ctx context.Context, src *Source, rest, heldOut *Sink, every uint64, step func()) (SplitCounts, error) {
	r := gameReader{src: src, whole: rest.Games() && heldOut.Games()}
	var g Game
	var n SplitCounts
	for {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		err := r.read(&g)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		held, err := g.HeldOut(every)
		to := rest
		if held {
			to = heldOut
			n.HeldOut++
		}
		if err == nil {
			err = to.write(&g, src.Unit())
		}
		if err != nil {
			return n, fmt.Errorf("%s: game %d: %w", src.Name, n.Games, err)
		}
		n.Games++
		if step != nil {
			step()
		}
	}
}
