package nets

import (
	"errors"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/golden"
)

func testRecord() Record {
	return Record{
		Schema: RecordSchema, Net: Hash([]byte("net")), Generation: 7, Action: Rollback,
		By: "anna@host", Why: "generation 8 loses to <7>", From: Hash([]byte("later")), Spread: 30,
	}
}

func TestRecordGolden(t *testing.T) {
	r := testRecord()
	path := golden.Present(RecordSchema, "record.json")
	if *update {
		golden.Write(t, path, []byte(r.String()))
	}
	if got := string(golden.Read(t, path)); got != r.String() {
		t.Errorf("found %s, expected %s", r, got)
	}
	for _, path := range golden.Versions(t, path) {
		if got, err := ParseRecord(string(golden.Read(t, path))); err != nil || got != r {
			t.Errorf("%s: found %+v, error %v, expected %+v", path, got, err, r)
		}
	}
}

func TestRecordRoundTrip(t *testing.T) {
	none := Record{Schema: RecordSchema, Action: Withdraw, From: Hash([]byte("first")), By: "referee"}
	bare := Record{Net: Hash([]byte("net")), Action: Publish}
	for _, r := range []Record{testRecord(), none, bare} {
		if got, err := ParseRecord(r.String()); err != nil || got != r {
			t.Errorf("%s: found %+v, error %v, expected %+v", r, got, err, r)
		}
	}
	if bare.String() != bare.Net {
		t.Errorf("found %s, expected the bare id", bare)
	}
	for action, back := range map[string]bool{Publish: false, Promote: false, Rollback: true, Withdraw: true} {
		if got := (Record{Action: action}).back(); got != back {
			t.Errorf("%s: found Back %v, expected %v", action, got, back)
		}
	}
}

func TestRecordRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Record){
		"schema":             func(r *Record) { r.Schema = 2 },
		"bare with more":     func(r *Record) { r.Schema = 0 },
		"net":                func(r *Record) { r.Net = "../../etc/passwd" },
		"from":               func(r *Record) { r.From = strings.ToUpper(r.From) },
		"no action":          func(r *Record) { r.Action = "" },
		"action":             func(r *Record) { r.Action = "delete" },
		"publish of nothing": func(r *Record) { r.Net, r.Generation, r.Action = "", 0, Publish },
		"generation of none": func(r *Record) { r.Net = "" },
		"generation":         func(r *Record) { r.Generation = -1 },
		"spread":             func(r *Record) { r.Spread = -1 },
		"long spread":        func(r *Record) { r.Spread = MaxSpread + 1 },
		"long by":            func(r *Record) { r.By = strings.Repeat("x", maxBy+1) },
		"long why":           func(r *Record) { r.Why = strings.Repeat("x", maxWhy+1) },
		"control":            func(r *Record) { r.Why = "\x1b[2J" },
		"new line":           func(r *Record) { r.By = "a\nb" },
		"utf8":               func(r *Record) { r.Why = "\xff" },
	} {
		r := testRecord()
		spoil(&r)
		if err := r.Validate(); !errors.Is(err, ErrRecord) {
			t.Errorf("%s: Validate() = %v", name, err)
		}
		if _, err := ParseRecord(r.String()); name != "utf8" && name != "bare with more" && !errors.Is(err, ErrRecord) {
			t.Errorf("%s: ParseRecord() = %v", name, err)
		}
	}
	good := testRecord().String()
	for n := range len(good) {
		if _, err := ParseRecord(good[:n]); !errors.Is(err, ErrRecord) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	for _, text := range []string{"null", "[]", good + "{", `{"schema":1}`, `{"net":"a"}`, strings.Repeat(" ", maxRecordBytes) + good} {
		if _, err := ParseRecord(text); !errors.Is(err, ErrRecord) {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

// A later build of the same schema may say more; what this one knows it reads.
func TestRecordOfALaterBuild(t *testing.T) {
	want := testRecord()
	later := strings.Replace(want.String(), "{", `{"of_a_later_build":{"list":[1,2]},`, 1)
	if got, err := ParseRecord(later); err != nil || got != want {
		t.Errorf("found %+v, %v, expected %+v", got, err, want)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(testRecord().String())
	f.Add(Hash([]byte("net")))                    // of the first protocol
	f.Add(`{"schema":1}`)                         // nearly empty
	f.Add(`{"SCHEMA":1,"schema":2}`)              // keys that differ in case
	f.Add(`{"schema":1,"action":"withdraw"}`)     // back to before the first net
	f.Add(`{"schema":1,"why":"\ud800\u001b[2J"}`) // what a terminal must not see
	f.Fuzz(func(t *testing.T, value string) {
		r, err := ParseRecord(value)
		if err != nil {
			if !errors.Is(err, ErrRecord) {
				t.Errorf("error %v, expected ErrRecord", err)
			}
			return
		}
		if again, err := ParseRecord(r.String()); err != nil || again != r {
			t.Errorf("%+v became %+v (%v)", r, again, err)
		}
	})
}
