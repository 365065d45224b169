package lab

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
)

// A replay buffer that grows stays what it was for a comparison that knows its extent; for others
// it is something else.
func TestBufferDigest(t *testing.T) {
	record, err := os.ReadFile("../game/testdata/v1/crazyhouse.game")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "replay")
	replaytest.Store(t, dir, record)
	digest, games, err := bufferDigest(dir, dataset.Extent{})
	if err != nil || games.Games != 1 || games.First == "" {
		t.Fatalf("found %+v, error %v", games, err)
	}
	if again, same, err := bufferDigest(dir, games); err != nil || again != digest || same != games {
		t.Errorf("found %s of %+v, error %v, expected those before", again, same, err)
	}
	if _, _, err := bufferDigest(dir, dataset.Extent{First: "another", Games: 1}); err == nil {
		t.Error("other games: no error")
	}
}
