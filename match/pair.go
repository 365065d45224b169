package match

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// Results of a game as PGN writes them.
const (
	whiteWins = "1-0"
	blackWins = "0-1"
	drawn     = "1/2-1/2"
)

// Pair is one finished pair of two players, A and B: the same opening, first
// with A as White, then with A as Black. It is also the record in the log.
type Pair struct {
	Number  int           `json:"pair"`    // 0, 1, 2 …
	Players [2]int        `json:"players"` // A and B: indices of the match's players, from 0
	Opening string        `json:"opening"` // "fen FEN moves …", as UCI's position command has it
	Games   [2]GameResult `json:"games"`   // A is White in the first, Black in the second
}

// GameResult is what counts of one game.
type GameResult struct {
	Result string `json:"result"`           // "1-0", "0-1" or "1/2-1/2"
	Reason string `json:"reason"`           // how it ended, in words
	Plies  int    `json:"plies"`            // half-moves played after the opening
	Failed string `json:"failed,omitempty"` // "A" or "B", if that player lost by failing
	Error  string `json:"error,omitempty"`  // how it failed
	// Adjudged is the result that adjudication would have given to a game that
	// was nevertheless played to its end by the rules. It was wrong if Result
	// is another.
	Adjudged string `json:"adjudged,omitempty"`
}

// Outcome returns the result of game i (0 or 1) for A.
func (p *Pair) Outcome(i int) rating.Outcome {
	aIsWhite := i == 0
	switch p.Games[i].Result {
	case drawn:
		return rating.Draw
	case whiteWins:
		if aIsWhite {
			return rating.Win
		}
	case blackWins:
		if !aIsWhite {
			return rating.Win
		}
	}
	return rating.Loss
}

// check returns an error unless the record can be the one of a finished pair
// of a match with a number of players.
func (p *Pair) check(players int) error {
	if p.Number < 0 {
		return fmt.Errorf("pair number %d, expected 0 or more", p.Number)
	}
	if a, b := p.Players[0], p.Players[1]; a < 0 || b < 0 || a >= players || b >= players || a == b {
		return fmt.Errorf("players %d and %d, expected two of 0 to %d", a, b, players-1)
	}
	for i := range p.Games {
		if err := p.checkGame(i); err != nil {
			return fmt.Errorf("game %d: %w", i, err)
		}
	}
	return nil
}

func (p *Pair) checkGame(i int) error {
	g := &p.Games[i]
	switch {
	case !isResult(g.Result):
		return fmt.Errorf("result %.20q, expected %s, %s or %s", g.Result, whiteWins, blackWins, drawn)
	case g.Adjudged != "" && !isResult(g.Adjudged):
		return fmt.Errorf("adjudged %.20q, expected a result or nothing", g.Adjudged)
	case g.Failed != "" && g.Failed != "A" && g.Failed != "B":
		return fmt.Errorf("failed %.20q, expected A or B", g.Failed)
	case g.Failed == "A" && p.Outcome(i) != rating.Loss, g.Failed == "B" && p.Outcome(i) != rating.Win:
		return fmt.Errorf("%s failed, but the result is %s", g.Failed, g.Result)
	case g.Plies < 0:
		return fmt.Errorf("%d plies, expected 0 or more", g.Plies)
	case g.Reason == "":
		return errors.New("no reason")
	}
	return nil
}

func isResult(s string) bool { return s == whiteWins || s == blackWins || s == drawn }

// shorten bounds the text of an error for the log, which is read line by line.
func shorten(s string) string {
	const most = 500
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for len(s) > 0 && !utf8.ValidString(s) { // a character may have been cut
		s = s[:len(s)-1]
	}
	return s + "…"
}
