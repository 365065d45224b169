package match

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/search"
)

// byLot plays pairs by lot, as a player with a rating would do against the anchor that
// at is the index of. Results follow from the number of the pair and the anchor alone.
func byLot(l *Ladder, elo float64, at *int) func(context.Context, Task) (Played, error) {
	return func(_ context.Context, t Task) (Played, error) {
		rng := rand.New(rand.NewPCG(uint64(*at), uint64(t.Number)))
		opening, err := OpeningText(t.Opening)
		if err != nil {
			return Played{}, err
		}
		p := Pair{Number: t.Number, Players: t.Players, Opening: opening}
		expected := rating.ExpectedScore(elo - l.Anchors[*at].Elo)
		for g := range p.Games {
			won := rng.Float64() < expected
			p.Games[g] = GameResult{Plies: 40, Reason: "checkmate", Result: "0-1"}
			if won == (g == 0) { // A has White in the first game
				p.Games[g].Result = "1-0"
			}
		}
		return Played{Pair: p}, nil
	}
}

const testMargin = 35 // Elo

// testLadder rates a player of a strength by lot.
func testLadder(t *testing.T, elo float64) *Ladder {
	t.Helper()
	l := &Ladder{
		Player: always("net", random(1)), Pairs: 10, Margin: testMargin, Most: 20000, Dir: t.TempDir(),
		Match: Config{Variant: chess.Crazyhouse, Openings: RandomOpenings(chess.Crazyhouse, 5, 2, 7), Seed: 9, Concurrency: 3},
	}
	l.Player.Limits.Nodes = 400
	for name, at := range map[string]float64{"a": 0, "b": 300, "c": 500, "d": 800} {
		a := Anchor{Contestant: always(name, random(2)), Elo: at}
		a.Limits.Nodes = 400 + uint64(10*at)
		l.Anchors = append(l.Anchors, a)
	}
	slices.SortFunc(l.Anchors, func(a, b Anchor) int { return int(a.Elo - b.Elo) })
	at := 0 // the anchor whose match began last
	l.OnStart = func(cfg *Config) {
		at = slices.IndexFunc(l.Anchors, func(a Anchor) bool { return a.Name == cfg.Players[1].Name })
	}
	l.Match.PlayPair = byLot(l, elo, &at)
	return l
}

// TestLadderFindsTheRating: whatever a player's strength, its rating is within the
// interval, the interval as narrow as asked for, and it does not take many more games
// than the best choice of opponents would.
func TestLadderFindsTheRating(t *testing.T) {
	for _, elo := range []float64{-150, 250, 420, 900} {
		l := testLadder(t, elo)
		r, err := l.Rate(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		margin, ok := r.Elo.Margin()
		if !ok || margin > testMargin || math.Abs(r.Elo.Value-elo) > 2*margin {
			t.Errorf("strength %.0f: rated %v", elo, r.Elo)
		}
		games := 0
		for _, s := range r.Scores {
			if games += s.Games; s.Games < 2*l.Pairs {
				t.Errorf("strength %.0f: %d games against %s, expected %d or more", elo, s.Games, s.Anchor, 2*l.Pairs)
			}
		}
		// A game at equal strength has a variance of 1/4 and a slope as large; the
		// farther the nearest opponent is the less a game tells.
		nearest := math.Inf(1)
		for _, a := range l.Anchors {
			nearest = min(nearest, math.Abs(elo-a.Elo))
		}
		e := rating.ExpectedScore(nearest)
		best := math.Pow(1.96*400/math.Ln10/testMargin, 2) / (e * (1 - e))
		if games != r.Games || float64(games) > 2.5*best {
			t.Errorf("strength %.0f: %d games (%d), expected at most 2.5 times %.0f", elo, games, r.Games, best)
		}
	}
}

// TestLadderResumes: a ladder that was stopped at any pair ends with the same rating as
// one that was not, and plays no pair twice.
func TestLadderResumes(t *testing.T) {
	whole := testLadder(t, 350)
	played := 0
	count := func(Pair, *Anchor) { played++ }
	whole.OnPair = count
	want, err := whole.Rate(context.Background())
	if err != nil || played != want.Games/2 {
		t.Fatalf("%d pairs played for %d games, error %v", played, want.Games, err)
	}
	for _, stop := range []int{1, 25, 100, played - 1} {
		l := testLadder(t, 350)
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		l.OnPair = func(Pair, *Anchor) {
			if n++; n == stop {
				cancel()
			}
		}
		if _, err := l.Rate(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at %d: error %v", stop, err)
		}
		if r, err := l.Rating(context.Background()); err != nil || r.Games != 2*n {
			t.Errorf("stopped at %d: rated by %d games, %d played, error %v", stop, r.Games, 2*n, err)
		}
		l.OnPair = func(Pair, *Anchor) { n++ }
		got, err := l.Rate(context.Background())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("stopped at %d: %+v, error %v, expected %+v", stop, got, err, want)
		}
		if n != played {
			t.Errorf("stopped at %d: %d pairs played, expected %d", stop, n, played)
		}
	}
}

