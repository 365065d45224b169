package selfplay

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/sample"
)

func TestActorLimits(t *testing.T) {
	l := newActorLimits(configs.Replay{ActorGamesPerMinute: 60, ActorGamesPerDay: 100})
	now := time.Date(2026, 1, 2, 23, 50, 0, 0, time.UTC)
	l.now = func() time.Time { return now }
	send := func(actor string, n int) (taken int, last error) {
		for range n {
			if over := l.check([]signature{{actor: actor}}, []bool{false}); over == nil {
				taken++
			} else {
				last = over[0]
			}
		}
		return taken, last
	}
	if n, err := send("a", 70); n != 60 || !errors.Is(err, errRate) {
		t.Errorf("at once: %d of 70 taken, error %v, expected 60 and the rate", n, err)
	}
	if n, _ := send("b", 5); n != 5 {
		t.Errorf("another actor: %d of 5 taken", n)
	}
	now = now.Add(10 * time.Second)
	if n, _ := send("a", 20); n != 10 {
		t.Errorf("10 s later: %d of 20 taken, expected 10", n)
	}
	now = now.Add(time.Minute)
	if n, err := send("a", 60); n != 30 || !errors.Is(err, errQuota) {
		t.Errorf("a minute later: %d of 60 taken, error %v, expected the 30 that are left of the day", n, err)
	}
	now = now.Add(10 * time.Minute)
	if n, _ := send("a", 10); n != 10 {
		t.Errorf("the day after: %d of 10 taken", n)
	}
	if over := l.check([]signature{{actor: "a"}, {}}, []bool{true, false}); over != nil {
		t.Errorf("games that are free: %v", over)
	}
	some := []signature{{actor: "c"}, {actor: "c"}, {actor: "c"}}
	for range 100 { // of games that cannot be stored
		over := l.check(some, make([]bool, len(some)))
		l.giveBack(some, make([]bool, len(some)), over)
	}
	if n, _ := send("c", 70); n != 60 {
		t.Errorf("after games that were given back: %d of 70 taken, expected 60", n)
	}
	none := newActorLimits(configs.Replay{})
	if over := none.check(make([]signature, 1000), make([]bool, 1000)); over != nil {
		t.Errorf("without limits: %d refused", len(over))
	}
}

// An actor's refused games are told of once a minute, with how many there were since.
func TestNewsOfRefusedGames(t *testing.T) {
	var n news
	at := time.Date(2026, 1, 2, 23, 50, 0, 0, time.UTC)
	for _, c := range []struct {
		actor string
		after time.Duration
		games int
		want  int
	}{{"a", 0, 17, 17}, {"a", 0, 1, 0}, {"b", 0, 1, 1}, {"a", tellEvery - 1, 2, 0}, {"a", 1, 1, 4}, {"a", 1, 1, 0}, {"b", 0, 2, 2}} {
		at = at.Add(c.after)
		if found := n.add(c.actor, c.games, at); found != c.want {
			t.Errorf("actor %s at %v: told of %d games, expected %d", c.actor, at, found, c.want)
		}
	}
}

func TestRefusalsAreBounded(t *testing.T) {
	var r refusals
	for i := range maxTold + 10 {
		r.add(fmt.Sprint(i), strings.Repeat("x", 1000), true)
	}
	if _, there := r.games["9"]; there || len(r.games) != maxTold || len(r.games["10"].why) != maxToldWhy {
		t.Errorf("found %d games", len(r.games))
	}
}

