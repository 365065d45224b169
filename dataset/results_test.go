package dataset

import (
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// What is read from a format without results is trained on and counted as such, not as
// drawn.
func TestNoResults(t *testing.T) {
	for _, ext := range []string{"x.txt", "x.compact"} {
		text, _ := convert(t, crazyhousePlain, ext, chess.Crazyhouse, Conversion{SkipBad: true})
		s := openSet(t, SetConfig{Filter: sample.Filter{SkipDraws: true}}, fileInput(t, text))
		n := s.Counts.Samples
		if n == 0 || s.Counts.Kept != n || s.Stats.NoResult != n || s.Stats.Result != [3]uint64{} {
			t.Errorf("%s: %+v, results %d, %d without, expected all kept and none with one", ext, s.Counts.Counts, s.Stats.Result, s.Stats.NoResult)
		}
		batch := make([]sample.Sample, n)
		if err := s.Draw(nil, batch); err != nil {
			t.Fatal(err)
		}
		var stats Stats
		for i := range batch {
			if !batch[i].NoResult {
				t.Fatalf("%s: sample %d has a result", ext, i)
			}
			stats.Add(&batch[i], sample.CentipawnUnit)
		}
		if r := stats.Report(); r.NoResult != int64(n) || r.Draws != 0 {
			t.Errorf("%s: %d without a result, %d drawn", ext, r.NoResult, r.Draws)
		}
		var out strings.Builder
		if err := s.Print(&out); err != nil || !strings.Contains(out.String(), "without a result") {
			t.Errorf("%s: printed %q, error %v", ext, out.String(), err)
		}
	}
}

// A reader fills in all of a sample, whatever it held of a file of another format.
func TestReadFillsIn(t *testing.T) {
	games, _ := writeGames(t, 3)
	chains, _ := convert(t, crazyhousePlain, "x.chain", chess.Crazyhouse, Conversion{})
	binpack, _ := convert(t, chessPlain, "x.binpack", chess.Chess, Conversion{})
	text, _ := convert(t, chessPlain, "x.compact", chess.Chess, Conversion{})
	for name, v := range map[string]*chess.Variant{
		games: chess.Crazyhouse, chains: chess.Crazyhouse, crazyhousePlain: chess.Crazyhouse, crazyhouseBin: chess.Crazyhouse,
		binpack: chess.Chess, text: chess.Chess,
	} {
		src := open(t, name, v)
		for i, want := range readAll(t, name, v)[:10] {
			got := sample.Sample{
				Pos: chess.Chess.Start(), Result: 1, NoResult: true, Repetitions: 2, Ply: 3, Partial: true, PliesLeft: 4, Policy: new(sample.Policy),
			}
			if err := src.Read(&got); err != nil || got != want {
				t.Errorf("%s: sample %d: %+v, error %v, expected %+v", name, i, got, err, want)
			}
		}
	}
}
