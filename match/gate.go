package match

import (
	"context"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// UndecidedRule says whether a candidate passes when the sequential test has
// not decided within the pairs allowed.
type UndecidedRule int

const (
	// UndecidedElo passes a candidate that made more than half of the points:
	// its Elo estimate is above 0. At equal strength that is a coin flip, so
	// the pairs allowed should let the test decide nearly always
	// ([rating.SPRT.ExpectedLength]).
	UndecidedElo UndecidedRule = iota
	// UndecidedLLR passes a candidate if H1 is likelier than H0.
	UndecidedLLR
	// UndecidedFail passes no candidate without proof.
	UndecidedFail
)

// GateConfig says how a candidate is measured against the incumbent.
type GateConfig struct {
	// Config is the match: the first player is the candidate, the second
	// the incumbent. SPRT is required.
	Config
	Undecided UndecidedRule
}

// GateResult is the verdict on a candidate.
type GateResult struct {
	Passed bool   `json:"passed"`
	Reason string `json:"reason"` // why, in words
	Result Result `json:"result"` // of the match, from the candidate's side
}

// Gate plays the match and decides whether the candidate may replace the
// incumbent: it does if H1 is accepted, does not if H0 is, and else by the
// rule for undecided tests. With an error the candidate has not passed; errors
// are those of [Run].
func Gate(ctx context.Context, cfg GateConfig) (GateResult, error) {
	if cfg.SPRT == nil || len(cfg.Players) != 2 {
		return GateResult{}, fmt.Errorf("%w: a gate of %d players, SPRT %v, expected 2 and a test", ErrConfig, len(cfg.Players), cfg.SPRT)
	}
	if cfg.Undecided < UndecidedElo || cfg.Undecided > UndecidedFail {
		return GateResult{}, fmt.Errorf("%w: rule %d for undecided tests", ErrConfig, cfg.Undecided)
	}
	result, err := Run(ctx, cfg.Config)
	if err != nil {
		return GateResult{Reason: "the match was not finished", Result: result}, err
	}
	passed, reason := cfg.judge(&result)
	return GateResult{Passed: passed, Reason: reason, Result: result}, nil
}

// judge decides on a finished match. No player may have lost a game by failing: a
// candidate that did is broken, and a match whose incumbent did measured no strength.
func (cfg *GateConfig) judge(r *Result) (passed bool, reason string) {
	e := &r.Encounters[0]
	for _, s := range r.Standings {
		if n := s.Failures.Total(); n > 0 {
			role := [2]string{"candidate", "incumbent"}[s.Player]
			return false, fmt.Sprintf("the %s failed in %d of %d games", role, n, e.Games.Games())
		}
	}
	if r.Verdict != rating.Continue {
		return r.Verdict == rating.AcceptH1, fmt.Sprintf("SPRT [%g, %g] accepted %v after %d pairs", r.SPRT.Elo0, r.SPRT.Elo1, r.Verdict, r.Pairs())
	}
	undecided := fmt.Sprintf("SPRT [%g, %g] undecided after %d pairs", r.SPRT.Elo0, r.SPRT.Elo1, r.Pairs())
	switch cfg.Undecided {
	case UndecidedElo:
		score, _ := e.Games.Score()
		return score > 0.5, fmt.Sprintf("%s, %.2f %% of the points", undecided, 100*score)
	case UndecidedLLR:
		return r.LLR > 0, fmt.Sprintf("%s, LLR %.2f", undecided, r.LLR)
	}
	return false, undecided
}
