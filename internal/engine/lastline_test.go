package engine

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLastLine(t *testing.T) {
	long := strings.Repeat("x", maxKept)
	for text, want := range map[string]string{
		"": "", "\n \n": "", "one": "one", "one\ntwo\n": "two", "one\n\n  \n": "one", "one\r\n": "one", long + "yz\n": long,
	} {
		for size := 1; size < 4; size++ {
			var l lastLine
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if m, err := io.WriteString(&l, rest[:n]); m != n || err != nil {
					t.Fatal(m, err)
				}
				rest = rest[n:]
			}
			if l.String() != want {
				t.Errorf("%.20q in pieces of %d: %.20q, expected %.20q", text, size, l.String(), want)
			}
		}
	}
	r, w := io.Pipe()
	closed := errors.New("closed")
	r.CloseWithError(closed)
	l := lastLine{next: w}
	if _, err := l.Write([]byte("kept\n")); !errors.Is(err, closed) || l.String() != "kept" {
		t.Errorf("%v, %q", err, l.String())
	}
}
