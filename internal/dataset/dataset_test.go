package dataset

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

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/sampletest"
)

const (
	crazyhousePlain = "../../sample/plain/testdata/crazyhouse.plain"
	crazyhouseBin   = "../../sample/plain/testdata/crazyhouse.bin"
	crazyhouseView  = "../../sample/plain/testdata/crazyhouse.bin-view.plain"
	wholeGames      = "../../sample/chain/testdata/crazyhouse-games.plain"
	chessPlain      = "../../sample/binpack/testdata/chess.plain"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func open(t testing.TB, name string, v *chess.Variant) *Source {
	t.Helper()
	f, err := FormatOf(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(name, f, v, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func readAll(t testing.TB, name string, v *chess.Variant) []sample.Sample {
	t.Helper()
	return sampletest.ReadAll(t, open(t, name, v))
}

// target describes the file called name in a directory of its own.
func target(t testing.TB, name string, src *Source) Target {
	t.Helper()
	f, err := FormatOf(name)
	if err != nil {
		t.Fatal(err)
	}
	return Target{Name: filepath.Join(t.TempDir(), name), Format: f, Variant: src.Variant, Unit: src.Unit()}
}

// convert converts the file called in and returns the name of the new one.
func convert(t testing.TB, in, out string, v *chess.Variant, c Conversion) (string, *Conversion) {
	t.Helper()
	src := open(t, in, v)
	to := target(t, out, src)
	if err := to.Create(func(s *Sink) error { return c.Run(context.Background(), src, s) }); err != nil {
		t.Fatal(err)
	}
	return to.Name, &c
}

func mustRead(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestConvert goes through every format and back.
func TestConvert(t *testing.T) {
	for _, tc := range []struct {
		in, through string
		variant     *chess.Variant
		want        string // what comes back as .plain
	}{
		{crazyhousePlain, "x.chain", chess.Crazyhouse, crazyhousePlain},
		{crazyhousePlain, "x.bin", chess.Crazyhouse, crazyhouseView},
		{crazyhouseBin, "x.chain", chess.Crazyhouse, crazyhouseView},
		{wholeGames, "x.chain", chess.Crazyhouse, wholeGames},
		{chessPlain, "x.chain", chess.Chess, chessPlain},
		{chessPlain, "x.binpack", chess.Chess, chessPlain},
	} {
		there, _ := convert(t, tc.in, tc.through, tc.variant, Conversion{Validate: true})
		back, c := convert(t, there, "back.plain", tc.variant, Conversion{})
		if !bytes.Equal(mustRead(t, back), mustRead(t, tc.want)) {
			t.Errorf("%s through %s is not %s", tc.in, tc.through, tc.want)
		}
		if n := int64(bytes.Count(mustRead(t, tc.want), []byte("\ne\n"))); c.Counts[Kept] != n {
			t.Errorf("%s: %d samples, expected %d", tc.in, c.Counts[Kept], n)
		}
	}
	for _, through := range []string{"x.txt", "x.compact", "x.bin256"} {
		there, _ := convert(t, chessPlain, through, chess.Chess, Conversion{SkipBad: true})
		samples, want := readAll(t, there, chess.Chess), readAll(t, chessPlain, chess.Chess)
		same := 0
		for i := range min(len(samples), len(want)) {
			if samples[i].Pos.Key() == want[i].Pos.Key() && samples[i].Move == want[i].Move {
				same++
			}
		}
		if same < len(want)*9/10 {
			t.Errorf("%s: %d of %d samples come back", through, same, len(want))
		}
	}
}

// writeGames writes n random games to a .chain file.
func writeGames(t testing.TB, n int) (name string, list []*game.Game) {
	t.Helper()
	rng := newRand(1)
	to := Target{Name: filepath.Join(t.TempDir(), "games.chain"), Variant: chess.Crazyhouse, Unit: sample.CentipawnUnit}
	err := to.Create(func(s *Sink) error {
		for i := range n {
			g := &game.Game{ID: fmt.Sprintf("game-%d", i), Variant: chess.Crazyhouse, Start: chess.Crazyhouse.Start(), Outcome: chess.Draw, Reason: game.PlyLimit}
			line := chess.NewLine(g.Start)
			for range 20 {
				if outcome, reason := line.Outcome(); outcome != chess.Ongoing {
					g.Outcome, g.Reason = outcome, reason
					break
				}
				m := game.RandomMove(line.Pos(), rng)
				g.Plies = append(g.Plies, game.Ply{Move: m, Score: 7, HasScore: true, Train: len(g.Plies) >= 4})
				line.Push(m)
			}
			record, err := game.Encode(nil, g)
			if err == nil {
				err = s.WriteGame(record)
			}
			if err != nil {
				return err
			}
			list = append(list, g)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return to.Name, list
}

// ids returns the ids of the games of a .chain file, sorted.
func ids(t testing.TB, name string) []string {
	t.Helper()
	src := open(t, name, nil)
	var list []string
	for {
		record, err := src.Game()
		if err == io.EOF {
			slices.Sort(list)
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		h, err := game.DecodeHeader(record)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, h.ID)
	}
}

// TestConvertGames keeps games whole, unless they are filtered.
func TestConvertGames(t *testing.T) {
	name, list := writeGames(t, 30)
	copied, c := convert(t, name, "copy.chain", nil, Conversion{Validate: true})
	if !bytes.Equal(mustRead(t, copied), mustRead(t, name)) || c.Games != int64(len(list)) {
		t.Errorf("%d games copied, or other bytes", c.Games)
	}
	filter, err := ParseFilter("min-ply=10,no-check")
	if err != nil {
		t.Fatal(err)
	}
	filtered, c := convert(t, name, "some.chain", nil, Conversion{Filter: filter})
	if c.Games != 0 || c.Counts[ByPly] == 0 || c.Counts[ByCheck] == 0 {
		t.Errorf("%d games, %v", c.Games, c.Counts)
	}
	for _, s := range readAll(t, filtered, nil) {
		if s.Ply < 10 || s.Pos.InCheck() {
			t.Errorf("ply %d, in check %v", s.Ply, s.Pos.InCheck())
		}
	}
}

// TestErrorsSayWhere: file, record, offset, FEN.
func TestErrorsSayWhere(t *testing.T) {
	plain := mustRead(t, crazyhousePlain)
	third := 0
	for range 2 {
		third += bytes.Index(plain[third:], []byte("\ne\n")) + 3
	}
	at := third + bytes.Index(plain[third:], []byte("move ")) + 5
	spoilt := slices.Concat(plain[:at], []byte("a1a8"), plain[at+bytes.IndexByte(plain[at:], '\n'):])
	name := filepath.Join(t.TempDir(), "spoilt.plain")
	if err := os.WriteFile(name, spoilt, 0o644); err != nil {
		t.Fatal(err)
	}
	src := open(t, name, chess.Crazyhouse)
	var c Conversion
	c.Validate = true
	to := target(t, "x.bin", src)
	err := to.Create(func(s *Sink) error { return c.Run(context.Background(), src, s) })
	fen, _, _ := strings.Cut(string(plain[third+4:]), "\n")
	if !errors.Is(err, ErrIllegal) || !strings.Contains(err.Error(), fmt.Sprintf("spoilt.plain: record 2 at byte %d: illegal move: found a1a8 in %s", third, fen)) {
		t.Error(err)
	}
	if _, err := os.Stat(to.Name); err == nil {
		t.Error("the output exists")
	}
	var told []error
	samples, _, bad, err := Check(context.Background(), open(t, name, chess.Crazyhouse), true, func() {}, func(err error) { told = append(told, err) })
	if err != nil || samples != 2000 || bad != 1 || len(told) != 1 || !errors.Is(told[0], ErrIllegal) {
		t.Errorf("%d samples, %d bad, %v, %v", samples, bad, told, err)
	}
	_, _, _, err = Check(context.Background(), open(t, name, chess.Crazyhouse), false, func() {}, nil)
	if !errors.Is(err, ErrIllegal) {
		t.Error(err)
	}
}

// TestOutput: existing files stay unless told, and appending begins behind the
// last whole record.
func TestOutput(t *testing.T) {
	for _, ext := range []string{".chain", ".bin", ".plain", ".txt", ".compact"} {
		src := open(t, wholeGames, chess.Crazyhouse)
		to := target(t, "x"+ext, src)
		all := func(s *Sink) error {
			var c Conversion
			return c.Run(context.Background(), open(t, wholeGames, chess.Crazyhouse), s)
		}
		if err := to.Create(all); err != nil {
			t.Fatal(err)
		}
		once := mustRead(t, to.Name)
		if err := to.Create(all); !errors.Is(err, ErrExists) {
			t.Errorf("%s: %v", ext, err)
		}
		to.Append = true
		failed := errors.New("failed")
		if err := to.Create(func(s *Sink) error { return errors.Join(all(s), failed) }); !errors.Is(err, failed) || !bytes.Equal(mustRead(t, to.Name), once) {
			t.Errorf("%s: after a failure the file is another, %v", ext, err)
		}
		if err := os.WriteFile(to.Name, slices.Concat(once, []byte("torn")), 0o644); err != nil {
			t.Fatal(err)
		}
		notes := 0
		to.Note = func(string) { notes++ }
		if err := to.Create(all); err != nil {
			t.Fatalf("%s: %v", ext, err)
		}
		if twice := mustRead(t, to.Name); !bytes.Equal(twice, slices.Concat(once, once)) || notes != 1 {
			t.Errorf("%s: %d bytes after appending, expected twice %d; %d notes", ext, len(twice), len(once), notes)
		}
		to.Append, to.Force = false, true
		if err := to.Create(all); err != nil || !bytes.Equal(mustRead(t, to.Name), once) {
			t.Errorf("%s: not replaced, %v", ext, err)
		}
	}
}

// TestAppendBinpack does the same where blocks say how long they are.
func TestAppendBinpack(t *testing.T) {
	name, _ := convert(t, chessPlain, "x.binpack", chess.Chess, Conversion{})
	once := mustRead(t, name)
	if err := os.WriteFile(name, slices.Concat(once, once[:100]), 0o644); err != nil {
		t.Fatal(err)
	}
	src := open(t, chessPlain, chess.Chess)
	to := Target{Name: name, Format: Binpack, Variant: chess.Chess, Append: true}
	var c Conversion
	if err := to.Create(func(s *Sink) error { return c.Run(context.Background(), src, s) }); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mustRead(t, name), slices.Concat(once, once)) {
		t.Error("appended elsewhere than behind the last block")
	}
	to.Variant = chess.Crazyhouse
	if err := to.Create(nil); !errors.Is(err, ErrName) {
		t.Errorf("crazyhouse in a .binpack: %v", err)
	}
}

// TestAppendUnit converts scores to the unit of the file appended to.
func TestAppendUnit(t *testing.T) {
	name, _ := convert(t, wholeGames, "x.chain", chess.Crazyhouse, Conversion{})
	before := readAll(t, name, nil)
	games, _ := writeGames(t, 2)
	src := open(t, games, nil)
	to := Target{Name: name, Variant: chess.Crazyhouse, Unit: sample.CentipawnUnit, Append: true}
	var c Conversion
	if err := to.Create(func(s *Sink) error { return c.Run(context.Background(), src, s) }); err != nil {
		t.Fatal(err)
	}
	after := readAll(t, name, nil)
	if !slices.Equal(after[:len(before)], before) || len(after) == len(before) || after[len(before)].Score != 15 {
		t.Errorf("%d samples, then %d, the first new score %d", len(before), len(after), after[len(before)].Score)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]Format{
		"a.bin": Bin, "A.BIN": Bin, "a.bin256": Bin256, "a.plain": Plain, "a.binpack": Binpack,
		"a.chain": Chain, "a.txt": Text, "a.compact": Compact, "replay:a.bin": Replay,
	} {
		if got, err := FormatOf(name); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if got, err := ParseFormat(want.String()); err != nil || got != want {
			t.Errorf("%v: %v, %v", want, got, err)
		}
	}
	for _, name := range []string{"", "-", "a", "a.pgn", "a.bin.gz"} {
		if _, err := FormatOf(name); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := ParseFormat("pgn"); !errors.Is(err, ErrName) {
		t.Error(err)
	}
}

func TestParseFilter(t *testing.T) {
	got, err := ParseFilter("no-check, no-capture,no-draw,no-partial,no-illegal,min-ply=16,max-ply=400,max-score=3000,keep=0.25")
	want := Filter{Check: true, Capture: true, Draw: true, Partial: true, Illegal: true, MinPly: 16, MaxPly: 400, MaxScore: 3000, Keep: 0.25}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"check", "no-check=1", "min-ply", "min-ply=x", "max-score=-1", "keep=0", "keep=2", "keep=NaN", "no-check,,"} {
		if _, err := ParseFilter(bad); !errors.Is(err, ErrFilter) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestFilter counts each reason on its own.
func TestFilter(t *testing.T) {
	all := slices.Concat(readAll(t, crazyhouseBin, chess.Crazyhouse), readAll(t, wholeGames, chess.Crazyhouse))
	for text, breaks := range map[string]func(*sample.Sample) bool{
		"no-check":       func(s *sample.Sample) bool { return s.Pos.InCheck() },
		"no-capture":     func(s *sample.Sample) bool { return s.Pos.IsCapture(s.Move) || s.Move.IsPromotion() },
		"no-draw":        func(s *sample.Sample) bool { return s.Result == 0 },
		"no-partial":     func(s *sample.Sample) bool { return s.Partial },
		"min-ply=20":     func(s *sample.Sample) bool { return s.Ply < 20 },
		"max-ply=20":     func(s *sample.Sample) bool { return s.Ply > 20 },
		"max-score=1000": func(s *sample.Sample) bool { return s.Score >= 2082 || s.Score <= -2082 }, // 1000.96 rounds up
	} {
		f, err := ParseFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		out := 0
		for i := range all {
			if (f.Against(&all[i], sample.InternalUnit, nil) != Kept) != breaks(&all[i]) {
				t.Errorf("%s: sample %d", text, i)
			}
			if breaks(&all[i]) {
				out++
			}
		}
		if out == 0 || out == len(all) {
			t.Errorf("%s: leaves out %d of %d", text, out, len(all))
		}
	}
}

// sorted returns samples in an order that their content gives.
func sorted(list []sample.Sample) []string {
	var out []string
	for i := range list {
		s := &list[i]
		out = append(out, fmt.Sprint(s.Pos.FEN(), s.Move, s.Score, s.Ply, s.Result, s.Partial))
	}
	slices.Sort(out)
	return out
}

// TestShuffle: nothing is lost or added, the seed decides, memory or not.
func TestShuffle(t *testing.T) {
	want := slices.Concat(readAll(t, crazyhousePlain, chess.Crazyhouse), readAll(t, wholeGames, chess.Crazyhouse))
	for _, memory := range []int64{1 << 30, 300 * sampleBytes} {
		for _, byGame := range []bool{false, true} {
			run := func() (string, Shuffling) {
				sources := []*Source{open(t, crazyhousePlain, chess.Crazyhouse), open(t, wholeGames, chess.Crazyhouse)}
				to := target(t, "x.plain", sources[0])
				h := Shuffling{Memory: memory, ByGame: byGame, Temp: t.TempDir(), Rand: newRand(5)}
				if err := to.Create(func(s *Sink) error { return h.Run(context.Background(), sources, s) }); err != nil {
					t.Fatal(err)
				}
				if left, err := os.ReadDir(h.Temp); err != nil || len(left) > 0 {
					t.Errorf("%d temporary files left, %v", len(left), err)
				}
				return to.Name, h
			}
			name, h := run()
			again, _ := run()
			got := readAll(t, name, chess.Crazyhouse)
			if !slices.Equal(sorted(got), sorted(want)) || slices.Equal(got, want) {
				t.Errorf("memory %d, by game %v: %d samples, expected %d in another order", memory, byGame, len(got), len(want))
			}
			if !bytes.Equal(mustRead(t, name), mustRead(t, again)) {
				t.Errorf("memory %d, by game %v: another order at the second run", memory, byGame)
			}
			if h.Samples != int64(len(want)) || (h.Spilled > 0) != (memory < 1<<30) {
				t.Errorf("memory %d, by game %v: %d samples, %d bytes spilled", memory, byGame, h.Samples, h.Spilled)
			}
		}
	}
}

// TestShuffleGames keeps games whole, even where one alone fills the memory.
func TestShuffleGames(t *testing.T) {
	name, list := writeGames(t, 10)
	for _, memory := range []int64{1 << 30, 1} {
		src := open(t, name, nil)
		to := target(t, "x.chain", src)
		h := Shuffling{Memory: memory, ByGame: true, Temp: t.TempDir(), Rand: newRand(5)}
		if err := to.Create(func(s *Sink) error { return h.Run(context.Background(), []*Source{src}, s) }); err != nil {
			t.Fatal(err)
		}
		if got := ids(t, to.Name); !slices.Equal(got, ids(t, name)) || len(got) != len(list) || bytes.Equal(mustRead(t, to.Name), mustRead(t, name)) {
			t.Errorf("memory %d: %d games, expected %d in another order", memory, len(got), len(list))
		}
	}
}

// plies is a sample.Writer that remembers the plies.
type plies []uint16

func (p *plies) Write(s *sample.Sample) error {
	*p = append(*p, s.Ply)
	return nil
}

func (p *plies) Close() error { return nil }

// TestShuffleIsFair has every sample at every place about equally often.
func TestShuffleIsFair(t *testing.T) {
	const n, rounds = 6, 3000
	all := readAll(t, wholeGames, chess.Crazyhouse)[:n]
	var seen [n][n]int
	rng := newRand(6)
	for range rounds {
		var held heap
		for i := range all {
			held.add(&Game{Samples: all[i : i+1]})
		}
		var order plies
		if err := held.write(rng, &Sink{w: &order}); err != nil {
			t.Fatal(err)
		}
		for place, ply := range order {
			seen[ply][place]++
		}
	}
	for i, row := range seen {
		for place, count := range row {
			if count < rounds/n*8/10 || count > rounds/n*12/10 {
				t.Errorf("sample %d stood at %d in %d of %d", i, place, count, rounds)
			}
		}
	}
}

// TestSplit: every game is on one side, by its content alone.
func TestSplit(t *testing.T) {
	name, list := writeGames(t, 200)
	split := func(in, ext string, every uint64) (rest, held string, n SplitCounts) {
		src := open(t, in, chess.Crazyhouse)
		a, b := target(t, "a"+ext, src), target(t, "b"+ext, src)
		err := a.Create(func(a *Sink) error {
			return b.Create(func(b *Sink) (err error) {
				n, err = Split(context.Background(), src, a, b, every, nil)
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return a.Name, b.Name, n
	}
	rest, held, n := split(name, ".chain", sample.HeldOutEvery)
	got := slices.Concat(ids(t, rest), ids(t, held))
	slices.Sort(got)
	if n.Games != int64(len(list)) || n.HeldOut == 0 || !slices.Equal(got, ids(t, name)) {
		t.Errorf("%+v of %d games", n, len(list))
	}
	for _, id := range ids(t, held) {
		if !sample.HeldOut(id) {
			t.Errorf("%s is not held out in the loop", id)
		}
	}
	rest, held, n = split(wholeGames, ".plain", 4)
	if n.Games != 54 || n.HeldOut < 5 || n.HeldOut > 25 {
		t.Errorf("%+v of 54 games", n)
	}
	restOf := readAll(t, rest, chess.Crazyhouse)
	heldOf := readAll(t, held, chess.Crazyhouse)
	if !slices.Equal(sorted(slices.Concat(restOf, heldOf)), sorted(readAll(t, wholeGames, chess.Crazyhouse))) {
		t.Error("samples are lost")
	}
	firsts := 0
	for _, s := range heldOf {
		if s.Ply == 0 {
			firsts++
		}
	}
	if firsts != int(n.HeldOut) {
		t.Errorf("%d first plies in %d games", firsts, n.HeldOut)
	}
}

func TestStats(t *testing.T) {
	all := readAll(t, wholeGames, chess.Crazyhouse)
	var once, twice Stats
	keys := make(map[uint64]bool)
	for i := range all {
		once.Add(&all[i], sample.InternalUnit)
		keys[all[i].Pos.Key()] = true
	}
	for range 2 {
		for i := range all {
			twice.Add(&all[i], sample.InternalUnit)
		}
	}
	n := int64(len(all))
	if once.Samples != n || once.Games != 54 || twice.Games != 108 || once.White+once.Drawn+once.Black != n {
		t.Errorf("%+v", once)
	}
	if d, exact := once.Duplicates(); !exact || d != n-int64(len(keys)) {
		t.Errorf("%d duplicates, expected %d", d, n-int64(len(keys)))
	}
	if d, _ := twice.Duplicates(); d != 2*n-int64(len(keys)) {
		t.Errorf("%d duplicates of a file read twice", d)
	}
	if once.Illegal != 0 || once.Partial != 0 || once.Drops == [5]int64{} || once.Captures == 0 || once.Castlings == 0 || once.InCheck == 0 {
		t.Errorf("%+v", once)
	}
	for name, counts := range map[string][]int64{
		"scores": once.Scores[:], "plies": once.Plies[:], "board": once.Board[:], "held": once.Held[:], "pawns in both hands": once.Hands[0][:],
	} {
		sum := int64(0)
		for _, c := range counts {
			sum += c
		}
		if sum != n && sum != 2*n {
			t.Errorf("%s: %d of %d", name, sum, n)
		}
	}
}

// TestDistinct counts more keys than are kept.
func TestDistinct(t *testing.T) {
	var d distinct
	const n, most = 300_000, 1 << 14
	rng := newRand(7)
	for range n {
		key := rng.Uint64()
		d.add(key, most)
		d.add(key, most)
	}
	if got := d.count(); len(d.keys) > most || got < n*97/100 || got > n*103/100 {
		t.Errorf("%d keys kept, %d counted of %d", len(d.keys), got, n)
	}
}

func BenchmarkShuffleSpilled(b *testing.B) {
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		var sources []*Source
		for range 50 {
			sources = append(sources, open(b, crazyhouseBin, chess.Crazyhouse))
		}
		to := target(b, "x.bin", sources[0])
		h := Shuffling{Memory: 4 << 20, Temp: b.TempDir(), Rand: newRand(5)}
		if err := to.Create(func(s *Sink) error { return h.Run(context.Background(), sources, s) }); err != nil {
			b.Fatal(err)
		}
		n += h.Samples
		for _, s := range sources {
			s.Close()
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
}
