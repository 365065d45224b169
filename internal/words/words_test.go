package words

import (
	"math"
	"testing"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "Ω says: \"no\"": "Ω says: \"no\"", "a\nb": `"a\nb"`, "\x1b[2J": `"\x1b[2J"`, "\u202e": `"\u202e"`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: found %s, expected %s", text, got, want)
		}
	}
}

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

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 matches", 1: "1 match", 2: "2 matches"} {
		if got := Count(n, "match", "matches"); got != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
}

func TestDifference(t *testing.T) {
	a := map[string]string{"seed": "1", "book": "x", "new": "n"}
	b := map[string]string{"seed": "2", "book": "x", "old": "o"}
	want := `new is "" in the log, "n" here; old is "o" in the log, "" here; seed is "2" in the log, "1" here`
	if got := Difference(a, b, "in the log"); got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
	if got := Difference(a, a, "in the log"); got != "" {
		t.Errorf("found %q between equals", got)
	}
}

func TestSigned(t *testing.T) {
	for _, tc := range []struct {
		v    float64
		want string
	}{{12.4, "+12"}, {-12.6, "-13"}, {0, "0"}, {-0.4, "0"}, {0.5, "0"}, {0.6, "+1"}, {math.Inf(-1), "-Inf"}} {
		if got := Signed(tc.v); got != tc.want {
			t.Errorf("%v: found %q, expected %q", tc.v, got, tc.want)
		}
	}
}
