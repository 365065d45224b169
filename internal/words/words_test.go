package words

import "testing"

func TestNearest(t *testing.T) {
	options := []string{"Hash", "MultiPV", "Skill Level", "Threads"}
	for name, want := range map[string]string{
		"hash": "Hash", "Thread": "Threads", "SkillLevel": "Skill Level", "multi_pv": "MultiPV", "hsah": "Hash",
	} {
		if got := Nearest(name, options); got != want {
			t.Errorf("%s is near %q, expected %q", name, got, want)
		}
	}
	if got := Nearest("x", []string{"a", "b"}); got != "a" {
		t.Errorf("of two as near: %q", got)
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("of none: %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"ab", "ba", 2}, {"same", "same", 0}} {
		if got, back := distance(tc.a, tc.b), distance(tc.b, tc.a); got != tc.want || back != tc.want {
			t.Errorf("%q and %q: %d and %d, expected %d", tc.a, tc.b, got, back, tc.want)
		}
	}
}
