package match

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// playAll plays every pair of a match, without its sequential test.
func playAll(t *testing.T, cfg Config) map[int]Pair {
	t.Helper()
	pairs := make(map[int]Pair)
	cfg.SPRT = nil
	cfg.OnPair = func(p Pair, _ [2]*game.Game, _ Result) { pairs[p.Number] = p }
	mustRun(t, cfg)
	return pairs
}

// shuffled gives the pairs of a match that has been played, in an order that is drawn
// among those waited for.
type shuffled struct {
	pairs  map[int]Pair
	atOnce int // how many are waited for before one finishes
	rng    *rand.Rand

	mu      sync.Mutex
	waiting []chan struct{}
	asked   []int
	order   []int // in which they finished
	fail    int   // pairs finished before all others fail; 0: none fails
}

var errStopped = errors.New("stopped")

func (s *shuffled) play(ctx context.Context, t Task) (Played, error) {
	turn := make(chan struct{})
	s.mu.Lock()
	s.asked = append(s.asked, t.Number)
	s.waiting = append(s.waiting, turn)
	if len(s.waiting) == s.atOnce || len(s.asked) == len(s.pairs) {
		s.release()
	}
	s.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
		return Played{}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail > 0 && len(s.order) >= s.fail {
		return Played{}, errStopped
	}
	s.order = append(s.order, t.Number)
	if len(s.asked) == len(s.pairs) {
		defer s.release()
	}
	return Played{Pair: s.pairs[t.Number]}, nil
}

// release lets one of those waiting go. The caller holds the lock.
func (s *shuffled) release() {
	if len(s.waiting) == 0 {
		return
	}
	i := s.rng.IntN(len(s.waiting))
	close(s.waiting[i])
	s.waiting = slices.Delete(s.waiting, i, i+1)
}

// The result rests on the numbers of pairs: it is the same whatever the order they
// finish in, however many are played at a time, and wherever the match was stopped
// and resumed.
func TestResultDoesNotDependOnOrder(t *testing.T) {
	duel := testConfig(always("greedy", greedy(1)), always("random", random(2)), 24)
	sequential := duel
	sequential.SPRT = &rating.SPRT{Elo0: 0, Elo1: 200, Alpha: 0.05, Beta: 0.05}
	undecided := duel
	undecided.SPRT = &rating.SPRT{Elo0: 0, Elo1: 1, Alpha: 0.001, Beta: 0.001}
	robin := tournament(4)
	gauntlet := tournament(4)
	gauntlet.Format, gauntlet.Seeds = Gauntlet, 2
	for name, cfg := range map[string]Config{
		"fixed length": duel, "sequential": sequential, "undecided": undecided, "round robin": robin, "gauntlet": gauntlet,
	} {
		want, pairs := settled(mustRun(t, cfg)), playAll(t, cfg)
		for seed := range uint64(10) {
			rng := rand.New(rand.NewPCG(seed, 1))
			cfg := cfg
			cfg.Log = filepath.Join(t.TempDir(), "match.jsonl")
			for stop := rng.IntN(len(pairs)); ; stop = 0 {
				logged := logged(t, cfg)
				left := make(map[int]Pair)
				for n, p := range pairs {
					if !logged[n] {
						left[n] = p
					}
				}
				cfg.Concurrency = 1 + rng.IntN(50)
				s := &shuffled{pairs: left, atOnce: min(cfg.Concurrency, len(left)), rng: rng, fail: stop}
				cfg.PlayPair = s.play
				got, err := Run(context.Background(), cfg)
				if errors.Is(err, errStopped) {
					continue
				}
				if err != nil || !reflect.DeepEqual(settled(got), want) {
					t.Fatalf("%s: error %v; finished in the order %v:\n%vwant\n%v", name, err, s.order, got, Result(want))
				}
				break
			}
		}
	}
}

