package match

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// playMatch plays a match and prints it. The error wraps cli.ErrUndecided if
// a sequential test has not decided, and cli.ErrResumable if the match was
// interrupted and is resumable: the same command goes on from its log.
func playMatch(c *cobra.Command, cfg match.Config, p *matchPrinter, resumable bool) error {
	stderr := c.ErrOrStderr()
	for _, line := range notices(&cfg) {
		fmt.Fprintln(stderr, line)
	}
	p.begin(&cfg)
	result, err := match.Run(c.Context(), cfg)
	if endErr := p.end(&result, err); endErr != nil {
		return errors.Join(err, endErr)
	}
	switch {
	case errors.Is(err, match.ErrConfig), errors.Is(err, rating.ErrSPRT):
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	case errors.Is(err, context.Canceled) && resumable:
		fmt.Fprintln(stderr, "resume with:", cli.CommandLine(os.Args[1:]...))
		return fmt.Errorf("%w after %d games", cli.ErrResumable, 2*result.Finished())
	case err == nil && cfg.SPRT != nil && result.Verdict == rating.Continue:
		next := "a greater number of games goes on with it"
		if result.Pairs() == cfg.Bound() {
			next = "all openings of the book; begin another test, " + moreOpenings
		}
		return fmt.Errorf("%w after %d pairs: %s", cli.ErrUndecided, result.Pairs(), next)
	}
	return err
}

// moreOpenings says what to do where a book is too small.
const moreOpenings = "from a larger book (--book FILE) or random openings (--book none)"

// notices returns what a user should know before the first game.
func notices(cfg *match.Config) []string {
	var lines []string
	if load, cores := cfg.Load(), runtime.NumCPU(); load > cores {
		lines = append(lines, fmt.Sprintf("warning: %d pairs at a time keep %d threads busy, found %d cores: players disturb each other, and limits of time do not mean what they say",
			cfg.Concurrency, load, cores))
	}
	if cfg.SPRT != nil && cfg.SPRT.Validate() == nil {
		lines = append(lines, expectedLength(*cfg.SPRT, cfg.Variant, cfg.Games()/2, cfg.Bound())...)
	}
	switch n := cfg.Openings.Distinct; {
	case n == 0 || cfg.Pairs <= n:
	case cfg.Bound() > n:
		lines = append(lines, fmt.Sprintf("warning: %d pairs from a book of %d different openings: pairs from one opening resemble each other, and errors are larger than printed, consider at most %d games, or play %s",
			cfg.Pairs, n, 2*n, moreOpenings))
	default:
		lines = append(lines, fmt.Sprintf("warning: only %d of %d pairs are played, one for each different opening of the book: players within nodes or depth would play the same games again; for more play %s",
			n, cfg.Pairs, moreOpenings))
	}
	if cfg.Log == "" && cfg.Games() > 1000 {
		lines = append(lines, "without --log a match that is stopped begins anew")
	}
	return lines
}

// openingResults are the shares of games that White wins, draws and loses
// between equal players from the openings used, as far as the length of a test
// depends on them.
func openingResults(v *chess.Variant) (win, draw, loss float64) {
	if v == chess.Crazyhouse {
		return 0.54, 0.02, 0.44
	}
	return 0.30, 0.60, 0.10
}

// expectedLength says how many pairs a test may take, which has limit pairs and can have
// bound. Half way between the hypotheses it takes longest.
func expectedLength(t rating.SPRT, v *chess.Variant, limit, bound int) []string {
	variance := rating.OpeningVariance(openingResults(v))
	middle := (t.Elo0 + t.Elo1) / 2
	var parts []string
	longest := 0.0
	for _, elo := range []float64{t.Elo0, middle, t.Elo1} {
		_, pairs := t.ExpectedLength(elo, variance)
		longest = max(longest, pairs)
		parts = append(parts, fmt.Sprintf("%.0f if the difference is %g", pairs, elo))
	}
	lines := []string{fmt.Sprintf("expected pairs of the test [%g, %g]: %s; at most %d", t.Elo0, t.Elo1, strings.Join(parts, ", "), limit)}
	if longest > float64(limit) {
		more := fmt.Sprintf("--games %d", 2*int(math.Ceil(2*longest/100)*100))
		if longest > float64(bound) {
			more = "playing " + moreOpenings
		}
		lines = append(lines, fmt.Sprintf("warning: the test may end undecided, consider %s or bounds further apart", more))
	}
	return lines
}
