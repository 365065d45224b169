package selfplay

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/golden"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// replayMessages are the messages to and from the replay role, by the names of their
// golden files.
func replayMessages() map[string]message {
	return map[string]message{
		"has-request.json":     &hasRequest{Schema: messageSchema, IDs: []string{"abc-a-0-0-000001", "abc-a-0-0-000002", "abc-a-0-0-000003"}},
		"has-answer.json":      &hasAnswer{Schema: messageSchema, States: "sru", Stream: 1795372996123456789, Floor: 42},
		"has-request-key.json": &hasRequest{Schema: messageSchema, IDs: []string{"abc-a-0-0-000001"}, Actor: "a", Key: strings.Repeat("0f", 32)},
		"has-answer-key.json":  &hasAnswer{Schema: messageSchema, States: "u", Key: strings.Repeat("1e", 32)},
		"window-request.json":  &windowRequest{Schema: messageSchema, Segment: 7, Offset: 123456},
		"exclude-request.json": &excludeRequest{Schema: messageSchema, Actor: "a", Game: "abc-a-0-0-000001", Why: "ply 3: found score 5, expected 4", By: "verify@host"},
		"exclude-answer.json":  &excludeAnswer{Schema: messageSchema, Games: 7},
		"stored-request.json":  &storedRequest{Schema: messageSchema, Before: replay.Cursor{Segment: 7, Offset: 123456}, Games: 100},
		"stored-answer.json": &storedAnswer{messageSchema, StoredPage{
			Games: []StoredGame{{At: replay.Cursor{Segment: 7, Offset: 24}, ID: "abc-a-0-0-000001", Nets: [2]string{"material", "00ff"}, Result: "1-0", Reason: "checkmate", Plies: 61, Book: true}},
			Older: replay.Cursor{Segment: 6, Offset: 900}, First: 2, Last: 7, Damage: []string{"00000006.seg: it is lost"},
		}},
		"game-request.json": &gameRequest{Schema: messageSchema, ID: "abc-a-0-0-000001", At: replay.Cursor{Segment: 7, Offset: 24}, Segment: 6},
		"game-answer.json":  &gameAnswer{Schema: messageSchema, Game: []byte("ZHGM"), Older: 5, Why: "segment is not there"},

		"published-request.json": &publishedRequest{Schema: messageSchema, Net: strings.Repeat("ab", 32), Nonce: "ONCE"},
		"published-answer.json":  &publishedReply{Schema: messageSchema, Run: "abc", Net: strings.Repeat("ab", 32), Nonce: "ONCE", Published: true, Whole: true, Signature: strings.Repeat("0f", 64)},
	}
}

// Messages of every version are read as what they meant.
func TestReplayMessagesGolden(t *testing.T) {
	for name, m := range replayMessages() {
		text := append(encodeMessage(m), '\n')
		path := golden.Present(messageSchema, name)
		if *update {
			golden.Write(t, path, text)
		}
		if got := golden.Read(t, path); !bytes.Equal(got, text) {
			t.Errorf("%s: found\n%sexpected\n%s", name, got, text)
		}
		for _, path := range golden.Versions(t, path) {
			got := reflect.New(reflect.TypeOf(m).Elem()).Interface().(message)
			if err := decodeMessage(golden.Read(t, path), got); err != nil || !reflect.DeepEqual(got, m) {
				t.Errorf("%s: found %+v, error %v, expected %+v", path, got, err, m)
			}
		}
	}
}

func TestAnswerHas(t *testing.T) {
	known := func(ids []string) ([]replay.State, map[string]string) {
		return []replay.State{replay.Stored, replay.Refused, replay.Unknown}[:len(ids)], map[string]string{"b": "too many"}
	}
	keys := &actorKeys{known: map[string]string{"x": strings.Repeat("0f", 32)}}
	answer, err := answerHas([]byte(`{"schema":1,"ids":["a","b","c"],"later":1}`), known, keys.other, bus.Floor{Stream: 5, Sequence: 9})
	if err != nil {
		t.Fatal(err)
	}
	a, err := parseHas(answer, 3)
	if err != nil || a.States != "sru" || a.Why["b"] != "too many" || a.Stream != 5 || a.Floor != 9 {
		t.Errorf("%+v, error %v", a, err)
	}
	if _, err := parseHas(answer, 2); !errors.Is(err, errMessage) {
		t.Errorf("an answer about other games: error %v", err)
	}
	for actor, want := range map[string]hasAnswer{
		"x": {Schema: 1, States: "uu", Key: keys.known["x"]},
		"y": {Schema: 1, States: "sr", Stream: 5, Why: map[string]string{"b": "too many"}},
	} {
		request := encodeMessage(&hasRequest{Schema: 1, IDs: []string{"a", "b"}, Actor: actor, Key: strings.Repeat("1e", 32)})
		answer, err := answerHas(request, known, keys.other, bus.Floor{Stream: 5})
		if err != nil {
			t.Fatal(err)
		}
		if a, err := parseHas(answer, 2); err != nil || !reflect.DeepEqual(a, want) {
			t.Errorf("actor %s with another key than that of x: %+v, error %v, expected %+v", actor, a, err, want)
		}
	}
	many := encodeMessage(&hasRequest{Schema: 1, IDs: make([]string, maxAsked+1)})
	for _, request := range []string{"", "[]", `{"schema":2,"ids":[]}`, `{"schema":1,"actor":"x","key":"0f"}`, string(many)} {
		if _, err := answerHas([]byte(request), known, keys.other, bus.Floor{}); !errors.Is(err, errMessage) {
			t.Errorf("request %.40q: error %v, want %v", request, err, errMessage)
		}
	}
}

