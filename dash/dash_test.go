package dash

import (
	"errors"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

func TestStateOfFiles(t *testing.T) {
	dir := trial(t)
	s := newTestServer(t, Config{Dir: dir})
	state := read[State](t, s, "/api/state")
	if state.Run != (Run{"trial", "abc", "b1", "crazyhouse", "tiny", "nnue"}) || state.Live || state.Stopped {
		t.Errorf("found run %+v, live %v, stopped %v", state.Run, state.Live, state.Stopped)
	}
	find := func(stage, name string) Figure {
		t.Helper()
		for _, st := range state.Stages {
			for _, f := range st.Figures {
				if st.ID == stage && f.Name == name {
					return f
				}
			}
		}
		t.Fatalf("found no %s of %s in %+v", name, stage, state.Stages)
		return Figure{}
	}
	for _, tc := range []struct {
		stage, name string
		want        float64
	}{{"store", "games", 3}, {"way", "spooled", 1}, {"train", "step", 80}, {"net", "generation", 2}} {
		if f := find(tc.stage, tc.name); f.Value == nil || *f.Value != tc.want {
			t.Errorf("%s of %s: found %+v, expected %g", tc.name, tc.stage, f, tc.want)
		}
	}
	if f := find("net", "sum of the gate's matches"); f.Text != "+100 ± 50 Elo" {
		t.Errorf("found %+v, expected +100 ± 50 Elo, the sum of +80 ± 30 and +20 ± 40", f)
	}
	if len(state.Events) != 5 || state.Events[0].Text != "generation 2 passed: +20 ± 40 Elo in 8 games" {
		t.Errorf("found events %+v, expected five, the verdict on generation 2 first", state.Events)
	}

	// What is written later is seen, and the versions say so.
	write(t, dir, "events.jsonl", testEvents+`{"time":"2026-01-02T03:05:00Z","level":"INFO","msg":"stopped","games":4}`+"\n"+`{"time":"2026-01-02T03:0`)
	replaytest.Store(t, filepath.Join(dir, "replay"), record(t, "abc-4", secondNet, 4))
	next := read[State](t, s, "/api/state")
	if !next.Stopped || next.Versions.Learning == state.Versions.Learning || next.Versions.Games == state.Versions.Games {
		t.Errorf("found stopped %v, versions %+v after %+v", next.Stopped, next.Versions, state.Versions)
	}
	state = next
	if f := find("store", "games"); *f.Value != 4 {
		t.Errorf("found %g games, expected 4", *f.Value)
	}
}

// In the process of the run the page shows its status, and says who waits for whom.
func TestStateOfTheRun(t *testing.T) {
	status := selfplay.Status{Run: "trial", Games: 7, PositionsPerS: 12, Spooled: 3, Gate: selfplay.GateProgress{Generation: 4, Pairs: 2, Of: 9, LLR: 0.5, Low: -3, High: 3}}
	for i, r := range [][2]string{{"actor", "waiting for the replay buffer: 3 games spooled"}, {"replay", "storing games"},
		{"trainer", "waiting for games: 8 samples a position"}, {"gate", "waiting for a candidate"}} {
		status.Roles[i] = selfplay.Role{Name: r[0], State: r[1]}
	}
	status.TrainLoss, status.Step = math.NaN(), 1 // a diverged run still has a page
	s := newTestServer(t, Config{Dir: trial(t), Status: func() selfplay.Status { return status }})
	state := read[State](t, s, "/api/state")
	got := map[string]string{}
	for _, st := range state.Stages {
		got[st.ID] = st.Mode + " " + st.WaitsFor
	}
	for id, want := range map[string]string{"play": "waiting store", "store": "working ", "train": "waiting play", "gate": "waiting train"} {
		if got[id] != want {
			t.Errorf("%s: found %q, expected %q", id, got[id], want)
		}
	}
	if !state.Live || state.Gate == nil || *state.Gate != (Progress{4, 2, 9, 0.5, -3, 3}) || *state.Links[0].Value != 12 {
		t.Errorf("found %+v", state)
	}
	for words, want := range map[string]string{
		"waiting for games: none is in the window; are all actors in quarantine?":          "play",
		"waiting for the games of the replay role: 1M of 2M positions copied":              "store",
		"waiting to try again: the games of the replay role are not copied: disk full":     "",
		"waiting for the gate to judge the net of train.init":                              "gate",
		"waiting for the bus: no answer to a question for games and for the replay buffer": "",
		"waiting to try again: no server for a candidate":                                  "",
	} {
		st := Stage{State: words}
		if st.judge(); st.Mode != waiting || st.WaitsFor != want {
			t.Errorf("%q: found %s for %q, expected waiting for %q", words, st.Mode, st.WaitsFor, want)
		}
	}
}

// The page of a loop whose allocator divides the cores shows the shares, what is used and what
// more earns, as far as it is known.
func TestDivisionOfTheCores(t *testing.T) {
	status := selfplay.Status{Run: "trial"}
	s := newTestServer(t, Config{Dir: trial(t), Status: func() selfplay.Status { return status }})
	if state := read[State](t, s, "/api/state"); state.Division != nil {
		t.Errorf("found the division %+v without an allocator", state.Division)
	}
	status.Division = []selfplay.Share{{Name: "play", Share: 0.7, Used: 0.85}, {Name: "label", Share: 0.1, Used: 0.05}, {Name: "train", Share: 0.15, Used: 0.1}, {Name: "gate", Share: 0.05}}
	label, train := &status.Division[1].Earning, &status.Division[2].Earning
	label.Median, label.Error, label.Known = -0.25, math.NaN(), true // a diverged run still has a page
	train.Median, train.Error, train.Known = 0.125, 0.5, true
	state := read[State](t, s, "/api/state")
	want := []Part{{Name: "play", Share: 0.7, Used: 0.85}, {"label", 0.1, 0.05, number(-0.25), nil}, {"train", 0.15, 0.1, number(0.125), number(0.98)}, {Name: "gate", Share: 0.05}}
	if !reflect.DeepEqual(state.Division, want) {
		t.Errorf("found the division %+v, expected %+v", state.Division, want)
	}
	var found []string
	for _, st := range state.Stages {
		for _, f := range st.Figures {
			if part, ok := strings.CutPrefix(f.Name, "share of the cores, "); ok {
				found = append(found, st.ID+": "+part+" "+f.Text)
			}
		}
	}
	if want := []string{"play: play 70 %, used 85 %", "train: label 10 %, used 5 %", "train: train 15 %, used 10 %", "gate: gate 5 %, used 0 %"}; !slices.Equal(found, want) {
		t.Errorf("found %q, expected %q", found, want)
	}
}

func TestLearning(t *testing.T) {
	dir := trial(t)
	log, err := os.ReadFile(filepath.Join("testdata", "gate.jsonl")) // of a run of the preset tiny
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "gate/a-b.jsonl", string(log))
	s := newTestServer(t, Config{Dir: dir})
	l := read[Learning](t, s, "/api/learning")
	if len(l.Strength) != 2 || l.Strength[1].Sum != 100 || l.Strength[1].Error != 50 || *l.Strength[1].Margin != 40 || l.Strength[1].Matches != 2 || l.Strength[1].NoError != 0 {
		t.Errorf("found strength %+v, expected 100 ± 50 after two nets by two matches", l.Strength)
	}
	if len(l.Offered) != 2 || len(l.Judged) != 2 || l.Judged[0].Generation != 2 || l.Counts != (Counts{Offered: 2, Judged: 2, Passed: 2}) {
		t.Errorf("found %+v", l)
	}
	i := slices.IndexFunc(l.Matches, func(m Match) bool { return len(m.Path) > 0 })
	if i < 0 || len(l.Matches) != 2 {
		t.Fatalf("found matches %+v, expected one with pairs and one without", l.Matches)
	}
	// The log has pairs 0, 1, 3 and 2, which the gate counts in the order of their numbers.
	if m := l.Matches[i]; len(m.Path) != 4 || m.Wins+m.Draws+m.Losses != 8 || m.Of != 4 || m.Low != -m.High || m.Candidate[:8] != "0cd4c918" {
		t.Errorf("found match %+v", m)
	}
	if m := l.Matches[1-i]; m.Generation != 2 || m.Verdict != "passed" {
		t.Errorf("found match %+v, expected that of generation 2", m)
	}
	if w := l.Window; w == nil || !w.Whole || len(w.By) != 2 || w.By[0].Generation != 1 || w.By[1].Generation != 2 || w.Mean == nil || *w.Mean <= 0 || *w.Mean >= 1 {
		t.Errorf("found window %+v, expected positions of generations 1 and 2", l.Window)
	}
}

