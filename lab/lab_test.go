package lab

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
	"github.com/crazyhouse-rl/selfplay/search"
)

// games writes a file of random games, scored by the pieces in hand.
func games(t *testing.T, seed uint64, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "games.chain")
	var data bytes.Buffer
	w, err := chain.NewWriter(&data, chess.Crazyhouse, sample.CentipawnUnit)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		p := chess.Crazyhouse.Start()
		for ply := range 40 {
			var moves chess.MoveList
			if p.Legal(&moves); moves.N == 0 {
				break
			}
			us := p.SideToMove()
			s := sample.Sample{Pos: p, Move: moves.Moves[rng.IntN(moves.N)], Ply: uint16(ply), Result: 1}
			s.Score = search.Score(100 * (p.Hand(us).Total() - p.Hand(us.Other()).Total()))
			if us == chess.Black {
				s.Result = -1
			}
			if err := w.Write(&s); err != nil {
				t.Fatal(err)
			}
			p.Make(s.Move)
		}
	}
	if err := errors.Join(w.Close(), os.WriteFile(path, data.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

const small = `schema: 1
train: {preset: tiny, batch: 64, epochs: 1, skip_in_check: false, skip_captures: false, held_out: 100, factorise: false}
seeds: 2
rows:
- {name: "a <b> & c", features: All}
- {name: hands, features: Hand}
anchors: [{name: material, player: material, elo: 0}]
games: {pairs: 2, nodes: 20, time: 1ms, puzzles: 5}
`

// comparison is a small one of a file of games.
func comparison(t *testing.T, data string) configs.Compare {
	t.Helper()
	c, err := configs.ParseCompare([]byte(small), "small")
	if err != nil {
		t.Fatal(err)
	}
	c.Data = []string{data}
	return c
}

// options are those of a run whose speeds are not measured.
func options(dir string) Options {
	return Options{Dir: dir, Jobs: 1, Progress: io.Discard, Measure: func(_ context.Context, makers []*player.Maker, _ *chess.Variant) ([]Speed, error) {
		speeds := make([]Speed, len(makers))
		for i, m := range makers {
			speeds[i] = Speed{Nodes: 20_000, Evaluations: 1, Relative: 1}
			if m.Spec.Net != player.Material {
				speeds[i].Relative = 1.5
			}
		}
		return speeds, nil
	}}
}

func newPlan(t *testing.T, c configs.Compare) *Plan {
	t.Helper()
	p, err := NewPlan(t.Context(), c, Options{Dir: t.TempDir(), Progress: io.Discard}, false)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// cells are the keys of everything that a comparison has made or is to make, at fixed nodes.
func cells(t *testing.T, c configs.Compare) []string {
	t.Helper()
	p := newPlan(t, c)
	var keys []string
	for _, row := range p.Nets {
		keys = append(keys, keysOf(row)...)
	}
	meetings := p.Meetings(AtNodes, nil)
	for i := range meetings {
		keys = append(keys, meetings[i].Key)
	}
	slices.Sort(keys)
	return keys
}

// A row or a seed that is added changes no other cell; names, order of rows, path of the data and
// number of pairs change none; what decides anything changes those that it decides.
func TestCells(t *testing.T) {
	data := games(t, 1, 3)
	base := comparison(t, data)
	keys := cells(t, base)
	if n := len(slices.Compact(slices.Clone(keys))); n != 2*2+2*3 || n != len(keys) {
		t.Fatalf("%d different cells of %d, expected 4 nets and 6 meetings", n, len(keys))
	}
	change := func(do func(c *configs.Compare)) []string {
		c := comparison(t, data)
		do(&c)
		return cells(t, c)
	}
	copied := filepath.Join(t.TempDir(), "copy.chain")
	text, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func(c *configs.Compare){
		"order": func(c *configs.Compare) { slices.Reverse(c.Rows) },
		"names": func(c *configs.Compare) { c.Rows[0].Name, c.Anchors[0].Name = "zebra", "m" },
		"pairs": func(c *configs.Compare) { c.Games.Pairs = 7 },
		"path":  func(c *configs.Compare) { c.Data = []string{copied} },
		"sort":  func(c *configs.Compare) { c.Sort = "loss" },

		"spelling": func(c *configs.Compare) { c.Rows[0].Settings["features"] = "(All)" },
		"dir":      func(c *configs.Compare) { c.Data = []string{filepath.Dir(copied)} },
	} {
		if got := change(do); !slices.Equal(got, keys) {
			t.Errorf("%s: found cells %q, expected those before, %q", name, got, keys)
		}
	}
	contains := func(all []string) (n int) {
		for _, key := range keys {
			if slices.Contains(all, key) {
				n++
			}
		}
		return n
	}
	for _, tc := range []struct {
		name      string
		do        func(c *configs.Compare)
		all, kept int
	}{
		{"row", func(c *configs.Compare) {
			c.Rows = append(c.Rows, configs.CompareRow{Name: "b", Settings: map[string]any{"width": uint64(32)}})
		}, 3*2 + 2*6, 10},
		{"seed", func(c *configs.Compare) { c.Seeds = 3 }, 3*2 + 3*3, 10},
		{"nodes", func(c *configs.Compare) { c.Games.Nodes = 21 }, 10, 4},
		{"openings", func(c *configs.Compare) { c.Games.Seed = 2 }, 10, 4},
		{"data", func(c *configs.Compare) { c.Data = []string{games(t, 2, 3)} }, 10, 0},
		{"a setting", func(c *configs.Compare) { c.Train["lr"] = "0.001" }, 10, 0},
	} {
		if got := change(tc.do); len(got) != tc.all || contains(got) != tc.kept {
			t.Errorf("%s: %d cells, %d of those before, expected %d and %d", tc.name, len(got), contains(got), tc.all, tc.kept)
		}
	}
}

// made returns the bytes of the files of a comparison that do not depend on time.
func made(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), dir, "DIR")
}

// stopping counts cells and lines of progress, and ends a context after some.
type stopping struct {
	left int
	end  context.CancelFunc
}

func (s *stopping) step() {
	if s.left--; s.left == 0 {
		s.end()
	}
}

func (s *stopping) Write(p []byte) (int, error) {
	s.step()
	return len(p), nil
}

// A comparison that is ended after every step comes to the results of one that is not, byte for
// byte. A row that is added has only its own cells made.
func TestInterrupted(t *testing.T) {
	c := comparison(t, games(t, 1, 12))
	straight, stopped := t.TempDir(), t.TempDir()
	cells := 0
	o := options(straight)
	o.OnCell = func() { cells++ }
	r, err := Run(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := 4 + 6 + 6 + 4; cells != want {
		t.Errorf("%d cells were made, expected %d", cells, want)
	}
	checkReports(t, r, straight)

	interruptions := 0
	for steps := 1; ; steps++ {
		ctx, cancel := context.WithCancel(t.Context())
		o := options(stopped)
		s := &stopping{steps, cancel}
		o.Progress, o.OnCell = s, s.step
		_, err := Run(ctx, c, o)
		cancel()
		if err == nil {
			break
		}
		if interruptions++; !errors.Is(err, context.Canceled) || interruptions > 60 {
			t.Fatalf("interruption %d: %v", interruptions, err)
		}
	}
	if interruptions < 3 {
		t.Errorf("%d interruptions, expected several", interruptions)
	}
	if got, want := made(t, stopped), made(t, straight); got != want {
		t.Errorf("found %s\nexpected %s", got, want)
	}

	c.Rows = append(c.Rows, configs.CompareRow{Name: "wide", Settings: map[string]any{"width": uint64(32), "features": "Hand"}})
	slices.Reverse(c.Rows)
	cells = 0
	o = options(straight)
	o.OnCell = func() { cells++ }
	if _, err := Run(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
	if want := 2 + 2*2*3 + 2; cells != want {
		t.Errorf("%d cells were made for one row more, expected its 2 nets, 12 meetings and puzzles of 2", cells)
	}
}

// checkReports looks into everything that was written.
func checkReports(t *testing.T, r *Results, dir string) {
	t.Helper()
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(table.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > tableWidth {
			t.Errorf("a line of %d columns, expected at most %d: %s", n, tableWidth, line)
		}
	}
	f, err := os.Open(filepath.Join(dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) != 3 || lines[0][0] != "row" {
		t.Errorf("CSV: %q, error %v", lines, err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(page, []byte("<b>")) || !bytes.Contains(page, []byte("a &lt;b&gt; &amp; c")) {
		t.Error("a row's name is not escaped in the page")
	}
	for _, outside := range []string{"src=", "href=\"http", "<link", "<script"} {
		if bytes.Contains(page, []byte(outside)) {
			t.Errorf("the page is not whole by itself: found %s", outside)
		}
	}
	for _, d := range r.drawings() {
		text, err := os.ReadFile(filepath.Join(dir, d.file))
		if err != nil {
			t.Fatal(err)
		}
		for dec := xml.NewDecoder(bytes.NewReader(text)); ; {
			if _, err := dec.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Errorf("%s: %v", d.file, err)
				break
			}
		}
	}
	report := r.markdown()
	for _, want := range []string{"Holm", "with probability 0.8", "selfplay learn --config", "selfplay match"} {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

func TestOneSeedWarns(t *testing.T) {
	c := comparison(t, games(t, 1, 12))
	c.Seeds, c.Games.Time = 1, 0
	r, err := Run(t.Context(), c, options(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "rests on one seed") {
		t.Errorf("found warnings %q, expected one of the only seed", r.Warnings)
	}
	for _, s := range r.Conclusions()[:1] {
		if !strings.Contains(s, "one seed") {
			t.Errorf("found %q, expected a word about the only seed", s)
		}
	}
}

// One seed tells of no deviation between seeds: neither the table nor results.csv has one.
func TestNoDeviationOfOneSeed(t *testing.T) {
	for _, tc := range []struct {
		losses []float64
		want   string // in the table
		csv    string
	}{
		{[]float64{0.01}, "0.01000", ""},
		{[]float64{0.01, 0.01}, "0.01000(12)", "0.00012"},
	} {
		const sd = 0.00012
		row := Row{Name: "a", Losses: tc.losses, Loss: 0.01, LossSD: sd, Measured: 100, Scores: Spread{SD: sd}, Results: Spread{Mean: 0.01, SD: sd}, Winner: Spread{SD: sd}}
		if got := row.lossText(row.Loss, row.LossSD); got != tc.want {
			t.Errorf("found %s, expected %s", got, tc.want)
		}
		var sheet strings.Builder
		r := Results{Rows: []Row{row}, Times: []Times{{}}}
		if err := r.WriteCSV(&sheet); err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(strings.NewReader(sheet.String())).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for i, name := range lines[0] {
			if strings.HasSuffix(name, "_sd") {
				if found++; lines[1][i] != tc.csv {
					t.Errorf("%d seeds: %s: found %q, expected %q", len(tc.losses), name, lines[1][i], tc.csv)
				}
			}
		}
		if found != 4 {
			t.Errorf("found %d deviations in %v, expected 4", found, lines[0])
		}
	}
}

// Where held-out positions have no results, the table and the files have no loss of results, nor
// winners named.
func TestNoResultsHeldOut(t *testing.T) {
	none := Spread{Seeds: []float64{0, 0}}
	row := Row{Name: "a", Losses: []float64{0.01, 0.01}, Loss: 0.01, Measured: 100, Cells: []string{"b", "c"},
		Scores: Spread{Mean: 0.01, Seeds: []float64{0.01, 0.01}}, Results: none, Winner: none}
	r := Results{Rows: []Row{row}, Times: []Times{{}}}
	for _, c := range r.columns()[0] {
		want := map[string]string{"of scores": "0.01000(0)", "of results": "-", "winner": "-"}[c.title]
		if got := c.of(&row, &Times{}); want != "" && got != want {
			t.Errorf("%s: found %q, expected %q", c.title, got, want)
		}
	}
	for _, c := range csvColumns {
		want, known := map[string]string{"loss_scores": "0.01", "loss_results": "", "loss_results_sd": "", "winner_named": "", "winner_named_sd": ""}[c.name]
		if got := c.of(&row, &Times{}); known && got != want {
			t.Errorf("%s: found %q, expected %q", c.name, got, want)
		}
	}
	for _, line := range []parquetLine{r.parquetRow(0), r.parquetSeed(0, 1)} {
		if line.Scores == nil || line.Results != nil || line.Winner != nil {
			t.Errorf("%s: found losses %v of scores, %v of results and %v of winners, expected that of scores alone", line.Kind, line.Scores, line.Results, line.Winner)
		}
	}
}

func TestFactsAndPrice(t *testing.T) {
	data := games(t, 1, 12)
	c := comparison(t, data)
	fact := func(p *Plan, what string) Fact {
		for _, f := range p.Facts() {
			if f.What == what {
				return f
			}
		}
		t.Fatalf("no fact about %s", what)
		return Fact{}
	}
	if f := fact(newPlan(t, c), "samples and their order"); !f.Equal {
		t.Errorf("found %+v, expected the same samples", f)
	}
	c.Rows[0].Settings["batch"] = uint64(32)
	p := newPlan(t, c)
	if f := fact(p, "samples and their order"); f.Equal || !strings.Contains(f.Detail, "batch") {
		t.Errorf("found %+v, expected another order", f)
	}
	var text strings.Builder
	if err := p.Show(&text); err != nil || !strings.Contains(text.String(), "differs  samples") {
		t.Errorf("%s, error %v", text.String(), err)
	}
	for i := range p.Nets {
		a, err := p.Nets[i][0].Config.Architecture(c.Variant)
		if err != nil {
			t.Fatal(err)
		}
		net, err := nnue.New(a)
		if err != nil {
			t.Fatal(err)
		}
		params, dead := 0, len(features.Dead(net.Features()))
		for _, r := range netstat.Ranges(net) {
			params += r.Count
		}
		if want := fmt.Sprintf("  %d inputs and %d dead ones, %d parameters\n", net.Features().Size()-dead, dead, params); !strings.Contains(text.String(), want) {
			t.Errorf("%s: found\n%s\nexpected %q in it", p.Rows[i].Name, text.String(), want)
		}
	}
	price, err := p.Price(t.Context(), Options{Progress: io.Discard})
	if err != nil || price.Nets != 4 || price.NetsThere != 0 || price.Meetings != 12 || price.Puzzles != 4 || price.PuzzlesThere != 0 || price.Solving <= 0 || price.Games != 48 || !price.Unknown || price.Training <= 0 || price.Playing <= 0 {
		t.Errorf("found %+v, error %v", price, err)
	}
	if entries, err := os.ReadDir(p.Dir); err != nil || len(entries) > 0 {
		t.Errorf("a plan that is only looked at wrote %v, error %v", entries, err)
	}
}

// A short time has digits too.
func TestCoreHours(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0", 5 * time.Second: "0.0014", 36 * time.Minute: "0.6", 90 * time.Minute: "1.50"} {
		if got := coreHours(d); got != want+" core-hours" {
			t.Errorf("%v: found %s, expected %s", d, got, want)
		}
	}
}

// An engine that is not there is found missing before any net is trained.
func TestMissingEngine(t *testing.T) {
	c := comparison(t, games(t, 1, 3))
	spec, err := player.Parse("uci:no-such-engine-here,nodes=10")
	if err != nil {
		t.Fatal(err)
	}
	c.Anchors = append(c.Anchors, configs.Opponent{Name: "engine", Player: spec})
	if _, err := Run(t.Context(), c, options(t.TempDir())); err == nil || !strings.Contains(err.Error(), "anchor engine") {
		t.Errorf("error %v, expected one of the anchor", err)
	}
}

// Every row learns as many samples as the budget says.
func TestBudget(t *testing.T) {
	c := comparison(t, games(t, 1, 12))
	delete(c.Train, "epochs")
	c.Budget.Samples = 640
	c.Games.Time = 0
	r, err := Run(t.Context(), c, options(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if row.Samples < 640 || row.Samples >= 640+64 {
			t.Errorf("%s: %d samples, expected 640 in whole batches", row.Name, row.Samples)
		}
	}
}

// Two anchors that are one player would count its games twice.
func TestSameAnchorTwice(t *testing.T) {
	c := comparison(t, games(t, 1, 3))
	again := c.Anchors[0]
	again.Name = "again"
	c.Anchors = append(c.Anchors, again)
	if _, err := NewPlan(t.Context(), c, options(t.TempDir()), false); !errors.Is(err, configs.ErrInvalid) || !strings.Contains(err.Error(), "anchors again and material: found the same player") {
		t.Errorf("error %v, expected one of the anchors", err)
	}
	c.Anchors[1].Player.Limits.Nodes = 7 // another player, by its own limits
	if _, err := NewPlan(t.Context(), c, options(t.TempDir()), false); err != nil {
		t.Error(err)
	}
}

// A speed that was measured by searches that were broken off is none.
func TestSpeedIsMeasuredToTheEnd(t *testing.T) {
	m, err := player.Spec{Search: player.AlphaBeta, Net: player.Material}.Load(t.Context(), chess.Crazyhouse, player.Defaults{Limits: search.Limits{Nodes: 1}, HashMB: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if speed, err := searchSpeed(ctx, m, []chess.Position{chess.Crazyhouse.Start()}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %g nodes a second, error %v, expected that of the context", speed, err)
	}
}
