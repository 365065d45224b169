package bus

import (
	"testing"

	"github.com/nats-io/nats.go"
)

// Who joins a run as it stands changes nothing on the server, and neither does who
// looks again after the connection was lost; other settings are taken over.
func TestJoinChangesNothing(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{Dir: t.TempDir()})
	joinRun(t, c, "r", JoinOptions{MaxBytes: 1 << 20})
	changes := make(chan *nats.Msg, 64)
	if _, err := c.nc.ChanSubscribe("$JS.EVENT.ADVISORY.STREAM.UPDATED.>", changes); err != nil {
		t.Fatal(err)
	}
	b := joinRun(t, c, "r", JoinOptions{})
	if err := b.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	joinRun(t, c, "r", JoinOptions{MaxBytes: 1 << 20})
	b = joinRun(t, c, "r", JoinOptions{MaxBytes: 2 << 20, NetsBytes: 5 << 20})
	if got := b.games.CachedInfo().Config.MaxBytes; got != 2<<20 {
		t.Errorf("the game stream has room for %d bytes, want %d", got, 2<<20)
	}
	// The server tells of changes in order.
	for _, want := range []string{"r-games", "OBJ_r-nets"} {
		select {
		case m := <-changes:
			if got, want := m.Subject, "$JS.EVENT.ADVISORY.STREAM.UPDATED."+want; got != want {
				t.Errorf("told %s, want %s", got, want)
			}
		case <-ctx.Done():
			t.Fatalf("the change of %s was not told", want)
		}
	}
}
