package selfplay

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// earlier is a process that speaks protocol 1: its games are bare records, each a
// message, its pointers bare ids of nets. It knows no registry, members, leases and
// services.
type earlier struct{ *Run }

// openEarlier connects one to the server that cfg names, or to one that it opens, for
// the run with the id cfg.Run.ID whose nets the key signs.
func openEarlier(t *testing.T, cfg configs.Config, key ed25519.PublicKey) earlier {
	t.Helper()
	r := newRun(t.TempDir(), cfg, Options{Build: "test"})
	r.identity, r.public = identity{ID: cfg.Run.ID, Protocol: 1}, key
	t.Cleanup(func() { r.Close() })
	err := errors.Join(r.settle(), r.openStores(), r.connect(t.Context()))
	if err == nil {
		err = r.join(t.Context(), bus.JoinOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return earlier{r}
}

var bareNet = regexp.MustCompile(`^[0-9a-f]{64}$`)

// current returns the net that the pointer names: its value is all of its id, and the
// manifest has no key that protocol 1 does not know.
func (e earlier) current(t *testing.T, ctx context.Context) *net {
	p, err := e.bus.Pointer(ctx, e.currentKey())
	if errors.Is(err, bus.ErrNoPointer) {
		return e.firstNet()
	}
	if err != nil {
		t.Error(err)
		return e.firstNet()
	}
	n, err := e.loadNet(ctx, p.Value)
	if err != nil || !bareNet.MatchString(p.Value) {
		t.Errorf("pointer %q: %v", p.Value, err)
		return e.firstNet()
	}
	if m, err := e.store.Manifest(n.ID); err != nil || m.Run != "" {
		t.Errorf("manifest of run %q, error %v", m.Run, err)
	}
	return n
}

// play is the actor: it plays games until it has played some with a net, and returns
// their ids. A game is gone when the stream has it.
func (e earlier) play(t *testing.T, ctx context.Context, withNet int) (ids []string) {
	b, err := e.openingBook(ctx, e.cfg.Actor.Book)
	if err != nil {
		t.Error(err)
		return nil
	}
	games := newGameMaker(e.cfg.Actor, e.variant, b, e.cfg.Seed, "0.0.1", e.log)
	for withNet > 0 && ctx.Err() == nil {
		n := e.current(t, ctx)
		p, err := e.style.player(n)
		if err != nil {
			t.Error(err)
			return ids
		}
		g, err := games.play(ctx, alone(p, n), game.ID{Run: e.id(), Actor: localActor, Epoch: 7, Counter: uint64(len(ids))})
		p.release()
		if err != nil {
			t.Error(err)
			return ids
		}
		g.ID = fmt.Sprintf("%s-7-0-%06d", e.id(), len(ids)) // without an actor
		data, err := game.Encode(nil, g)
		if err == nil {
			_, err = e.bus.PublishGame(ctx, localActor, g.ID, data)
		}
		if err != nil {
			t.Error(err)
			return ids
		}
		if ids = append(ids, g.ID); n.generation > 0 {
			withNet--
		}
	}
	return ids
}

// An actor of protocol 1 works beside the replay role, trainer, gate and actors of this
// build, in a run that was begun with that protocol: its games are all stored, once, and
// it plays with the nets that are trained on them.
func TestEarlierActorBesideThisBuild(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	cfg := smallConfig(t)
	cfg.Gate.Enabled, cfg.Bus.Listen = false, "127.0.0.1:0"
	cfg.Run.ID, cfg.Run.Protocol = "crazyhouse-1", 1
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	defer r.Close()
	looped, acted := make(chan error, 1), make(chan error, 1)
	go func() { looped <- r.Loop(ctx, Limits{}) }()
	beside := joinDir(t, r, "actor", t.TempDir())
	go func() { acted <- beside.Actor(ctx, Limits{}) }()

	old := cfg
	old.Bus.Listen, old.Bus.URL = "", "nats://"+r.conn.Addr()
	ids := openEarlier(t, old, r.public).play(t, ctx, 10)
	stop()
	if err := errors.Join(<-acted, <-looped); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	audit(t, r.dir)
	stored, actors := onDisk(t, r), map[string]bool{}
	for id := range stored {
		parsed, err := game.ParseID(r.id(), id)
		actors[parsed.Actor] = err == nil
	}
	for _, id := range ids {
		if stored[id] != 1 {
			t.Errorf("game %s is on disk %d times, want once", id, stored[id])
		}
	}
	if s := r.Status(); s.Quarantined != 0 || s.Step == 0 || len(ids) < 10 || len(actors) != 3 {
		t.Errorf("%d games by the earlier actor, actors %v, status %+v", len(ids), actors, s)
	}
	if again := openRun(t, r.dir, cfg); again.identity.protocol() != 1 {
		t.Error("the run is of another protocol when it is opened again")
	} else {
		again.Close()
	}
}

// An actor of this build works beside the roles of protocol 1: they get bare games,
// without signatures; it plays with the net of a bare pointer, and its spool does not
// fill although nobody says which games are on disk.
func TestThisActorBesideEarlierRoles(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	cfg := smallConfig(t)
	cfg.Run.ID, cfg.Bus.Listen = "crazyhouse-1", "127.0.0.1:0"
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	public := key.Public().(ed25519.PublicKey)
	old := openEarlier(t, cfg, public)
	// By these an actor finds a run; roles of protocol 1 do not look at them.
	record := bus.RunRecord{Schema: bus.RunSchema, Name: "old", ID: cfg.Run.ID, Variant: cfg.Variant, Kind: cfg.Net.Kind,
		PublicKey: hex.EncodeToString(public), Build: "0.0.1", Protocol: 1, Created: time.Now()}
	if err := old.conn.CreateRun(ctx, record); err != nil {
		t.Fatal(err)
	}
	if _, err := old.bus.SetPointer(ctx, configKey, string(configs.Shared(cfg)), 0); err != nil {
		t.Fatal(err)
	}

	own := preset(t, "laptop")
	own.Bus.URL, own.Actor.SpoolMaxGames, own.Actor.Workers = "nats://"+old.conn.Addr(), 4, 2
	dir := t.TempDir()
	act, err := Join(ctx, dir, "old", own, Options{Build: "test", Role: "actor"})
	if err != nil {
		t.Fatal(err)
	}
	acting, done := context.WithCancel(ctx)
	acted := make(chan error, 1)
	go func() { acted <- act.Actor(acting, Limits{}) }()

	file := randomNet(t, old.Run, 1).Bytes()
	net := nets.Manifest{Schema: nets.ManifestSchema, ID: nets.Hash(file), Size: int64(len(file)), Kind: nets.KindNNUE, Variant: cfg.Variant, Generation: 1}
	if err := net.Sign(key); err != nil {
		t.Fatal(err)
	}
	// take is the replay role: it takes games off the stream and acknowledges them.
	stored, withNet := map[string]bool{}, 0
	take := func(wait time.Duration) int {
		batch, err := old.bus.Games(ctx, 512, wait)
		if err != nil || len(batch.Msgs) == 0 {
			return 0
		}
		for _, m := range batch.Msgs {
			g, err := game.Decode(m.Data)
			if err != nil || !bytes.HasPrefix(m.Data, []byte("ZHGM")) || stored[g.ID] || replay.ActorOf(g.ID, cfg.Run.ID) == "" {
				t.Errorf("a message that protocol 1 does not know or a game that came twice: %.60q, error %v", m.Data, err)
				continue
			}
			if stored[g.ID] = true; g.Nets[0] == net.ID {
				withNet++
			}
		}
		if err := old.bus.AckGames(ctx, batch.Msgs[len(batch.Msgs)-1]); err != nil {
			t.Error(err)
		}
		return len(batch.Msgs)
	}
	published := false
	for withNet < 12 && ctx.Err() == nil {
		take(time.Second)
		if len(stored) < 12 || published { // three times what the spool holds
			continue
		}
		published = true
		err := old.bus.PutNet(ctx, net, bytes.NewReader(file)) // the trainer and the gate
		if err == nil {
			_, err = old.bus.SetPointer(ctx, old.currentKey(), net.ID, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	done()
	if err := <-acted; err != nil {
		t.Fatal(err)
	}
	for ctx.Err() == nil {
		left, err := old.bus.Stats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if left.Pending == 0 && left.Unacked == 0 {
			break
		}
		take(time.Second)
	}
	if s := act.Status(); s.Spooled != 0 || s.SessionGames != uint64(len(stored)) || withNet < 12 {
		t.Errorf("%d games arrived, %d with the net; status %+v", len(stored), withNet, s)
	}
	if err := act.Close(); err != nil {
		t.Fatal(err)
	}
}

// A role of a build that is too old for a run, or whose run's record was replaced, stops
// and says why.
func TestRolesRefuseOtherProtocols(t *testing.T) {
	r := openBookRun(t)
	record, err := r.conn.FindRun(t.Context(), r.identity.Name)
	if err != nil {
		t.Fatal(err)
	}
	own := preset(t, "laptop")
	own.Bus.URL = "nats://" + r.conn.Addr()
	known := t.TempDir()
	joinDir(t, r, "actor", known).Close()
	for _, c := range []struct {
		protocol int
		dir      string
		want     string
	}{
		{99, t.TempDir(), fmt.Sprintf("speak protocol 99, this build %d to %d: use a newer build of selfplay", bus.MinProtocol, bus.Protocol)},
		{1, known, "speak protocol 1, expected 2, with which " + known + " was begun: somebody has replaced the run's record"},
	} {
		record, err = r.conn.FindRun(t.Context(), record.Name)
		if err != nil {
			t.Fatal(err)
		}
		record.Protocol = c.protocol
		if err := r.conn.UpdateRun(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		_, err := Join(t.Context(), c.dir, record.Name, own, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("protocol %d: error %v, expected one with %q", c.protocol, err, c.want)
		}
	}
	if err := r.register(t.Context()); err != nil { // the trainer's word counts
		t.Fatal(err)
	}
	if record, err = r.conn.FindRun(t.Context(), record.Name); err != nil || record.Protocol != bus.Protocol {
		t.Errorf("record %+v, error %v", record, err)
	}
	cfg := r.cfg
	cfg.Run.Protocol = 1
	if err := r.identity.agree(r.dir, cfg); err == nil || !strings.Contains(err.Error(), "a run keeps the protocol that it began with") {
		t.Errorf("another protocol at a later start: %v", err)
	}
	cfg.Run.Protocol = bus.Protocol + 1
	if err := Check(cfg); err == nil || !strings.Contains(err.Error(), "run.protocol") {
		t.Errorf("a protocol of the future: %v", err)
	}
}
