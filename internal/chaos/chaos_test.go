//go:build linux

package chaos

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

// The schedule follows from the seed alone, has every kind, and reads as it was written.
func TestScheduleFollowsFromSeed(t *testing.T) {
	a, b, other := Draw(7, 500, time.Second), Draw(7, 500, time.Second), Draw(8, 500, time.Second)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same seed gave two schedules")
	}
	if reflect.DeepEqual(a.Faults, other.Faults) {
		t.Error("two seeds gave the same schedule")
	}
	kinds := map[Kind]int{}
	for _, f := range a.Faults {
		kinds[f.Kind]++
	}
	for _, w := range weights {
		if kinds[w.kind] == 0 {
			t.Errorf("no fault of kind %s among 500", w.kind)
		}
	}
	path := filepath.Join(t.TempDir(), "s.json")
	if err := a.Write(path); err != nil {
		t.Fatal(err)
	}
	if back, err := ReadSchedule(path); err != nil || !reflect.DeepEqual(a, back) {
		t.Errorf("read something else than was written: %v", err)
	}
}

func TestBadSchedules(t *testing.T) {
	for _, text := range []string{
		`{`, `{"faults":[{"at":"1s","kind":"kill","target":"nobody","seed":1}]}`,
		`{"faults":[{"at":"1s","kind":"explode","target":"n1","seed":1}]}`,
		`{"faults":[{"at":"2s","kind":"kill","target":"n1","seed":1},{"at":"1s","kind":"kill","target":"n1","seed":1}]}`,
		`{"faults":[{"at":"1s","kind":"cut","target":"n1","seed":1}]}`,
	} {
		path := filepath.Join(t.TempDir(), "s.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSchedule(path); err == nil {
			t.Errorf("%s: found no error, expected one", text)
		}
	}
}

// Of faults of which two together make a run fail, the two are found.
func TestShrinkFindsPlantedPair(t *testing.T) {
	s := Draw(1, 100, time.Second)
	for _, pair := range [][2]int{{3, 71}, {0, 99}, {50, 51}} {
		runs := 0
		short, err := Shrink(s, func(part Schedule) (bool, error) {
			runs++
			return slices.Contains(part.Faults, s.Faults[pair[0]]) && slices.Contains(part.Faults, s.Faults[pair[1]]), nil
		})
		want := []Fault{s.Faults[pair[0]], s.Faults[pair[1]]}
		if err != nil || !reflect.DeepEqual(short.Faults, want) {
			t.Errorf("pair %v: found %v, %v after %d runs", pair, short.Faults, err, runs)
		}
	}
	stop := errors.New("stop")
	if short, err := Shrink(s, func(Schedule) (bool, error) { return false, stop }); !errors.Is(err, stop) || len(short.Faults) != 100 {
		t.Errorf("stopped: found %d faults, %v", len(short.Faults), err)
	}
}

const testRun = "r7"

func testGame(t *testing.T, id, net string, key ed25519.PrivateKey) []byte {
	t.Helper()
	g := &game.Game{ID: id, Variant: chess.Crazyhouse, Start: chess.Crazyhouse.Start(), Nets: [2]string{net, net}, Outcome: chess.Draw, Reason: game.PlyLimit}
	b, err := game.Encode(nil, g)
	if err != nil {
		t.Fatal(err)
	}
	return game.Seal(b, key)
}

// The auditor finds a lost game, a doubled one, a forged one, an unjudged net, a refused
// game and damage that nobody told of; and nothing where nothing is wrong.
func TestAuditFindsWhatIsPlanted(t *testing.T) {
	public, key, _ := ed25519.GenerateKey(nil)
	_, evil, _ := ed25519.GenerateKey(nil)
	net := strings.Repeat("ab", 32)
	ids := []string{testRun + "-a1-1-0-000000", testRun + "-a1-1-0-000001", testRun + "-a1-1-0-000002"}
	sound := func() *evidence {
		e := &evidence{run: testRun, finished: map[string]bool{}, destroyed: map[string]bool{}, unpromised: map[string]bool{},
			passed: map[string]bool{net: true}, keys: map[string]string{"a1": hex.EncodeToString(public)}}
		for _, id := range ids {
			e.finished[id] = true
			e.stored = append(e.stored, testGame(t, id, net, key))
		}
		return e
	}
	for _, c := range []struct {
		name  string
		plant func(e *evidence)
		want  func(a *Audit) int
	}{
		{"nothing", func(*evidence) {}, nil},
		{"lost", func(e *evidence) { e.stored = e.stored[1:] }, func(a *Audit) int { return a.Lost }},
		{"waiting", func(e *evidence) {
			e.waiting = e.finished
			e.stored = e.stored[1:]
		}, func(a *Audit) int { return a.Waiting }},
		{"twice", func(e *evidence) { e.stored = append(e.stored, e.stored[0]) }, func(a *Audit) int { return a.Twice }},
		{"forged", func(e *evidence) { e.stored[0] = testGame(t, ids[0], net, evil) }, func(a *Audit) int { return a.Forged }},
		{"unjudged", func(e *evidence) { clear(e.passed) }, func(a *Audit) int { return a.Unjudged }},
		{"refused", func(e *evidence) { e.refused = ids[:1] }, func(a *Audit) int { return a.Refused }},
		{"untold", func(e *evidence) { e.rots = []*damage{{Process: "replay", Found: rotUntold}} }, func(a *Audit) int { return a.Untold }},
		{"told", func(e *evidence) { e.rots = []*damage{{Process: "replay", Found: rotTold}} }, nil},
		{"destroyed", func(e *evidence) { e.stored, e.destroyed[ids[0]] = e.stored[1:], true }, nil},
		{"unpromised", func(e *evidence) { e.stored, e.unpromised[ids[0]] = e.stored[1:], true }, nil},
	} {
		e := sound()
		c.plant(e)
		a := e.audit()
		a.Learned = 1
		if c.want == nil {
			if err := a.OK(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if c.want(&a) != 1 || a.OK() == nil {
			t.Errorf("%s: not found: %+v", c.name, a)
		}
	}
}

func TestFrames(t *testing.T) {
	text := "INFO {\"a\":1}\r\nPUB a.b 5\r\nhello\r\nPING\r\nHMSG a.b 1 12 17\r\nNATS/1.0\r\n\r\nhello\r\n"
	r := bufio.NewReader(strings.NewReader(text))
	var got bytes.Buffer
	messages := 0
	for {
		f, err := readFrame(r)
		got.Write(f.bytes())
		if err != nil {
			break
		}
		if f.message() {
			messages++
		}
	}
	if got.String() != text || messages != 2 {
		t.Errorf("found %d messages in %q, expected 2 in %q", messages, got.String(), text)
	}
}

// Ten faults of every sort on a real cluster.
func TestShortRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the standard library anew, and runs a cluster for minutes")
	}
	programs, err := Build(t.Context(), filepath.Join(t.TempDir(), "bin"))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	r, err := Run(context.WithoutCancel(t.Context()), Options{Dir: t.TempDir(), Programs: programs, Calm: 5 * time.Minute, Log: log}, Draw(3, 10, 2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	if !r.OK() {
		t.Error(r.Failure)
	}
}
