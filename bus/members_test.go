package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/crazyhouse-rl/selfplay/internal/golden"
)

func member(role, instance string) Member {
	return Member{
		Schema: MemberSchema, Protocol: Protocol, Role: role, Instance: instance, Host: "host", PID: 7, Build: "v1",
		Since: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), State: "playing", Net: strings.Repeat("a", 64), Generation: 3,
		Games: 1000, Waiting: 2, FailedNet: strings.Repeat("b", 64), FailedWhy: "another variant",
	}
}

func TestMembers(t *testing.T) {
	ctx := testContext(t)
	var log lines
	b := openBus(t, Options{Log: log.logger()})
	if ms, err := b.Members(ctx); err != nil || len(ms) != 0 {
		t.Errorf("nobody yet: %+v, %v", ms, err)
	}
	actor, other, trainer := member("actor", "b"), member("actor", "a"), member("trainer", "a")
	for _, m := range []Member{trainer, actor, other, actor} {
		if err := b.Announce(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	names := func() (names []string) {
		ms, err := b.Members(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ms {
			if time.Since(m.Seen).Abs() > time.Minute {
				t.Errorf("seen %v", m.Seen)
			}
			names = append(names, m.Role+" "+m.Instance)
		}
		return names
	}
	if got := names(); !slices.Equal(got, []string{"actor a", "actor b", "trainer a"}) {
		t.Errorf("got %q", got)
	}
	if err := b.Leave(ctx, other); err != nil {
		t.Fatal(err)
	}
	// A newer build says more; a damaged record is nobody's, nor is one under another's key.
	for key, value := range map[string]string{
		"gate.x":    `{"schema":3,"role":"gate","instance":"x","mood":{"good":[true]}}`,
		"gate.y":    `{"schema":1,"role":"gate`,
		"gate.z":    `{"schema":0,"role":"gate","instance":"z"}`,
		"gate.v":    `{"schema":1,"role":"loop","instance":"v"}`,
		"gate.w":    `{"schema":1,"role":"gate","instance":"x"}`,
		"gate.long": strings.Repeat(" ", maxRecordBytes+1),
	} {
		if _, err := b.roles.Put(ctx, key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(); !slices.Equal(got, []string{"actor b", "gate x", "trainer a"}) || strings.Count(log.String(), "left out") != 5 {
		t.Errorf("got %q; log:\n%s", got, log.String())
	}
	s, err := b.roles.Status(ctx)
	if err != nil || s.TTL() != memberTTL || s.Config().MaxBytes != maxMembersBytes {
		t.Errorf("bucket %+v, %v", s.Config(), err)
	}
	for _, m := range []Member{{}, member("a.b", "a"), member("a", "")} {
		if err := b.Announce(ctx, m); !errors.Is(err, ErrName) {
			t.Errorf("%q, %q: got %v, want ErrName", m.Role, m.Instance, err)
		}
	}
}

func TestMemberGolden(t *testing.T) {
	want := member("actor", "a1")
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	present := golden.Present(MemberSchema, "member.json")
	if *update {
		golden.Write(t, present, text)
	}
	for _, path := range golden.Versions(t, present) {
		if m, err := parseMember(golden.Read(t, path)); err != nil || !reflect.DeepEqual(m, want) {
			t.Errorf("%s: got %+v, %v", path, m, err)
		}
	}
	if string(golden.Read(t, present)) != string(text) {
		t.Errorf("%s differs from what is written now: %s", present, text)
	}
}

// TestMemberTexts: what other processes say of themselves has no control characters.
func TestMemberTexts(t *testing.T) {
	const bad = "a\n! forged\x1b[2J\x07"
	m := member("actor", "a1")
	m.State, m.Host, m.Build, m.FailedWhy = bad, bad, bad, bad
	m.Excluded, m.Unverifiable, m.Stalled = []Excluded{{bad, bad}}, []Unverifiable{{Actor: bad, Why: bad}}, []Stall{{Stage: bad, Why: bad}}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseMember(text)
	if err != nil {
		t.Fatal(err)
	}
	if found := fmt.Sprintf("%+v", got); strings.ContainsFunc(found, unicode.IsControl) || strings.Count(found, strconv.Quote("a ! forged\x1b[2J\x07")) != 10 {
		t.Errorf("found %q", found)
	}
}

func FuzzMember(f *testing.F) {
	f.Add([]byte(`{"schema":1,"role":"actor","instance":"a1"}`))
	f.Add([]byte(`{"schema":9,"role":"actor","instance":"a1","later":0}`)) // newer
	f.Add([]byte(`{"schema":1,"role":"a.b","instance":"a1"}`))             // not a key
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseMember(data)
		if err != nil {
			return
		}
		if key, err := m.key(); err != nil || m.Schema < 1 {
			t.Errorf("accepted %+v with key %q, %v", m, key, err)
		}
	})
}
