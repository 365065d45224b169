package match

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// Figures are what pairs say of one player against another, or against all
// those it met taken as one.
type Figures struct {
	Pairs rating.Pentanomial `json:"pairs"`
	Games rating.Trinomial   `json:"games"` // the games of Pairs: losses, draws, wins
	Elo   rating.Estimate    `json:"elo"`   // of a stopped test: a little too far out
	NElo  rating.Estimate    `json:"nelo"`
	LOS   float64            `json:"los"` // likelihood of superiority in [0,1]
}

func newFigures(p rating.Pentanomial) Figures {
	return Figures{Pairs: p, Games: p.Games(), Elo: p.Elo(), NElo: p.NElo(), LOS: p.LOS()}
}

// Encounter is what the pairs of two players have shown, from A's side.
type Encounter struct {
	A int `json:"a"` // indices of the players
	B int `json:"b"`
	Figures
	// Ahead are finished pairs that no figure includes: they were running when
	// the test decided, or lie past a pair not yet finished.
	Ahead rating.Pentanomial `json:"ahead"`
}

// Failures counts the games a player lost by failing.
type Failures struct {
	Time    int `json:"time"`    // no move in time
	Illegal int `json:"illegal"` // a move that is not legal
	Crash   int `json:"crash"`   // anything else: no answer at all, or one that is no move
}

// Total returns the number of games lost by failing.
func (f Failures) Total() int { return f.Time + f.Illegal + f.Crash }

func (f *Failures) count(reason string) {
	switch reason {
	case game.ReasonText(game.TimeForfeit):
		f.Time++
	case game.ReasonText(game.IllegalMove):
		f.Illegal++
	default:
		f.Crash++
	}
}

// Standing is one player's place in the table. Its Elo is the difference that
// its share of points has in one encounter: its performance against those it
// met, which for players that met others cannot be compared. Of a log,
// package rating makes ratings that can.
type Standing struct {
	Rank   int    `json:"rank"` // from 1, by share of points
	Player int    `json:"player"`
	Name   string `json:"name"`
	Figures
	Failures Failures `json:"failures"`
}

// Adjudication counts the games that did not end by the rules, and shows by
// those played on how far to trust that.
type Adjudication struct {
	Score  int `json:"score"`  // games ended because of the players' scores
	Length int `json:"length"` // games ended by the ply limit
	Tested int `json:"tested"` // games that scores would have ended, but that were played to their end by the rules
	Wrong  int `json:"wrong"`  // of those: where the end was another
}

// Timing is where the time of a match went, of the pairs that this call of Run
// played.
type Timing struct {
	Pairs     int           `json:"pairs"`
	Playing   time.Duration `json:"playing_ns"`   // of all pairs, from taking a pair up until it was in the log
	Searching time.Duration `json:"searching_ns"` // of that, inside the players' searches
}

func (t *Timing) add(o Timing) {
	t.Pairs += o.Pairs
	t.Playing += o.Playing
	t.Searching += o.Searching
}

// Overhead returns the time of playing that was not spent in searches, as a
// share of that which was: handing over positions, preparing players for a new
// game, rules, records. It is false if nothing was searched.
func (t Timing) Overhead() (float64, bool) {
	if t.Searching <= 0 {
		return 0, false
	}
	return float64(t.Playing-t.Searching) / float64(t.Searching), true
}

// Result is what a match has shown so far. All figures but Timing rest on the
// finished pairs counted from pair 0 without gaps, up to the one after which
// the sequential test decided, if it did.
type Result struct {
	// Conditions says what was played, for a reader: variant, limits, openings.
	Conditions string      `json:"conditions"`
	Players    []string    `json:"players"`    // names
	Standings  []Standing  `json:"standings"`  // the best first
	Encounters []Encounter `json:"encounters"` // in the order of the schedule; one if there are two players

	SPRT    *rating.SPRT    `json:"sprt,omitempty"` // nil: a match of fixed length
	LLR     float64         `json:"llr"`            // 0 without SPRT
	Verdict rating.Decision `json:"verdict"`        // Continue: not decided

	Endings      map[string]int `json:"endings"` // games by the reason they ended
	Adjudication Adjudication   `json:"adjudication"`
	Timing       Timing         `json:"timing"`
}

// Pairs returns the number of pairs that count.
func (r *Result) Pairs() int {
	n := 0
	for i := range r.Encounters {
		n += r.Encounters[i].Pairs.Pairs()
	}
	return n
}

