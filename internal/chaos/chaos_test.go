//go:build linux

package chaos

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
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

// Of faults of which two together make a run fail, the two are found, without trying any
// selection twice, and with no long wait between them.
func TestShrinkFindsPlantedPair(t *testing.T) {
	s := Draw(1, 100, time.Second)
	same := func(a, b Fault) bool { a.At = b.At; return a == b }
	for _, pair := range [][2]int{{3, 71}, {0, 99}, {50, 51}} {
		want := []Fault{s.Faults[pair[0]], s.Faults[pair[1]]}
		runs, tried := 0, map[string]bool{}
		short, err := Shrink(s, func(part Schedule) (bool, error) {
			runs++
			text, err := json.Marshal(part)
			if err != nil || tried[string(text)] || len(part.Faults) == len(s.Faults) {
				t.Errorf("pair %v: tried twice, or the whole: %d faults, %v", pair, len(part.Faults), err)
			}
			tried[string(text)] = true
			for _, w := range want {
				if !slices.ContainsFunc(part.Faults, func(f Fault) bool { return same(f, w) }) {
					return false, nil
				}
			}
			return true, nil
		})
		if err != nil || !slices.EqualFunc(short.Faults, want, same) || runs > 40 {
			t.Errorf("pair %v: found %v, %v after %d runs", pair, short.Faults, err, runs)
			continue
		}
		first, second := short.Faults[0], short.Faults[1]
		if first.At > Duration(idle) || second.At > first.At+first.For+Duration(idle) || second.At < first.At || second.At > want[1].At {
			t.Errorf("pair %v: found them at %v and %v, the first lasting %v", pair, time.Duration(first.At), time.Duration(second.At), time.Duration(first.For))
		}
	}
	stop := errors.New("stop")
	if short, err := Shrink(s, func(Schedule) (bool, error) { return false, stop }); !errors.Is(err, stop) || len(short.Faults) != 100 {
		t.Errorf("stopped: found %d faults, %v", len(short.Faults), err)
	}
}

// What happens at the same time does so after a wait was shortened.
func TestShortenedWaits(t *testing.T) {
	at := func(seconds ...float64) (s Schedule) {
		for i := 0; i < len(seconds); i += 2 {
			s.Faults = append(s.Faults, Fault{At: Duration(seconds[i] * 1e9), For: Duration(seconds[i+1] * 1e9)})
		}
		return s
	}
	s := at(100, 30, 110, 0, 120, 20, 143, 0, 160, 0)
	s.shorten()
	if want := at(5, 30, 15, 0, 25, 20, 48, 0, 53, 0); !reflect.DeepEqual(s, want) {
		t.Errorf("found %v, expected %v", s, want)
	}
}

// A part of a schedule fails by what the whole one broke; and where that is something stored,
// by nothing that breaks on a busy machine.
func TestAimOfShrinking(t *testing.T) {
	for _, c := range []struct {
		broken, aim []Law
		brief       bool
	}{
		{nil, nil, false},
		{[]Law{LawCalm, LawLearned}, []Law{LawCalm, LawLearned}, false},
		{[]Law{LawCalm, LawLost, LawTwice}, []Law{LawLost, LawTwice}, true},
	} {
		r := Report{Broken: c.broken}
		if aim, brief := r.Aim(); !slices.Equal(aim, c.aim) || brief != c.brief {
			t.Errorf("%v: found %v, %v, expected %v, %v", c.broken, aim, brief, c.aim, c.brief)
		}
	}
	r := Report{Broken: []Law{LawCalm, LawLost}}
	if !r.Breaks([]Law{LawTwice, LawLost}) || r.Breaks([]Law{LawTwice}) {
		t.Error("a broken law is not found, or another one is")
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
