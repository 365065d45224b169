package selfplay

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/nets"
)

// unreadable is the content of a net that nobody can read.
const unreadable = "no net at all"

// What everyone finds in a net speaks against it; that it cannot be fetched or kept does not.
func TestWhoseFaultAFailureIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, r *Run, id string) (net string)
		unfit bool
	}{
		"a disk that takes nothing": {func(t *testing.T, r *Run, id string) string {
			if err := os.RemoveAll(r.path(netsDir)); err != nil {
				t.Fatal(err)
			}
			return id
		}, false},
		"a server that does not answer": {func(t *testing.T, r *Run, id string) string {
			if err := errors.Join(os.Remove(r.store.Path(id)), r.conn.Close()); err != nil {
				t.Fatal(err)
			}
			return id
		}, false},
		"a net that no server has": {func(*testing.T, *Run, string) string { return nets.Hash([]byte("nowhere")) }, true},
		"another trainer's net": {func(t *testing.T, r *Run, id string) string {
			key, err := nets.CreateKey(filepath.Join(t.TempDir(), "other.key"))
			if err != nil {
				t.Fatal(err)
			}
			r.public = key.Public().(ed25519.PublicKey)
			return id
		}, true},
		"a net of another variant": {func(_ *testing.T, r *Run, id string) string { r.cfg.Variant = "chess"; return id }, true},
		"a net that cannot be read": {func(t *testing.T, r *Run, _ string) string {
			return storeNet(t, r, []byte(unreadable), 1).ID
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := openRun(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
			defer r.Close()
			p := bus.Pointer{Value: c.spoil(t, r, offerNet(t, r, 1))}
			f := newFollower(r)
			err := f.load(t.Context(), p)
			if err == nil || isUnfit(err) != c.unfit {
				t.Fatalf("error %v, the net's own fault: %t, expected %t", err, isUnfit(err), c.unfit)
			}
			f.failed(p, err)
			if s := r.Status(); s.FailedNet != p.Value || s.FailedHere == c.unfit {
				t.Errorf("the status tells of net %s, the fault is here: %t", s.FailedNet, s.FailedHere)
			}
		})
	}
}

// A net is unfit by what everyone finds: what the system says of a disk, or the line to the
// servers, is of one machine, whatever else is wrong.
func TestWhatMakesANetUnfit(t *testing.T) {
	t.Parallel()
	disk, other := &fs.PathError{Op: "read", Path: "net", Err: syscall.EIO}, errors.New("found 3 layers, expected 4")
	for i, c := range []struct {
		err   error
		unfit bool
	}{
		{unfit(nil), false},
		{unfit(other), true},
		{unfit(fmt.Errorf("net: %w", disk)), false},
		{unfitThere(other), false},
		{unfitThere(fmt.Errorf("net: %w", bus.ErrUnavailable)), false},
		{unfitThere(fmt.Errorf("net: %w", bus.ErrNoNet)), true},
		{unfitThere(fmt.Errorf("net: %w", bus.ErrCorrupt)), true},
		{unfitThere(errors.Join(bus.ErrCorrupt, disk)), false},
	} {
		if isUnfit(c.err) != c.unfit {
			t.Errorf("case %d, error %v: unfit %t, expected %t", i, c.err, isUnfit(c.err), c.unfit)
		}
	}
}

