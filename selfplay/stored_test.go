package selfplay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
)

// Any stored game of a run on servers is listed page by page, back from the newest, and
// found by its place and by its id, as the replay role has it; a role of an earlier build
// answers neither question.
func TestStored(t *testing.T) {
	t.Parallel()
	r, own := openOnServer(t)
	if _, err := r.Stored(t.Context(), replay.Cursor{}, 5); !errors.Is(err, bus.ErrNobody) {
		t.Errorf("without a replay role: error %v, expected ErrNobody", err)
	}
	if _, err := r.StoredGame(t.Context(), "x", replay.Cursor{}); !errors.Is(err, bus.ErrNobody) {
		t.Errorf("without a replay role: error %v, expected ErrNobody", err)
	}
	text, err := os.ReadFile(filepath.Join("..", "game", "testdata", "v1", "crazyhouse.game"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := game.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	const games = 300
	var records [][]byte
	var ids []string
	for i := range games {
		g.ID = fmt.Sprintf("%s-anna-0-0-%06d", r.id(), i)
		b, err := game.Encode(nil, g)
		if err != nil {
			t.Fatal(err)
		}
		records, ids = append(records, b), append(ids, g.ID)
	}
	slices.Reverse(ids)
	dir := t.TempDir()
	first := startReplay(t, dir, own, Options{})
	first.await(t, "waiting for games")
	first.cancel()
	if err := errors.Join(<-first.done, first.run.Close()); err != nil {
		t.Fatal(err)
	}
	replaytest.Store(t, filepath.Join(dir, replayDir), records...)
	p := startReplay(t, dir, own, Options{})
	p.await(t, "waiting for games")

	var found []StoredGame
	for before := (replay.Cursor{}); ; {
		page, err := r.Stored(t.Context(), before, 1000)
		if err != nil || len(page.Games) == 0 || len(page.Games) > MaxStored || len(page.Damage) != 0 || page.First != 1 || page.Last < 3 {
			t.Fatalf("found %d games, segments %d to %d, damage %q, error %v", len(page.Games), page.First, page.Last, page.Damage, err)
		}
		found = append(found, page.Games...)
		if before = page.Older; before == (replay.Cursor{}) {
			break
		}
	}
	if len(found) != games || !slices.EqualFunc(found, ids, func(f StoredGame, id string) bool { return f.ID == id }) {
		t.Fatalf("found %d games, expected %d, the newest first", len(found), games)
	}
	if f := found[7]; f.Plies != len(g.Plies) || f.Result != g.Outcome.String() || f.Nets != g.Nets || f.At.Segment == 0 {
		t.Errorf("found %+v", f)
	}
	for name, at := range map[string]replay.Cursor{"its place": found[games-1].At, "no place": {}, "the place of another": found[0].At, "a segment that is not there": {Segment: 99, Offset: 7}} {
		if record, err := r.StoredGame(t.Context(), ids[games-1], at); err != nil || !slices.Equal(record, records[0]) {
			t.Errorf("the oldest by %s: found %d bytes, error %v", name, len(record), err)
		}
	}
	_, err = r.StoredGame(t.Context(), "no-such-game", replay.Cursor{})
	if !errors.Is(err, replay.ErrUnknown) || !strings.Contains(err.Error(), "in "+fmt.Sprint(found[0].At.Segment)+" segments") {
		t.Errorf("a game that there is not: error %v, expected ErrUnknown of all segments", err)
	}
	p.cancel()
	if err := <-p.done; err != nil {
		t.Fatal(err)
	}
}

// One question about stored games is answered at a time, and who waits too long for it is
// told so.
func TestStoredOneAtATime(t *testing.T) {
	s := newStoredServer(replay.NewArchive(t.TempDir()))
	_, end, err := s.begin()
	if err != nil {
		t.Fatal(err)
	}
	s.patience = time.Millisecond
	page := encodeMessage(&storedRequest{Schema: messageSchema, Games: 1})
	one := encodeMessage(&gameRequest{Schema: messageSchema, ID: "x"})
	if _, err := s.answerPage(page); !errors.Is(err, errStoredBusy) {
		t.Errorf("a page: error %v, expected errStoredBusy", err)
	}
	if _, err := s.answerGame(one); !errors.Is(err, errStoredBusy) {
		t.Errorf("a game: error %v, expected errStoredBusy", err)
	}
	s.patience = patience
	end()
	for _, answer := range []func() ([]byte, error){func() ([]byte, error) { return s.answerPage(page) }, func() ([]byte, error) { return s.answerGame(one) }} {
		if text, err := answer(); err != nil {
			t.Errorf("later: found %s, error %v", text, err)
		}
	}
}

func TestStoredRefuses(t *testing.T) {
	s := newStoredServer(replay.NewArchive(t.TempDir()))
	for _, request := range []string{
		`{"schema":1,"games":0}`, `{"schema":1,"games":201}`, `{"schema":2,"games":1}`, `{"schema":1,"games":1,"before":{"segment":1,"offset":-1}}`, `{`,
	} {
		if text, err := s.answerPage([]byte(request)); !errors.Is(err, errMessage) {
			t.Errorf("%s: found %s, error %v", request, text, err)
		}
	}
	for _, request := range []string{
		`{"schema":1}`, `{"schema":1,"id":"` + strings.Repeat("x", 251) + `"}`, `{"schema":3,"id":"x"}`, `{"schema":1,"id":"x","at":{"segment":1,"offset":-1}}`,
	} {
		if text, err := s.answerGame([]byte(request)); !errors.Is(err, errMessage) {
			t.Errorf("%s: found %s, error %v", request, text, err)
		}
	}
}
