package bounded

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

var errBad = errors.New("bad")

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Packed and plain files give the same text, up to the bound and no further.
func TestUnpack(t *testing.T) {
	const most = 1000
	whole := strings.Repeat("a", most)
	for name, c := range map[string]struct {
		text, want string
		bad        bool
	}{
		"plain":             {whole, whole, false},
		"packed":            {packed(t, whole), whole, false},
		"empty":             {"", "", false},
		"too long":          {whole + "a", "", true},
		"too long unpacked": {packed(t, whole+"a"), "", true},
		"cut off":           {packed(t, whole)[:20], "", true},
		"a damaged header":  {"\x1f\x8bxx", "", true},
	} {
		got, err := Unpack(strings.NewReader(c.text), most, errBad)
		if errors.Is(err, errBad) != c.bad || !c.bad && (err != nil || string(got) != c.want) {
			t.Errorf("%s: %d bytes, error %v", name, len(got), err)
		}
	}
	boom := errors.New("boom")
	if _, err := Unpack(iotest.ErrReader(boom), most, errBad); !errors.Is(err, boom) || errors.Is(err, errBad) {
		t.Errorf("error %v, expected the reader's", err)
	}
}