// A game of the page is the game that was stored: its moves lead from position to
// position.
func TestGames(t *testing.T) {
	s := newTestServer(t, Config{Dir: trial(t)})
	list := read[Games](t, s, "/api/games")
	if len(list.Games) != 3 || list.Total != 3 || list.Games[0].ID != "abc-5" || list.Games[0].Generations != [2]int{2, 2} {
		t.Fatalf("found %+v, expected three games, the newest first", list)
	}
	g := read[Replayed](t, s, "/api/games/abc-5")
	if len(g.Positions) != g.Plies+1 || g.Nets[0] != secondNet || !strings.Contains(g.PGN, `[GameId "abc-5"]`) {
		t.Fatalf("found %d positions of %d plies, PGN %s", len(g.Positions), g.Plies, g.PGN)
	}
	for i := range g.Plies {
		p, err := chess.ParseFEN(chess.Crazyhouse, g.Positions[i].FEN)
		if err != nil {
			t.Fatal(err)
		}
		next := g.Positions[i+1]
		m, err := p.ParseUCI(next.UCI)
		if err != nil || p.SAN(m) != next.SAN {
			t.Fatalf("ply %d: found %s and %s, error %v", i, next.SAN, next.UCI, err)
		}
		if p.Make(m); p.FEN() != next.FEN {
			t.Fatalf("ply %d: found %s, expected %s", i, next.FEN, p.FEN())
		}
		if here := g.Positions[i]; (here.Win != nil) != (i > 3) || here.Win != nil && (*here.Win > 0.5) != (*here.Score > 0) && *here.Score != 0 {
			t.Errorf("ply %d: found %+v, expected an expectation of the score's sign from ply 4 on", i, here)
		}
	}
	if w := ask(t, s, "/api/games/none"); w.Code != http.StatusNotFound {
		t.Errorf("a game that is not there: code %d", w.Code)
	}
}

