package selfplay

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// refusing is an ingester of signed games with an actor, whose copies of refused games are
// counted.
type refusing struct {
	*ingester
	stream *watchedStream
	key    actorIdentity
	dir    string
	sent   int
}

func newRefusing(t *testing.T) *refusing {
	t.Helper()
	cfg := smallConfig(t)
	cfg.Bus.Listen = "127.0.0.1:0"
	dir := filepath.Join(t.TempDir(), "run")
	r := openRun(t, dir, cfg)
	t.Cleanup(func() { r.Close() })
	in := mustIngester(t, r)
	t.Cleanup(func() { in.close() })
	a, err := openActor(t.TempDir(), r.id(), "bad", 0)
	if err != nil {
		t.Fatal(err)
	}
	stream := &watchedStream{Bus: r.bus, beforeAck: func() {}}
	in.stream = stream
	return &refusing{in, stream, a, dir, 0}
}

// ingest has the actor send a batch of games, signed or not.
func (f *refusing) ingest(t *testing.T, games int, sign bool) {
	t.Helper()
	var all [][]byte
	for range games {
		data := shortGame(t, game.ID{Run: f.run.id(), Actor: "bad", Counter: uint64(f.sent)}.String())
		if f.sent++; sign {
			data = game.Seal(data, f.key.key())
		}
		all = append(all, data)
	}
	if _, err := f.run.bus.PublishGames(t.Context(), "bad", fmt.Sprint("m", f.sent), all); err != nil {
		t.Fatal(err)
	}
	if n, err := f.once(t.Context(), patience); n != games || err != nil {
		t.Fatalf("%d games, error %v, expected %d", n, err, games)
	}
}

// The games of an excluded actor, which plays on, leave nothing on the disk nor on the
// servers.
func TestExcludedActorFillsNothing(t *testing.T) {
	t.Parallel()
	f := newRefusing(t)
	if err := f.buffer.Exclude("bad", "its clock is broken"); err != nil {
		t.Fatal(err)
	}
	before := len(events(t, f.dir))
	for range 10 {
		f.ingest(t, replay.QuarantineBatch+1, true)
	}
	if n := len(events(t, f.dir)) - before; n != 0 || f.stream.rejected != 0 {
		t.Errorf("%d events and %d copies on the bus, expected none", n, f.stream.rejected)
	}
	if n := f.run.Status().Figures.Rejected[rejectExcluded]; n != uint64(f.sent) {
		t.Errorf("%d games counted, expected %d", n, f.sent)
	}
}

// An event about refused games has the number of the whole batch, the first one, too.
func TestQuarantineIsToldOfWholeBatch(t *testing.T) {
	t.Parallel()
	f := newRefusing(t)
	before := len(events(t, f.dir))
	f.ingest(t, replay.QuarantineBatch+1, false)
	all := events(t, f.dir)
	if last := all[len(all)-1]; len(all) != before+1 || last["msg"] != "game quarantined" || last["games"] != float64(f.sent) {
		t.Errorf("%d events, the last %v, expected one of %d games", len(all)-before, last, f.sent)
	}
}

// Refused games are told of once in a while, with their number. They are kept all the same.
func TestQuarantineIsToldOnceInAWhile(t *testing.T) {
	t.Parallel()
	f := newRefusing(t)
	f.kept = news{"": {told: time.Now().Add(24 * time.Hour)}} // a moment ago, however slow the machine
	before := len(events(t, f.dir))
	for range 3 {
		f.ingest(t, replay.QuarantineBatch+1, false)
	}
	if n := len(events(t, f.dir)) - before; n != 0 || f.stream.rejected != 3*replay.QuarantineBatch {
		t.Errorf("%d events and %d copies on the bus, expected none and the first of each batch", n, f.stream.rejected)
	}
	f.kept[""] = untold{games: f.kept[""].games}
	f.ingest(t, 1, false)
	all := events(t, f.dir)
	if last := all[len(all)-1]; len(all) != before+1 || last["msg"] != "game quarantined" || last["games"] != float64(f.sent) {
		t.Errorf("after a while %d events, the last %v, expected one of %d games", len(all)-before, last, f.sent)
	}
}