// logged returns the pairs in the log of a match.
func logged(t *testing.T, cfg Config) map[int]bool {
	t.Helper()
	pairs := make(map[int]bool)
	f, err := os.Open(cfg.Log)
	if errors.Is(err, os.ErrNotExist) {
		return pairs
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := ReadLog(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range log.Pairs {
		pairs[p.Number] = true
	}
	return pairs
}

// Once the test has decided in the order of pairs, no pair is begun, and those under
// way are stopped and not waited for.
func TestDecidedMatchBeginsNothing(t *testing.T) {
	cfg := testConfig(always("greedy", greedy(1)), always("random", random(2)), 30)
	cfg.SPRT = &rating.SPRT{Elo0: 0, Elo1: 200, Alpha: 0.05, Beta: 0.05}
	pairs, alone := playAll(t, cfg), mustRun(t, cfg)
	needed := alone.Pairs()
	const atOnce = 7
	cfg.Concurrency = atOnce
	most, stopped := 0, 0
	var mu sync.Mutex
	cfg.PlayPair = func(ctx context.Context, task Task) (Played, error) {
		mu.Lock()
		most = max(most, task.Number)
		mu.Unlock()
		if task.Number < needed {
			return Played{Pair: pairs[task.Number]}, nil
		}
		<-ctx.Done() // a pair that never finishes
		mu.Lock()
		defer mu.Unlock()
		stopped++
		return Played{}, ctx.Err()
	}
	r := mustRun(t, cfg)
	if r.Pairs() != needed || r.Finished() != needed || r.Verdict != rating.AcceptH1 {
		t.Errorf("%d pairs, want %d\n%v", r.Finished(), needed, r)
	}
	if most >= needed+atOnce-1 || stopped > atOnce-1 {
		t.Errorf("pair %d was begun and %d were stopped, where %d pairs decided and %d were played at a time", most, stopped, needed, atOnce)
	}
}

// A Duel plays what Run plays.
func TestDuelPlaysAsRun(t *testing.T) {
	cfg := testConfig(always("greedy", greedy(1)), always("crashing", crashing(9)), 6)
	want := playAll(t, cfg)
	wantResult := mustRun(t, cfg)
	duel := NewDuel(cfg.Players[0], cfg.Players[1])
	defer duel.Close()
	cfg.PlayPair = func(ctx context.Context, task Task) (Played, error) {
		text, err := OpeningText(task.Opening)
		if err != nil {
			return Played{}, err
		}
		if task.Opening, err = ParseOpening(cfg.Variant, text); err != nil { // as it comes over a wire
			return Played{}, err
		}
		return duel.Play(ctx, task)
	}
	cfg.Players = slices.Clone(cfg.Players)
	for i := range cfg.Players {
		cfg.Players[i].New = nil
	}
	got := make(map[int]Pair)
	cfg.OnPair = func(p Pair, games [2]*game.Game, _ Result) {
		got[p.Number] = p
		if games[0].Seed != cfg.Seed || games[1].Nets[0] != "net-of-crashing" {
			t.Errorf("game %+v", games[1])
		}
	}
	if r := mustRun(t, cfg); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(settled(r), settled(wantResult)) {
		t.Errorf("found\n%v%v\nwant\n%v%v", r, got, wantResult, want)
	}
}

func TestDuelWithoutPlayer(t *testing.T) {
	bad := always("bad", nil)
	bad.New = func() (game.Player, error) { return nil, errCrash }
	o, err := RandomOpenings(chess.Crazyhouse, 1, 2, 4).Opening(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewDuel(always("good", random(1)), bad).Play(context.Background(), Task{Players: [2]int{0, 1}, Opening: o}); !errors.Is(err, ErrNoPlayer) {
		t.Errorf("error %v, want ErrNoPlayer", err)
	}
}

func TestPlayedElsewhereIsChecked(t *testing.T) {
	cfg := testConfig(always("a", random(1)), always("b", random(2)), 1)
	good := playAll(t, cfg)[0]
	for word, change := range map[string]func(*Pair){
		"found pair 1":         func(p *Pair) { p.Number = 1 },
		"players [1 0]":        func(p *Pair) { p.Players = [2]int{1, 0} },
		"opening":              func(p *Pair) { p.Opening += " " },
		"result":               func(p *Pair) { p.Games[1].Result = "2-0" },
		"plies":                func(p *Pair) { p.Games[0].Plies = 1 << 20 },
		"a reason of 65 bytes": func(p *Pair) { p.Games[0].Reason = strings.Repeat("x", 65) },
		"an error of 600":      func(p *Pair) { p.Games[0].Error = strings.Repeat("x", 600) },
	} {
		bad := good
		change(&bad)
		cfg.PlayPair = func(context.Context, Task) (Played, error) { return Played{Pair: bad}, nil }
		if r, err := Run(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), word) || r.Finished() != 0 {
			t.Errorf("%s: error %v, %d pairs counted", word, err, r.Finished())
		}
	}
	cfg.PGN = filepath.Join(t.TempDir(), "games.pgn")
	cfg.PlayPair = func(context.Context, Task) (Played, error) { return Played{Pair: good}, nil }
	if _, err := Run(context.Background(), cfg); !errors.Is(err, ErrConfig) {
		t.Errorf("a PGN without games: error %v, want ErrConfig", err)
	}
	cfg.PGN = ""
	if _, err := Run(context.Background(), cfg); err != nil {
		t.Errorf("the record as it was made: %v", err)
	}
}

// What ParseOpening reads is what OpeningText wrote, and it refuses all else.
func TestParseOpening(t *testing.T) {
	for _, v := range []*chess.Variant{chess.Crazyhouse, chess.Chess} {
		for pair := range 50 {
			o, err := RandomOpenings(v, 5, 0, 30).Opening(pair)
			if err != nil {
				t.Fatal(err)
			}
			o.ID = ""
			text, err := OpeningText(o)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := ParseOpening(v, text); err != nil || !reflect.DeepEqual(got, o) {
				t.Fatalf("%s: %v, found %+v, want %+v", text, err, got, o)
			}
		}
	}
	position := chess.Crazyhouse.Start()
	start := "fen " + position.FEN()
	for _, text := range []string{"", "fen", "fen x", position.FEN(), start + " moves e2e5", start + " moves e2e4 x", start + fmt.Sprintf("%*s", maxOpeningText, "")} {
		if o, err := ParseOpening(chess.Crazyhouse, text); !errors.Is(err, game.ErrOpening) {
			t.Errorf("%.80q: found %v, error %v", text, o, err)
		}
	}
}

func FuzzParseOpening(f *testing.F) {
	position := chess.Crazyhouse.Start()
	start := "fen " + position.FEN()
	f.Add(start)
	f.Add(start + " moves e2e4 d7d5 e4d5 d8d5 P@e6")
	f.Add("fen 4k3/8/8/8/8/8/8/4K2R[Qp] w K - 3 9 moves e1g1 p@g7")
	f.Add(start + " moves ")
	f.Add("fen 4k3/8/8/8/8/8/8/4K21 b A") // the right to castle without its rook: Chess960 is forgotten
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseOpening(chess.Crazyhouse, text)
		if err != nil {
			if !errors.Is(err, game.ErrOpening) {
				t.Fatalf("error %v, want ErrOpening", err)
			}
			return
		}
		written, err := OpeningText(o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseOpening(chess.Crazyhouse, written)
		if err != nil || !slices.Equal(again.Moves, o.Moves) {
			t.Fatalf("%q written as %q: %v, moves %v, want %v", text, written, err, again.Moves, o.Moves)
		}
		if twice, err := OpeningText(again); err != nil || twice != written {
			t.Fatalf("%q written as %q, then as %q: %v", text, written, twice, err)
		}
	})
}
