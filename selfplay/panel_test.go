package selfplay

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A usual run's panel fits a terminal of 80 columns.
func TestPanelFits(t *testing.T) {
	s := Status{
		Run: "crazyhouse-laptop", Elapsed: 12*time.Hour + 34*time.Minute, Games: 123_456, SessionGames: 12_345, Positions: 7_654_321,
		PositionsPerS: 12_345, Window: 1_234_567, Spooled: 250, Step: 123_456, StepsToNet: 500, Samples: 31_604_736, SamplesPerS: 54_321,
		TrainLoss: 0.01234, HeldOutLoss: 0.01345, Generation: 123, Net: strings.Repeat("0123456789abcdef", 4),
		Gate: GateProgress{Generation: 124, Pairs: 123, Of: 400, LLR: -1.23, Low: -2.94, High: 2.94},
	}
	for i := range 200 {
		s.Curve = append(s.Curve, PassedNet{Sum: float64(3 * i), Matches: i + 1})
	}
	for i, state := range []string{"playing 2 games", "storing games", "training", "playing generation 124", ""} {
		s.Roles[i].State = state
	}
	panel := s.Panel(80)
	for _, line := range panel {
		if n := utf8.RuneCountInString(line); n >= 80 {
			t.Errorf("%q has %d characters, expected fewer than 80", line, n)
		}
	}
	for i, want := range []string{
		"crazyhouse-laptop  12h34m0s", "12.3k games by this process, 12345 positions/s, 250 on their way", "123.5k games, 7.65M positions, 1.23M of them in the window",
		"step 123.5k, loss 0.0123, held out 0.0135, 54.3k samples/s, net in 2s", "generation 124: pair 123 of 400, LLR -1.23 of -2.94 to 2.94",
		"█  +597 Elo over 200 nets",
	} {
		if !strings.HasSuffix(panel[i], want) {
			t.Errorf("line %d is %q, expected it to end in %q", i, panel[i], want)
		}
	}
	s.Curve[199].Error = 41.4
	if panel := s.Panel(120); !strings.HasSuffix(panel[5], "████  +597 ± 41 Elo over 200 nets") || utf8.RuneCountInString(panel[5]) != 119 {
		t.Errorf("found %q, expected a curve that fills 119 columns", panel[5])
	}
	s.Nodes = 1500
	if panel := s.Panel(80); panel[1] != "play   12.3k games by this process, 12345 positions/s, 250 on their way;" || strings.TrimSpace(panel[2]) != "1500 nodes a move" {
		t.Errorf("found %q, expected the nodes a move", panel[1:3])
	}
	s.Nodes = 0
	s.Roles[roleTrainer].State, s.Roles[roleReplay].State = "waiting for games: 8 samples a position", "waiting to try again: disk full"
	panel = s.Panel(80)
	if len(panel) != 8 || panel[3] != "       waiting to try again: disk full" || panel[5] != "       waiting for games: 8 samples a position" {
		t.Errorf("found %q, expected what the roles wait for in rows of their own", panel)
	}
	for _, line := range panel {
		if n := utf8.RuneCountInString(line); n >= 80 {
			t.Errorf("%q has %d characters, expected fewer than 80", line, n)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, tc := range []struct {
		text, first, second string
		width               int
	}{
		{"one; two", "one; two", "", 8},
		{"one; two", "one;", "two", 7},
		{"one two three", "one two", "three", 7},
		{"onetwothree", "onetwothree", "", 7},
		{"▁▂▃ ▄▅▆", "▁▂▃", "▄▅▆", 6},
	} {
		if first, second := split(tc.text, tc.width); first != tc.first || second != tc.second {
			t.Errorf("%q in %d: found %q and %q, expected %q and %q", tc.text, tc.width, first, second, tc.first, tc.second)
		}
	}
}

func TestSparkline(t *testing.T) {
	for _, tc := range []struct {
		values []float64
		width  int
		want   string
	}{
		{nil, 5, ""},
		{[]float64{1}, 0, ""},
		{[]float64{2, 2}, 5, "▁▁"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 8, "▁▂▃▄▅▆▇█"},
		{[]float64{0, 9, 0, 9, 7, 7}, 3, "██▆"},
	} {
		if got := sparkline(tc.values, tc.width); got != tc.want {
			t.Errorf("%v in %d: found %q, expected %q", tc.values, tc.width, got, tc.want)
		}
	}
}

// The sum of Elo goes on where a match says nothing, a verdict that comes again counts once,
// and lines that are no events are left out.
func TestReadCurve(t *testing.T) {
	events := `{"msg":"net offered","generation":1,"games":100,"held_out_loss":0.03}
{"time":"2026-01-02T03:04:05Z","msg":"gate","candidate":1,"net":"aa","incumbent":"material","passed":true,"reason":"r","elo":"88.58 +/- 172.90","games":8}
{"time":"2026-01-02T03:04:06Z","msg":"gate","candidate":1,"net":"aa","incumbent":"material","passed":true,"reason":"r","elo":"88.58 +/- 172.90","games":8}
{"msg":"gate","candidate":2,"passed":false,"elo":"-20.00 +/- 10.00"}
no event
{"msg":"net offered","generation":3,"games":300,"held_out_loss":0.02}
{"msg":"gate","candidate":3,"passed":true,"elo":"+Inf +/- n/a"}
{"msg":"gate","candidate":4,"passed":true,"elo":"11.42 +/- n/a"}
{"msg":"gate","candi`
	c := curveOfText([]byte(events))
	if len(c.Offered) != 2 || c.Offered[1] != (OfferedNet{Generation: 3, Games: 300, HeldOutLoss: 0.02}) {
		t.Errorf("found %+v offered, expected generations 1 and 3", c.Offered)
	}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if len(c.Judged) != 4 || c.Judged[0] != (JudgedNet{began, 1, "aa", "material", true, "r", "88.58 +/- 172.90", 8}) || !c.Passed[0].Time.Equal(began) {
		t.Errorf("found %+v judged, expected generations 1 to 4", c.Judged)
	}
	var sums []float64
	for _, p := range c.Passed {
		sums = append(sums, p.Sum)
	}
	if len(sums) != 3 || sums[0] != 88.58 || sums[1] != 88.58 || sums[2] != 100 || c.Passed[1].Games != 300 || c.Passed[0].Margin != 172.9 || c.Passed[2].Error != 172.9 {
		t.Errorf("found %+v passed, expected three with 100 Elo in all", c.Passed)
	}
	if f := c.Figure(); len(f.Rows) != 2 {
		t.Errorf("the figure has %d rows, expected 2", len(f.Rows))
	}
}

// Errors of independent matches add up by their squares; those that are not finite are left
// out, as their matches are.
func TestCurveError(t *testing.T) {
	c := curveOfText([]byte(`{"msg":"gate","candidate":1,"passed":true,"elo":"10.00 +/- 30.00"}
{"msg":"gate","candidate":2,"passed":true,"elo":"10.00 +/- n/a"}
{"msg":"gate","candidate":3,"passed":true,"elo":"10.00 +/- 40.00"}
`))
	if n := len(c.Passed); n != 3 || c.Passed[2].Sum != 30 || c.Passed[2].Error != 50 || c.Passed[2].NoError != 1 {
		t.Errorf("found %+v, expected three to 30 ± 50, one of them without an error", c.Passed)
	}
}

// A net's sum goes on from that of the net it was played against: after a rollback from an older
// one, and from one that failed and was promoted.
func TestCurveOfIncumbents(t *testing.T) {
	c := curveOfText([]byte(`{"msg":"gate","candidate":1,"net":"a","incumbent":"material","passed":true,"elo":"10.00 +/- 30.00"}
{"msg":"gate","candidate":2,"net":"b","incumbent":"a","passed":true,"elo":"20.00 +/- 40.00"}
{"msg":"gate","candidate":3,"net":"c","incumbent":"a","passed":true,"elo":"60.00 +/- 40.00"}
{"msg":"gate","candidate":4,"net":"d","incumbent":"c","passed":false,"elo":"-5.00 +/- 120.00"}
{"msg":"gate","candidate":5,"net":"e","incumbent":"d","passed":true,"elo":"7.00 +/- n/a"}
{"msg":"gate","candidate":6,"net":"f","incumbent":"never judged","passed":true,"elo":"1.00 +/- n/a"}
{"msg":"gate","candidate":7,"net":"g","incumbent":"material","passed":true,"elo":"5.00 +/- 6.00"}
`))
	var reached []string
	for _, p := range c.Passed {
		reached = append(reached, fmt.Sprintf("%s by %d - %d", p.Reached(), p.Matches, p.NoError))
	}
	if want := []string{"+10 ± 30 Elo by 1 - 0", "+30 ± 50 Elo by 2 - 0", "+70 ± 50 Elo by 2 - 0", "+72 ± 130 Elo by 4 - 1", "+73 ± 130 Elo by 5 - 2", "+5 ± 6 Elo by 1 - 0"}; !slices.Equal(reached, want) {
		t.Errorf("found %q, expected %q", reached, want)
	}
}

func TestEloText(t *testing.T) {
	for _, tc := range []struct{ estimate, want string }{
		{"88.58 +/- 172.90", "+89 ± 173"}, {"-0.00 +/- 8.51", "0 ± 9"}, {"-337.40 +/- n/a", "-337 ± n/a"}, {"n/a", "n/a"}, {"+Inf +/- n/a", "+Inf +/- n/a"},
	} {
		if got := eloText(tc.estimate); got != tc.want {
			t.Errorf("%q: found %q, expected %q", tc.estimate, got, tc.want)
		}
	}
}

func TestSentence(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for _, tc := range []struct {
		event string
		attrs []slog.Attr
		want  string
	}{
		{"gate", []slog.Attr{slog.Int("candidate", 7), slog.Bool("passed", false), slog.String("elo", "-3.00 +/- 9.00"), slog.Int("games", 8)}, "generation 7 failed: -3 ± 9 Elo in 8 games"},
		{"net published", []slog.Attr{slog.Int("generation", 7), slog.String("net", id)}, "generation 7 published: net 01234567"},
		{"net published", []slog.Attr{slog.String("net", id)}, "net published: net 01234567"},
		{"old nets not removed", []slog.Attr{slog.Float64("share_left", 1.0/3), slog.String("error", "bad\x1b[2J")}, `old nets not removed: share left 0.333, error "bad\x1b[2J"`},
		{"net offered", []slog.Attr{slog.Int("generation", 7), slog.String("net", id), slog.Int("games", 40), slog.Float64("held_out_loss", 0.0123)}, "generation 7 offered: net 01234567, 40 games, held-out loss 0.0123"},
		{"net offered", []slog.Attr{slog.Int("generation", 7), slog.String("net", id), slog.Int("games", 40), slog.Float64("held_out_loss", 0)}, "generation 7 offered: net 01234567, 40 games"},
		{"stopping", nil, "stopping"},
	} {
		if got := Sentence(tc.event, tc.attrs); got != tc.want {
			t.Errorf("found %q, expected %q", got, tc.want)
		}
	}
}
