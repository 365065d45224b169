package selfplay

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// middleGame is a line with both hands full, its newest ply, and what a search expects after it.
func middleGame(tb testing.TB) (*chess.Line, game.Ply, []chess.Move) {
	tb.Helper()
	start, err := chess.ParseFEN(chess.Crazyhouse, "r2q1rk1/ppp2ppp/2nbb3/3p4/3P4/2PB1N2/PP3PPP/R1BQ1RK1[NPqnp] w - - 0 12")
	if err != nil {
		tb.Fatal(err)
	}
	line := chess.NewLine(start)
	p := *line.Pos()
	var pv []chess.Move
	for _, text := range []string{"N@f5", "P@h3", "g2h3", "Q@h5", "f5d6", "c7d6", "P@h6"} {
		m, err := p.ParseUCI(text)
		if err != nil {
			tb.Fatal(err)
		}
		p.Make(m)
		pv = append(pv, m)
	}
	line.Push(pv[0])
	return line, game.Ply{Move: pv[0], Score: 30, HasScore: true}, pv
}

// A worker makes no words for who looks, and asks for no memory after its first ply.
func TestWatchedPlyAllocatesNothing(t *testing.T) {
	var b boards
	b.look()
	see := b.watcher(game.ID{Run: "abc", Actor: game.LocalActor}, [2]string{"x", "y"})
	line, ply, pv := middleGame(t)
	see(line, ply, pv)
	found := testing.AllocsPerRun(100, func() {
		b.looked.Store(time.Now().Unix()) // as long as the test may take
		see(line, ply, pv)
	})
	if found != 0 {
		t.Errorf("found %g allocations a ply, expected none", found)
	}
	if list := b.look(); len(list) != 1 || strings.Join(list[0].Line, " ") != "P@h3 gxh3 Q@h5 Nxd6 cxd6 P@h6" {
		t.Errorf("found %+v, expected the line of the search", list)
	}
}

// BenchmarkWatchedPly is what somebody who looks at the boards costs a worker at each ply.
func BenchmarkWatchedPly(b *testing.B) {
	var seen boards
	see := seen.watcher(game.ID{Run: "abc", Actor: game.LocalActor}, [2]string{"x", "y"})
	line, ply, pv := middleGame(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%1000 == 0 {
			seen.looked.Store(time.Now().Unix())
		}
		see(line, ply, pv)
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
