package selfplay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
)

func testGateMatch() gateMatch {
	return gateMatch{Key: "0123456789abcdef", Candidate: strings.Repeat("ab", 32), Incumbent: "material", Nodes: 250, HashMB: 4,
		CandidateSettings: "hash 4 MiB", IncumbentSettings: "hash 4 MiB", Seed: 1<<64 - 1, MaxPlies: 300, WinScore: 2000, WinPlies: 4}
}

// offered is a match of n pairs, all of them offered.
type offered struct {
	*openPairs
	opening string
	played  chan match.Played
	errs    chan error
}

func offerPairs(t *testing.T, ctx context.Context, n int) offered {
	t.Helper()
	o := game.Opening{Start: chess.Crazyhouse.Start()}
	text, err := match.OpeningText(o)
	if err != nil {
		t.Fatal(err)
	}
	p := offered{newOpenPairs(), text, make(chan match.Played, n), make(chan error, n)}
	p.begin(testGateMatch())
	for number := range n {
		go func() {
			played, err := p.play(ctx, match.Task{Number: number, Players: [2]int{0, 1}, Opening: o})
			if err != nil {
				p.errs <- err
				return
			}
			p.logged(number)
			p.played <- played
		}()
	}
	synctest.Wait()
	return p
}

// ask has a worker ask for pairs while it plays some, and returns those it is given
// and those it is to stop.
func (p *offered) ask(worker string, want int, playing ...int) (given, stop string) {
	r := gateNextRequest{Schema: messageSchema, Worker: worker, Want: want}
	for _, n := range playing {
		r.Playing = append(r.Playing, gatePairID{testGateMatch().Key, n})
	}
	reply := p.next(&r)
	var numbers, stops []int
	for _, pair := range reply.Pairs {
		numbers = append(numbers, pair.Number)
	}
	for _, id := range reply.Stop {
		stops = append(stops, id.Pair)
	}
	return fmt.Sprint(numbers), fmt.Sprint(stops)
}

// report has a worker hand in a pair.
func (p *offered) report(ctx context.Context, worker string, number int) error {
	g := match.GameResult{Result: "1/2-1/2", Reason: "repetition", Plies: 9}
	return p.take(ctx, &gateResultRequest{Schema: messageSchema, Worker: worker, Match: testGateMatch().Key,
		Record: match.Pair{Number: number, Players: [2]int{0, 1}, Opening: p.opening, Games: [2]match.GameResult{g, g}}})
}

func TestClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := offerPairs(t, ctx, 5)
		step := func(what, got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %s, expected %s", what, got, want)
			}
		}
		given, _ := p.ask("a", 2)
		step("the first pairs", given, "[0 1]")
		given, _ = p.ask("b", 2)
		step("the next", given, "[2 3]")
		given, _ = p.ask("a", 0, 0, 1)
		step("nothing wanted", given, "[]")

		// b is silent and a renews: b's pairs come free first, in their order.
		for range 5 {
			time.Sleep(claimTime / 4)
			p.ask("a", 0, 0, 1)
		}
		given, _ = p.ask("c", 3)
		step("after b's claims ended", given, "[2 3 4]")

		// Nothing is free: the pair that was claimed first is given a second time, to
		// others only, and not a third time.
		given, _ = p.ask("a", 1, 0, 1)
		step("a again", given, "[2]")
		given, _ = p.ask("d", 2)
		step("what a plays", given, "[0 1]")
		given, _ = p.ask("e", 9)
		step("what c alone plays", given, "[3 4]")
		given, _ = p.ask("f", 9)
		step("all have two", given, "[]")

		// b is back. Its result is the first.
		if err := p.report(ctx, "b", 2); err != nil {
			t.Error(err)
		}
		_, stop := p.ask("c", 0, 2, 3, 4)
		step("c's are not needed", stop, "[2]")
		if err := p.report(ctx, "c", 2); err == nil || !strings.Contains(err.Error(), "not wanted") {
			t.Errorf("the second result: %v", err)
		}

		// What a worker does not name it has given up.
		p.ask("e", 0)
		given, _ = p.ask("f", 1)
		step("e's pair", given, "[3]")

		cancel() // the match is decided
		synctest.Wait()
		_, stop = p.ask("a", 9, 0, 1)
		step("decided", stop, "[0 1]")
		p.end()
		if err := p.report(t.Context(), "a", 0); err == nil || !strings.Contains(err.Error(), "no match") {
			t.Errorf("a result after the end: %v", err)
		}
		if len(p.played) != 1 || len(p.errs) != 4 {
			t.Errorf("%d pairs played and %d ended, expected 1 and 4", len(p.played), len(p.errs))
		}
	})
}

func TestResultsAreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := offerPairs(t, ctx, 1)
		g := match.GameResult{Result: "1-0", Reason: "checkmate", Plies: 9}
		good := gateResultRequest{Schema: messageSchema, Worker: "a", Match: testGateMatch().Key,
			Record: match.Pair{Players: [2]int{0, 1}, Opening: p.opening, Games: [2]match.GameResult{g, g}}}
		for word, change := range map[string]func(*gateResultRequest){
			"match fedc":    func(r *gateResultRequest) { r.Match = "fedcba9876543210" },
			"pair 1 is not": func(r *gateResultRequest) { r.Record.Number = 1 },
			"the opening":   func(r *gateResultRequest) { r.Record.Opening += " moves e2e4" },
			"players":       func(r *gateResultRequest) { r.Record.Players = [2]int{1, 0} },
			"result":        func(r *gateResultRequest) { r.Record.Games[1].Result = "won" },
		} {
			bad := good
			change(&bad)
			if err := p.take(ctx, &bad); err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: error %v", word, err)
			}
		}
		if err := p.take(ctx, &good); err != nil || len(p.played) != 1 {
			t.Errorf("the right one: %v", err)
		}
	})
}

// A result that was taken but is not in the log when the match ends is refused.
func TestResultIsTakenOnceLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := offered{openPairs: newOpenPairs()}
		p.begin(testGateMatch())
		o := game.Opening{Start: chess.Crazyhouse.Start()}
		p.opening, _ = match.OpeningText(o)
		go p.play(t.Context(), match.Task{Players: [2]int{0, 1}, Opening: o})
		synctest.Wait()
		answer := make(chan error, 1)
		go func() { answer <- p.report(t.Context(), "a", 0) }()
		synctest.Wait()
		if len(answer) != 0 {
			t.Errorf("taken before it was in the log: %v", <-answer)
		}
		p.end()
		if err := <-answer; err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}
