package cli

import (
	"fmt"
	"io"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// WriteFeatures prints the blocks of feature sets of a variant, each on a few lines, or all as JSON.
func WriteFeatures(w io.Writer, v *chess.Variant, asJSON bool) error {
	list := features.List(v)
	return WriteReport(w, asJSON, list, func(w io.Writer) error {
		fmt.Fprintf(w, "Blocks of feature sets for %s; expressions join them by + and *. Examples are what White sees.\n", v.Name)
		for _, l := range list {
			update := "compared position by position"
			if l.Linear {
				update = "kept up to date by moves"
			}
			_, err := fmt.Fprintf(w, "\n%s: %s\n  %d features, at most %d active, %s\n  example %d: %s, in %s\n",
				l.Name, l.Meaning, l.Size, l.MaxActive, update, l.Example.Feature, l.Example.Meaning, l.Example.FEN)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
