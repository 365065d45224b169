package selfplay

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
)

// An overview says what stands still and what was lost, and nothing where all is well.
func TestFindings(t *testing.T) {
	well := func() Overview {
		v := Overview{Run: bus.RunRecord{Name: "demo", Build: "1"}, Stream: bus.Stats{MaxBytes: 1000}}
		for _, role := range []string{"actor", "gate", "replay", "trainer"} {
			v.Members = append(v.Members, bus.Member{Role: role, Instance: "x", Build: "1", Host: "h", Since: time.Now(), Seen: time.Now()})
		}
		return v
	}
	if v := well(); len(v.findings()) != 0 {
		t.Errorf("all is well, found %q", v.findings())
	}
	for want, change := range map[string]func(*Overview){
		"there is no actor":                    func(v *Overview) { v.Members = v.Members[1:] },
		"there is no trainer":                  func(v *Overview) { v.Members = v.Members[:3] },
		"95 % full":                            func(v *Overview) { v.Stream.Bytes = 950 },
		"replay stands still":                  func(v *Overview) { v.Stream.Unacked = bus.MaxUnacked },
		"3 messages and 4 spooled games":       func(v *Overview) { v.Stream.Pending, v.Members[0].Waiting = 3, 4 },
		"the stream has lost 7 messages":       func(v *Overview) { v.Members[2].StreamLost = 7 },
		"buffer on h has lost 8 games":         func(v *Overview) { v.Members[2].BufferLost = 8 },
		"actor x cannot load net abc: no room": func(v *Overview) { v.Members[0].FailedNet, v.Members[0].FailedWhy = "abc", "no room" },
		"80 % of 50 games of actor e cannot be verified: another build": func(v *Overview) {
			v.Members[3].Unverifiable = []bus.Unverifiable{{Actor: "e", Games: 50, Count: 40, Why: "another build"}}
		},
	} {
		v := well()
		change(&v)
		v.Findings = v.findings()
		if !slices.ContainsFunc(v.Findings, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("found %q, want one with %q", v.Findings, want)
		}
		var text bytes.Buffer
		if err := v.Write(&text); err != nil || !strings.Contains(text.String(), "! "+v.Findings[0]) {
			t.Errorf("error %v, text %s", err, &text)
		}
	}
	v := well()
	v.Members[0].Build = "build-2" // updated in the middle of the run
	v.Members[2].Excluded = []bus.Excluded{{Actor: "bad", Why: "its clock is broken"}}
	v.Members[0].Excluded = []bus.Excluded{{Actor: "good", Why: "an actor says so"}} // which puts nobody in quarantine
	var text bytes.Buffer
	if err := v.Write(&text); err != nil || !strings.Contains(text.String(), "in quarantine: actor bad: its clock is broken\n") || strings.Contains(text.String(), "an actor says so") || !strings.Contains(text.String(), "build-2") || len(v.findings()) != 0 {
		t.Errorf("error %v, findings %q, text %s", err, v.findings(), &text)
	}
	loop := Overview{Run: bus.RunRecord{Build: "1"}, Members: []bus.Member{{Role: "loop", Build: "1"}}}
	if found := loop.findings(); len(found) != 0 {
		t.Errorf("a loop does all, found %q", found)
	}
}

// A run whose roles have not begun yet has an overview, one that the server has lost has none.
func TestOverviewOfAYoungRun(t *testing.T) {
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Bus.Listen = "127.0.0.1:0"
	r, err := Open(t.Context(), t.TempDir(), cfg, Options{Build: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	own := cfg
	own.Bus.Listen, own.Bus.URL, own.Run.Name = "", "nats://"+r.conn.Addr(), r.identity.Name
	v, err := ReadOverview(t.Context(), own, Options{Build: "test"})
	if err != nil || v.Run.ID != r.id() || len(v.Leases) != 0 || len(v.Findings) != 4 {
		t.Errorf("found %+v, error %v", v, err)
	}
	lost := v.Run
	lost.Name, lost.ID = "lost", "lost"
	if err := r.conn.CreateRun(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	own.Run.Name = lost.Name
	for range 2 { // the first look makes nothing that the second could find
		if _, err := ReadOverview(t.Context(), own, Options{Build: "test"}); !errors.Is(err, bus.ErrMissing) {
			t.Errorf("without its streams: error %v, expected %v", err, bus.ErrMissing)
		}
	}
}
