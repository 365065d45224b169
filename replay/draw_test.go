package replay

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// allSamples returns the samples of the games, and the games' ids, by how
// they print. Games of random moves share only their first positions, which
// are not trained on.
func allSamples(t testing.TB, games [][]byte, f sample.Filter) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, data := range games {
		g, err := game.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range samplesOf(g, f) {
			all[key(s)] = g.ID
		}
	}
	return all
}

func key(s sample.Sample) string {
	return fmt.Sprint(s.Pos.FEN(), s.Move, s.Score, s.Result, s.Ply)
}

// Draw gives samples of training games that pass the filter, every one of
// them sooner or later.
func TestDrawIsOfTheWindow(t *testing.T) {
	for _, f := range []sample.Filter{{}, {SkipInCheck: true, SkipCaptures: true, MinPly: 8, MaxScore: 800}, {QuietLeaf: true, MinPly: 8}} {
		b := openBuffer(t, t.TempDir(), testOptions())
		games := testGames(t, 0, 60)
		appendGames(t, b, games)
		left := allSamples(t, games, f)
		all := len(left)
		held := 0
		known := make(map[string]bool)
		for k, id := range left {
			if known[k] = true; sample.HeldOut(id) {
				known[k] = false
				delete(left, k)
				held++
			}
		}
		dst := make([]sample.Sample, 20_000)
		if err := b.Draw(newRand(1), Drawing{PerGame: 4, Filter: f}, dst); err != nil {
			t.Fatal(err)
		}
		for _, s := range dst {
			if !known[key(s)] {
				t.Fatalf("%s is held out or of no game", key(s))
			}
			delete(left, key(s))
		}
		if len(left) > 0 || held == 0 {
			t.Errorf("%d of %d never drawn, %d held out", len(left), all, held)
		}
	}
}

// Positions are drawn evenly, however long their games are.
func TestDrawIsEven(t *testing.T) {
	b := openBuffer(t, t.TempDir(), testOptions())
	games := testGames(t, 0, 50)
	appendGames(t, b, games)
	f := sample.Filter{SkipInCheck: true, SkipCaptures: true}
	n := 0.0
	for _, id := range allSamples(t, games, f) {
		if !sample.HeldOut(id) {
			n++
		}
	}
	dst := make([]sample.Sample, 100_000)
	if err := b.Draw(newRand(3), Drawing{PerGame: 2, Filter: f}, dst); err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	for _, s := range dst {
		count[key(s)]++
	}
	// χ² with n−1 degrees of freedom is normal enough: mean n, variance 2n.
	// Drawing two different positions of a game makes it a little smaller.
	mean, chi := float64(len(dst))/n, 0.0
	for _, c := range count {
		chi += (float64(c) - mean) * (float64(c) - mean) / mean
	}
	if z := (chi - n) / math.Sqrt(2*n); math.Abs(z) > 5 {
		t.Errorf("χ² %.0f over %.0f positions: %.1f standard deviations off", chi, n, z)
	}
}

