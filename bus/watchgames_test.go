package bus

import (
	"bytes"
	"testing"
)

// A watcher sees what actors publish, once for each message, and takes nothing away.
func TestWatchGames(t *testing.T) {
	b := openBus(t, Options{})
	seen := make(chan [][]byte, 4)
	stop, err := b.WatchGames(func(games [][]byte) { seen <- games })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	want := [][]byte{[]byte("one"), []byte("two")}
	if _, err := b.PublishGames(t.Context(), "anna", "m1", want); err != nil {
		t.Fatal(err)
	}
	got := <-seen
	if len(got) != 2 || !bytes.Equal(got[0], want[0]) || !bytes.Equal(got[1], want[1]) {
		t.Errorf("found %q, expected %q", got, want)
	}
	if s, err := b.Stats(t.Context()); err != nil || s.Messages != 1 {
		t.Errorf("found %d messages in the stream, error %v, expected 1", s.Messages, err)
	}
}
