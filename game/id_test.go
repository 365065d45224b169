package game

import (
	"errors"
	"testing"
)

// TestParseID is the law of ids: what String writes ParseID reads, and nothing else.
func TestParseID(t *testing.T) {
	for _, tc := range []struct {
		text string
		want ID
	}{
		{"crazyhouse-1-local-0-3-000012", ID{"crazyhouse-1", "local", 0, 3, 12}},
		{"k2m7aqzz3b-a7-12-0-1234567", ID{"k2m7aqzz3b", "a7", 12, 0, 1234567}},
		{"r-1-1-1-000001", ID{"r", "1", 1, 1, 1}},
	} {
		if got, err := ParseID(tc.want.Run, tc.text); err != nil || got != tc.want || got.String() != tc.text {
			t.Errorf("%s: got %+v, error %v", tc.text, got, err)
		}
	}
	for _, text := range []string{
		"", "r", "r-", "q-local-0-0-000000", "r-0-0-000000", "r-local-0-0-0-000000", "r-local-0-0", "r-Local-0-0-000000", "r--0-0-000000",
		"r-local-00-0-000000", "r-local-+1-0-000000", "r-local--1-0-000000", "r-local-0-0-0", "r-local-0-0-0000000", "r-local-0-0-00000x",
		"r-local-0-0-18446744073709551616", "r-local-9223372036854775808-0-000000", "r-lo_al-0-0-000000", "r-abcdefghijklmnopqrstuvwxy-0-0-000000",
	} {
		if got, err := ParseID("r", text); !errors.Is(err, ErrID) {
			t.Errorf("%q: got %+v, error %v", text, got, err)
		}
	}
}

// FuzzParseID: an accepted id writes itself again.
func FuzzParseID(f *testing.F) {
	f.Add("crazyhouse-1", "crazyhouse-1-local-0-3-000012") // good
	f.Add("crazyhouse", "crazyhouse-1-local-0-3-000012")   // a run whose id begins alike
	f.Add("", "-local-0-3-000012")                         // no run
	f.Add("r", "r-local-0-3-12")                           // short counter
	f.Fuzz(func(t *testing.T, run, text string) {
		if id, err := ParseID(run, text); err == nil && (id.String() != text || id.Run != run || id.Epoch < 0 || id.Worker < 0) {
			t.Fatalf("%q reads as %+v", text, id)
		}
	})
}
