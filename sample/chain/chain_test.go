package chain

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/plain"
	"github.com/crazyhouse-rl/selfplay/sample/sampletest"
	"github.com/crazyhouse-rl/selfplay/search"
)

var update = flag.Bool("update", false, "rewrite golden files")

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// fixtures are .plain files: whole games; what a generator writes by default, with
// gaps; the same without the pieces dropped and promoted to; chess.
var fixtures = []struct {
	path    string
	variant *chess.Variant
	most    float64 // bytes a sample
}{
	{"testdata/crazyhouse-games.plain", chess.Crazyhouse, 3.2},
	{"../plain/testdata/crazyhouse.plain", chess.Crazyhouse, 21},
	{"../plain/testdata/crazyhouse.bin-view.plain", chess.Crazyhouse, 21},
	{"../binpack/testdata/chess.plain", chess.Chess, 6},
}

func readFixture(t testing.TB, path string, v *chess.Variant) []sample.Sample {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return sampletest.ReadAll(t, plain.NewReader(f, v))
}

// write returns the file of samples.
func write(t testing.TB, v *chess.Variant, samples []sample.Sample) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, v, sample.InternalUnit)
	if err != nil {
		t.Fatal(err)
	}
	for i := range samples {
		if err := w.Write(&samples[i]); err != nil {
			t.Fatalf("sample %d: %v", i, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestFixtures is the law of the codec on other people's data.
func TestFixtures(t *testing.T) {
	for _, f := range fixtures {
		samples := readFixture(t, f.path, f.variant)
		file := write(t, f.variant, samples)
		r := NewReader(bytes.NewReader(file))
		if r.Unit() != sample.InternalUnit || r.Variant() != f.variant {
			t.Errorf("%s: unit %v, variant %v", f.path, r.Unit(), r.Variant())
		}
		got := sampletest.ReadAll(t, r)
		if !slices.Equal(got, samples) {
			for i := range samples {
				if i >= len(got) || got[i] != samples[i] {
					t.Fatalf("%s: %d samples for %d; sample %d is %+v, expected %+v", f.path, len(got), len(samples), i, got[min(i, len(got)-1)], samples[i])
				}
			}
			t.Fatalf("%s: %d samples, expected %d", f.path, len(got), len(samples))
		}
		info, err := Recover(bytes.NewReader(file))
		if err != nil || info.Plies != int64(len(samples)) || info.End != int64(len(file)) {
			t.Errorf("%s: %+v, %v", f.path, info, err)
		}
		per := float64(len(file)) / float64(len(samples))
		t.Logf("%s: %.2f bytes a sample, %d samples in %d chains", f.path, per, len(samples), info.Items)
		if per > f.most {
			t.Errorf("%s: %.2f bytes a sample, expected at most %.1f", f.path, per, f.most)
		}
	}
}

// randomGame plays up to n random plies with random scores and flags.
func randomGame(start chess.Position, rng *rand.Rand, n int) *game.Game {
	g := &game.Game{
		ID: "crazyhouse-1-0-3-0" + strings.Repeat("7", rng.IntN(4)), Variant: start.Variant(), Start: start, Plies: []game.Ply{},
		Seed: rng.Uint64(), Limits: "nodes 400", Build: "v0.1.0",
		Nets: [2]string{strings.Repeat("0a", 32), []string{"material", strings.Repeat("0a", 32)}[rng.IntN(2)]},
	}
	if rng.IntN(3) == 0 {
		g.ID = "01890a5d-ac96-774b-bcce-b302099a8057"
	}
	line := chess.NewLine(start)
	for len(g.Plies) < n {
		if g.Outcome, g.Reason = line.Outcome(); g.Outcome != chess.Ongoing {
			return g
		}
		ply := game.Ply{Move: game.RandomMove(line.Pos(), rng), HasScore: rng.IntN(8) > 0, Train: rng.IntN(8) > 0}
		if ply.HasScore {
			ply.Score = search.Score(rng.NormFloat64() * 100)
		}
		g.Plies = append(g.Plies, ply)
		line.Push(ply.Move)
	}
	if g.Outcome, g.Reason = line.Outcome(); g.Outcome == chess.Ongoing {
		g.Outcome, g.Reason = chess.Draw, game.PlyLimit
	}
	return g
}

// games are random ones from many starts.
func games(t testing.TB, rng *rand.Rand, n int) []*game.Game {
	starts := []chess.Position{chess.Crazyhouse.Start(), chess.Crazyhouse.Start()}
	for _, fen := range []string{
		"bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN[] w GEge - 0 1",
		"r1bQ~1rk1/ppp2pp1/5n1p/8/3q~4/2N2N2/PPP2PPP/R3R1K1[BPnp] b - - 1 25",
	} {
		p, err := chess.ParseFEN(chess.Crazyhouse, fen)
		if err != nil {
			t.Fatal(err)
		}
		starts = append(starts, p)
	}
	starts[1].SetChess960(true)
	var list []*game.Game
	for i := range n {
		list = append(list, randomGame(starts[i%len(starts)], rng, rng.IntN(80)))
	}
	return list
}

// treeGames are games with policies of most of their plies.
func treeGames(t testing.TB, rng *rand.Rand, n int) []*game.Game {
	list := games(t, rng, n)
	for _, g := range list {
		pos := g.Start
		for i := range g.Plies {
			ply := &g.Plies[i]
			if i == 0 || rng.IntN(5) > 0 {
				r := search.Result{Surprise: rng.ExpFloat64()}
				var legal chess.MoveList
				pos.Legal(&legal)
				for _, m := range legal.Slice() {
					r.Policy = append(r.Policy, search.MoveProb{Move: m, Prob: float32(rng.ExpFloat64()) / float32(legal.N)})
				}
				ply.Policy = search.NewPolicy(&r)
				ply.Policy.Moves = ply.Policy.Moves[:min(20, len(ply.Policy.Moves))]
			}
			pos.Make(ply.Move)
		}
	}
	return list
}

func writeGames(t testing.TB, list []*game.Game) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, chess.Crazyhouse, sample.CentipawnUnit)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range list {
		if err := w.WriteGame(g); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestGames: games come back whole, and their samples are those of package sample.
func TestGames(t *testing.T) {
	for name, list := range map[string][]*game.Game{
		"plain":    games(t, newRand(1), 200),
		"policies": treeGames(t, newRand(11), 60),
		"some":     append(games(t, newRand(12), 5), treeGames(t, newRand(13), 1)...),
	} {
		t.Run(name, func(t *testing.T) { testGames(t, list) })
	}
}

func testGames(t *testing.T, list []*game.Game) {
	file := writeGames(t, list)
	r := NewReader(bytes.NewReader(file))
	var want []sample.Sample
	for i, g := range list {
		record, err := r.Record(nil)
		if err != nil {
			t.Fatalf("game %d: %v", i, err)
		}
		got, err := game.Decode(record)
		if err != nil || !reflect.DeepEqual(got, g) {
			t.Fatalf("game %d: %v\n got %+v\nwant %+v", i, err, got, g)
		}
		want = sample.From(g, sample.RulesClock, want)
	}
	if _, err := r.Record(nil); err != io.EOF {
		t.Errorf("after the last game: %v", err)
	}
	if got := sampletest.ReadAll(t, NewReader(bytes.NewReader(file))); !reflect.DeepEqual(got, want) {
		t.Errorf("%d samples, expected %d others", len(got), len(want))
	}
}

// TestMixed puts chains between games.
func TestMixed(t *testing.T) {
	list := games(t, newRand(2), 30)
	samples := readFixture(t, fixtures[1].path, chess.Crazyhouse)[:300]
	var out bytes.Buffer
	w, err := NewWriter(&out, chess.Crazyhouse, sample.CentipawnUnit)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range list {
		for j := range samples[10*i : 10*i+10] {
			if err := w.Write(&samples[10*i+j]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.WriteGame(g); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := NewReader(&out)
	for i, g := range list {
		var got []sample.Sample
		for {
			record, err := r.Record(nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(record) > 0 {
				if found, err := game.Decode(record); err != nil || found.ID != g.ID {
					t.Fatalf("game %d: %+v, %v", i, found, err)
				}
				break
			}
			var s sample.Sample
			if err := r.Read(&s); err != nil {
				t.Fatal(err)
			}
			got = append(got, s)
		}
		if !slices.Equal(got, samples[10*i:10*i+10]) {
			t.Fatalf("before game %d: %d samples", i, len(got))
		}
	}
}

// TestCut: of a file cut short the whole blocks are read and the rest is counted.
func TestCut(t *testing.T) {
	one := writeGames(t, games(t, newRand(3), 4))
	file := bytes.Repeat(one, 3)
	per := len(sampletest.ReadAll(t, NewReader(bytes.NewReader(one))))
	for n := 2 * len(one); n < len(file); n++ {
		r := NewReader(bytes.NewReader(file[:n]))
		if got := sampletest.ReadAll(t, r); len(got) != 2*per || r.Trailing() != int64(n-2*len(one)) {
			t.Fatalf("cut at %d: %d samples, %d bytes left", n, len(got), r.Trailing())
		}
		info, err := Recover(bytes.NewReader(file[:n]))
		if err != nil || info.Last != int64(len(one)) || info.End != int64(2*len(one)) || info.Items != 8 || info.Blocks != 2 {
			t.Fatalf("cut at %d: %+v, %v", n, info, err)
		}
	}
	for n := range headerSize {
		if got := sampletest.ReadAll(t, NewReader(bytes.NewReader(file[:n]))); len(got) != 0 {
			t.Fatalf("cut at %d: %d samples", n, len(got))
		}
	}
}

// TestDamage flips every bit of the second of three blocks: the others are read
// whole, and the damage is reported once.
func TestDamage(t *testing.T) {
	one := writeGames(t, games(t, newRand(4), 2))
	file := bytes.Repeat(one, 3)
	want := sampletest.ReadAll(t, NewReader(bytes.NewReader(one)))
	for i := range 8 * len(one) {
		file[len(one)+i/8] ^= 1 << (i % 8)
		r := NewReader(bytes.NewReader(file))
		var got []sample.Sample
		told := 0
		for {
			var s sample.Sample
			err := r.Read(&s)
			if err == io.EOF {
				break
			}
			var at *sample.ReadError
			if errors.Is(err, sample.ErrRecord) && errors.As(err, &at) && at.Offset == int64(len(one)) {
				told++
				continue
			}
			if err != nil {
				t.Fatalf("bit %d: %v", i, err)
			}
			got = append(got, s)
		}
		if told != 1 || !slices.Equal(got, slices.Concat(want, want)) || r.Trailing() != 0 {
			t.Fatalf("bit %d: told %d times, %d samples, expected %d, %d trailing", i, told, len(got), 2*len(want), r.Trailing())
		}
		file[len(one)+i/8] ^= 1 << (i % 8)
	}
}

// TestSections: sections of any size hold each block once.
func TestSections(t *testing.T) {
	var file []byte
	for seed := range uint64(6) {
		file = append(file, writeGames(t, games(t, newRand(seed), 1))...)
	}
	want := sampletest.ReadAll(t, NewReader(bytes.NewReader(file)))
	for _, size := range []int{1, 33, 100, len(file)} {
		var got []sample.Sample
		for from := 0; from < len(file); from += size {
			got = append(got, sampletest.ReadAll(t, NewSection(bytes.NewReader(file), int64(len(file)), int64(from), int64(min(from+size, len(file)))))...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("sections of %d bytes have %d samples, expected %d", size, len(got), len(want))
		}
	}
}

// TestWrongFormat: other files are refused at once.
func TestWrongFormat(t *testing.T) {
	good := writeGames(t, games(t, newRand(5), 2))
	other := bytes.Clone(good)
	h, err := parseHeader(other)
	if err != nil {
		t.Fatal(err)
	}
	h.unit = 7
	h.put(other)
	newer := bytes.Clone(good)
	newer[offVersion] = 3
	resealHeader(newer)
	for name, file := range map[string][]byte{
		"text":         []byte("fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1\n"),
		"version":      newer,
		"another unit": slices.Concat(good, other),
	} {
		r := NewReader(bytes.NewReader(file))
		var s sample.Sample
		var err error
		for err == nil {
			err = r.Read(&s)
		}
		if again := r.Read(&s); !errors.Is(err, sample.ErrFormat) || again != err {
			t.Errorf("%s: %v, then %v", name, err, again)
		}
	}
	if got := sampletest.ReadAll(t, NewReader(strings.NewReader(""))); len(got) != 0 {
		t.Error("samples of an empty file")
	}
}

func TestWriterRefuses(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, chess.Chess, sample.InternalUnit)
	if err != nil {
		t.Fatal(err)
	}
	e4 := chess.NewMove(12, 28, chess.DoublePush)
	for name, s := range map[string]sample.Sample{
		"variant": {Pos: chess.Crazyhouse.Start(), Move: e4},
		"score":   {Pos: chess.Chess.Start(), Move: e4, Score: sample.MaxScore + 1},
		"result":  {Pos: chess.Chess.Start(), Move: e4, Result: 2},
		"drop":    {Pos: chess.Chess.Start(), Move: chess.NewDrop(chess.Pawn, 40)},
	} {
		if err := w.Write(&s); !errors.Is(err, sample.ErrRecord) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.WriteGame(games(t, newRand(6), 1)[0]); !errors.Is(err, sample.ErrRecord) {
		t.Errorf("game: %v", err)
	}
	if err := w.Close(); err != nil || out.Len() != 0 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	if err := w.Write(&sample.Sample{Pos: chess.Chess.Start(), Move: e4}); err == nil {
		t.Error("write after Close")
	}
	if _, err := NewWriter(&out, nil, sample.InternalUnit); !errors.Is(err, sample.ErrFormat) {
		t.Errorf("no variant: %v", err)
	}
	if _, err := NewWriter(&out, chess.Chess, 1<<16); !errors.Is(err, sample.ErrFormat) {
		t.Errorf("unit: %v", err)
	}
}

// TestConnect finds every legal move of many positions again.
func TestConnect(t *testing.T) {
	rng := newRand(7)
	for _, g := range games(t, rng, 40) {
		pos := g.Start
		for _, ply := range g.Plies {
			var legal chess.MoveList
			pos.Legal(&legal)
			for _, m := range legal.Slice() {
				next := pos
				next.Make(m)
				if got := connect(&pos, &next); got != m {
					t.Fatalf("%s in %s: found %s", pos.UCI(m), pos.FEN(), pos.UCI(got))
				}
				next.SetClocks(next.HalfmoveClock()+1, next.FullmoveNumber())
				if got := connect(&pos, &next); got != chess.NoMove {
					t.Fatalf("%s in %s leads to a wrong clock", pos.UCI(got), pos.FEN())
				}
			}
			pos.Make(ply.Move)
		}
	}
}

// TestNoAllocation holds reader and writer to it, samples of one chain.
func TestNoAllocation(t *testing.T) {
	samples := readFixture(t, fixtures[0].path, chess.Crazyhouse)[:30]
	w, err := NewWriter(io.Discard, chess.Crazyhouse, sample.InternalUnit)
	if err != nil {
		t.Fatal(err)
	}
	file := bytes.NewReader(write(t, chess.Crazyhouse, readFixture(t, fixtures[0].path, chess.Crazyhouse)))
	r := NewReader(file)
	var s sample.Sample
	if n := testing.AllocsPerRun(50, func() {
		for i := range samples {
			if err := w.Write(&samples[i]); err != nil {
				t.Fatal(err)
			}
			if err := r.Read(&s); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestGolden reads the files of every version ever written.
func TestGolden(t *testing.T) {
	samples := readFixture(t, fixtures[1].path, chess.Crazyhouse)[:200]
	list := games(t, newRand(8), 20)
	golden := map[string][]byte{
		"v1/games.chain":   writeGames(t, list),
		"v1/samples.chain": write(t, chess.Crazyhouse, samples),
		"v2/games.chain":   writeGames(t, treeGames(t, newRand(14), 4)),
	}
	for name, file := range golden {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, file, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, file) {
			t.Errorf("%s: the writer gives other bytes", path)
		}
		got := sampletest.ReadAll(t, NewReader(bytes.NewReader(b)))
		if name == "v1/samples.chain" && !slices.Equal(got, samples) {
			t.Errorf("%s: %d samples, expected %d others", path, len(got), len(samples))
		}
	}
}
