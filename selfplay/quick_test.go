package selfplay

import (
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/game"
)

// TestVerifyQuickNodes: games with quick searches are the same again; one that only says
// so, or that does not say so, is caught.
func TestVerifyQuickNodes(t *testing.T) {
	t.Parallel()
	cfg := verifyConfig(t)
	all := newMaker(t, cfg)
	cfg.Actor.QuickNodes = 20
	m, n := newMaker(t, cfg), randomNNUE(t, cfg, 1)
	const quick = " quick nodes 20"
	for name, forged := range map[string][]byte{
		"no quick searches": altered(t, all.record(t, all.open(t, n), n, evil(1)), func(g *game.Game) { g.Limits += quick }),
		"says nothing": altered(t, m.record(t, m.open(t, n), n, evil(1)), func(g *game.Game) {
			g.Limits = strings.TrimSuffix(g.Limits, quick)
		}),
	} {
		v := newTestVerifier(cfg, n)
		if verdicts, err := v.verdicts(t.Context(), m.record(t, m.open(t, n), n, verifyID(0))); err != nil || len(verdicts) > 0 || v.stats.Same != 1 {
			t.Fatalf("good game: %v, %+v, error %v", verdicts, v.stats, err)
		}
		verdicts, err := v.verdicts(t.Context(), forged)
		if err != nil || len(verdicts) != 1 || !strings.HasPrefix(verdicts[0].What, "found ") {
			t.Errorf("%s: %v, error %v", name, verdicts, err)
		}
		v.close()
	}
}
