package builtin

import (
	"bytes"
	"testing"
)

func TestSplit(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "ab": "ab", "abc": "acb", "abcdef": "acebdf"} {
		got := Split([]byte(in))
		if string(got) != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
		if back := join(got); !bytes.Equal(back, []byte(in)) {
			t.Errorf("%q comes back as %q", in, back)
		}
	}
}
