package selfplay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/nets"
)

// LadderDir is the folder of a run's directory in which the command ladder keeps the games
// of the run's nets against opponents of known strength, and RatingsFile in it what came
// of them. No role of the run reads or writes them.
const (
	LadderDir   = "ladder"
	RatingsFile = "ratings.json"
)

const (
	ratingsSchema  = 1
	maxRatingBytes = 4 << 20
	ratingsRemedy  = "remove it, and selfplay ladder --history makes it again of the games beside it"
)

// ErrRatings says that a file of ratings cannot be used.
var ErrRatings = errors.New("ratings of a run's nets")

// RatedNet is a net of a run with its rating on the scale of a ladder.
type RatedNet struct {
	Net        string    `json:"net"` // id
	Generation int       `json:"generation"`
	Offered    time.Time `json:"offered"` // when it was; zero: not known
	Stored     uint64    `json:"stored"`  // games that were stored by then
	Rated      time.Time `json:"rated"`
	Build      string    `json:"build"`  // that rated it
	Ladder     string    `json:"ladder"` // key of the opponents and rules: ratings of different ladders are not compared
	Limits     string    `json:"limits"` // of the net's searches
	Elo        float64   `json:"elo"`
	Low        float64   `json:"low"` // ends of its 95 % interval
	High       float64   `json:"high"`
	Games      int       `json:"games"`
	Scores     []Scored  `json:"scores"`
}

// Scored is what a net made against one opponent.
type Scored struct {
	Opponent string  `json:"opponent"`
	Elo      float64 `json:"elo"` // of the opponent
	Games    int     `json:"games"`
	Score    float64 `json:"score"` // share of points in [0,1]
}

// NewRatedNet is the rating of a net that the run has made. Who calls it says when.
func NewRatedNet(n HistoryNet, ladder string, r *match.LadderRating) RatedNet {
	out := RatedNet{
		Net: n.ID, Generation: n.Generation, Offered: n.Offered, Stored: n.Games, Ladder: ladder, Limits: r.Limits,
		Elo: r.Elo.Value, Low: r.Elo.Low, High: r.Elo.High, Games: r.Games,
	}
	for _, s := range r.Scores {
		out.Scores = append(out.Scores, Scored{s.Anchor, s.Elo, s.Games, s.Score})
	}
	return out
}

// Margin is half of the 95 % interval, Elo.
func (n *RatedNet) Margin() float64 { return (n.High - n.Low) / 2 }

// Ratings are those of a run's nets, by generation.
type Ratings struct {
	Schema int        `json:"schema"`
	Nets   []RatedNet `json:"nets"`
}

func ratingsPath(dir string) string { return filepath.Join(dir, LadderDir, RatingsFile) }

// ReadRatings reads the ratings of the run in a directory; there are none if there is no
// file. Errors wrap ErrRatings or are those of reading it.
func ReadRatings(dir string) (Ratings, error) {
	var r Ratings
	path := ratingsPath(dir)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil && info.Size() > maxRatingBytes {
		err = fmt.Errorf("%s: %w: found %d bytes, expected at most %d: %s", path, ErrRatings, info.Size(), maxRatingBytes, ratingsRemedy)
	}
	if err == nil {
		err = durable.ReadObject(path, ratingsRemedy, &r)
	}
	if err == nil {
		if err = r.check(); err != nil {
			err = fmt.Errorf("%s: %w: %w: %s", path, ErrRatings, err, ratingsRemedy)
		}
	}
	if err != nil {
		return Ratings{}, err
	}
	return r, nil
}

func (r *Ratings) check() error {
	if r.Schema != ratingsSchema {
		return fmt.Errorf("found schema %d, expected %d", r.Schema, ratingsSchema)
	}
	for _, n := range r.Nets {
		if len(n.Scores) == 0 {
			return fmt.Errorf("net %.12s: found no scores, expected one against each opponent", n.Net)
		}
		if !(n.Low <= n.Elo && n.Elo <= n.High) || math.IsInf(n.High-n.Low, 0) {
			return fmt.Errorf("net %.12s: found %v between %v and %v, expected a finite interval around a rating", n.Net, n.Elo, n.Low, n.High)
		}
	}
	return nil
}

// Of returns the rating of a net by a ladder.
func (r *Ratings) Of(net, ladder string) (RatedNet, bool) {
	i := slices.IndexFunc(r.Nets, func(n RatedNet) bool { return n.Net == net && n.Ladder == ladder })
	if i < 0 {
		return RatedNet{}, false
	}
	return r.Nets[i], true
}

// Put adds a rating, or puts it in the place of the net's earlier one by the same ladder.
func (r *Ratings) Put(n RatedNet) {
	r.Nets = slices.DeleteFunc(r.Nets, func(o RatedNet) bool { return o.Net == n.Net && o.Ladder == n.Ladder })
	r.Nets = append(r.Nets, n)
	slices.SortStableFunc(r.Nets, func(a, b RatedNet) int { return a.Generation - b.Generation })
}

// Write writes the ratings into the directory of the run, where LadderDir is.
func (r *Ratings) Write(dir string) error {
	r.Schema = ratingsSchema
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRatings, err)
	}
	return durable.WriteSummed(ratingsPath(dir), append(text, '\n'))
}

// HistoryNet is a net of a run's history whose file is in the run's directory.
type HistoryNet struct {
	nets.Manifest
	Path    string    // of its file
	Offered time.Time // zero: not known
	number  int       // among the nets of the history, those deleted since included, from 0
}

// History returns the nets of the run in a directory whose files are still there, by
// generation: those that the gate has let through, or if no verdict is known in the
// directory, all that were offered. With every above 1 it returns each net of that number
// only, counted from the first of the run, and the newest. It reads what a loop writes and
// locks nothing; a net may be deleted right after. The error wraps nets.ErrNotFound if
// there is none.
func History(dir string, every int) ([]HistoryNet, error) {
	folder := filepath.Join(dir, netsDir)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: %s: found no folder %s, expected the directory of a run", nets.ErrNotFound, dir, netsDir)
	}
	store, err := nets.Open(folder)
	if err != nil {
		return nil, err
	}
	here, err := store.List()
	if err != nil && !errors.Is(err, nets.ErrNotFound) { // that one was deleted meanwhile
		return nil, err
	}
	c, err := curveOf(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	offered := make(map[string]time.Time, len(c.Offered))
	for _, o := range c.Offered {
		offered[o.Net] = o.Time
	}
	passed := map[string]int{} // by their order
	for _, j := range c.Judged {
		if _, known := passed[j.Net]; j.Passed && !known {
			passed[j.Net] = len(passed)
		}
	}
	var all []HistoryNet
	for _, m := range here {
		number, ok := passed[m.ID]
		if len(passed) == 0 {
			number, ok = m.Generation-1, true
		}
		if ok && store.Has(m.ID) {
			all = append(all, HistoryNet{m, store.Path(m.ID), offered[m.ID], number})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: %s: found no net of the run's history", nets.ErrNotFound, folder)
	}
	newest := all[len(all)-1].ID
	return slices.DeleteFunc(all, func(n HistoryNet) bool { return every > 1 && n.number%every != 0 && n.ID != newest }), nil
}
