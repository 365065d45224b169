package splitmix

import "testing"

// The numbers are those of Vigna's splitmix64.c with the state 1234567.
func TestSource(t *testing.T) {
	s := Source(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := s.Uint64(); got != want {
			t.Errorf("number %d is %d, expected %d", i, got, want)
		}
	}
	if got := Hash(1234567); got != 6457827717110365317 {
		t.Errorf("the hash of 1234567 is %d, expected the first number of that state", got)
	}
	if got := Mix(0); got != 0 {
		t.Errorf("0 becomes %d, expected 0", got)
	}
}