// A game of another actor's name than its sender's is refused, and takes neither that name nor
// that game from its actor.
func TestGamesOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	f := newRefusing(t)
	good, err := openActor(t.TempDir(), f.run.id(), "good", 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := shortGame(t, game.ID{Run: f.run.id(), Actor: "good"}.String())
	own := shortGame(t, game.ID{Run: f.run.id(), Actor: "bad"}.String())
	if err := f.run.bus.PublishPending(t.Context(), bus.PendingMessage{Actor: "bad", ID: "junk", Data: []byte("junk")}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []struct {
		actor string
		games [][]byte
	}{
		{"bad", [][]byte{game.Seal(theirs, f.key.key()), game.Seal(own, f.key.key())}},
		{"good", [][]byte{game.Seal(theirs, good.key())}},
	} {
		if _, err := f.run.bus.PublishGames(t.Context(), m.actor, "of-"+m.actor, m.games); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := f.run.Status(); s.Games != 2 || s.Figures.Rejected[rejectSeal] != 1 || s.Quarantined != 2 {
		t.Errorf("%d games, %d in quarantine, refused %v, expected each actor's own and one for its sender", s.Games, s.Quarantined, s.Figures.Rejected)
	}
	known, err := openActorKeys(filepath.Join(f.run.path(replayDir), actorKeysFile))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, a := range []actorIdentity{f.key, good} {
		want[a.Name] = hex.EncodeToString(a.key().Public().(ed25519.PublicKey))
	}
	if !maps.Equal(known.known, want) {
		t.Errorf("keys %v, expected %v", known.known, want)
	}
}

// Games in the spool of an actor that has another name since are kept in a backup as of the
// name that they have: from the present one replay would not take them.
func TestGamesOfFormerNameKeepIt(t *testing.T) {
	t.Parallel()
	r, p := openPublisher(t, "run-former-0-0-000000", "run-present-0-0-000000", "other-former-0-0-000000")
	if _, err := openActor(r.dir, r.id(), "present", 0); err != nil {
		t.Fatal(err)
	}
	senders := map[string]string{}
	s := &ServerReader{run: r, dir: r.dir}
	err := s.spooled(func(m bus.PendingMessage) error { senders[m.ID] = m.Actor; return nil })
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"run-former-0-0-000000": "former", "run-present-0-0-000000": "present", "other-former-0-0-000000": "present"}
	if !maps.Equal(senders, want) {
		t.Errorf("found %v in %s, expected %v", senders, p.spool.dir, want)
	}
}

// An actor that asks while games are being stored hears of none that it was refused without
// hearing why, unless the process that refused it has ended.
func TestRefusedGamesComeWithTheReason(t *testing.T) {
	t.Parallel()
	f := newRefusing(t)
	var ids []string
	var wrong [][]byte
	for i := range 40 {
		v := chess.Chess // of another variant than the run
		g := &game.Game{ID: game.ID{Run: f.run.id(), Actor: "bad", Counter: uint64(i)}.String(), Variant: v, Start: v.Start(), Outcome: chess.Draw, Reason: game.PlyLimit}
		data, err := game.Encode(nil, g)
		if err != nil {
			t.Fatal(err)
		}
		ids, wrong = append(ids, g.ID), append(wrong, game.Seal(data, f.key.key()))
	}
	done, asked := make(chan struct{}), make(chan string, 1)
	go func() {
		for {
			states, why := f.known(ids)
			for i, id := range ids {
				if states[i] == replay.Refused && why[id] == "" {
					asked <- id
					return
				}
			}
			select {
			case <-done:
				asked <- ""
				return
			default:
			}
		}
	}()
	for i, data := range wrong {
		if _, err := f.run.bus.PublishGames(t.Context(), "bad", fmt.Sprint("w", i), [][]byte{data}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.once(t.Context(), patience); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	if id := <-asked; id != "" {
		t.Errorf("game %s was refused without a reason", id)
	}
	if states, why := f.known(ids[:1]); states[0] != replay.Refused || why[ids[0]] == "" {
		t.Errorf("found %v, %q, expected that it is refused, and why", states, why)
	}
	f.told = refusals{} // as after a restart
	if states, why := f.known(ids[:1]); states[0] != replay.Refused || why[ids[0]] != "" {
		t.Errorf("after a restart: found %v, %q, expected that it is refused", states, why)
	}
}
