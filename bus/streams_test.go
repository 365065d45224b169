package bus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
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

// Roles that begin a run at the same time, each with other settings, all join it.
func TestJoinTogether(t *testing.T) {
	url := startServer(t, &server.Options{JetStream: true})
	const roles = 4
	var conns [roles]*Conn
	for i := range conns {
		conns[i] = openConn(t, Options{URL: "nats://" + url})
	}
	for round := range 25 {
		var together errgroup.Group
		for i, c := range conns {
			together.Go(func() error {
				o := JoinOptions{MaxBytes: int64(i+1) << 24, NetsBytes: int64(i+1) << 25}
				_, err := c.Join(t.Context(), fmt.Sprintf("run%d", round), o)
				return err
			})
		}
		if err := together.Wait(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

// Who joins a run that another is beginning makes nothing of it.
func TestJoinBegun(t *testing.T) {
	c := openConn(t, Options{Dir: t.TempDir()})
	if _, err := c.Join(t.Context(), "r", JoinOptions{Begun: true}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("error %v, want ErrUnavailable", err)
	}
	if _, err := c.js.Stream(t.Context(), "r-games"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("the game stream: error %v, want that there is none", err)
	}
	joinRun(t, c, "r", JoinOptions{MaxBytes: 1 << 20})
	b := joinRun(t, c, "r", JoinOptions{Begun: true})
	if got := b.games.CachedInfo().Config.MaxBytes; got != 1<<20 {
		t.Errorf("the game stream has room for %d bytes, want %d", got, 1<<20)
	}
}

// Who looks at a run and then joins it is there once: nobody looks for its objects while they
// are made again.
func TestJoinAfterLook(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{Dir: t.TempDir()})
	if err := c.Make(ctx, "r", JoinOptions{MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	other := joinRun(t, c, "other", JoinOptions{})
	joinRun(t, c, "r", JoinOptions{Look: true})
	look := joinRun(t, c, "r", JoinOptions{Look: true})
	if !slices.Contains(c.joined, look) {
		t.Error("who only looks is not there, expected it is")
	}
	b := joinRun(t, c, "r", JoinOptions{})
	if want := []*Bus{other, b}; !slices.Equal(c.joined, want) {
		t.Errorf("%d runs are joined, expected the other one and r once", len(c.joined))
	}
}

// Sizes that Make gives hold until others are given, also when a connection is back.
func TestMake(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{Dir: t.TempDir()})
	if err := c.Make(ctx, "r", JoinOptions{MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	b := joinRun(t, c, "r", JoinOptions{})
	if err := c.Make(ctx, "r", JoinOptions{MaxBytes: 2 << 20}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.joined, []*Bus{b}) {
		t.Errorf("%d runs are joined, expected the one that was", len(c.joined))
	}
	c.ensure(ctx)
	if st, err := b.Stats(ctx); err != nil || st.MaxBytes != 2<<20 {
		t.Errorf("room for %d bytes, error %v, expected %d", st.MaxBytes, err, 2<<20)
	}
	if err := c.Make(ctx, "r", JoinOptions{MaxBytes: -1}); !errors.Is(err, ErrConfig) {
		t.Errorf("error %v, expected %v", err, ErrConfig)
	}
}

// With Look neither Join nor Ensure makes an object that the run lacks. The error names it.
func TestJoinLook(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{Dir: t.TempDir()})
	if _, err := c.Join(ctx, "r", JoinOptions{Look: true}); !errors.Is(err, ErrMissing) {
		t.Errorf("no run: error %v, want ErrMissing", err)
	}
	joinRun(t, c, "r", JoinOptions{MaxBytes: 1 << 20})
	look := joinRun(t, c, "r", JoinOptions{Look: true})
	if st, err := look.Stats(ctx); err != nil || st.MaxBytes != 1<<20 {
		t.Errorf("the game stream has room for %d bytes, error %v, want %d", st.MaxBytes, err, 1<<20)
	}
	// What is looked for last is deleted first, so that every error names what was deleted just now.
	for _, lost := range []struct{ stream, what string }{
		{"KV_r-roles", "bucket r-roles"}, {"KV_r-ctl", "bucket r-ctl"}, {"OBJ_r-nets", "object store r-nets"},
		{"r-rejects", "stream r-rejects"}, {"r-games", "stream r-games"},
	} {
		if err := c.js.DeleteStream(ctx, lost.stream); err != nil {
			t.Fatal(err)
		}
		_, err := c.Join(ctx, "r", JoinOptions{Look: true})
		for _, err := range []error{err, look.Ensure(ctx)} {
			if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), lost.what) {
				t.Errorf("without %s: error %v, want ErrMissing with its name", lost.stream, err)
			}
		}
		if _, err := c.js.Stream(ctx, lost.stream); !errors.Is(err, jetstream.ErrStreamNotFound) {
			t.Errorf("%s: error %v, want that there is none", lost.stream, err)
		}
	}
}