// Positions that were searched again are drawn as many times as often as others of
// their game as is asked for, from memory and from disk.
func TestDrawResearched(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	var games [][]byte
	for i := range 40 {
		g := testGame(i, 34)
		if len(g.Plies) < 34 {
			continue
		}
		var again []int
		for ply := opening; ply < len(g.Plies); ply += 5 {
			again = append(again, ply)
		}
		g.Limits = game.ResearchText(g.Limits, search.Limits{Nodes: 1000}, again) // 6 of 30
		games = append(games, encode(t, g))
	}
	appendGames(t, b, games)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = openBuffer(t, dir, testOptions())
	for _, weight := range []float64{0.5, 1, 3} {
		dst := make([]sample.Sample, 30_000)
		if err := b.Draw(newRand(9), Drawing{PerGame: 1, Researched: weight}, dst); err != nil {
			t.Fatal(err)
		}
		again := 0.0
		for _, s := range dst {
			if (s.Ply-opening)%5 == 0 {
				again++
			}
		}
		n, p := float64(len(dst)), 6*weight/(6*weight+24)
		if z := (again - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(z) > 5 {
			t.Errorf("weight %g: %g of %g, expected a share of %g", weight, again, n, p)
		}
	}
	dst := make([]sample.Sample, 30) // of one game, each once
	if err := b.Draw(newRand(2), Drawing{PerGame: 1000, Researched: 5}, dst); err != nil {
		t.Fatal(err)
	}
	seen := map[uint16]bool{}
	for _, s := range dst {
		seen[s.Ply] = true
	}
	if len(seen) != len(dst) {
		t.Errorf("%d different positions of %d", len(seen), len(dst))
	}
}

// Draws from the newest part take no older games than the one it begins in, and all of
// the part; a whole window is drawn from as without a part.
func TestDrawNewest(t *testing.T) {
	b := openBuffer(t, t.TempDir(), testOptions())
	appendGames(t, b, testGames(t, 0, 60))
	for _, share := range []float64{1e-9, 0.1, 0.5, 0.999} {
		rows := b.index.windowRows()
		oldest, left := max(1, uint64(share*float64(rows))), map[string]bool{}
		at := uint64(0)
		for i := len(b.index.window) - 1; i >= 0 && at < oldest; i-- {
			e := b.index.window[i]
			at += uint64(e.trainable)
			g, err := b.read(e)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range g.samples(&b.start, g.trainable(nil), &sample.Filter{}, nil, nil) {
				left[key(s)] = true
			}
		}
		dst := make([]sample.Sample, 20_000)
		if err := b.Draw(newRand(1), Drawing{PerGame: 4, Newest: share}, dst); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, s := range dst {
			if seen[key(s)] = true; !left[key(s)] {
				t.Fatalf("share %g: %s is of an older game", share, key(s))
			}
		}
		if len(seen) != len(left) {
			t.Errorf("share %g: %d of %d positions are drawn", share, len(seen), len(left))
		}
	}
	a, c := make([]sample.Sample, 300), make([]sample.Sample, 300)
	if err := errors.Join(b.Draw(newRand(1), Drawing{PerGame: 4}, a), b.Draw(newRand(1), Drawing{PerGame: 4, Newest: 1}, c)); err != nil || !reflect.DeepEqual(a, c) {
		t.Errorf("other samples of the whole window, error %v", err)
	}
}

// A draw from one game takes no position twice.
func TestDrawWithoutReplacement(t *testing.T) {
	b := openBuffer(t, t.TempDir(), testOptions())
	id := 0
	for ; sample.HeldOut(gameID(id)); id++ {
	}
	appendGames(t, b, testGames(t, id, 1))
	n := int(b.Stats().Plies)
	dst := make([]sample.Sample, n)
	if err := b.Draw(newRand(1), Drawing{PerGame: 1000}, dst); err != nil {
		t.Fatal(err)
	}
	seen := make(map[uint16]bool)
	for _, s := range dst {
		seen[s.Ply] = true
	}
	if len(seen) != n {
		t.Errorf("%d different positions of %d", len(seen), n)
	}
}

// What is drawn is what decoding the games and filtering their samples gives, with
// all that is known of them. Some games are of tree searches, some have a position
// twice.
func TestDrawTwin(t *testing.T) {
	b := openBuffer(t, t.TempDir(), testOptions())
	games := testGames(t, 0, 60)
	for i := range games {
		if i%3 == 0 {
			g := treeGame(i, 10+i%24)
			if g.Reason == game.PlyLimit {
				g.Outcome, g.Reason, g.Adjudged = chess.WhiteWins, game.AdjudicatedWin, chess.WhiteWins
			}
			games[i] = encode(t, g)
		}
	}
	games = append(games, encode(t, shuffle()))
	appendGames(t, b, games)
	for _, f := range []sample.Filter{{}, {SkipInCheck: true, SkipCaptures: true, MinPly: 8, MaxScore: 800, RequireScore: true}, {SkipInCheck: true}, {SkipCaptures: true}, {SkipDraws: true, MaxPly: 20}} {
		for _, perGame := range []int{1, 4, 1000} {
			got, want := make([]sample.Sample, 500), make([]sample.Sample, 500)
			if err := b.Draw(newRand(5), Drawing{PerGame: perGame, Filter: f}, got); err != nil {
				t.Fatal(err)
			}
			slowDraw(t, b, newRand(5), perGame, f, want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("filter %+v, %d a game: other samples are drawn", f, perGame)
			}
			if err := b.Draw(newRand(5), Drawing{PerGame: perGame, Filter: f, Researched: 1}, got); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("filter %+v, %d a game: with weight 1 other samples are drawn, error %v", f, perGame, err)
			}
		}
	}
}

// samplesOf returns the samples of g with all that is known of them.
func samplesOf(g *game.Game, f sample.Filter) []sample.Sample {
	x := sample.Selection{Filter: f}
	var kept []sample.Sample
	for _, s := range sample.From(g, sample.PlanesClock, nil) {
		if x.Against(&s, sample.CentipawnUnit, true) == sample.Kept {
			kept = append(kept, s)
		}
	}
	return kept
}

