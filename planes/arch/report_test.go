package arch

import (
	"strings"
	"testing"
)

// What others wrote into a file moves no cursor and begins no line of a report.
func TestReportOfHostileNames(t *testing.T) {
	const evil = "x\x1b[31mEVIL\nsecond"
	r := Report{
		Inputs: []ValueReport{{evil, "float", evil}}, Outputs: []ValueReport{{evil, "float", "1"}},
		Operators: map[string]int{evil: 1}, Metadata: map[string]string{evil: evil}, Producer: evil,
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, "\x1b") || strings.Contains(text, "\nsecond") || strings.Count(text, "EVIL") != 7 {
		t.Errorf("found %q", text)
	}
}
