package pool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
	"github.com/crazyhouse-rl/selfplay/search"
)

// randomGame plays 60 random moves; the first four may not be trained on.
func randomGame(rng *rand.Rand, id int) *game.Game {
	g := &game.Game{ID: fmt.Sprintf("game %d", id), Variant: chess.Crazyhouse, Start: chess.Crazyhouse.Start(), Build: "test"}
	pos := g.Start
	var moves chess.MoveList
	for i := range 60 {
		moves.N = 0
		if pos.Legal(&moves); moves.N == 0 {
			return randomGame(rng, id)
		}
		m := moves.Moves[rng.IntN(moves.N)]
		ply := game.Ply{Move: m, Train: i >= 4}
		if ply.HasScore = i >= 4 && i != 7; ply.HasScore {
			ply.Score = search.Score(rng.IntN(4001) - 2000)
		}
		g.Plies = append(g.Plies, ply)
		pos.Make(m)
	}
	if !pos.HasLegalMove() {
		return randomGame(rng, id)
	}
	g.Outcome, g.Reason = chess.Win(chess.Color(rng.IntN(2))), game.AdjudicatedWin
	if rng.IntN(4) == 0 {
		g.Outcome, g.Reason = chess.Draw, game.AdjudicatedDraw
	}
	g.Adjudged = g.Outcome
	return g
}

// chainFile writes games into a file and returns them.
func chainFile(t testing.TB, games int) (string, []*game.Game) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 1))
	var data bytes.Buffer
	w, err := chain.NewWriter(&data, chess.Crazyhouse, sample.CentipawnUnit)
	if err != nil {
		t.Fatal(err)
	}
	var all []*game.Game
	for i := range games {
		g := randomGame(rng, i)
		if err := w.WriteGame(g); err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "games.chain")
	if err := os.WriteFile(path, data.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, all
}