// treeGame is a test game with policies of most of its plies.
func treeGame(i, maxPlies int) *game.Game {
	g := testGame(i, maxPlies)
	for n := range g.Plies {
		if p := &g.Plies[n]; p.Train && n%5 > 0 {
			p.Policy = &search.Policy{Moves: []search.MoveWeight{{Move: p.Move, Weight: uint16(1 + n)}}, Surprise: 0.25}
		}
	}
	return g
}

// shuffle is a game in which knights go out and back.
func shuffle() *game.Game {
	g := testGame(1000, 0)
	const g1, f3, g8, f6 = chess.A1 + 6, chess.A1 + 21, chess.A1 + 62, chess.A1 + 45
	for _, m := range []chess.Move{
		chess.NewMove(g1, f3, chess.Normal), chess.NewMove(g8, f6, chess.Normal),
		chess.NewMove(f3, g1, chess.Normal), chess.NewMove(f6, g8, chess.Normal),
		chess.NewMove(g1, f3, chess.Normal), chess.NewMove(g8, f6, chess.Normal),
	} {
		g.Plies = append(g.Plies, game.Ply{Move: m, HasScore: true, Train: true})
	}
	return g
}

func slowDraw(t *testing.T, b *Buffer, rng *rand.Rand, perGame int, f sample.Filter, dst []sample.Sample) {
	t.Helper()
	for n := 0; n < len(dst); {
		row := rng.Uint64N(b.index.windowRows())
		at := 0
		for ; row >= uint64(b.index.window[at].trainable); at++ {
			row -= uint64(b.index.window[at].trainable)
		}
		encoded, err := b.readRecord(b.index.window[at])
		if err != nil {
			t.Fatal(err)
		}
		g, err := game.Decode(encoded)
		if err != nil {
			t.Fatal(err)
		}
		var left []int
		for i := range g.Plies {
			if g.Plies[i].Train {
				left = append(left, i)
			}
			g.Plies[i].Train = false
		}
		for i := range min(perGame, len(dst)-n, len(left)) {
			j := i + rng.IntN(len(left)-i)
			left[i], left[j] = left[j], left[i]
			g.Plies[left[i]].Train = true
		}
		n += copy(dst[n:], samplesOf(g, f))
	}
	rng.Shuffle(len(dst), func(i, j int) { dst[i], dst[j] = dst[j], dst[i] })
}

