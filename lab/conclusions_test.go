package lab

import (
	"fmt"
	"strings"
	"testing"
)

// stageOf is a stage whose rows, called a, b, …, have ratings; a difference is found if it is
// larger than 25 Elo.
func stageOf(elo ...float64) *StageResult {
	s := &StageResult{Stage: AtNodes, Ratings: &Ratings{Detected: 30}}
	for i, e := range elo {
		s.Ratings.Rows = append(s.Ratings.Rows, Rating{Elo: e})
		for j := i + 1; j < len(elo); j++ {
			d := Difference{A: i, B: j, Elo: e - elo[j], Low: e - elo[j] - 20, High: e - elo[j] + 20, Adjusted: 0.5}
			if d.Found = d.Elo*d.Elo > 25*25; d.Found {
				d.Adjusted = 0.01
			}
			s.Ratings.Differences = append(s.Ratings.Differences, d)
			s.Names = append(s.Names, [2]string{string(rune('a' + i)), string(rune('a' + j))})
		}
	}
	return s
}

// Few differences are all told. Of many, those of the strongest row are, whose near ones are
// named.
func TestConclusions(t *testing.T) {
	for _, tc := range []struct {
		elo   []float64
		wants []string // parts of the sentences, in their order
	}{
		{[]float64{0}, nil},
		{[]float64{0, 10}, []string{"no difference", "30 Elo"}},
		{[]float64{0, 50, 40}, []string{"b is stronger than a by 50 Elo [30, 70]", "c is stronger than a by 40 Elo [20, 60]", "b has the highest rating, and its difference from c is not", "30 Elo"}},
		{[]float64{100, 200, 0, 300, 290}, []string{
			"d is stronger than a by 200 Elo [180, 220]", "d is stronger than b by 100", "d is stronger than c by 300",
			"d has the highest rating, and its difference from e is not", "9 of 10 differences", "30 Elo",
		}},
		{[]float64{400, 200, 0, 300, 100}, []string{
			"a is stronger than b by 200", "a is stronger than c by 400", "a is stronger than d by 100", "a is stronger than e by 300 Elo [280, 320]", "10 of 10 differences", "30 Elo",
		}},
	} {
		got := stageOf(tc.elo...).conclusions(" (noted)")
		if len(got) != len(tc.wants) {
			t.Errorf("%v: found\n%s\nexpected %d sentences", tc.elo, strings.Join(got, "\n"), len(tc.wants))
			continue
		}
		for i, want := range tc.wants {
			if !strings.Contains(got[i], want) {
				t.Errorf("%v: sentence %d is %q, expected %q in it", tc.elo, i+1, got[i], want)
			}
			if fromOneSeed := !strings.Contains(want, "30 Elo") && !strings.Contains(want, " differences"); strings.Contains(got[i], "(noted)") != fromOneSeed {
				t.Errorf("%v: sentence %d is %q: note expected: %t", tc.elo, i+1, got[i], fromOneSeed)
			}
		}
	}
	if got := fmt.Sprint(stageOf(0, 10).conclusions("")); !strings.Contains(got, "At fixed nodes") {
		t.Errorf("found %s", got)
	}
}
