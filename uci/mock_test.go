package uci

import (
	"os"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/internal/mockengine"
)

func TestMain(m *testing.M) {
	mockengine.Main()
	os.Exit(m.Run())
}

// mockConfig runs the mock engine with a script, with times long enough for a
// busy machine.
func mockConfig(script string) engine.Config {
	command, args := mockengine.Command(script)
	return engine.Config{
		Command:       command,
		Args:          args,
		StartTimeout:  10 * time.Second,
		ReadyTimeout:  10 * time.Second,
		SearchTimeout: 10 * time.Second,
		MoveMargin:    10 * time.Second,
		QuitGrace:     10 * time.Second,
	}
}

// Scripts that several tests use.
const (
	noVariants = "uci: print id name Mock 1.0 | print option name MultiPV type spin default 1 min 1 max 9 | print uciok"
	chessOnly  = "uci: print option name UCI_Variant type combo default chess var chess var atomic | print uciok"
	untilStop  = "go: think"
	hanging    = "go: hang"
	illegal    = "go: print bestmove e2e5"
)
