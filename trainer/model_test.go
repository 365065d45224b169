package trainer

import (
	"encoding/json"
	"strings"
	"testing"
)

// Reports are read back from the files of older builds, whose keys were the names
// of the fields, as from those of this one.
func TestOldKeys(t *testing.T) {
	loss := Loss{Mean: 1, Score: 2, Result: 3, SignAccuracy: 4, Positions: 5, Decided: 6, Triples: 7, Rank: 8, Ranked: 9, Moves: 10, Policy: 11, MoveAccuracy: 12}
	report := ExportReport{Positions: 1, MeanRaw: 2, MaxRaw: 3, MeanWin: 4, MaxWin: 5, NetScale: 6, ScoreScale: 7}
	const (
		oldLoss   = `{"Mean":1,"Score":2,"Result":3,"SignAccuracy":4,"Positions":5,"Decided":6,"Triples":7,"Rank":8,"Ranked":9,"Moves":10,"Policy":11,"MoveAccuracy":12}`
		oldReport = `{"Positions":1,"MeanRaw":2,"MaxRaw":3,"MeanWin":4,"MaxWin":5,"NetScale":6,"ScoreScale":7}`
	)
	testKeys(t, loss, oldLoss)
	testKeys(t, report, oldReport)
}

func testKeys[T comparable](t *testing.T, want T, old string) {
	t.Helper()
	written, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(written); s != strings.ToLower(s) {
		t.Errorf("written as %s", s)
	}
	for _, text := range []string{string(written), old} {
		var got T
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: found %+v, error %v", text, got, err)
		}
	}
}
