package check

import (
	"errors"
	"io/fs"
	"math"
	"testing"
)

var errUnusable = errors.New("unusable")

func TestList(t *testing.T) {
	l := Of(errUnusable)
	Within(l, "share", 0.5, 0, 1)
	Within(l, "count", 3, 3, 3)
	Above(l, "power", 2.0, 1, 2)
	OneOf(l, "kind", "b", "a", "b")
	Positive(l, "n", 1)
	Natural(l, "n", 0)
	l.Add(nil)
	if err := l.Err(); err != nil {
		t.Fatalf("of values within their ranges: %v", err)
	}
	Within(l, "share", math.NaN(), 0, 1)
	Within(l, "batch", 1<<20+1, 1, 1<<20)
	Above(l, "power", 1.0, 1, 2)
	OneOf(l, "kind", "", "a", "b")
	Positive(l, "n", -1.5)
	Natural(l, "m", -1)
	Within(l, "m", -1, 1, 2) // said before
	inner := Of(errUnusable)
	inner.Add(fs.ErrExist)
	l.Add(inner.Err())
	err := l.Err()
	const want = `unusable: share: found NaN, expected 0 to 1
unusable: batch: found 1048577, expected 1 to 1048576
unusable: power: found 1, expected more than 1, at most 2
unusable: kind: found nothing, expected one of a, b
unusable: n: found -1.5, expected a number above 0
unusable: m: found -1, expected a number from 0
file already exists`
	if err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	if !errors.Is(err, errUnusable) || !errors.Is(err, fs.ErrExist) {
		t.Error("the list does not wrap its errors")
	}
}

func TestUnder(t *testing.T) {
	l := Of(errUnusable)
	l.That(false, "a", 1, "2")
	l.Because("b", fs.ErrClosed)
	l.Because("c", nil)
	l.Add(fs.ErrExist)
	err := Under("s.", l.Err())
	if want := "unusable: s.a: found 1, expected 2\nunusable: s.b: file already closed\ns: file already exists"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if !errors.Is(err, errUnusable) || !errors.Is(err, fs.ErrExist) || !errors.Is(err, fs.ErrClosed) {
		t.Error("what is wrapped is lost")
	}
	if Under("s.", nil) != nil {
		t.Error("an error of nothing")
	}
}