// Finished returns the number of all pairs finished.
func (r *Result) Finished() int {
	n := r.Pairs()
	for i := range r.Encounters {
		n += r.Encounters[i].Ahead.Pairs()
	}
	return n
}

// tally counts finished pairs, given in any order, into a Result.
type tally struct {
	result   Result     // Standings are made by snapshot, and so are Encounters but for Pairs
	failures []Failures // of every player
	counted  int        // pairs
	ahead    map[int]Pair
}

func newTally(cfg *Config, encounters [][2]int) *tally {
	t := &tally{
		result:   Result{Conditions: cfg.conditions(), SPRT: cfg.SPRT, Endings: make(map[string]int)},
		failures: make([]Failures, len(cfg.Players)),
		ahead:    make(map[int]Pair),
	}
	for i := range cfg.Players {
		t.result.Players = append(t.result.Players, cfg.Players[i].Name)
	}
	for _, e := range encounters {
		t.result.Encounters = append(t.result.Encounters, Encounter{A: e[0], B: e[1]})
	}
	return t
}

// add counts a pair. It must not have been added before.
func (t *tally) add(p Pair) {
	t.ahead[p.Number] = p
	for !t.decided() {
		pair, ok := t.ahead[t.counted]
		if !ok {
			return
		}
		delete(t.ahead, t.counted)
		t.count(&pair)
		t.counted++
	}
}

func (t *tally) decided() bool { return t.result.Verdict != rating.Continue }

func (t *tally) count(p *Pair) {
	r := &t.result
	_, e := place(p.Number, len(r.Encounters))
	pairs := &r.Encounters[e].Pairs
	pairs.Add(p.Outcome(0), p.Outcome(1))
	for i := range p.Games {
		g := &p.Games[i]
		r.Endings[g.Reason]++
		r.Adjudication.count(g)
		switch g.Failed {
		case "A":
			t.failures[p.Players[0]].count(g.Reason)
		case "B":
			t.failures[p.Players[1]].count(g.Reason)
		}
	}
	if r.SPRT != nil {
		r.LLR = r.SPRT.LLR(*pairs)
		r.Verdict = r.SPRT.Status(r.LLR)
	}
}

func (a *Adjudication) count(g *GameResult) {
	switch g.Reason {
	case game.ReasonText(game.AdjudicatedWin), game.ReasonText(game.AdjudicatedDraw), game.ReasonText(game.Resigned):
		a.Score++
	case game.ReasonText(game.PlyLimit):
		a.Length++
	}
	if g.Adjudged != "" {
		a.Tested++
		if g.Adjudged != g.Result {
			a.Wrong++
		}
	}
}

// snapshot returns the result so far; it shares nothing with later ones.
func (t *tally) snapshot() Result {
	r := t.result
	r.Players, r.Endings = slices.Clone(r.Players), maps.Clone(r.Endings)
	r.Encounters = make([]Encounter, len(t.result.Encounters))
	for i, e := range t.result.Encounters {
		r.Encounters[i] = Encounter{A: e.A, B: e.B, Figures: newFigures(e.Pairs)}
	}
	for _, p := range t.ahead {
		_, e := place(p.Number, len(r.Encounters))
		r.Encounters[e].Ahead.Add(p.Outcome(0), p.Outcome(1))
	}
	r.Standings = t.standings()
	return r
}

// standings makes the table.
func (t *tally) standings() []Standing {
	all := make([]rating.Pentanomial, len(t.failures))
	for _, e := range t.result.Encounters {
		addPairs(&all[e.A], e.Pairs)
		addPairs(&all[e.B], mirror(e.Pairs))
	}
	table := make([]Standing, len(all))
	for i, pairs := range all {
		table[i] = Standing{Player: i, Name: t.result.Players[i], Figures: newFigures(pairs), Failures: t.failures[i]}
	}
	slices.SortStableFunc(table, func(a, b Standing) int {
		x, _ := a.Games.Score()
		y, _ := b.Games.Score()
		return cmp.Compare(y, x)
	})
	for i := range table {
		table[i].Rank = i + 1
	}
	return table
}

// mirror returns the counts from the other side.
func mirror(p rating.Pentanomial) rating.Pentanomial {
	return rating.Pentanomial{LL: p.WW, LD: p.DW, LW: p.LW, DD: p.DD, DW: p.LD, WW: p.LL}
}

func addPairs(sum *rating.Pentanomial, p rating.Pentanomial) {
	sum.LL += p.LL
	sum.LD += p.LD
	sum.LW += p.LW
	sum.DD += p.DD
	sum.DW += p.DW
	sum.WW += p.WW
}