// A game counts as lost only where it is known how far the buffer is.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		answer hasAnswer
		lost   bool
	}{
		{hasAnswer{}, false},
		{hasAnswer{Stream: 5, Floor: 9}, false},
		{hasAnswer{Stream: 5, Floor: 10}, true},
		{hasAnswer{Stream: 6, Floor: 1}, true},
	} {
		if got := c.answer.lost(published{stream: 5, sequence: 10}); got != c.lost {
			t.Errorf("%+v: lost %v, want %v", c.answer, got, c.lost)
		}
	}
}

// Games have to be signed by the actor that their ids name, whose key is that of its
// first game; the others are quarantined, and may still come.
func TestGamesAreSigned(t *testing.T) {
	t.Parallel()
	r, _ := openPublisher(t)
	in := mustIngester(t, r)
	defer in.close()
	path := filepath.Join(r.path(replayDir), actorKeysFile)
	var err error
	if in.keys, err = openActorKeys(path); err != nil {
		t.Fatal(err)
	}
	mine, err := nets.CreateKey(filepath.Join(t.TempDir(), "mine"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := nets.CreateKey(filepath.Join(t.TempDir(), "other"))
	if err != nil {
		t.Fatal(err)
	}
	first, second := shortGame(t, "run-a-0-0-000000"), shortGame(t, "run-a-0-0-000001")
	altered := game.Seal(second, mine)
	altered[len(altered)-1] ^= 1
	for i, c := range []struct {
		data   []byte
		stored int
	}{
		{first, 0},
		{game.Seal(first, mine), 1},
		{game.Seal(second, other), 0},
		{altered, 0},
		{game.Seal(shortGame(t, "other-a-0-0-000000"), mine), 0},
		{game.Seal(second, mine), 1},
	} {
		rep, _, err := in.store([][]byte{c.data}, []string{"a"})
		if err != nil || rep.Stored != c.stored || len(rep.Rejected) != 1-c.stored {
			t.Errorf("game %d: %+v, error %v; want %d stored", i, rep, err, c.stored)
		}
	}
	again, err := openActorKeys(path)
	if err != nil || !reflect.DeepEqual(again.known, in.keys.known) || len(again.known) != 1 {
		t.Errorf("keys on disk %v, error %v, want %v", again, err, in.keys.known)
	}
}

// A net that more than half of the actors cannot load is withdrawn, once.
func TestNetIsWithdrawn(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Gate.Enabled = false
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	defer r.Close()
	j := newReferee(r)
	publish := func(generation int) string {
		id := offerNet(t, r, generation)
		if _, err := j.judgeNewest(t.Context()); err != nil {
			t.Fatal(err)
		}
		return id
	}
	first, second := publish(1), publish(2)
	say := func(actor, failed string) {
		m := bus.Member{Schema: bus.MemberSchema, Protocol: bus.Protocol, Role: "actor", Instance: actor, FailedNet: failed, FailedWhy: "no\nroom"}
		if err := r.bus.Announce(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	look := func(want string) {
		t.Helper()
		if err := j.takeBack(t.Context(), r.bus.SetPointer); err != nil {
			t.Fatal(err)
		}
		if got := netAt(t, r, r.currentKey()).Net; got != want {
			t.Errorf("current %s, want %s", got, want)
		}
	}
	look(second) // nobody is there
	say("a", second)
	say("b", "")
	look(second) // half of them
	say("c", second)
	look(first)
	if got := netAt(t, r, r.currentKey()); got.Action != nets.Withdraw || got.Generation != 1 || got.From != second || got.Why != "2 of 3 actors cannot load generation 2: no room" {
		t.Errorf("record %+v", got)
	}
	look(first)
	f := newFollower(r)
	if err := f.sync(t.Context()); err != nil || f.current().ID != first {
		t.Errorf("plays with %s, error %v, want %s", f.current().ID, err, first)
	}
	say("a", first)
	say("c", first)
	look("") // not the second one, which was taken back
}
