package book

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// TestDefault holds the shipped book to what its manifest and this package say of
// books.
func TestDefault(t *testing.T) {
	if size := len(crazyhouseBook) + len(crazyhouseManifest); size > 500_000 {
		t.Errorf("%d bytes in every program", size)
	}
	b, m, err := Default(chess.Crazyhouse)
	if err != nil {
		t.Fatal(err)
	}
	if b.SHA256 != m.SHA256 || len(b.Entries) != m.Positions || m.Positions != 5000 {
		t.Errorf("%d positions with SHA-256 %s, the manifest says %d with %s", len(b.Entries), b.SHA256, m.Positions, m.SHA256)
	}
	taken := 0
	for _, s := range m.Strata {
		taken += s.Taken
	}
	if taken != m.Positions {
		t.Errorf("strata of %d positions altogether, expected %d", taken, m.Positions)
	}
	for _, e := range b.Entries {
		if !e.HasScore || e.Score < m.Band[0] || e.Score > m.Band[1] {
			t.Errorf("opening %s: score %d, %v; the band is %v", e.ID, e.Score, e.HasScore, m.Band)
		}
	}
	facts, err := Inspect(b)
	if err != nil {
		t.Fatal(err)
	}
	if facts.Duplicates > 0 || facts.InCheck > 0 {
		t.Errorf("%d duplicates, %d in check", facts.Duplicates, facts.InCheck)
	}
	if white := facts.ToMove[chess.White]; white < 2250 || white > 2750 {
		t.Errorf("White is to move in %d, expected about half", white)
	}
	if empty := facts.Hands[0]; empty > 2500 {
		t.Errorf("hands are empty in %d, expected half at most", empty)
	}
	if len(m.Expectation) == 0 {
		t.Error("no word on what White scores")
	}
	for _, s := range m.Expectation {
		if s.Games < 1000 || s.Percent < 50 || s.Percent > 60 {
			t.Errorf("%v, expected 50 to 60 %% of 1000 games or more", s)
		}
	}
	if _, _, err := Default(chess.Chess); err == nil {
		t.Error("chess has a default book")
	}
}

func BenchmarkDefault(b *testing.B) {
	for b.Loop() {
		if _, _, err := Default(chess.Crazyhouse); err != nil {
			b.Fatal(err)
		}
	}
}