// The same games and the same seed give the same samples, also after a
// restart, when games come from disk.
func TestDrawIsDeterministic(t *testing.T) {
	dir := t.TempDir()
	draw := func(b *Buffer, seed uint64) []sample.Sample {
		t.Helper()
		dst := make([]sample.Sample, 1000)
		if err := b.Draw(newRand(seed), Drawing{PerGame: 3, Filter: sample.Filter{SkipCaptures: true}}, dst); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	b := openBuffer(t, dir, testOptions())
	appendGames(t, b, testGames(t, 0, 50))
	one, two := draw(b, 1), draw(b, 2)
	if !slices.Equal(one, draw(b, 1)) || slices.Equal(one, two) {
		t.Error("the seed does not decide")
	}
	held := slices.Clone(b.HeldOut(sample.Filter{}, make([]sample.Sample, 100)))
	crash(t, b)
	b = openBuffer(t, dir, testOptions())
	if !slices.Equal(one, draw(b, 1)) {
		t.Error("other samples after a restart")
	}
	if !slices.Equal(held, b.HeldOut(sample.Filter{}, make([]sample.Sample, 100))) {
		t.Error("other held-out samples after a restart")
	}
}

func TestHeldOutIsNewestFirst(t *testing.T) {
	b := openBuffer(t, t.TempDir(), testOptions())
	games := testGames(t, 0, 150)
	appendGames(t, b, games)
	var want []sample.Sample
	for _, data := range slices.Backward(games) {
		g, err := game.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if sample.HeldOut(g.ID) {
			want = append(want, samplesOf(g, sample.Filter{MinPly: 6})...)
		}
	}
	for _, n := range []int{0, 1, 50, len(want), len(want) + 10} {
		got := b.HeldOut(sample.Filter{MinPly: 6}, make([]sample.Sample, n))
		if !slices.Equal(got, want[:min(n, len(want))]) {
			t.Errorf("%d asked for: %d samples, not the newest", n, len(got))
		}
	}
}

// A game from a start position of its own keeps it.
func TestDrawKeepsStartPosition(t *testing.T) {
	start, err := chess.ParseFEN(chess.Crazyhouse, "r1b1kb1r/ppp1qppp/2n2n2/4p3/2B1P3/5N2/PPP2PPP/RNBQ1RK1[Pp] b kq - 5 6")
	if err != nil {
		t.Fatal(err)
	}
	id := 0
	for ; sample.HeldOut(gameID(id)); id++ {
	}
	g := &game.Game{
		ID: gameID(id), Variant: chess.Crazyhouse, Start: start, Outcome: chess.Draw, Reason: game.PlyLimit,
		Plies: []game.Ply{{Move: game.RandomMove(&start, newRand(1)), Train: true}},
	}
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	appendGames(t, b, [][]byte{encode(t, g)})
	for range 2 {
		dst := make([]sample.Sample, 1)
		if err := b.Draw(newRand(1), Drawing{PerGame: 1}, dst); err != nil || dst[0].Pos != start {
			t.Errorf("%v, %s", err, dst[0].Pos.FEN())
		}
		crash(t, b)
		b = openBuffer(t, dir, testOptions())
	}
}

func TestDrawRefusals(t *testing.T) {
	b := openBuffer(t, t.TempDir(), testOptions())
	dst := make([]sample.Sample, 10)
	if err := b.Draw(newRand(1), Drawing{PerGame: 1}, dst); !errors.Is(err, ErrEmpty) {
		t.Errorf("empty buffer: %v", err)
	}
	appendGames(t, b, testGames(t, 0, 10))
	if err := b.Draw(newRand(1), Drawing{PerGame: 0}, dst); !errors.Is(err, ErrConfig) {
		t.Errorf("none per game: %v", err)
	}
	if err := b.Draw(newRand(1), Drawing{PerGame: 1, Filter: sample.Filter{MinPly: 1000}}, dst); !errors.Is(err, ErrNoSamples) {
		t.Errorf("filter that passes nothing: %v", err)
	}
	if err := b.Draw(newRand(1), Drawing{PerGame: 1, Filter: sample.Filter{SkipDuplicates: true}}, dst); !errors.Is(err, ErrConfig) {
		t.Errorf("a filter of duplicates: %v", err)
	}
	if err := b.Draw(newRand(1), Drawing{PerGame: 1}, nil); err != nil {
		t.Errorf("nothing asked for: %v", err)
	}
}

// TestDrawByChance: what is left out at random is drawn that much more rarely.
func TestDrawByChance(t *testing.T) {
	b := openBuffer(t, t.TempDir(), testOptions())
	appendGames(t, b, testGames(t, 0, 60))
	const thin = 12
	counts := func(f sample.Filter) (early, late int) {
		dst := make([]sample.Sample, 20_000)
		if err := b.Draw(newRand(1), Drawing{PerGame: 4, Filter: f}, dst); err != nil {
			t.Fatal(err)
		}
		for _, s := range dst {
			if int(s.Ply) < opening+4 {
				early++
			} else if s.Ply >= thin {
				late++
			}
		}
		return early, late
	}
	early, late := counts(sample.Filter{Keep: 0.25})
	if few, all := counts(sample.Filter{Keep: 0.25, ThinPly: thin}); 10*few*late > 7*early*all || 10*few*late < 4*early*all {
		// (5+6+7+8)/4/12 of the early ones stay, all of the late ones.
		t.Errorf("%d early and %d late positions, thinned %d and %d", early, late, few, all)
	}
}

func TestConcurrentAppendAndDraw(t *testing.T) {
	o := testOptions()
	o.Run, o.MaxBytes, o.Window.Min = "run", 4*o.SegmentBytes, 300
	b := openBuffer(t, t.TempDir(), o)
	games := testGames(t, 0, 300)
	appendGames(t, b, games[:20])
	var wg sync.WaitGroup
	wg.Go(func() {
		var next Cursor
		for range 100 {
			c, err := b.ReadFrom(next, MinChunk)
			if err := errors.Join(err, b.Exclude("a", "why"), b.Include("a")); err != nil {
				t.Error(err)
				return
			}
			next = c.Next
			b.Known([]string{gameID(5)})
			b.Damage()
			b.ID()
			b.Excluded()
		}
	})
	for w := range 3 {
		wg.Go(func() {
			rng := newRand(uint64(w))
			dst := make([]sample.Sample, 64)
			for range 100 {
				if err := b.Draw(rng, Drawing{PerGame: 2}, dst); err != nil {
					t.Error(err)
					return
				}
				b.HeldOut(sample.Filter{}, dst)
				b.Stats()
			}
		})
	}
	for at := 20; at < len(games); at += 10 {
		appendGames(t, b, games[at:at+10])
	}
	wg.Wait()
	if st := b.Stats(); st.Games != 300 || st.Unreadable != 0 {
		t.Errorf("%+v", st)
	}
}

// benchmarkGames are long games, as an engine plays them.
