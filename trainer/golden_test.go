package trainer

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/golden"
)

var update = flag.Bool("update", false, "rewrite golden files")

// goldenHeader is the trainer's part of a checkpoint with every key of the state
// set.
func goldenHeader(t *testing.T) []byte {
	t.Helper()
	tr := &Trainer{
		state: state{
			Step: 1234, Samples: 1 << 60, Drawn: 1<<60 + 8, Origin: 1000, RateScale: 0.25, AverageSum: 0.0625, AverageWeight: 0.75,
			HeldOut: &Loss{Mean: 0.02, Score: 0.01, Result: 0.1, SignAccuracy: 0.7, Positions: 5000, Decided: 4900},
		},
		rng: rand.NewPCG(5, drawStream),
	}
	head, err := tr.header([]byte("caller's \x00\xff"))
	if err != nil {
		t.Fatal(err)
	}
	return head
}

// stateText says what readState found, the generator by what it draws next.
func stateText(s state, rng *rand.PCG) []byte {
	draws, l := *rng, s.HeldOut
	held := fmt.Sprintf("{Mean:%v Score:%v Result:%v SignAccuracy:%v Positions:%d Decided:%d}", l.Mean, l.Score, l.Result, l.SignAccuracy, l.Positions, l.Decided)
	text := fmt.Appendf(nil, "step %d, samples %d, schedules from %d\naverage %v/%v\nheld out %s\ncaller %q\nnext draws %d %d\n",
		s.Step, s.Samples, s.Origin, s.AverageSum, s.AverageWeight, held, s.Caller, draws.Uint64(), draws.Uint64())
	if s.RateScale != 0 || s.Drawn != s.Samples { // since version 2
		text = fmt.Appendf(text, "drawn %d, rate times %v\n", s.Drawn, s.RateScale)
	}
	return text
}

// TestGolden reads the trainer's part of checkpoints of every version ever
// written; a text beside each says what is in it. One of the present version must
// also be written as the same bytes.
func TestGolden(t *testing.T) {
	present := golden.Present(checkpointVersion, "state.bin")
	if *update {
		writeGolden(t, present)
	}
	for _, path := range golden.Versions(t, present) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(textBeside(path))
		if err != nil {
			t.Fatal(err)
		}
		r := bytes.NewReader(data)
		s, rng, err := readState(r)
		if err != nil || r.Len() != 0 {
			t.Errorf("%s: %d bytes left: %v", path, r.Len(), err)
			continue
		}
		if got := stateText(s, rng); !bytes.Equal(got, want) {
			t.Errorf("%s: found\n%s\nwant\n%s", path, got, want)
		}
		if again := goldenHeader(t); path == present && !bytes.Equal(again, data) {
			t.Errorf("%s: written as\n%q\nwant\n%q", path, again, data)
		}
	}
}

func textBeside(path string) string { return strings.TrimSuffix(path, ".bin") + ".txt" }

func writeGolden(t *testing.T, path string) {
	t.Helper()
	head := goldenHeader(t)
	s, rng, err := readState(bytes.NewReader(head))
	if err != nil {
		t.Fatal(err)
	}
	golden.Write(t, path, head)
	golden.Write(t, textBeside(path), stateText(s, rng))
}
