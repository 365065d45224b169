package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// Styles of printing a match, besides JSON.
const (
	outputCompact   = "compact"   // progress on standard error, the result at the end
	outputFastchess = "fastchess" // a line for every game, the result every few
)

// reportEvery is the number of pairs between two results in fastchess's style.
const reportEvery = 10

// progressEvery is the time between two lines of progress where no terminal
// shows it all the time.
const progressEvery = 10 * time.Second

// matchPrinter prints a match. Package match calls it one call at a time.
type matchPrinter struct {
	stdout io.Writer
	json   bool
	style  string
	live   *cli.Live // on standard error

	cfg   *match.Config
	began time.Time
	shown time.Time // of the last line of progress
	pairs int       // played since begin
}

func (o *matchOptions) printer(c *cobra.Command) *matchPrinter {
	return &matchPrinter{stdout: c.OutOrStdout(), json: o.json, style: o.output, live: cli.NewLive(c.ErrOrStderr())}
}

// begin takes the events of a match that is about to be played.
func (p *matchPrinter) begin(cfg *match.Config) {
	p.cfg, p.began, p.shown = cfg, time.Now(), time.Now()
	cfg.OnGame, cfg.OnPair = p.game, p.pair
}

// game prints that a game begins or has ended.
func (p *matchPrinter) game(e match.GameEvent) {
	if e.Failure != "" {
		fmt.Fprintf(p.live, "game %d, %s vs %s: %s\n", e.Number(), e.White, e.Black, e.Failure)
	}
	if p.style != outputFastchess {
		return
	}
	if e.Played == nil {
		fmt.Fprintf(p.stdout, "Started game %d of %d (%s vs %s)\n", e.Number(), p.cfg.Games(), e.White, e.Black)
		return
	}
	fmt.Fprintf(p.stdout, "Finished game %d (%s vs %s): %v {%s}\n", e.Number(), e.White, e.Black, e.Played.Outcome, game.EndText(e.Played.Outcome, e.Played.Reason))
}

// pair prints that a pair is in the log.
func (p *matchPrinter) pair(pair match.Pair, _ [2]*game.Game, r match.Result) {
	p.pairs++
	switch {
	case p.json:
		p.writeJSON(pairLine{Type: "pair", Pair: pair, Names: [2]string{r.Players[pair.Players[0]], r.Players[pair.Players[1]]},
			Counted: r.Pairs(), Of: p.cfg.Games() / 2, LLR: r.LLR})
	case p.style == outputFastchess && p.pairs%reportEvery == 0:
		p.report(&r)
	}
	text := p.progress(&r)
	if p.live.Width > 0 && p.style == outputCompact && !p.json {
		_ = p.live.Show(text) // if nobody reads, the match goes on
	} else if time.Since(p.shown) >= progressEvery {
		p.shown = time.Now()
		fmt.Fprintln(p.live, text)
	}
}

// progress is the line that says how far the match is.
func (p *matchPrinter) progress(r *match.Result) string {
	finished := fmt.Sprintf("%d of %d games", 2*r.Finished(), p.cfg.Games())
	if counted := r.Pairs(); counted != r.Finished() { // the others wait for one before them
		finished += fmt.Sprintf(" (%d counted)", 2*counted)
	}
	parts := []string{finished}
	if len(r.Encounters) == 1 {
		parts = append(parts, fmt.Sprintf("Elo %v", r.Encounters[0].Elo))
	} else {
		s := &r.Standings[0]
		if score, ok := s.Games.Score(); ok {
			parts = append(parts, fmt.Sprintf("%s leads with %.1f %%", s.Name, 100*score))
		}
	}
	if r.SPRT != nil {
		lower, upper := r.SPRT.Bounds()
		parts = append(parts, fmt.Sprintf("LLR %.2f (%.2f, %.2f)", r.LLR, lower, upper))
	}
	left := float64(p.remaining(r)) / float64(p.pairs) * float64(time.Since(p.began))
	return strings.Join(append(parts, fmt.Sprintf("ETA %v", time.Duration(left).Round(time.Second))), ", ")
}

// remaining is the number of pairs that will probably still be played: all, or
// those until the test decides if its ratio goes on as it has done.
func (p *matchPrinter) remaining(r *match.Result) int {
	all := p.cfg.Games()/2 - r.Finished()
	if r.SPRT == nil || r.LLR == 0 {
		return all
	}
	lower, upper := r.SPRT.Bounds()
	bound := upper
	if r.LLR < 0 {
		bound = lower
	}
	return max(0, min(all, int(float64(r.Pairs())*(bound-r.LLR)/r.LLR)))
}

// report prints the result as far as it goes in fastchess's frame.
func (p *matchPrinter) report(r *match.Result) {
	const frame = "--------------------------------------------------"
	fmt.Fprintf(p.stdout, "%s\n%v%s\n", frame, r, frame)
}

// end prints the result; err is what the match ended with. Without any pair
// there is nothing to print.
func (p *matchPrinter) end(r *match.Result, err error) error {
	_ = p.live.Show()
	if err != nil && r.Finished() == 0 {
		return nil
	}
	if r.Timing.Pairs > 0 {
		fmt.Fprintln(p.live, p.speed(&r.Timing))
	}
	switch {
	case p.json:
		return p.writeJSON(newResultLine(r))
	case p.style == outputFastchess:
		p.report(r)
	default:
		fmt.Fprint(p.stdout, r)
	}
	return nil
}

// speed says what time the games took and how much of it the players did not
// have.
func (p *matchPrinter) speed(t *match.Timing) string {
	took := time.Since(p.began)
	text := fmt.Sprintf("%d games in %v, %.1f games/min", 2*t.Pairs, took.Round(100*time.Millisecond), 2*float64(t.Pairs)/took.Minutes())
	if share, ok := t.Overhead(); ok {
		text += fmt.Sprintf(", the runner took %.2f %% of the players' %v", 100*share, t.Searching.Round(100*time.Millisecond))
	}
	return text
}

// pairLine is a finished pair as --json prints it.
type pairLine struct {
	Type string `json:"type"` // "pair"
	match.Pair
	Names   [2]string `json:"names"`   // of A and B
	Counted int       `json:"counted"` // pairs without gaps
	Of      int       `json:"of"`      // pairs in all
	LLR     float64   `json:"llr"`     // 0 without SPRT
}

// resultLine is the result as --json prints it.
type resultLine struct {
	Type string `json:"type"` // "result"
	match.Result
	Unbiased *unbiasedLine `json:"unbiased,omitempty"` // if a sequential test has stopped
	Overhead *float64      `json:"overhead,omitempty"` // the runner's time as a share of the players'
}

type unbiasedLine struct {
	Elo  rating.Estimate `json:"elo"`
	NElo rating.Estimate `json:"nelo"`
}

func newResultLine(r *match.Result) resultLine {
	line := resultLine{Type: "result", Result: *r}
	if elo, nElo, ok := r.Unbiased(); ok {
		line.Unbiased = &unbiasedLine{elo, nElo}
	}
	if share, ok := r.Timing.Overhead(); ok {
		line.Overhead = &share
	}
	return line
}

// writeJSON prints one object on a line of its own.
func (p *matchPrinter) writeJSON(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return errors.New("the result cannot be written as JSON: " + err.Error())
	}
	_, err = fmt.Fprintf(p.stdout, "%s\n", text)
	return err
}
