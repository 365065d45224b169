package dataset

import (
	"bytes"
	"errors"
	"fmt"
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

func openSet(t testing.TB, cfg SetConfig, inputs ...Input) *Set {
	t.Helper()
	cfg.Variant = chess.Crazyhouse
	s, err := OpenSet(t.Context(), cfg, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// fileInput is the input of a file's name.
func fileInput(t testing.TB, name string) Input {
	t.Helper()
	in, err := NewInput(name, chess.Crazyhouse, Extent{})
	if err != nil {
		t.Fatal(err)
	}
	return in
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

func sortedNames(names []string) []string {
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
			for _, s := range sample.From(g, sample.RulesClock, nil) {
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
		cfg := SetConfig{Seed: 4, Split: true, Newest: newest, Measured: 100, Memory: memory}
		s := openSet(t, cfg, fileInput(t, path))
		if s.Len() != n || (s.Windows() > 1) != (memory > 0) {
			t.Fatalf("%d positions in %d windows, want %d", s.Len(), s.Windows(), n)
		}
		var epochs [][]string
		for range 3 {
			epochs = append(epochs, draw(t, s, int(n)))
		}
		for i, epoch := range epochs {
			if !slices.Equal(sortedNames(epoch), want) {
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
		other := openSet(t, cfg, fileInput(t, path))
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
		if got := draw(t, openSet(t, cfg, fileInput(t, path)), 100); slices.Equal(got, all[:100]) {
			t.Error("another seed gives the same order")
		}
	}
}

func TestFilterCounts(t *testing.T) {
	path, games := chainFile(t, 60)
	f := sample.Filter{
		MinPly: 6, RequireScore: true, MaxScore: 1900, SkipInCheck: true, SkipCaptures: true,
		SkipDraws: true, ThinPly: 12, Keep: 0.5,
	}
	s := openSet(t, SetConfig{Filter: f, Seed: 1}, fileInput(t, path))
	c := s.Counts
	sum := c.Kept
	c.LeftOut(func(_ sample.Reason, n uint64) bool { sum += n; return true })
	plies := uint64(0)
	var want sample.Counts
	always := func(sample.Reason) float64 { return 0 }
	x := sample.Selection{Filter: f, Chance: always}
	for _, g := range games {
		plies += uint64(len(g.Plies))
		trained := sample.From(g, sample.RulesClock, nil)
		want.Untrained += uint64(len(g.Plies) - len(trained))
		for i := range trained {
			want.Count(x.Against(&trained[i], sample.CentipawnUnit, true))
		}
	}
	if sum != c.Samples || c.Samples != plies || c.Games != uint64(len(games)) {
		t.Errorf("%+v: sum %d, want %d plies of %d games", c, sum, plies, len(games))
	}
	if c.Untrained != want.Untrained || c.Early != want.Early || c.NoScore != want.NoScore || c.LargeScore != want.LargeScore ||
		c.InCheck != want.InCheck || c.Captures != want.Captures || c.Draws != want.Draws || c.Kept+c.Thinned+c.Skipped != want.Kept {
		t.Errorf("%+v, want as %+v", c, want)
	}
	if c.Draws == 0 || c.Thinned == 0 || c.Skipped == 0 {
		t.Errorf("%+v: expected some of every kind", c)
	}
	if half := (c.Skipped + c.Kept) / 2; c.Kept < half*8/10 || c.Kept > half*12/10 {
		t.Errorf("kept %d of %d, want about half", c.Kept, 2*half)
	}

	// What is there twice is kept once.
	once := openSet(t, SetConfig{Filter: sample.Filter{SkipDuplicates: true}}, fileInput(t, path))
	twice := openSet(t, SetConfig{Filter: sample.Filter{SkipDuplicates: true}}, fileInput(t, path), fileInput(t, path))
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

// TestQuietLeavesInWindows: data that are read again and again, since memory is short,
// have the same leaves as data that are not.
func TestQuietLeavesInWindows(t *testing.T) {
	path, _ := chainFile(t, 60)
	cfg := SetConfig{Filter: sample.Filter{QuietLeaf: true}, Seed: 1, Split: true, Measured: 50}
	whole := openSet(t, cfg, fileInput(t, path))
	cfg.Memory = whole.size / 3
	parts := openSet(t, cfg, fileInput(t, path))
	if parts.windows < 2 {
		t.Fatalf("%d windows, expected more", parts.windows)
	}
	texts := func(samples []sample.Sample) []string {
		t.Helper()
		var all []string
		for i := range samples {
			s := &samples[i]
			if s.Pos.InCheck() || sample.IsCapture(&s.Pos, s.Move) {
				t.Errorf("%s is not quiet", s.Pos.FEN())
			}
			all = append(all, fmt.Sprint(s.Pos.FEN(), s.Score, s.Result, s.Ply))
		}
		slices.Sort(all)
		return all
	}
	epoch := func(s *Set) []sample.Sample {
		batch := make([]sample.Sample, s.Len())
		if err := s.Draw(rand.New(rand.NewPCG(9, 9)), batch); err != nil {
			t.Fatal(err)
		}
		return batch
	}
	if !slices.Equal(texts(epoch(whole)), texts(epoch(parts))) {
		t.Error("an epoch differs")
	}
	if !slices.Equal(texts(whole.HeldOut(make([]sample.Sample, 50))), texts(parts.HeldOut(make([]sample.Sample, 50)))) {
		t.Error("the positions held out differ")
	}
}

// What is measured is a file as a whole, or evenly a part of it, whatever memory
// there is.
func TestMeasured(t *testing.T) {
	path, games := chainFile(t, 30)
	var want []string
	for _, g := range games {
		for _, s := range sample.From(g, sample.RulesClock, nil) {
			want = append(want, name(&s))
		}
	}
	for _, most := range []int{len(want), 100} {
		got, err := Measured(t.Context(), SetConfig{Variant: chess.Crazyhouse, Split: true, Memory: 1, Measured: most}, fileInput(t, path))
		if err != nil || len(got) != most {
			t.Fatalf("%d measured, error %v, want %d", len(got), err, most)
		}
		at := -1
		for i := range got {
			next := slices.Index(want[at+1:], name(&got[i])) + at + 1
			if gap := next - at; gap < 1 || gap > 2*len(want)/most {
				t.Fatalf("position %d of %d is %d after the one before it, of %d", i, most, gap, len(want))
			}
			at = next
		}
	}
	cfg := SetConfig{Variant: chess.Crazyhouse, Filter: sample.Filter{MinPly: 1000}, Measured: 10}
	if _, err := Measured(t.Context(), cfg, fileInput(t, path)); !errors.Is(err, ErrEmpty) {
		t.Errorf("error %v, want ErrEmpty", err)
	}
}

// Reading that takes long reports from time to time how far it has come, within the
// memory and beyond, but reading ahead does not.
func TestProgress(t *testing.T) {
	path, _ := chainFile(t, 200)
	for _, memory := range []int64{0, 4000 * sampleSize} {
		synctest.Test(t, func(t *testing.T) {
			var told []uint64
			cfg := SetConfig{
				Memory: memory,
				Bucket: func(*chess.Position) int { time.Sleep(progressPeriod / 6000); return 0 },
				Progress: func(name string, positions uint64) {
					if name != path {
						t.Errorf("reported %q, want %q", name, path)
					}
					told = append(told, positions)
				},
			}
			s := openSet(t, cfg, fileInput(t, path))
			if len(told) != 1 || told[0] < 6000 || told[0] >= s.Counts.Samples {
				t.Errorf("memory %d: reported %d, want once, of more than 6000 positions and less than all", memory, told)
			}
			draw(t, s, int(s.Len()))
			if len(told) != 1 {
				t.Errorf("memory %d: reading ahead was reported", memory)
			}
		})
	}
}

// TestClock: samples of games say how far the end is, and count their clocks as
// asked to.
func TestClock(t *testing.T) {
	path, games := chainFile(t, 5)
	for _, clock := range []sample.Clock{sample.RulesClock, sample.PlanesClock} {
		want := map[string]uint16{}
		for _, g := range games {
			for _, s := range sample.From(g, clock, nil) {
				want[name(&s)] = s.PliesLeft
			}
		}
		s := openSet(t, SetConfig{Clock: clock}, fileInput(t, path))
		batch := make([]sample.Sample, s.Len())
		if err := s.Draw(rand.New(rand.NewPCG(1, 1)), batch); err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			if left, ok := want[name(&batch[i])]; !ok || left != batch[i].PliesLeft {
				t.Fatalf("clock %d: %d plies left at ply %d of %s, expected %d", clock, batch[i].PliesLeft, batch[i].Ply, batch[i].Pos.FEN(), left)
			}
		}
	}
}

// policyFile writes games with policies into a file.
func policyFile(t testing.TB) string {
	t.Helper()
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
	return path
}

// What the searches made of the moves counts as memory too.
func TestMemoryOfPolicies(t *testing.T) {
	path := policyFile(t)
	held := func(w *window) (size int64) {
		for i := range w.samples.n {
			var s sample.Sample
			w.samples.get(i, &s)
			size += sampleSize + int64(unsafe.Sizeof(*s.Policy)) + 4*int64(len(s.Policy.Moves))
		}
		return size
	}
	all := openSet(t, SetConfig{}, fileInput(t, path))
	size := held(&all.window)
	if least := int64(all.Len()) * (sampleSize + 24); size < least {
		t.Fatalf("%d bytes, want some policies, so at least %d", size, least)
	}
	if s := openSet(t, SetConfig{Memory: size}, fileInput(t, path)); s.Windows() != 1 {
		t.Errorf("%d windows for %d bytes, want 1", s.Windows(), size)
	}
	for _, memory := range []int64{size - 1, size / 2} {
		s := openSet(t, SetConfig{Memory: memory}, fileInput(t, path))
		if want := int((2*size + memory - 1) / memory); s.Windows() != want || held(&s.window) > memory*6/10 {
			t.Errorf("%d windows, the first of %d bytes, want %d in %d bytes, two at a time", s.Windows(), held(&s.window), want, memory)
		}
	}
	if s := openSet(t, SetConfig{Memory: size * 2 / 5, Newest: 0.5}, fileInput(t, path)); s.Windows() != 3 {
		t.Errorf("%d windows for half of the positions, want 3", s.Windows())
	}
}

// BenchmarkDraw is the time to get at a position in a random order.
func BenchmarkDraw(b *testing.B) {
	path, _ := chainFile(b, 2000)
	var s *Set
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			s = openSet(b, SetConfig{}, fileInput(b, path))
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
