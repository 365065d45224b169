package dataset

import (
	"errors"
	"testing"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]Format{
		"a.bin": Bin, "A.BIN": Bin, "a.bin256": Bin256, "a.plain": Plain, "a.binpack": Binpack,
		"a.chain": Chain, "a.txt": Text, "a.compact": Compact, "replay:a.bin": Replay,
	} {
		if got, err := FormatOf(name); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if got, err := ParseFormat(want.String()); err != nil || got != want {
			t.Errorf("%v: %v, %v", want, got, err)
		}
	}
	for _, name := range []string{"", "-", "a", "a.pgn", "a.bin.gz"} {
		if _, err := FormatOf(name); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := ParseFormat("pgn"); !errors.Is(err, ErrName) {
		t.Error(err)
	}
}