// A score is shown from White's side, whoever is to move.
func TestScoresAreWhites(t *testing.T) {
	var white, black, mate, mated Place
	white.judge(150, chess.White, "ab")
	black.judge(-150, chess.Black, "ab")
	if *white.Score != 150 || *black.Score != 150 || *white.Win != *black.Win || *white.Win <= 0.5 {
		t.Errorf("found %+v and %+v, expected the same", white, black)
	}
	mate.judge(32000-3, chess.Black, "ab")  // Black mates in three plies
	mated.judge(2-32000, chess.White, "ab") // White is mated in two plies
	if *mate.Mate != -2 || *mate.Win != 0 || mate.Score != nil || *mated.Mate != -1 {
		t.Errorf("found mates in %d and %d, expected -2 and -1", *mate.Mate, *mated.Mate)
	}
}

func TestNets(t *testing.T) {
	s := newTestServer(t, Config{Dir: trial(t)})
	n := read[Nets](t, s, "/api/nets")
	if n.Current != secondNet || n.Total != 2 || len(n.List) != 2 || n.List[0].Generation != 2 || n.List[0].Over != firstNet || n.List[1].Verdict != "passed" || n.List[1].Seconds != 60 {
		t.Errorf("found %+v", n)
	}
}

// The page distinguishes nets played without a gate from nets that await their verdict.
func TestNetsWithoutGate(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "events.jsonl", `{"time":"2026-01-02T03:01:00Z","msg":"net offered","generation":1,"net":"`+firstNet+`"}
{"time":"2026-01-02T03:02:00Z","msg":"net published","generation":1,"net":"`+firstNet+`","parent":"material"}
{"time":"2026-01-02T03:03:00Z","msg":"net offered","generation":2,"net":"`+secondNet+`"}
`)
	n := read[Nets](t, newTestServer(t, Config{Dir: dir}), "/api/nets")
	if len(n.List) != 2 || n.List[0].Ungated || !n.List[1].Ungated || n.List[1].Verdict != "" {
		t.Errorf("found %+v, expected that generation 1 alone was played with without a gate", n.List)
	}
	dir = trial(t)
	write(t, dir, "events.jsonl", testEvents+`{"time":"2026-01-02T03:05:00Z","msg":"net published","generation":2,"net":"`+secondNet+`"}`+"\n")
	gated := read[Nets](t, newTestServer(t, Config{Dir: dir}), "/api/nets")
	if gated.List[0].Ungated || gated.List[1].Ungated {
		t.Errorf("found %+v, expected nets that the gate has judged", gated.List)
	}
}

func TestNoRun(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := NewWatch(Config{Dir: dir}); !errors.Is(err, ErrNoRun) {
			t.Errorf("%s: error %v", dir, err)
		}
	}
}

