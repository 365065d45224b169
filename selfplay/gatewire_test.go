package selfplay

import (
	"bytes"
	"flag"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/golden"
	"github.com/crazyhouse-rl/selfplay/match"
)

var update = flag.Bool("update", false, "rewrite golden files")

// gateMessages are one of each kind.
func gateMessages() map[string]message {
	m := testGateMatch()
	opening := "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1 moves e2e4 d7d5"
	return map[string]message{
		"gate-next-request.json": &gateNextRequest{Schema: messageSchema, Fence: 7, Worker: "k3v7", Want: 2, Playing: []gatePairID{{m.Key, 3}}},
		"gate-next-reply.json": &gateNextReply{Schema: messageSchema, Fence: 7, Match: &m, Pairs: []gatePair{{4, opening}},
			Stop: []gatePairID{{"fedcba9876543210", 9}}, AskAgainMS: 1000},
		"gate-result-request.json": &gateResultRequest{Schema: messageSchema, Fence: 7, Worker: "k3v7", Match: m.Key, SearchingNS: 1234567890,
			Record: match.Pair{Number: 4, Players: [2]int{0, 1}, Opening: opening, Games: [2]match.GameResult{
				{Result: "1-0", Reason: "checkmate", Plies: 57}, {Result: "1-0", Reason: "engine failure", Plies: 12, Failed: "B", Error: "no memory"}}}},
		"gate-result-reply.json":  &gateResultReply{Schema: messageSchema, Fence: 7, Why: "pair 4 is not wanted"},
		"gate-watch-request.json": &watchRequest{messageSchema, 3},
		"gate-watch-reply.json": &watchReply{messageSchema, 7, Judging{
			First: 3, Total: 4,
			Verdicts: []JudgedNet{{Time: time.Unix(1700000000, 0).UTC(), Generation: 9, Net: m.Candidate, Incumbent: "material", Passed: true, Reason: "H1", Elo: "+31 ± 20", Games: 400}},
			Matches: []WatchedMatch{{Candidate: m.Candidate, Incumbent: "material", Generation: 10, Of: 200, Path: []float64{0.25, -0.5}, Low: -2.94, High: 2.94,
				Elo1: 10, Wins: 2, Draws: 1, Losses: 1, Written: time.Unix(1700000060, 0).UTC()}},
		}},
	}
}

// newOf returns an empty message of the same kind.
func newOf(m message) message {
	return reflect.New(reflect.TypeOf(m).Elem()).Interface().(message)
}

func TestGateMessagesGolden(t *testing.T) {
	for name, m := range gateMessages() {
		path := golden.Present(messageSchema, name)
		if *update {
			golden.Write(t, path, append(encodeMessage(m), '\n'))
		}
		if got := golden.Read(t, path); !bytes.Equal(got, append(encodeMessage(m), '\n')) {
			t.Errorf("%s: found\n%sexpected\n%s", name, got, encodeMessage(m))
		}
		for _, path := range golden.Versions(t, path) {
			got := newOf(m)
			if err := decodeMessage(golden.Read(t, path), got); err != nil || !reflect.DeepEqual(got, m) {
				t.Errorf("%s: found %+v, error %v, expected %+v", path, got, err, m)
			}
		}
	}
}

func TestGateMessagesAreChecked(t *testing.T) {
	for name, m := range gateMessages() {
		text := string(encodeMessage(m))
		for old, replacement := range map[string]string{
			`"schema":1`: `"schema":2`,
			"{":          "[",
		} {
			if err := decodeMessage([]byte(strings.Replace(text, old, replacement, 1)), newOf(m)); err == nil {
				t.Errorf("%s with %s: no error", name, replacement)
			}
		}
		if err := decodeMessage([]byte(strings.Replace(text, "{", `{"of_a_later_build":1,`, 1)), newOf(m)); err != nil {
			t.Errorf("%s with a key of a later build: %v", name, err)
		}
		if err := decodeMessage([]byte(text+strings.Repeat(" ", maxMessage)), newOf(m)); err == nil || !strings.Contains(err.Error(), "at most") {
			t.Errorf("%s, too long: %v", name, err)
		}
	}
	for want, bad := range map[string]message{
		"worker's name":       &gateNextRequest{Schema: 1},
		"-1 pairs":            &gateNextRequest{Schema: 1, Worker: "a", Want: -1},
		"1025 played":         &gateNextRequest{Schema: 1, Worker: "a", Playing: make([]gatePairID, 1025)},
		"without a match":     &gateNextReply{Schema: 1, Pairs: make([]gatePair, 1)},
		"at most 64":          &gateNextReply{Schema: 1, Match: &gateMatch{}, Pairs: make([]gatePair, 65)},
		"two nets":            &gateNextReply{Schema: 1, Match: &gateMatch{}},
		"expected limits":     &gateNextReply{Schema: 1, Match: &gateMatch{Candidate: "a", Incumbent: "b"}},
		"16 hexadecimal":      &gateNextReply{Schema: 1, Match: &gateMatch{Candidate: "a", Incumbent: "b", Nodes: 1, Key: "0x"}},
		"after -1 ms":         &gateNextReply{Schema: 1, AskAgainMS: -1},
		"after 9300000000000": &gateNextReply{Schema: 1, AskAgainMS: 9300000000000},
		"65537 MiB":           &gateNextReply{Schema: 1, Match: &gateMatch{Candidate: "a", Incumbent: "b", Nodes: 1, HashMB: 65537}},
		"pair -1":             &gateNextReply{Schema: 1, Match: &gateMatch{}, Pairs: []gatePair{{Number: -1}}},
		"match \"0123456789a": &gateResultRequest{Schema: 1, Worker: "a", Match: "0123456789a"},
		"-1 ns":               &gateResultRequest{Schema: 1, Worker: "a", SearchingNS: -1},
	} {
		if err := decodeMessage(encodeMessage(bad), newOf(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, expected one with %q", bad, err, want)
		}
	}
}

// Any bytes give an error or a message that, written again, is read as it was.
func FuzzGateMessages(f *testing.F) {
	for _, m := range gateMessages() {
		f.Add(encodeMessage(m))
	}
	f.Add([]byte(`{"schema":1,"worker":"a","want":9999999999999999999}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range gateMessages() {
			got := newOf(m)
			if decodeMessage(data, got) != nil {
				continue
			}
			again := newOf(m)
			if err := decodeMessage(encodeMessage(got), again); err != nil || !bytes.Equal(encodeMessage(again), encodeMessage(got)) {
				t.Fatalf("written again: %v, %+v, expected %+v", err, again, got)
			}
		}
	})
}
