package selfplay

import (
	"math"
	"slices"
	"testing"
)

// A net that is judged again, against another incumbent, has the second verdict; what was read
// before stays as it was.
func TestNetJudgedAgain(t *testing.T) {
	for _, second := range []bool{false, true} {
		c := Curve{}
		for _, j := range []JudgedNet{
			{Net: "a", Incumbent: "material", Passed: true, Elo: "10.00 +/- 3.00"},
			{Net: "b", Incumbent: "material", Passed: true, Elo: "20.00 +/- 3.00"}, // moved nothing: a is current by now
		} {
			c.Judge(j)
		}
		read := c
		judged, passed := slices.Clone(c.Judged), slices.Clone(c.Passed)
		again := JudgedNet{Net: "b", Incumbent: "a", Passed: second, Elo: "5.00 +/- 4.00"}
		for range 2 { // the second time by a referee that was killed before it could note it
			c.Judge(again)
		}
		want := 1
		if second {
			want = 2
		}
		if len(c.Judged) != 2 || c.Judged[1] != again || len(c.Passed) != want || c.reached["b"].Sum != 15 || second && c.Passed[1].Sum != 15 {
			t.Errorf("passed %t: found %+v judged and %+v passed, expected the second verdict on b", second, c.Judged, c.Passed)
		}
		if !slices.Equal(read.Judged, judged) || !slices.Equal(read.Passed, passed) {
			t.Errorf("passed %t: what was read before is %+v and %+v now, expected %+v and %+v", second, read.Judged, read.Passed, judged, passed)
		}
	}
}

// A net that passed and then failed against another incumbent has not passed.
func TestPassIsTakenBack(t *testing.T) {
	c := curveOfText([]byte(`{"msg":"gate","candidate":1,"net":"a","incumbent":"material","passed":true,"elo":"10.00 +/- 30.00"}
{"msg":"gate","candidate":1,"net":"a","incumbent":"b","passed":false,"elo":"-20.00 +/- 40.00"}
`))
	if len(c.Passed) != 0 || len(c.Judged) != 1 || c.Judged[0].Incumbent != "b" {
		t.Errorf("found %+v judged and %+v passed, expected the second verdict and none", c.Judged, c.Passed)
	}
}

// What a referee says of a match, be it beyond reason, leaves the curve finite.
func TestCurveStaysFinite(t *testing.T) {
	var c Curve
	incumbent := "material"
	for i, elo := range []string{"1e308 +/- 1e308", "1e308 +/- 3", "5 +/- 1e308", "NaN +/- 1", "7 +/- NaN", "8.00 +/- 3.00"} {
		net := string(rune('a' + i))
		c.Judge(JudgedNet{Net: net, Incumbent: incumbent, Generation: i + 1, Passed: true, Elo: elo})
		incumbent = net
	}
	for _, p := range c.Passed {
		if math.IsInf(p.Sum, 0) || math.IsNaN(p.Sum) || math.IsInf(p.Error, 0) || math.IsNaN(p.Error) {
			t.Errorf("found %+v", p)
		}
	}
	if last := c.Passed[len(c.Passed)-1]; last.Elo != 8 || last.Margin != 3 {
		t.Errorf("found %+v, expected 8 ± 3", last)
	}
}