// Games above an actor's limit are neither stored nor kept in quarantine; they are
// counted, and the actor is told why. The others of the same message are stored.
func TestGamesAboveLimit(t *testing.T) {
	cfg := smallConfig(t)
	cfg.Bus.Listen, cfg.Replay.ActorGamesPerMinute = "127.0.0.1:0", 3
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	defer r.Close()
	in := mustIngester(t, r)
	defer in.close()
	at := time.Now()
	in.limits.now = func() time.Time { return at }
	a, err := openActor(t.TempDir(), r.id(), "flood", 0)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	games := [][]byte{shortGame(t, r.id()+"-flood-0-0-000099")} // not signed
	for i := range 5 {
		id := game.ID{Run: r.id(), Actor: "flood", Counter: uint64(i)}.String()
		ids, games = append(ids, id), append(games, game.Seal(shortGame(t, id), a.key()))
	}
	if _, err := r.bus.PublishGames(t.Context(), "flood", "m", games); err != nil {
		t.Fatal(err)
	}
	if n, err := in.once(t.Context(), time.Minute); n != len(games) || err != nil {
		t.Fatalf("%d games, error %v", n, err)
	}
	s := r.Status()
	if s.Games != 3 || s.Quarantined != 1 || s.Figures.Rejected[rejectRate] != 2 || s.Figures.Rejected[rejectSeal] != 1 || s.Figures.Dropped != 2 {
		t.Errorf("%d games, %d in quarantine, refused %v, dropped %d; expected 3, 1, two for the rate and one for its signature", s.Games, s.Quarantined, s.Figures.Rejected, s.Figures.Dropped)
	}
	told := func(e map[string]any) bool {
		return e["msg"] == "games refused, the actor sends too many" && e["actor"] == "flood" && e["games"] == 2.0
	}
	if all := events(t, r.dir); !slices.ContainsFunc(all, told) {
		t.Errorf("events %v, expected one of 2 games above the limit", all)
	}
	// Those that are stored come again, which costs their actor nothing.
	if _, err := r.bus.PublishGames(t.Context(), "flood", "again", games[1:4]); err != nil {
		t.Fatal(err)
	}
	if _, err := in.once(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if s := r.Status(); s.Figures.Dropped != 2 || s.Duplicates != 3 {
		t.Errorf("stored games once more: dropped %d, %d known; expected 2 and 3", s.Figures.Dropped, s.Duplicates)
	}
	answer, err := answerHas(encodeMessage(&hasRequest{Schema: messageSchema, IDs: ids}), in.known, in.keys.other, bus.Floor{})
	if err != nil {
		t.Fatal(err)
	}
	has, err := parseHas(answer, len(ids))
	if err != nil || has.States != "sssrr" || !strings.Contains(has.Why[ids[4]], "too many games a minute") || has.Why[ids[0]] != "" {
		t.Errorf("found %+v, error %v", has, err)
	}
}

// One command takes an actor's games out of the window and refuses later ones, another
// takes that back; both are in the audit.
func TestQuarantineAndRelease(t *testing.T) {
	r, own := openOnServer(t)
	p := startReplay(t, filepath.Join(t.TempDir(), "replay"), own, Options{})
	p.await(t, "waiting for games")
	own.Run.Name = "test"
	a, err := openActor(t.TempDir(), r.id(), "bad", 0)
	if err != nil {
		t.Fatal(err)
	}
	counter := uint64(0)
	send := func() (id string) {
		t.Helper()
		for id == "" || sample.HeldOut(id) { // such games are not in the window
			id = game.ID{Run: r.id(), Actor: "bad", Counter: counter}.String()
			counter++
		}
		if _, err := r.bus.PublishGames(t.Context(), "bad", id, [][]byte{game.Seal(shortGame(t, id), a.key())}); err != nil {
			t.Fatal(err)
		}
		return id
	}
	state := func(id, want string) hasAnswer {
		t.Helper()
		for end := time.After(patience); ; {
			answer, err := r.bus.Ask(t.Context(), hasService, encodeMessage(&hasRequest{Schema: messageSchema, IDs: []string{id}}))
			if err != nil {
				t.Fatal(err)
			}
			has, err := parseHas(answer, 1)
			if err != nil {
				t.Fatal(err)
			}
			if has.States == want && (want != "r" || has.Why[id] != "") { // the reason follows
				return has
			}
			select {
			case <-end:
				t.Fatalf("game %s: found %q, expected %q", id, has.States, want)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	change := func(release bool) {
		t.Helper()
		games, err := Quarantine(t.Context(), "", own, Options{}, "bad", "anna@desk", "its clock is broken", release)
		if err != nil || games != 1 {
			t.Fatalf("release %t: told of %d games, error %v, expected the one that is stored", release, games, err)
		}
	}
	state(send(), "s")
	before := p.run.Status()
	for end := time.Now().Add(patience); before.Window == 0 && time.Now().Before(end); before = p.run.Status() { // shown after the acknowledgement
		time.Sleep(time.Millisecond)
	}
	change(false)
	if got := p.run.Status().Excluded; !slices.Equal(got, []bus.Excluded{{Actor: "bad", Why: "its clock is broken"}}) {
		t.Errorf("the status tells of %v in quarantine", got)
	}
	if s := p.run.Status(); before.Window == 0 || s.Window != 0 || s.Games != before.Games {
		t.Errorf("window of %d positions of %d games, before %d of %d; expected none of the same games", s.Window, s.Games, before.Window, before.Games)
	}
	if has := state(send(), "r"); !strings.Contains(fmt.Sprint(has.Why), "its clock is broken") {
		t.Errorf("the actor is told %v, expected the reason", has.Why)
	}
	change(true)
	if s := p.run.Status(); s.Window != before.Window || len(s.Excluded) != 0 {
		t.Errorf("after the release a window of %d positions, expected %d", s.Window, before.Window)
	}
	state(send(), "s")
	if games, err := Quarantine(t.Context(), "", own, Options{}, "ghost", "anna@desk", "unheard of", false); err != nil || games != 0 {
		t.Errorf("an actor without games: told of %d, error %v, expected none", games, err)
	}
	p.end(t)
	entries, err := Audit(t.Context(), "", own, Options{})
	if err != nil || len(entries) != 3 || entries[0].Action != auditQuarantine || entries[1].Action != auditRelease || entries[1].What != "bad" || entries[0].By != "anna@desk" || entries[0].Why != "its clock is broken" {
		t.Errorf("audit %+v, error %v", entries, err)
	}
	if _, err := Quarantine(t.Context(), "", own, Options{}, "bad", "", "", false); !errors.Is(err, bus.ErrNobody) {
		t.Errorf("without a replay role: error %v, expected %v", err, bus.ErrNobody)
	}
	if _, err := Quarantine(t.Context(), "", own, Options{}, "Not one", "", "", false); !errors.Is(err, ErrNoActor) {
		t.Errorf("error %v, expected %v", err, ErrNoActor)
	}
}

// A stopped run is changed in its directory; changed settings and nets that people chose
// are in the audit, too.
func TestAuditOfStoppedRun(t *testing.T) {
	cfg := smallConfig(t)
	cfg.Gate.Enabled = false
	dir := filepath.Join(t.TempDir(), "run")
	loopOnce(t, dir, cfg, Limits{Generation: 1, For: patience})
	cfg.Actor.Nodes = 16
	if err := openRun(t, dir, cfg).Close(); err != nil {
		t.Fatal(err)
	}
	if games, err := Quarantine(t.Context(), dir, cfg, Options{}, localActor, "anna@desk", "why not", false); err != nil || games == 0 {
		t.Fatalf("found %d games of the actor, error %v", games, err)
	}
	// Of a run without a game to draw from the trainer waits.
	r := openRun(t, dir, cfg)
	if err := errors.Join(r.Loop(t.Context(), Limits{For: 2 * time.Second}), r.Close()); err != nil {
		t.Errorf("all actors in quarantine: %v", err)
	}
	choice, err := ChooseNet(t.Context(), dir, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = choice.Rollback(t.Context(), 0, "ben@desk", "it hangs its queen")
	if err := errors.Join(err, choice.Close()); err != nil {
		t.Fatal(err)
	}
	entries, err := Audit(t.Context(), dir, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		if e.Action != "publish" {
			found = append(found, e.Action+" "+e.What+": "+e.Why)
		}
	}
	want := "settings run run: actor.nodes: 15 → 16; quarantine local: why not; rollback no net: it hangs its queen"
	if got := strings.Join(found, "; "); got != want || len(entries) < 4 {
		t.Errorf("found %d entries, %s; expected %s", len(entries), got, want)
	}
	_, buffer := openWithBuffer(t, dir, cfg)
	if x := buffer.Excluded(); len(x) != 1 || x[0] != (replay.Exclusion{Actor: localActor, Why: "why not"}) {
		t.Errorf("excluded %v", x)
	}
}

// TestOneGateOfADirectory: a second process is refused, and takes no role from the first.
func TestOneGateOfADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := openRun(t, dir, smallConfig(t))
	defer r.Close()
	unlock, err := r.lockGate()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Gate(t.Context(), false); !errors.Is(err, dirlock.ErrHeld) {
		t.Errorf("found error %v, expected %v", err, dirlock.ErrHeld)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}

// TestActorOfAnotherName: the name of an actor that has begun is not changed in silence.
func TestActorOfAnotherName(t *testing.T) {
	dir := t.TempDir()
	if _, err := openActor(dir, "run", "", 0); err != nil {
		t.Fatal(err)
	}
	for name, refused := range map[string]bool{"": false, localActor: false, "a1": true} {
		if _, err := openActor(dir, "run", name, 0); (err != nil) != refused || refused && !strings.Contains(err.Error(), "expected a1") {
			t.Errorf("%q: found error %v", name, err)
		}
	}
}