// Whatever stands in the files of a run, the page answers, and what can be read is there.
func TestDamagedDirectories(t *testing.T) {
	paths := []string{"/api/state", "/api/learning", "/api/games", "/api/nets", "/api/actors", "/api/games/abc-1", "/api/stored"}
	check := func(name, dir string) {
		t.Helper()
		s := newTestServer(t, Config{Dir: dir})
		for _, path := range paths {
			if w := ask(t, s, path); w.Code != http.StatusOK && w.Code != http.StatusNotFound && w.Code != http.StatusInternalServerError {
				t.Errorf("%s: %s: code %d", name, path, w.Code)
			}
		}
		if w := ask(t, s, "/api/state"); w.Code != http.StatusOK {
			t.Errorf("%s: no state: code %d %s", name, w.Code, w.Body)
		}
	}
	var files []string
	whole := trial(t)
	err := filepath.WalkDir(whole, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(whole, path)
			files = append(files, rel)
		}
		return err
	})
	if err != nil || len(files) < 8 {
		t.Fatalf("found files %v, error %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(whole, file))
		if err != nil {
			t.Fatal(err)
		}
		flipped := slices.Clone(data)
		for i := range flipped {
			if i%7 == 3 {
				flipped[i] ^= 0x41
			}
		}
		for name, text := range map[string]string{
			"cut short": string(data[:len(data)/2]), "empty": "", "flipped": string(flipped),
			"binary": "\x00\xff\xfe{]\n\n[[[[", "null": "null\n{}\n[]\n", "wrong types": `{"time":5,"msg":7,"schema":"x","values":3,"name":[],"variant":{}}` + "\n",
		} {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			write(t, dir, file, text)
			check(file+" "+name, dir)
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		check(file+" is not there", dir)
		if err := os.Mkdir(filepath.Join(dir, file), 0o755); err != nil {
			t.Fatal(err)
		}
		check(file+" is a directory", dir)
	}
}

// What a run writes for a long time takes bounded room on the page.
func TestMemoryIsBounded(t *testing.T) {
	b := newBuffer(t.TempDir())
	for i := range 3 * keptSpans {
		b.count([]string{firstNet, secondNet}[i%2], 5)
	}
	if len(b.spans) > keptSpans {
		t.Errorf("found %d spans, expected at most %d", len(b.spans), keptSpans)
	}
	if by, whole := b.window(12); !whole || len(by) != 2 || by[0].rows+by[1].rows != 12 {
		t.Errorf("found window %+v, whole %v, expected 12 positions of two nets", by, whole)
	}
	for i := range 7*keptGames + 3 {
		b.keep(stored{record: []byte{byte(i)}})
	}
	last := 7*keptGames + 2
	if n := b.newest(); len(n) != keptGames || len(b.latest) > 2*keptGames || n[keptGames-1].record[0] != byte(last) || n[0].record[0] != byte(last-keptGames+1) {
		t.Errorf("found %d games of %d kept, expected the newest %d", len(n), len(b.latest), keptGames)
	}
	l := eventLog{}
	for range 3 * keptEvents {
		l.add([]byte(`{"time":"2026-01-02T03:00:00Z","msg":"started"}`))
	}
	if len(l.recent) != keptEvents {
		t.Errorf("found %d events, expected %d", len(l.recent), keptEvents)
	}
	if p := thin(make([]int, 10*mostPoints), mostPoints); len(p) != mostPoints {
		t.Errorf("found %d points, expected %d", len(p), mostPoints)
	}
	if p := thin([]int{1, 2, 3, 4, 5}, 2); p[1] != 5 {
		t.Errorf("found %v, expected the last value to stay", p)
	}
}

func TestMeter(t *testing.T) {
	var m meter
	at := time.Unix(1000, 0)
	for i := range 60 {
		m.add(at.Add(time.Duration(i)*time.Second), uint64(100+7*i))
	}
	now := at.Add(59 * time.Second)
	if r := m.perSecond(now); r != 7 || len(m.at) > 20 {
		t.Errorf("found %g a second from %d looks, expected 7", r, len(m.at))
	}
	if r := m.perSecond(now.Add(time.Hour)); r != 0 {
		t.Errorf("found %g a second an hour later, expected 0", r)
	}
}

// After a time without looks a rate is that of the last seconds, not the mean since.
func TestMeterBeginsAnew(t *testing.T) {
	var m meter
	at := time.Unix(1000, 0)
	later := at.Add(5 * time.Hour)
	m.add(at, 0)
	m.add(later, 1000)
	if r := m.perSecond(later); r != 0 {
		t.Errorf("found %g a second after one look, expected 0", r)
	}
	m.add(later.Add(time.Second), 1007)
	if r := m.perSecond(later.Add(time.Second)); r != 7 {
		t.Errorf("found %g a second, expected 7", r)
	}
}
