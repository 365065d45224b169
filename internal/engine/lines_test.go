package engine

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLineReader(t *testing.T) {
	long := strings.Repeat("z", MaxLine-1) // and its end
	text := "one\r\n\n  two \n" + long + "\n" + long + "z\nthree\n" + long + long + long + "\nfour"
	want := []string{"one", "", "two", long, "!", "three", "!", "four"}
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(text), "halves": iotest.HalfReader(strings.NewReader(text)),
	} {
		lr := NewLineReader(r)
		for i, w := range want {
			got, err := lr.Next()
			if errors.Is(err, ErrLineTooLong) {
				got, err = "!", nil
			}
			if err != nil || got != w {
				t.Fatalf("%s: line %d is %.20q, %v, expected %.20q", name, i, got, err, w)
			}
		}
		if _, err := lr.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: at the end %v", name, err)
		}
	}
	if _, err := NewLineReader(iotest.TimeoutReader(strings.NewReader(long))).Next(); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("failing reader: %v", err)
	}
}
