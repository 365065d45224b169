package dataset

import (
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

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
	"github.com/crazyhouse-rl/selfplay/sample"
)

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

// listInput is an input of samples in memory.
func listInput(all []sample.Sample) Input {
	return Input{Name: "list", open: func() (*Source, error) { return &Source{Reader: &list{all}, close: func() {}}, nil }}
}

// bufferInput is the input of a replay buffer.
func bufferInput(t testing.TB, dir string, e Extent) Input {
	t.Helper()
	in, err := NewInput(BufferPrefix+dir, chess.Crazyhouse, e)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// A sample without a score is an even position where it is not filtered, not a
// won one.
func TestSamplesWithoutScore(t *testing.T) {
	all := sample.From(randomGame(rand.New(rand.NewPCG(3, 1)), 1), sample.RulesClock, nil)
	for i := range all {
		all[i].Score = sample.NoScore
	}
	s := openSet(t, SetConfig{}, listInput(all))
	for _, one := range s.Some(len(all)) {
		if one.HasScore() || one.ScoreOr0() != 0 {
			t.Errorf("found score %d, want none, to be taken as 0", one.Score)
		}
	}
	if s.Counts.Kept != uint64(len(all)) {
		t.Errorf("kept %d of %d", s.Counts.Kept, len(all))
	}
	if even := s.Stats.Scores[setScoreEnd/setScoreBin]; even != 0 || s.Stats.NoScore != s.Counts.Kept {
		t.Errorf("statistics have %d at score 0 and %d without a score, want 0 and %d", even, s.Stats.NoScore, s.Counts.Kept)
	}
}

// Samples of a reader are converted, split by game, and the value for no score
// is known.
func TestSamples(t *testing.T) {
	var all []sample.Sample
	rng := rand.New(rand.NewPCG(3, 1))
	for i := range 200 {
		all = append(all, sample.From(randomGame(rng, i), sample.RulesClock, nil)...)
	}
	all[10].Score = sample.NoScore
	input := listInput(all)
	s := openSet(t, SetConfig{Split: true, Measured: 1 << 20, Filter: sample.Filter{RequireScore: true}}, input)
	if s.Counts.Games != 200 || s.Counts.NoScore != 201 { // one of every game, and this
		t.Errorf("%d games, %d without score, want 200, 201", s.Counts.Games, s.Counts.NoScore)
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
			if one.Score == sample.NoScore {
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

// What a damaged or cut file has lost is reported, and why nothing is left of one.
func TestDamageIsReported(t *testing.T) {
	path, _ := chainFile(t, 60)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	another, _ := chainFile(t, 20)
	second, err := os.ReadFile(another)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := slices.Clone(whole)
	spoilt[len(spoilt)/2] ^= 1
	for _, tc := range []struct {
		name string
		data []byte
		want string // Damage, or the error where nothing is left
		left bool
	}{
		{"cut at the end", slices.Concat(whole, second[:len(second)-5]), fmt.Sprintf("the last %d bytes are no whole record", len(second)-5), true},
		{"spoilt block", slices.Concat(spoilt, second), "checksum", true},
		{"cut", whole[:len(whole)-1], fmt.Sprintf("the last %d bytes are no whole record", len(whole)-1), false},
		{"spoilt", spoilt, "checksum", false},
		{"nothing", nil, "found none in the data", false},
	} {
		file := filepath.Join(t.TempDir(), "damaged.chain")
		if err := os.WriteFile(file, tc.data, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := OpenSet(t.Context(), SetConfig{Variant: chess.Crazyhouse}, fileInput(t, file))
		if !tc.left {
			if !errors.Is(err, ErrEmpty) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error %v, want ErrEmpty with %q", tc.name, err, tc.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		var text strings.Builder
		if err := s.Print(&text); err != nil || len(s.Counts.Damage) != 1 || !strings.Contains(text.String(), "not read: "+file+": ") || !strings.Contains(text.String(), tc.want) {
			t.Errorf("%s: damage %q, printed %q, want %q; error %v", tc.name, s.Counts.Damage, text.String(), tc.want, err)
		}
		s.Close()
	}
}

// Of a replay buffer's damage, what lies between the games of the input is
// reported, and the same again when more games follow.
func TestDamagedBuffer(t *testing.T) {
	dir := t.TempDir()
	_, games := chainFile(t, 30)
	addGames(t, dir, games[:20])
	segments, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil || len(segments) == 0 {
		t.Fatalf("segments %q, error %v", segments, err)
	}
	spoil := func(path string, at int) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data[(len(data)+at)%len(data)] ^= 1
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spoil(segments[0], 100)               // the first game
	spoil(segments[len(segments)-1], -10) // the last one
	in := bufferInput(t, dir, Extent{})
	want := openSet(t, SetConfig{}, in).Counts
	if len(want.Damage) != 2 || want.Unreadable != 2 || want.Games != 18 || !strings.Contains(want.Damage[0], filepath.Base(segments[0])) ||
		!strings.Contains(want.Damage[0], "games lost: 2") {
		t.Errorf("%+v, want 18 games and two damaged in %s", want, segments[0])
	}
	extent, _ := in.Extent()
	addGames(t, dir, games[20:])
	if got := openSet(t, SetConfig{}, bufferInput(t, dir, extent)).Counts; !slices.Equal(got.Damage, want.Damage[:1]) || got.Games != want.Games {
		t.Errorf("%+v after more games, want %+v", got, want)
	}
}

// Games that are all held out are no matter of the filters.
func TestAllHeldOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	dir := t.TempDir()
	var games []*game.Game
	for id := 0; len(games) < 2; id++ {
		if g := randomGame(rng, id); sample.HeldOut(g.ID) {
			games = append(games, g)
		}
	}
	addGames(t, dir, games)
	_, err := OpenSet(t.Context(), SetConfig{Variant: chess.Crazyhouse, Split: true}, bufferInput(t, dir, Extent{}))
	if !errors.Is(err, ErrEmpty) || !strings.Contains(err.Error(), "are of held-out games") {
		t.Errorf("error %v, want ErrEmpty that names held-out games", err)
	}
}

func TestRefusals(t *testing.T) {
	path, _ := chainFile(t, 3)
	for _, tc := range []struct {
		cfg  SetConfig
		want error
	}{
		{SetConfig{}, ErrConfig},
		{SetConfig{Variant: chess.Crazyhouse, Newest: 1}, ErrConfig},
		{SetConfig{Variant: chess.Crazyhouse, Mirror: 2}, ErrConfig},
		{SetConfig{Variant: chess.Crazyhouse, Memory: -1}, ErrConfig},
		{SetConfig{Variant: chess.Crazyhouse, Filter: sample.Filter{Keep: -1}}, ErrConfig},
		{SetConfig{Variant: chess.Crazyhouse, Filter: sample.Filter{ThinPly: -1}}, ErrConfig},
		{SetConfig{Variant: chess.Crazyhouse, Filter: sample.Filter{MinPly: 1000}}, ErrEmpty},
		{SetConfig{Variant: chess.Chess}, sample.ErrFormat},
	} {
		if _, err := OpenSet(t.Context(), tc.cfg, fileInput(t, path)); !errors.Is(err, tc.want) {
			t.Errorf("%+v: error %v, want %v", tc.cfg, err, tc.want)
		}
	}
	if _, err := OpenSet(t.Context(), SetConfig{Variant: chess.Crazyhouse}, fileInput(t, filepath.Join(t.TempDir(), "none.chain"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want ErrNotExist", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := OpenSet(ctx, SetConfig{Variant: chess.Crazyhouse}, fileInput(t, path)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want Canceled", err)
	}
}

// Data that change while they are trained on are noticed.
func TestChanged(t *testing.T) {
	path, _ := chainFile(t, 30)
	s := openSet(t, SetConfig{Memory: 100 * sampleSize}, fileInput(t, path))
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
	var records [][]byte
	for _, g := range games {
		record, err := game.Encode(nil, g)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	replaytest.Store(t, dir, records...)
}

// A buffer that grows while it is trained on, and before it is opened again, gives
// what it would as it was; one whose old games are deleted is refused.
func TestGrowingReplay(t *testing.T) {
	_, games := chainFile(t, 60)
	still := t.TempDir()
	addGames(t, still, games[:40])
	var grown string
	for _, memory := range []int64{0, 500 * sampleSize} {
		cfg := SetConfig{Memory: memory, Seed: 2}
		want := draw(t, openSet(t, cfg, bufferInput(t, still, Extent{})), 6000)
		grown = t.TempDir()
		addGames(t, grown, games[:40])
		in := bufferInput(t, grown, Extent{})
		s := openSet(t, cfg, in)
		extent, ok := in.Extent()
		if wanted := (Extent{games[0].ID, 40}); !ok || extent != wanted {
			t.Fatalf("extent %+v, want %+v", extent, wanted)
		}
		addGames(t, grown, games[40:])
		if got := draw(t, s, 6000); !slices.Equal(got, want) {
			t.Errorf("memory %d: a growing buffer gives other positions", memory)
		}
		if got := draw(t, openSet(t, cfg, bufferInput(t, grown, extent)), 6000); !slices.Equal(got, want) {
			t.Errorf("memory %d: a buffer that has grown gives other positions", memory)
		}
	}
	for _, e := range []Extent{{games[0].ID, 61}, {games[1].ID, 40}} {
		if _, err := OpenSet(t.Context(), SetConfig{Variant: chess.Crazyhouse}, bufferInput(t, grown, e)); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), fmt.Sprintf("expected %d from %q on", e.Games, e.First)) {
			t.Errorf("%+v: error %v, want ErrChanged", e, err)
		}
	}
}
