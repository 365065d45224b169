package selfplay

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

func TestRelabelDepth(t *testing.T) {
	for text, want := range map[string]int{"off": -1, "quiescence": 0, "depth1": 1, "depth6": 6} {
		depth, on, err := relabelDepth(text)
		if err != nil || on != (want >= 0) || on && depth != want {
			t.Errorf("%q: depth %d, %v, error %v", text, depth, on, err)
		}
	}
	for _, bad := range []string{"", "depth", "depth0", "depth7", "depth+1", "depth1 ", "2", "on"} {
		if _, _, err := relabelDepth(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestRelabel: the positions drawn are those drawn without, their scores those of the
// present net by a fresh engine, on any number of threads, and everything else stays.
func TestRelabel(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Train.Relabel, cfg.Train.Mirror = "depth2", 0 // positions are scored before they are mirrored
	l := filledLearner(t, cfg)
	a, b := verifyNets(t, cfg)
	draw := func(seed uint64) []sample.Sample {
		t.Helper()
		dst := make([]sample.Sample, 80)
		if err := l.source.Draw(rand.New(rand.NewPCG(seed, 1)), dst); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	plain := draw(1)
	x := l.source.relabel
	for _, depth := range []int{2, 0} {
		for _, n := range []*net{a, b} {
			want := make([]search.Score, len(plain))
			for i := range want {
				score, known := labelOf(ab.New(n.Evaluator, ab.Options{HashMB: 1}), &plain[i].Pos, depth)
				if !known {
					t.Fatalf("depth %d: no score of %s", depth, plain[i].Pos.FEN())
				}
				want[i] = search.Score(score)
			}
			for threads := 1; threads <= 3; threads++ {
				x.depth, x.threads, x.of = depth, threads, nil
				x.present.Store(n)
				got := draw(1)
				changed := 0
				for i := range got {
					if got[i].Score != want[i] {
						t.Fatalf("depth %d: score %d, expected %d", depth, got[i].Score, want[i])
					}
					if got[i].Score != plain[i].Score {
						changed++
					}
					if got[i].Score = plain[i].Score; !reflect.DeepEqual(got[i], plain[i]) {
						t.Fatalf("more than the score is another: %+v, expected %+v", got[i], plain[i])
					}
				}
				if changed == 0 {
					t.Errorf("depth %d: no score is another", depth)
				}
				made := x.made
				if draw(1); x.made != made {
					t.Errorf("depth %d: %d labels are searched for again", depth, x.made-made)
				}
			}
		}
	}
	x.present.Store(nil)
	if got := draw(1); !reflect.DeepEqual(got, plain) {
		t.Error("without a net scores are others")
	}
}

// TestFromInside: positions from inside searches take the place of the share of the samples that
// is set, on any number of threads the same; their scores are those of searches of their own,
// and they have no result. All others stay what relabelling makes of them.
func TestFromInside(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Train.Relabel, cfg.Train.Mirror = "depth2", 0 // positions are scored before they are mirrored
	l := filledLearner(t, cfg)
	n, _ := verifyNets(t, cfg)
	x := l.source.relabel
	x.present.Store(n)
	draw := func(share float64, threads int) []sample.Sample {
		t.Helper()
		x.share, x.threads, x.of = share, threads, nil
		dst := make([]sample.Sample, 150)
		if err := l.source.Draw(rand.New(rand.NewPCG(1, 1)), dst); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	countInside := func(samples []sample.Sample) (n int) {
		for i := range samples {
			if samples[i].NoResult {
				n++
			}
		}
		return n
	}
	played := map[uint64]bool{}
	for _, s := range draw(0, 1) {
		if s.NoResult {
			t.Fatal("a share of 0 replaces samples")
		}
		played[s.Pos.Key()] = true
	}
	if all := countInside(draw(1, 2)); all < 100 {
		t.Errorf("a share of 1 replaces %d of 150 samples", all)
	}
	got := draw(0.25, 1)
	if some := countInside(got); some < 15 || some > 50 {
		t.Errorf("a share of 0.25 replaces %d of 150 samples", some)
	}
	inside := 0
	for i := range got {
		s := &got[i]
		if want, known := labelOf(ab.New(n.Evaluator, ab.Options{HashMB: 1}), &s.Pos, 2); !known || int(s.Score) != int(want) {
			t.Fatalf("score %d, expected %d (%v)", s.Score, want, known)
		}
		if !s.NoResult {
			continue
		}
		if s.Move != chess.NoMove || s.Result != 0 || s.Pos.InCheck() {
			t.Errorf("found %+v", s)
		}
		if !played[s.Pos.Key()] {
			inside++
		}
	}
	if inside < 15 {
		t.Errorf("%d positions were not played", inside)
	}
	for threads := 2; threads <= 3; threads++ {
		if again := draw(0.25, threads); !reflect.DeepEqual(again, got) {
			t.Errorf("others with %d threads", threads)
		}
	}
}

// TestRelabelLeaves: a sample without a score, or in a position without legal moves,
// stays as it was.
func TestRelabelLeaves(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	x := &relabeller{threads: 2, event: func(string, ...any) {}}
	x.present.Store(randomNNUE(t, cfg, 1))
	mated, err := chess.ParseFEN(chess.Crazyhouse, "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR[] w KQkq - 1 3")
	if err != nil {
		t.Fatal(err)
	}
	want := []sample.Sample{{Pos: mated, Score: 77}, {Pos: chess.Crazyhouse.Start(), Score: sample.NoScore}}
	got := slices.Clone(want)
	if x.label(got); !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v", got)
	}
}

// TestRelabelFollows: a loop labels by the net that it published, and trains on.
func TestRelabelFollows(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Train.Relabel, cfg.Gate.Elo0, cfg.Gate.Elo1 = "quiescence", -1000, -900
	r := openRun(t, dir, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	done := make(chan struct{})
	go func() { // ends the loop once positions are labelled, which may be long after a net is published
		defer close(done)
		for pause.For(ctx, 20*time.Millisecond) {
			if data, err := os.ReadFile(filepath.Join(dir, eventsFile)); err == nil && bytes.Contains(data, []byte("positions are labelled anew")) {
				cancel()
			}
		}
	}()
	err := r.Loop(ctx, Limits{})
	cancel()
	<-done
	if err := errors.Join(err, r.Close()); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	passed := passedNets(t, dir)
	var labelled []string
	for _, e := range events(t, dir) {
		if e["msg"] == "positions are labelled anew" {
			labelled = append(labelled, e["net"].(string))
		}
	}
	if len(labelled) == 0 {
		t.Errorf("nothing is labelled, nets %v have passed the gate", passed)
	}
	for _, net := range labelled {
		if !slices.Contains(passed, net) {
			t.Errorf("labelled by net %v, nets %v have passed the gate", net, passed)
		}
	}
}
