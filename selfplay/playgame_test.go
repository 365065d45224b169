package selfplay

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/game"
)

// TestGameSeed: the loop's actor plays what it played when actors had no names, and
// no part of an id is without effect.
func TestGameSeed(t *testing.T) {
	id := game.ID{Run: "r", Actor: localActor, Epoch: 2, Worker: 3, Counter: 4}
	if got, want := gameSeed(1, id), mix(1, 2, 3, 4); got != want || want != 0x336c3255cbcc01fe {
		t.Errorf("seed %#x, expected %#x", got, want)
	}
	seen := map[uint64]bool{}
	for _, actor := range []string{localActor, "a1", "a2"} {
		for n := range 27 {
			seen[gameSeed(1, game.ID{Actor: actor, Epoch: n / 9, Worker: n / 3 % 3, Counter: uint64(n % 3)})] = true
		}
	}
	if len(seen) != 3*27 {
		t.Errorf("%d seeds for %d games", len(seen), 3*27)
	}
}