func open(t testing.TB, cfg Config, inputs ...Input) *Set {
	t.Helper()
	cfg.Variant = chess.Crazyhouse
	s, err := Open(t.Context(), cfg, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// name tells samples of random games apart.
func name(s *sample.Sample) string {
	return fmt.Sprintf("%s %v %d %d %d", s.Pos.FEN(), s.Move, s.Score, s.Result, s.Ply)
}

func draw(t testing.TB, s *Set, n int) []string {
	t.Helper()
	batch := make([]sample.Sample, n)
	if err := s.Draw(rand.New(rand.NewPCG(9, 9)), batch); err != nil {
		t.Fatal(err)
	}
	names := make([]string, n)
	for i := range batch {
		names[i] = name(&batch[i])
	}
	return names
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return names
}

// Every epoch has every training position once, in another order; with little
// memory too. Nothing of held-out games or of the newest part is among them.
func TestEpochs(t *testing.T) {
	path, games := chainFile(t, 120)
	const newest = 0.1
	var want []string
	var trained [][]string // of games, in order
	for _, g := range games {
		var names []string
		if !sample.HeldOut(g.ID) {
			for _, s := range sample.From(g, sample.Filter{}, nil, nil) {
				names = append(names, name(&s))
			}
		}
		trained = append(trained, names)
		want = append(want, names...)
	}
	keep := uint64((1 - newest) * float64(len(want)))
	n := uint64(0)
	want = nil
	for _, names := range trained {
		if n >= keep {
			break
		}
		n += uint64(len(names))
		want = append(want, names...)
	}
	slices.Sort(want)

	for _, memory := range []int64{0, int64(n) * sampleSize / 3} {
		cfg := Config{Seed: 4, Split: true, Newest: newest, Measured: 100, Memory: memory}
		s := open(t, cfg, Chain(path))
		if s.Len() != n || (s.Windows() > 1) != (memory > 0) {
			t.Fatalf("%d positions in %d windows, want %d", s.Len(), s.Windows(), n)
		}
		var epochs [][]string
		for range 3 {
			epochs = append(epochs, draw(t, s, int(n)))
		}
		for i, epoch := range epochs {
			if !slices.Equal(sorted(epoch), want) {
				t.Fatalf("memory %d: epoch %d lacks positions or has others", memory, i)
			}
			if slices.Equal(epoch, epochs[(i+1)%3]) {
				t.Errorf("memory %d: epochs %d and the next are in the same order", memory, i)
			}
		}
		all := slices.Concat(epochs...)

		// Any place can be gone to, also back.
		for _, at := range []int{2*int(n) + 17, 5, int(n) - 3, 0} {
			if err := s.Seek(uint64(at)); err != nil {
				t.Fatal(err)
			}
			if got := draw(t, s, 40); !slices.Equal(got, all[at:at+40]) {
				t.Errorf("memory %d: samples from %d on differ", memory, at)
			}
		}
		other := open(t, cfg, Chain(path))
		if got := draw(t, other, 100); !slices.Equal(got, all[:100]) {
			t.Error("the same seed gives another order")
		}

		held := s.HeldOut(make([]sample.Sample, 200))
		if len(held) != 100 || len(s.Newest()) != 100 {
			t.Errorf("%d held out, %d newest, want 100 of each", len(held), len(s.Newest()))
		}
		for _, one := range slices.Concat(held, s.Newest()) {
			if _, found := slices.BinarySearch(want, name(&one)); found {
				t.Fatal("a position is measured and trained on")
			}
		}
		for i, one := range s.HeldOut(make([]sample.Sample, 10)) {
			if name(&one) != name(&held[10*i]) {
				t.Errorf("position %d of ten held out is not position %d of a hundred", i, 10*i)
			}
		}
		cfg.Seed = 5
		if got := draw(t, open(t, cfg, Chain(path)), 100); slices.Equal(got, all[:100]) {
			t.Error("another seed gives the same order")
		}
	}
}

func TestFilterCounts(t *testing.T) {
	path, games := chainFile(t, 60)
	f := Filter{
		Filter:    sample.Filter{MinPly: 6, RequireScore: true, MaxScore: 1900, SkipInCheck: true, SkipCaptures: true},
		SkipDraws: true, ThinPly: 12, RandomSkip: 1,
	}
	s := open(t, Config{Filter: f, Seed: 1}, Chain(path))
	c := s.Counts
	sum := c.Untrained + c.Early + c.NoScore + c.LargeScore + c.InCheck + c.Captures + c.Draws + c.Thinned + c.Skipped + c.Duplicates + c.Kept
	plies := uint64(0)
	var want sample.Counts
	for _, g := range games {
		plies += uint64(len(g.Plies))
		sample.From(g, f.Filter, &want, nil)
	}
	if sum != c.Samples || c.Samples != plies || c.Games != uint64(len(games)) {
		t.Errorf("%+v: sum %d, want %d plies of %d games", c, sum, plies, len(games))
	}
	if c.Untrained != want.Untrained || c.Early != want.Early || c.NoScore != want.NoScore || c.LargeScore != want.LargeScore ||
		c.InCheck != want.InCheck || c.Captures != want.Captures {
		t.Errorf("%+v, want as %+v", c, want)
	}
	if c.Draws == 0 || c.Thinned == 0 || c.Skipped == 0 {
		t.Errorf("%+v: expected some of every kind", c)
	}
	if half := (c.Skipped + c.Kept) / 2; c.Kept < half*8/10 || c.Kept > half*12/10 {
		t.Errorf("kept %d of %d, want about half", c.Kept, 2*half)
	}

	// What is there twice is kept once.
	once := open(t, Config{Filter: Filter{SkipDuplicates: true}}, Chain(path))
	twice := open(t, Config{Filter: Filter{SkipDuplicates: true}}, Chain(path), Chain(path))
	if twice.Len() != once.Len() || twice.Counts.Duplicates != 2*once.Counts.Duplicates+once.Counts.Kept {
		t.Errorf("twice %+v, once %+v", twice.Counts, once.Counts)
	}
	var text strings.Builder
	if err := s.Print(&text); err != nil || !strings.Contains(text.String(), "left out: thinned opening") {
		t.Errorf("printed %q, error %v", text.String(), err)
	}
	if err := s.Stats.Draw("data").Save(filepath.Join(t.TempDir(), "data.png")); err != nil {
		t.Error(err)
	}
}

// What is measured is a file as a whole, or evenly a part of it, whatever memory
// there is.
func TestMeasured(t *testing.T) {
	path, games := chainFile(t, 30)
	var want []string
	for _, g := range games {
		for _, s := range sample.From(g, sample.Filter{}, nil, nil) {
			want = append(want, name(&s))
		}
	}
	for _, most := range []int{len(want), 100} {
		got, err := Measured(t.Context(), Config{Variant: chess.Crazyhouse, Split: true, Memory: 1, Measured: most}, Chain(path))
		if err != nil || len(got) != most {
			t.Fatalf("%d measured, error %v, want %d", len(got), err, most)
		}
		at := -1
		for i := range got {
			next := slices.Index(want[at+1:], name(&got[i])) + at + 1
			if gap := next - at; gap < 1 || gap > 2*len(want)/most {
				t.Fatalf("position %d of %d is %d behind that before it, of %d", i, most, gap, len(want))
			}
			at = next
		}
	}
	cfg := Config{Variant: chess.Crazyhouse, Filter: Filter{Filter: sample.Filter{MinPly: 1000}}, Measured: 10}
	if _, err := Measured(t.Context(), cfg, Chain(path)); !errors.Is(err, ErrEmpty) {
		t.Errorf("error %v, want ErrEmpty", err)
	}
}

// Reading that takes long tells now and then how far it has come, within the
// memory and beyond, but not of reading ahead.
func TestProgress(t *testing.T) {
	path, _ := chainFile(t, 200)
	for _, memory := range []int64{0, 4000 * sampleSize} {
		synctest.Test(t, func(t *testing.T) {
			var told []uint64
			cfg := Config{
				Memory: memory,
				Bucket: func(*chess.Position) int { time.Sleep(progressPeriod / 6000); return 0 },
				Progress: func(name string, positions uint64) {
					if name != path {
						t.Errorf("told of %q, want %q", name, path)
					}
					told = append(told, positions)
				},
			}
			s := open(t, cfg, Chain(path))
			if len(told) != 1 || told[0] < 6000 || told[0] >= s.Counts.Samples {
				t.Errorf("memory %d: told %d, want once, of more than 6000 positions and less than all", memory, told)
			}
			draw(t, s, int(s.Len()))
			if len(told) != 1 {
				t.Errorf("memory %d: told of reading ahead", memory)
			}
		})
	}
}

// list is a reader of samples in memory, in sample.InternalUnit.
type list struct{ rest []sample.Sample }

func (l *list) Unit() sample.Unit { return sample.InternalUnit }
func (l *list) Trailing() int64   { return 0 }
func (l *list) Offset() int64     { return -1 }
func (l *list) Read(s *sample.Sample) error {
	if len(l.rest) == 0 {
		return io.EOF
	}
	*s, l.rest = l.rest[0], l.rest[1:]
	return nil
}

// A sample without a score is an even position to whoever does not filter it, not a
// won one.
func TestSamplesWithoutScore(t *testing.T) {
	all := sample.From(randomGame(rand.New(rand.NewPCG(3, 1)), 1), sample.Filter{}, nil, nil)
	for i := range all {
		all[i].Score = noScore
	}
	s := open(t, Config{}, Samples("list", func() (sample.Reader, func(), error) { return &list{all}, func() {}, nil }))
	for _, one := range s.Some(len(all)) {
		if one.Score != 0 {
			t.Errorf("found score %d, want 0", one.Score)
		}
	}
	if s.Counts.Kept != uint64(len(all)) {
		t.Errorf("kept %d of %d", s.Counts.Kept, len(all))
	}
}

// Samples of a reader are converted, split by game, and the value for no score
// is known.
func TestSamples(t *testing.T) {
	var all []sample.Sample
	rng := rand.New(rand.NewPCG(3, 1))
	for i := range 200 {
		all = append(all, sample.From(randomGame(rng, i), sample.Filter{}, nil, nil)...)
	}
	all[10].Score = noScore
	input := Samples("list", func() (sample.Reader, func(), error) { return &list{all}, func() {}, nil })
	s := open(t, Config{Split: true, Measured: 1 << 20, Filter: Filter{Filter: sample.Filter{RequireScore: true}}}, input)
	if s.Counts.Games != 200 || s.Counts.NoScore != 1 {
		t.Errorf("%d games, %d without score, want 200, 1", s.Counts.Games, s.Counts.NoScore)
	}
	held := map[string]bool{}
	for _, one := range s.HeldOut(make([]sample.Sample, len(all))) {
		held[name(&one)] = true
	}
	if len(held) < len(all)/50 || len(held) > len(all)/8 {
		t.Errorf("%d of %d held out, want about a twentieth", len(held), len(all))
	}
	games, mixed := 0, 0
	for i := 0; i < len(all); {
		out, in := 0, 0
		for begin := i; i < len(all) && (i == begin || all[i].Ply > all[i-1].Ply); i++ {
			one := all[i]
			if one.Score == noScore {
				continue
			}
			one.Score = sample.Convert(one.Score, sample.InternalUnit, sample.CentipawnUnit)
			if held[name(&one)] {
				out++
			} else {
				in++
			}
		}
		if games++; out > 0 && in > 0 {
			mixed++
		}
	}
	if games != 200 || mixed > 0 {
		t.Errorf("%d of %d games are on both sides", mixed, games)
	}
}

func TestMirror(t *testing.T) {
	for _, tc := range []struct{ fen, want string }{
		{"6k1/5p~p1/8/8/3Pp3/8/8/1K5R[Qn] b - d3 3 9", "1k6/1pp~5/8/8/3pP3/8/8/R5K1[Qn] b - e3 3 9"},
		{"r3k2r/8/8/8/8/8/8/R3K2R[] w Kq - 0 1", ""},
	} {
		fen := strings.Replace(tc.fen, "5p~p1", "5q~p1", 1)
		want := strings.Replace(tc.want, "1pp~5", "1pq~5", 1)
		p, err := chess.ParseFEN(chess.Crazyhouse, fen)
		if err != nil {
			t.Fatal(err)
		}
		s := sample.Sample{Pos: p, Score: 5}
		if ok := mirror(&s); ok != (want != "") {
			t.Errorf("%s: mirrored: %v", fen, ok)
		} else if ok && s.Pos.FEN() != want {
			t.Errorf("%s: %s, want %s", fen, s.Pos.FEN(), want)
		}
		if want == "" {
			continue
		}
		mirrorsMoves(t, &p, &s.Pos)
		if mirror(&s); s.Pos.FEN() != p.FEN() || s.Pos.Key() != p.Key() {
			t.Errorf("%s: mirrored twice it is %s", fen, s.Pos.FEN())
		}
	}
	path, _ := chainFile(t, 20)
	s, plain := open(t, Config{Mirror: 1}, Chain(path)), open(t, Config{}, Chain(path))
	batch, unmirrored := make([]sample.Sample, s.Len()), make([]sample.Sample, s.Len())
	if err := errors.Join(s.Draw(rand.New(rand.NewPCG(1, 1)), batch), plain.Draw(rand.New(rand.NewPCG(1, 1)), unmirrored)); err != nil {
		t.Fatal(err)
	}
	still := uint64(0)
	for i := range batch {
		if batch[i].Pos.CastlingRooks() != 0 {
			still++
		} else if mirror(&unmirrored[i]); batch[i] != unmirrored[i] || !batch[i].Pos.IsLegal(batch[i].Move) {
			t.Fatalf("%s is not mirrored", batch[i].Pos.FEN())
		}
	}
	if still == 0 || still != s.Counts.Unmirrored {
		t.Errorf("%d not mirrored, counted %d, want some", still, s.Counts.Unmirrored)
	}
}

// mirrorsMoves wants the legal moves of a position to be those of its mirror image,
// mirrored, in samples' policies too.
func mirrorsMoves(t *testing.T, p, mirrored *chess.Position) {
	t.Helper()
	var moves, others chess.MoveList
	p.Legal(&moves)
	mirrored.Legal(&others)
	s := sample.Sample{Pos: *p, Policy: &sample.Policy{Surprise: 2}}
	for _, m := range moves.Moves[:moves.N] {
		s.Policy.Moves = append(s.Policy.Moves, sample.MoveWeight{Move: m, Weight: 3})
	}
	before := s.Policy
	mirror(&s)
	if moves.N != others.N || s.Policy == before || s.Policy.Surprise != 2 || before.Moves[0].Move != moves.Moves[0] {
		t.Errorf("%s: %d moves, mirrored %d", p.FEN(), moves.N, others.N)
	}
	for _, m := range s.Policy.Moves {
		if !mirrored.IsLegal(m.Move) || m.Weight != 3 {
			t.Errorf("%s: %s is not legal", mirrored.FEN(), mirrored.UCI(m.Move))
		}
	}
}

// TestHistory: samples of games say how far the end is, if asked to.
func TestHistory(t *testing.T) {
	path, games := chainFile(t, 5)
	lengths := map[uint16]bool{}
	for _, g := range games {
		lengths[uint16(len(g.Plies))] = true
	}
	for _, history := range []bool{false, true} {
		s := open(t, Config{History: history}, Chain(path))
		batch := make([]sample.Sample, s.Len())
		if err := s.Draw(rand.New(rand.NewPCG(1, 1)), batch); err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			if length := batch[i].Ply + batch[i].PliesLeft; history && !lengths[length] || !history && batch[i].PliesLeft != 0 {
				t.Fatalf("history %v: %d plies left at ply %d", history, batch[i].PliesLeft, batch[i].Ply)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	path, _ := chainFile(t, 3)
	for _, tc := range []struct {
		cfg  Config
		want error
	}{
		{Config{}, ErrConfig},
		{Config{Variant: chess.Crazyhouse, Newest: 1}, ErrConfig},
		{Config{Variant: chess.Crazyhouse, Mirror: 2}, ErrConfig},
		{Config{Variant: chess.Crazyhouse, Memory: -1}, ErrConfig},
		{Config{Variant: chess.Crazyhouse, Filter: Filter{RandomSkip: -1}}, ErrConfig},
		{Config{Variant: chess.Crazyhouse, Filter: Filter{ThinPly: -1}}, ErrConfig},
		{Config{Variant: chess.Crazyhouse, Filter: Filter{Filter: sample.Filter{MinPly: 1000}}}, ErrEmpty},
		{Config{Variant: chess.Chess}, sample.ErrFormat},
	} {
		if _, err := Open(t.Context(), tc.cfg, Chain(path)); !errors.Is(err, tc.want) {
			t.Errorf("%+v: error %v, want %v", tc.cfg, err, tc.want)
		}
	}
	if _, err := Open(t.Context(), Config{Variant: chess.Crazyhouse}, Chain(path+"x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want ErrNotExist", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Config{Variant: chess.Crazyhouse}, Chain(path)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want Canceled", err)
	}
}

// What the searches made of the moves counts as memory too.
func TestMemoryOfPolicies(t *testing.T) {
	_, games := chainFile(t, 20)
	var data bytes.Buffer
	w, err := chain.NewWriter(&data, chess.Crazyhouse, sample.CentipawnUnit)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range games {
		pos := g.Start
		var moves chess.MoveList
		for i := range g.Plies {
			p := &sample.Policy{Surprise: 0.5}
			moves.N = 0
			pos.Legal(&moves)
			for j, m := range moves.Moves[:min(moves.N, 8)] {
				p.Moves = append(p.Moves, sample.MoveWeight{Move: m, Weight: uint16(100 - j)})
			}
			g.Plies[i].Policy = p
			pos.Make(g.Plies[i].Move)
		}
		if err := w.WriteGame(g); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "policies.chain")
	if err := errors.Join(w.Close(), os.WriteFile(path, data.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}

	held := func(w *window) (size int64) {
		for i := range w.samples.n {
			s := w.samples.at(uint32(i))
			size += sampleSize + int64(unsafe.Sizeof(*s.Policy)) + 4*int64(len(s.Policy.Moves))
		}
		return size
	}
	all := open(t, Config{}, Chain(path))
	size := held(&all.window)
	if least := int64(all.Len()) * (sampleSize + 24); size < least {
		t.Fatalf("%d bytes, want some policies, so at least %d", size, least)
	}
	if s := open(t, Config{Memory: size}, Chain(path)); s.Windows() != 1 {
		t.Errorf("%d windows for %d bytes, want 1", s.Windows(), size)
	}
	for _, memory := range []int64{size - 1, size / 2} {
		s := open(t, Config{Memory: memory}, Chain(path))
		if want := int((2*size + memory - 1) / memory); s.Windows() != want || held(&s.window) > memory*6/10 {
			t.Errorf("%d windows, the first of %d bytes, want %d in %d bytes, two at a time", s.Windows(), held(&s.window), want, memory)
		}
	}
	if s := open(t, Config{Memory: size * 2 / 5, Newest: 0.5}, Chain(path)); s.Windows() != 3 {
		t.Errorf("%d windows for half of the positions, want 3", s.Windows())
	}
}

// Data that change while they are trained on are noticed.
func TestChanged(t *testing.T) {
	path, _ := chainFile(t, 30)
	s := open(t, Config{Memory: 100 * sampleSize}, Chain(path))
	shorter, _ := chainFile(t, 20)
	if err := os.Rename(shorter, path); err != nil {
		t.Fatal(err)
	}
	var err error
	for range 20 {
		if err = s.Draw(nil, make([]sample.Sample, 100)); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrChanged) {
		t.Errorf("error %v, want ErrChanged", err)
	}
}

// addGames adds games to a replay buffer of small segments.
func addGames(t testing.TB, dir string, games []*game.Game) {
	t.Helper()
	b, err := replay.Open(dir, replay.Options{
		Variant: chess.Crazyhouse, MaxBytes: 1 << 20, SegmentBytes: 4 << 10, Window: replay.WindowRule{Min: 1, Exponent: 0.65, Slope: 0.4},
	})
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	for _, g := range games {
		record, err := game.Encode(nil, g)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	report, err := b.Ingest(records)
	if err := errors.Join(err, b.Close()); err != nil || report.Stored != len(games) {
		t.Fatalf("%d of %d games stored, error %v", report.Stored, len(games), err)
	}
}

// A buffer that grows while it is trained on, and before it is opened again, gives
// what it would as it was; one whose old games are deleted is refused.
func TestGrowingReplay(t *testing.T) {
	_, games := chainFile(t, 60)
	still := t.TempDir()
	addGames(t, still, games[:40])
	var grown string
	for _, memory := range []int64{0, 500 * sampleSize} {
		cfg := Config{Memory: memory, Seed: 2}
		want := draw(t, open(t, cfg, Replay(still, Extent{})), 6000)
		grown = t.TempDir()
		addGames(t, grown, games[:40])
		in := Replay(grown, Extent{})
		s := open(t, cfg, in)
		extent, ok := in.Extent()
		if wanted := (Extent{games[0].ID, 40}); !ok || extent != wanted {
			t.Fatalf("extent %+v, want %+v", extent, wanted)
		}
		addGames(t, grown, games[40:])
		if got := draw(t, s, 6000); !slices.Equal(got, want) {
			t.Errorf("memory %d: a growing buffer gives other positions", memory)
		}
		if got := draw(t, open(t, cfg, Replay(grown, extent)), 6000); !slices.Equal(got, want) {
			t.Errorf("memory %d: a buffer that has grown gives other positions", memory)
		}
	}
	for _, e := range []Extent{{games[0].ID, 61}, {games[1].ID, 40}} {
		if _, err := Open(t.Context(), Config{Variant: chess.Crazyhouse}, Replay(grown, e)); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), fmt.Sprintf("expected %d from %q on", e.Games, e.First)) {
			t.Errorf("%+v: error %v, want ErrChanged", e, err)
		}
	}
}

func TestKeySet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var set keySet
	twin := map[uint64]bool{}
	for range 20_000 {
		key := rng.Uint64() >> rng.IntN(60)
		if got := set.add(key); got == twin[key] {
			t.Fatalf("key %d: new %v, want %v", key, got, !twin[key])
		}
		twin[key] = true
	}
}

// BenchmarkDraw is the time to get at a position in a random order.
func BenchmarkDraw(b *testing.B) {
	path, _ := chainFile(b, 2000)
	var s *Set
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			s = open(b, Config{}, Chain(path))
		}
		b.ReportMetric(float64(s.Counts.Samples)*float64(b.N)/b.Elapsed().Seconds(), "positions/s")
	})
	batch := make([]sample.Sample, 16384)
	b.Run("draw", func(b *testing.B) {
		for b.Loop() {
			if err := s.Draw(nil, batch); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(batch))*float64(b.N)/b.Elapsed().Seconds(), "positions/s")
	})
}