// TestLadderBounds: without a margin, and with a bound on the pairs, no more is played.
func TestLadderBounds(t *testing.T) {
	l := testLadder(t, 350)
	l.Margin = 0
	if r, err := l.Rate(context.Background()); err != nil || r.Games != 80 {
		t.Errorf("without a margin: %d games, expected 20 against each; error %v", r.Games, err)
	}
	l = testLadder(t, 350)
	l.Most = 101
	if r, err := l.Rate(context.Background()); err != nil || r.Games != 202 {
		t.Errorf("at most 101 pairs: %d games; error %v", r.Games, err)
	}
	// One that wins all is never sure, however alike the games are.
	l = testLadder(t, 9000)
	l.Most, l.Anchors = 50, l.Anchors[:1]
	if r, err := l.Rate(context.Background()); err != nil || r.Games != 100 {
		t.Errorf("all won: %v by %d games, expected 100; error %v", r.Elo, r.Games, err)
	}
	// It has a rating all the same.
	l = testLadder(t, 9000)
	l.Margin, l.Anchors = 0, l.Anchors[:1]
	if r, err := l.Rate(context.Background()); err != nil || !(r.Elo.Value > 400) || r.Scores[0].Score != 1 {
		t.Errorf("all won: %+v, error %v", r, err)
	}
}

// TestLadderLogsAreThoseOfThePlayer: another net of the same name has its own logs, and
// a name cannot lead out of the directory.
func TestLadderLogsAreThoseOfThePlayer(t *testing.T) {
	l := testLadder(t, 100)
	l.Margin, l.Player.Name = 0, "../net"
	if _, err := l.Rate(context.Background()); err != nil {
		t.Fatal(err)
	}
	l.Player.Net = "another"
	if _, err := l.Rate(context.Background()); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(l.Dir, "*.jsonl"))
	if err != nil || len(logs) != 2*len(l.Anchors) {
		t.Errorf("logs %q, error %v", logs, err)
	}
	// A damaged log is an error that names it.
	if err := os.WriteFile(logs[0], []byte("{\n{\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Rating(context.Background()); !errors.Is(err, ErrBadLog) {
		t.Errorf("a damaged log: error %v", err)
	}
}

// TestLadderKey: ratings compare by the same opponents and rules, whatever the player is.
func TestLadderKey(t *testing.T) {
	want := testLadder(t, 0).Key()
	for name, c := range map[string]struct {
		change func(*Ladder)
		same   bool
	}{
		"another net":              {func(l *Ladder) { l.Player.Name, l.Player.Net = "other", "id" }, true},
		"more games":               {func(l *Ladder) { l.Pairs, l.Margin, l.Most, l.Dir = 20, 5, 9, "elsewhere" }, true},
		"other limits":             {func(l *Ladder) { l.Player.Limits.Nodes = 500 }, false},
		"other seed":               {func(l *Ladder) { l.Match.Seed++ }, false},
		"fewer opponents":          {func(l *Ladder) { l.Anchors = l.Anchors[1:] }, false},
		"an opponent's net":        {func(l *Ladder) { l.Anchors[1].Net = "id" }, false},
		"an opponent's rating":     {func(l *Ladder) { l.Anchors[1].Elo++ }, false},
		"how sure that rating is":  {func(l *Ladder) { l.Anchors[1].SD++ }, false},
		"settings of the opponent": {func(l *Ladder) { l.Anchors[0].Settings = "hash 1 MiB" }, false},
	} {
		l := testLadder(t, 0)
		c.change(l)
		if got := l.Key(); (got == want) != c.same {
			t.Errorf("%s: found key %s, that of before is %s", name, got, want)
		}
	}
}

// An opponent that dies ends the ladder: the games that it loses say nothing of the player.
func TestLadderEndsWithItsOpponent(t *testing.T) {
	l := testLadder(t, 0)
	l.Match.PlayPair, l.Match.Concurrency = nil, 1
	l.Anchors = l.Anchors[:1]
	l.Anchors[0].Contestant = always("a", func(context.Context, *chess.Line, search.Limits) (search.Result, error) {
		return search.Result{}, errors.New("a bad day")
	})
	l.Anchors[0].Limits.Nodes = 400
	if r, err := l.Rate(t.Context()); err == nil || !strings.Contains(err.Error(), "a bad day") {
		t.Errorf("found %+v, error %v, expected that of the opponent", r, err)
	}
}

func TestLadderRefuses(t *testing.T) {
	for name, change := range map[string]func(*Ladder){
		"no anchors":      func(l *Ladder) { l.Anchors = nil },
		"no directory":    func(l *Ladder) { l.Dir = "" },
		"no pairs":        func(l *Ladder) { l.Pairs = 0 },
		"negative margin": func(l *Ladder) { l.Margin = -1 },
		"no limits":       func(l *Ladder) { l.Player.Limits = search.Limits{} },
		"name of another": func(l *Ladder) { l.Player.Name = "a" },
	} {
		l := testLadder(t, 0)
		change(l)
		if _, err := l.Rate(context.Background()); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: error %v, expected ErrConfig", name, err)
		}
	}
}

func TestApportion(t *testing.T) {
	for _, c := range []struct {
		n       int
		weights []float64
		want    []int
	}{
		{10, []float64{1, 1}, []int{5, 5}},
		{10, []float64{1, 2}, []int{3, 7}},
		{1, []float64{1, 1, 1.1}, []int{0, 0, 1}},
		{7, []float64{1, 1, 1}, []int{3, 2, 2}},
	} {
		if got := apportion(c.n, c.weights); !slices.Equal(got, c.want) {
			t.Errorf("%d by %v: found %v, expected %v", c.n, c.weights, got, c.want)
		}
	}
}