// A net that an actor has no disk space for is reported and not withdrawn.
func TestFullDiskWithdrawsNoNet(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Gate.Enabled = false
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	defer r.Close()
	j := newReferee(r)
	id := offerNet(t, r, 1)
	if _, err := j.judgeNewest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(r.path(netsDir)); err != nil {
		t.Fatal(err)
	}
	if err := newFollower(r).sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.announce(ctx, "a") }()
	for end := time.After(patience); ; {
		members, err := r.bus.Members(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(members) == 1 && members[0].FailedNet == id {
			break
		}
		select {
		case <-end:
			t.Fatalf("found %+v, expected a process that cannot load net %s", members, id)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := j.takeBack(t.Context(), r.bus.SetPointer); err != nil {
		t.Fatal(err)
	}
	if got := netAt(t, r, r.currentKey()).Net; got != id {
		t.Errorf("current %q, expected %s", got, id)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A net that could not be kept at first and then proves to be unfit is reported as unfit.
func TestFetchedNetIsFoundUnfit(t *testing.T) {
	t.Parallel()
	r := openRun(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	defer r.Close()
	id := storeNet(t, r, []byte(unreadable), 1).ID
	m, err := r.store.Manifest(id)
	if err == nil {
		err = r.bus.PutNet(t.Context(), m, strings.NewReader(unreadable))
	}
	if err = errors.Join(err, os.RemoveAll(r.path(netsDir))); err != nil {
		t.Fatal(err)
	}
	changes, done := make(chan bus.Pointer, 1), make(chan struct{})
	changes <- bus.Pointer{Value: id}
	go func() {
		newFollower(r).loadEach(t.Context(), changes)
		close(done)
	}()
	await := func(here bool) {
		t.Helper()
		for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			if s := r.Status(); s.FailedNet != "" && s.FailedHere == here {
				return
			} else if time.Now().After(end) {
				t.Fatalf("net %q failed, here: %t, expected %t", s.FailedNet, s.FailedHere, here)
			}
		}
	}
	await(true)
	if err := os.Mkdir(r.path(netsDir), 0o755); err != nil {
		t.Fatal(err)
	}
	await(false)
	close(changes)
	<-done
}

// startFollower has a follower of a run load the nets of pointers: send returns when one is
// taken, end when all are.
func startFollower(t *testing.T, r *Run) (f *follower, send func(value string), end func()) {
	t.Helper()
	f = newFollower(r)
	changes, done := make(chan bus.Pointer), make(chan struct{})
	go func() {
		f.loadEach(t.Context(), changes)
		close(done)
	}()
	send = func(value string) {
		t.Helper()
		select {
		case changes <- bus.Pointer{Value: value}:
		case <-time.After(patience):
			t.Fatalf("%s was not taken", value)
		}
	}
	return f, send, func() { close(changes); <-done }
}

// An actor that still plays with the net that a withdrawal goes back to has no failed net.
func TestWithdrawalClearsFailure(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	r := openRun(t, dir, smallConfig(t))
	defer r.Close()
	good, missing := offerNet(t, r, 1), nets.Hash([]byte("nowhere"))
	back := nets.Record{Schema: nets.RecordSchema, Net: good, Generation: 1, Action: nets.Withdraw, By: "referee@host", From: missing}
	f, send, end := startFollower(t, r)
	for _, value := range []string{good, missing, back.String()} {
		send(value)
	}
	end()
	if s := r.Status(); f.current().ID != good || s.FailedNet != "" || s.FailedWhy != "" {
		t.Errorf("plays with net %s, failed %q (%s), expected %s and none", f.current().ID, s.FailedNet, s.FailedWhy, good)
	}
	if !strings.Contains(eventsOf(t, r), "net could not be loaded, playing on with the old one") {
		t.Error("the failure is not in the log")
	}
}

// A net that a person chose is loaded, whatever was played with before: an actor may have missed
// the rollback that a promotion followed. An older net that is published is refused.
func TestPromotionAfterMissedRollback(t *testing.T) {
	t.Parallel()
	r := openRun(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	defer r.Close()
	five, seven := offerNet(t, r, 5), offerNet(t, r, 7)
	for action, refused := range map[string]bool{nets.Publish: true, nets.Promote: false, nets.Rollback: false, nets.Withdraw: false} {
		f := newFollower(r)
		if err := f.load(t.Context(), bus.Pointer{Value: seven}); err != nil {
			t.Fatal(err)
		}
		older := nets.Record{Schema: nets.RecordSchema, Net: five, Generation: 5, Action: action, By: "anna@desk"}
		err, want := f.load(t.Context(), bus.Pointer{Value: older.String()}), five
		if refused {
			want = seven
		}
		if isUnfit(err) != refused || (err != nil) != refused || f.current().ID != want {
			t.Errorf("%s: net %s is loaded, error %v, expected %s, refused: %t", action, f.current().ID, err, want, refused)
		}
	}
}

// A newer pointer ends the time that an actor waits before it fetches a net.
func TestNewerPointerEndsSpread(t *testing.T) {
	t.Parallel()
	r := openRun(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	defer r.Close()
	r.cfg.Bus.Listen = "127.0.0.1:0" // as if there were other actors
	good, next := offerNet(t, r, 1), nets.Hash([]byte("next"))
	f, send, end := startFollower(t, r)
	for _, value := range []string{
		good,
		nets.Record{Schema: nets.RecordSchema, Net: next, Generation: 2, Action: nets.Publish, By: "referee@host", From: good, Spread: nets.MaxSpread}.String(),
		nets.Record{Schema: nets.RecordSchema, Net: good, Generation: 1, Action: nets.Withdraw, By: "referee@host", From: next}.String(),
	} {
		send(value)
	}
	end()
	if s := r.Status(); f.current().ID != good || s.FailedNet != "" {
		t.Errorf("plays with net %s, failed %q, expected %s and none, as the net in between was not fetched", f.current().ID, s.FailedNet, good)
	}
}

// Nets that are published faster than all actors can fetch one do not put an actor's turn off.
func TestNewerPointersKeepTurn(t *testing.T) {
	t.Parallel()
	r := openRun(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	defer r.Close()
	r.cfg.Bus.Listen = "127.0.0.1:0" // as if there were other actors
	first := offerNet(t, r, 1)
	_, send, end := startFollower(t, r)
	publish := func(net string, generation, spread int) {
		t.Helper()
		send(nets.Record{Schema: nets.RecordSchema, Net: net, Generation: generation, Action: nets.Publish, By: "referee@host", Spread: spread}.String())
	}
	publish(first, 1, 0)
	publish(nets.Hash([]byte("next")), 2, 1)
	generation := 2
	for _, spread := range []int{nets.MaxSpread, 1, nets.MaxSpread} { // the second time after a failure
		failed := r.Status().FailedNet
		for end := time.Now().Add(patience); r.Status().FailedNet == failed; time.Sleep(time.Millisecond) { // its turn has come when it finds that a net is nowhere
			if time.Now().After(end) {
				t.Fatal("no net was fetched")
			}
			generation++
			publish(nets.Hash([]byte{byte(generation), byte(generation >> 8)}), generation, spread)
			if spread == 1 {
				break // its turn is within a second now
			}
		}
	}
	end()
}

// The more actors there are and the larger the net is, the longer its fetching takes.
func TestFetchSpread(t *testing.T) {
	for _, tc := range []struct {
		actors int
		size   int64
		want   int // seconds
	}{
		{0, 58 << 20, 0}, {1, 3 << 20, 0}, {70, 58 << 20, 63}, {1000, 58 << 20, 906}, {10000, 58 << 20, nets.MaxSpread},
	} {
		if got := fetchSpread(tc.actors, tc.size); got != tc.want {
			t.Errorf("%d actors, %d bytes: found %d s, expected %d", tc.actors, tc.size, got, tc.want)
		}
	}
}
