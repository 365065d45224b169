package bus

import (
	"encoding/json"
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/golden"
)

var update = flag.Bool("update", false, "rewrite golden files")

func testRun(name, id string) RunRecord {
	return RunRecord{
		Schema: RunSchema, Name: name, ID: id, Variant: "crazyhouse", Kind: "nnue",
		PublicKey: strings.Repeat("ab", 32), Build: "v1", Protocol: Protocol,
		Created: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC),
	}
}

// same compares what a record says, not where it was read.
func same(a, b RunRecord) bool {
	sameTime := a.Created.Equal(b.Created)
	a.revision, a.Created = b.revision, b.Created
	return sameTime && a == b
}

func TestRegistry(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	if runs, err := c.Runs(ctx); err != nil || len(runs) != 0 {
		t.Errorf("new server: %+v, %v", runs, err)
	}
	if _, err := c.FindRun(ctx, "one"); !errors.Is(err, ErrNoRun) {
		t.Errorf("new server: got %v, want ErrNoRun", err)
	}
	one, two := testRun("one", "aaaaaaaaaa"), testRun("two", "bbbbbbbbbb")
	for _, r := range []RunRecord{two, one} {
		if err := c.CreateRun(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.CreateRun(ctx, testRun("one", "cccccccccc")); !errors.Is(err, ErrRunExists) || !strings.Contains(err.Error(), `"one"`) {
		t.Errorf("second run of a name: got %v, want ErrRunExists with the name", err)
	}
	runs, err := c.Runs(ctx)
	if err != nil || !slices.EqualFunc(runs, []RunRecord{one, two}, same) {
		t.Errorf("got %+v, %v", runs, err)
	}
	if _, err := c.FindRun(ctx, "three"); !errors.Is(err, ErrNoRun) {
		t.Errorf("got %v, want ErrNoRun", err)
	}

	first, err := c.FindRun(ctx, "one")
	if err != nil || !same(first, one) {
		t.Fatalf("got %+v, %v", first, err)
	}
	second := first
	first.PublicKey, second.PublicKey = "first", "second"
	if err := c.UpdateRun(ctx, first); err != nil {
		t.Fatal(err)
	}
	if err := c.UpdateRun(ctx, second); !errors.Is(err, ErrConflict) {
		t.Errorf("a record changed since: got %v, want ErrConflict", err)
	}
	if err := c.UpdateRun(ctx, one); !errors.Is(err, ErrNoRun) {
		t.Errorf("a record not read: got %v, want ErrNoRun", err)
	}
	if r, err := c.FindRun(ctx, "one"); err != nil || r.PublicKey != "first" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestRegistryRefusesBadRecords(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	for what, change := range map[string]func(*RunRecord){
		"schema 0":   func(r *RunRecord) { r.Schema = 0 },
		"protocol 0": func(r *RunRecord) { r.Protocol = 0 },
		"name":       func(r *RunRecord) { r.Name = "a.b" },
		"no id":      func(r *RunRecord) { r.ID = "" },
	} {
		r := testRun("one", "aaaaaaaaaa")
		change(&r)
		if err := c.CreateRun(ctx, r); err == nil {
			t.Errorf("%s: %+v was created", what, r)
		}
	}
	kv, err := c.registry(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"", "{", `{"schema":2}`, `{"schema":1,"name":"one","id":"a","protocol":0}`, strings.Repeat(" ", maxRecordBytes+1), `{"schema":1,"name":"two","id":"a","protocol":1}`} {
		if _, err := kv.Put(ctx, "one", []byte(value)); err != nil {
			t.Fatal(err)
		}
		if r, err := c.FindRun(ctx, "one"); err == nil || errors.Is(err, ErrNoRun) {
			t.Errorf("%.40q: got %+v, %v", value, r, err)
		}
		if runs, err := c.Runs(ctx); err == nil {
			t.Errorf("%.40q: got %+v", value, runs)
		}
	}
}

// A record of another run that cannot be read stops nobody.
func TestJoinBesideUnreadableRun(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	own := testRun("one", "aaaaaaaaaa")
	if err := c.CreateRun(ctx, own); err != nil {
		t.Fatal(err)
	}
	kv, err := c.registry(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"{", `{"schema":2,"name":"two","id":"bbbbbbbbbb","protocol":9}`} {
		if _, err := kv.Put(ctx, "two", []byte(value)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Join(ctx, own.ID, JoinOptions{}); err != nil {
			t.Errorf("beside %s: %v", value, err)
		}
		if _, err := c.Join(ctx, "bbbbbbbbbb", JoinOptions{}); strings.Contains(value, "bbbbbbbbbb") != errors.Is(err, ErrRecord) {
			t.Errorf("the run of %s: %v", value, err)
		}
	}
}

func TestJoinRefusesOtherProtocols(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	for i, protocol := range []int{MinProtocol, Protocol, Protocol + 1} {
		r := testRun(strings.Repeat("n", i+1), strings.Repeat("i", i+1))
		r.Protocol = protocol
		if err := c.CreateRun(ctx, r); err != nil {
			t.Fatal(err)
		}
		_, err := c.Join(ctx, r.ID, JoinOptions{})
		if want := protocol > Protocol; errors.Is(err, ErrProtocol) != want || (err != nil) != want {
			t.Errorf("protocol %d: got %v", protocol, err)
		}
		if err != nil && (!strings.Contains(err.Error(), r.Name) || !strings.Contains(err.Error(), "newer build")) {
			t.Errorf("protocol %d: %v names neither the run nor what to do", protocol, err)
		}
	}
}

func TestRunRecordGolden(t *testing.T) {
	want := testRun("golden", "a2b3c4d5e6")
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	present := golden.Present(RunSchema, "run.json")
	if *update {
		golden.Write(t, present, text)
	}
	for _, path := range golden.Versions(t, present) {
		if r, err := parseRun(golden.Read(t, path)); err != nil || !same(r, want) {
			t.Errorf("%s: got %+v, %v", path, r, err)
		}
	}
	if string(golden.Read(t, present)) != string(text) {
		t.Errorf("%s differs from what is written now: %s", present, text)
	}
}

func FuzzRunRecord(f *testing.F) {
	text, _ := json.Marshal(testRun("one", "aaaaaaaaaa"))
	for _, seed := range []string{
		string(text),
		`{"schema":2}`,                        // newer
		`{"schema":1,"protocol":1,"name":""}`, // no name
		`{"schema":1e9}`,                      // no int
		``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseRun(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(r)
		if err != nil {
			return // a year that JSON does not hold
		}
		if again, err := parseRun(text); err != nil || !same(again, r) {
			t.Errorf("%+v became %+v, %v", r, again, err)
		}
	})
}
