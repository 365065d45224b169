package dash

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Learning has the ratings by the ladder that was used last, as soon as they are written,
// and the command that makes them.
func TestLadder(t *testing.T) {
	dir := trial(t)
	s := newTestServer(t, Config{Dir: dir})
	ladder := func() Ladder { t.Helper(); return read[Learning](t, s, "/api/learning").Ladder }
	if l := ladder(); len(l.Nets) != 0 || l.Command != ladderCommand(dir) || !strings.HasPrefix(l.Command, "selfplay ladder "+dir) {
		t.Errorf("without ratings: found %+v", l)
	}
	before := read[State](t, s, "/api/state").Versions.Learning
	write(t, dir, "ladder/LOCK", "")
	now := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	var r selfplay.Ratings
	for i, n := range []struct {
		generation int
		ladder     string
	}{{2, "b"}, {1, "a"}, {2, "a"}, {1, "b"}, {3, "b"}} {
		r.Put(selfplay.RatedNet{
			Net: strings.Repeat("1", n.generation), Generation: n.generation, Ladder: n.ladder, Rated: now.Add(time.Duration(i) * time.Minute),
			Elo: 10, Low: -30, High: 50, Games: 20, Scores: []selfplay.Scored{{Opponent: "material", Games: 20, Score: 0.5}},
		})
	}
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	if l := ladder(); len(l.Nets) != 3 || l.Nets[0].Generation != 1 || l.Nets[2].Generation != 3 || l.Nets[0].Ladder != "b" || l.Others != 2 {
		t.Errorf("found %+v, expected generations 1 to 3 by the ladder b", l)
	}
	if state := read[State](t, s, "/api/state"); state.Versions.Learning == before || len(state.Findings) != 0 {
		t.Errorf("found version %d after %d, findings %q", state.Versions.Learning, before, state.Findings)
	}

	// A report has them too, but not where the run is.
	report, data := reportOf(t, dir, 0)
	var l Learning
	if err := json.Unmarshal(data["learning"], &l); err != nil || len(l.Ladder.Nets) != 3 || strings.Contains(string(report.HTML), dir) {
		t.Errorf("report: found %+v, error %v, or the directory %s", l.Ladder, err, dir)
	}

	path := filepath.Join(dir, selfplay.LadderDir, selfplay.RatingsFile)
	write(t, dir, "ladder/"+selfplay.RatingsFile, "{")
	for range 2 {
		if state := read[State](t, s, "/api/state"); len(state.Findings) != 1 || !strings.Contains(state.Findings[0], selfplay.RatingsFile) || len(ladder().Nets) != 0 {
			t.Errorf("of a damaged file: findings %q, ratings %+v", state.Findings, ladder())
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if state := read[State](t, s, "/api/state"); len(state.Findings) != 0 {
		t.Errorf("without the file: findings %q", state.Findings)
	}
}

// A run of chess has no command that would rate it against players of crazyhouse.
func TestLadderOfChess(t *testing.T) {
	dir := trial(t)
	settings, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	settings.Variant = "chess"
	write(t, dir, "config.yaml", string(settings.YAML()))
	s := newTestServer(t, Config{Dir: dir})
	if l := read[Learning](t, s, "/api/learning").Ladder; l.Command != "" || l.NoCommand != noOpponents {
		t.Errorf("found %q and %q, expected no command, for want of opponents", l.Command, l.NoCommand)
	}
	_, data := reportOf(t, dir, 0)
	var l Learning
	if err := json.Unmarshal(data["learning"], &l); err != nil || l.Ladder.Command != "" || l.Ladder.NoCommand != noOpponents {
		t.Errorf("report: found %+v, error %v", l.Ladder, err)
	}
}
