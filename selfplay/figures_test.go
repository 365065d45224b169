package selfplay

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// Games are counted by why they were refused, whatever their error says beside that.
func TestRejectReasons(t *testing.T) {
	for err, want := range map[error]string{
		game.ErrSeal: "signature", game.ErrID: "id", game.ErrIllegal: "illegal", game.ErrOutcome: "outcome", replay.ErrVariant: "variant",
		replay.ErrExcluded: "excluded", game.ErrTooLarge: "size", game.ErrCRC: "damaged", game.ErrTruncated: "damaged", errors.New("new"): "other",
	} {
		if got := RejectReasons[rejectReason(fmt.Errorf("game 7: %w: found this", err))]; got != want {
			t.Errorf("%v: found %s, expected %s", err, got, want)
		}
	}
}

// A game waits since it was finished, also if another process finished it.
func TestSpoolSaysHowLongGamesWait(t *testing.T) {
	dir := t.TempDir()
	s := openTestSpool(t, dir)
	if !s.oldest().IsZero() {
		t.Errorf("the oldest game of an empty spool is of %v", s.oldest())
	}
	addGames(t, s, "run-a-0-0-1", "run-a-0-0-2")
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(s.path("run-a-0-0-1"), hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	s = openTestSpool(t, dir)
	if got := time.Since(s.oldest()); got < time.Hour || got > 2*time.Hour {
		t.Errorf("the oldest game has waited for %v, expected an hour", got)
	}
	if got := s.waited([]string{"run-a-0-0-1", "unknown"}); got < time.Hour || got > 2*time.Hour {
		t.Errorf("one game has waited for %v, expected an hour", got)
	}
	if err := s.remove("run-a-0-0-1"); err != nil {
		t.Fatal(err)
	}
	if got := time.Since(s.oldest()); got > time.Hour/2 {
		t.Errorf("the newer game has waited for %v", got)
	}
}

// A process shows the leases that it has now.
func TestHeldLeases(t *testing.T) {
	s := newSharedStatus()
	s.holds(replayLease, true)
	s.holds(trainerLease, true)
	before := s.snapshot(time.Now()).Figures.Leases
	s.holds(replayLease, false)
	if len(before) != 2 || fmt.Sprint(s.snapshot(time.Now()).Figures.Leases) != "[trainer]" {
		t.Errorf("found %v, then %v, expected both and then the trainer's", before, s.snapshot(time.Now()).Figures.Leases)
	}
}
