package selfplay

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

// A board has the newest position with its move and what its search expects, and only
// once somebody has looked.
func TestBoards(t *testing.T) {
	var b boards
	id := game.ID{Run: "abc", Actor: game.LocalActor, Worker: 1, Counter: 7}
	see := b.watcher(id, [2]string{"x", "y"})
	line := chess.NewLine(chess.Crazyhouse.Start())
	var pv []chess.Move
	for i, text := range []string{"e2e4", "e7e5", "g1f3"} {
		p := line.Pos()
		m, err := p.ParseUCI(text)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			line.Push(m)
		} else {
			pv = append(pv, m)
			if i == 1 {
				line.Push(m)
			}
		}
	}
	ply := game.Ply{Move: pv[0], Score: 30, HasScore: true}
	see(line, ply, pv)
	if found := b.look(); len(found) != 0 {
		t.Errorf("found %+v before anybody looked", found)
	}
	see(line, ply, pv)
	found := b.look()
	if len(found) != 1 || found[0].SAN != "e5" || found[0].UCI != "e7e5" || found[0].Mover != chess.Black || found[0].Plies != 2 || strings.Join(found[0].Line, " ") != "Nf3" {
		t.Errorf("found %+v, expected the position after 1. e4 e5", found)
	}
}

// The referee tells who watches what it has judged, and what it plays.
func TestJudging(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	defer r.Close()
	j := newReferee(r)
	test := gateTest(cfg.Gate)
	first, second := &net{Net: r.firstNet().Net, generation: 0}, &net{Net: r.firstNet().Net, generation: 1}
	for g := range watchedMatches + 2 {
		j.told.begin(second, first, 40, test)
		j.told.end(JudgedNet{Generation: g, Passed: g%2 == 0, Reason: "H1", Elo: "1.00 +/- 2.00", Games: 8})
	}
	stop, err := r.bus.Serve(gateWatch, func(request []byte) ([]byte, error) { return j.answer(t.Context(), gateWatch, request) })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for after, want := range map[int]int{0: watchedMatches + 2, 3: watchedMatches - 1, watchedMatches + 2: 0, 99: watchedMatches + 2} {
		found, err := r.Judging(t.Context(), after)
		if err != nil || len(found.Verdicts) != want || found.Total != watchedMatches+2 || len(found.Matches) != watchedMatches {
			t.Errorf("after %d: found %d verdicts of %d and %d matches, error %v, expected %d", after, len(found.Verdicts), found.Total, len(found.Matches), err, want)
		}
	}
	if _, err := j.answer(t.Context(), gateWatch, []byte(`{"schema":1,"after":-1}`)); err == nil {
		t.Error("found an answer to verdicts after -1")
	}
	found := j.told.answer(0)
	if verdicts := []string{found.Matches[0].Verdict, found.Matches[1].Verdict}; !slices.Equal(verdicts, []string{"failed", "passed"}) {
		t.Errorf("found verdicts %v of the newest matches, expected failed and passed", verdicts)
	}
}
