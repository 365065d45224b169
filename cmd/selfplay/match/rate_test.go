package match

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// pgnGame is a game of two moves with the given tags, names first.
func pgnGame(white, black, result string, tags ...string) string {
	text := fmt.Sprintf("[White %q]\n[Black %q]\n[Result %q]\n", white, black, result)
	for i := 0; i < len(tags); i += 2 {
		text += fmt.Sprintf("[%s %q]\n", tags[i], tags[i+1])
	}
	return text + "\n1. e4 e5 " + result + "\n\n"
}

// rated is the JSON of rate, as a reader sees it.
type rated struct {
	Games struct{ Read, Rated, Malformed, Unfinished, Nameless, Repeated, Blocks int }
	White struct {
		Elo struct{ Value, Low, High float64 }
	} `json:"white_advantage"`
	Players []struct {
		Rank         int
		Name         string
		Elo          struct{ Value, Low, High float64 }
		EloResampled *struct{ Value, Low, High float64 } `json:"elo_resampled"`
		Games        [3]int
		Pairs        rating.Pentanomial
		Anchor       *float64
	}
	Superiority [][]float64
	Plan        rating.PlanReport
}

func rateJSON(t *testing.T, stdin string, args ...string) (r rated, stderr string) {
	t.Helper()
	out, stderr, code := selfplayCommand(t, stdin, append([]string{"rate", "--json"}, args...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r, stderr
}

// twoPlayers are pairs in the manner of five programs, and single games.
func twoPlayers() string {
	var b strings.Builder
	pair := func(first, second string, tags ...string) {
		b.WriteString(pgnGame("A", "B", first, tags[:len(tags)/2]...))
		b.WriteString(pgnGame("B", "A", second, tags[len(tags)/2:]...))
	}
	const fen = "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1" // no e5: replay would fail
	for i := range 10 {
		n := fmt.Sprint
		pair("1-0", "0-1", "PairId", n(i), "PairId", n(i))                                         // by id: 2
		pair("1-0", "1-0", "Round", n(i), "FEN", fen, "Round", n(i), "FEN", fen)                   // by round: 1
		pair("0-1", "1/2-1/2", "Round", n(101+2*i), "Round", n(102+2*i))                           // by successive rounds: ½
		pair("1-0", "1/2-1/2", "Round", n(i)+".1", "Event", "x", "Round", n(i)+".2", "Event", "x") // within a round: 1½
	}
	b.WriteString(pgnGame("A", "B", "1-0", "Round", "-"))
	b.WriteString(pgnGame("A", "B", "0-1"))
	b.WriteString(pgnGame("A", "B", "0-1", "Round", "900"))
	return b.String()
}

func TestRateTwoPlayers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.pgn")
	if err := os.WriteFile(path, []byte(twoPlayers()), 0o644); err != nil {
		t.Fatal(err)
	}
	r, stderr := rateJSON(t, "", path, "--no-replay", "--white-advantage", "0", "--resample", "200")
	if stderr != "" || r.Games.Read != 83 || r.Games.Rated != 83 || r.Games.Blocks != 43 {
		t.Fatalf("games %+v, said %q", r.Games, stderr)
	}
	a := r.Players[0]
	if a.Name != "A" || a.Pairs != (rating.Pentanomial{LD: 10, LW: 10, DW: 10, WW: 10}) || a.Games != [3]int{22, 20, 41} {
		t.Errorf("player A: %+v", a)
	}
	score, _ := rating.Trinomial(a.Games).Score()
	if want := rating.Elo(score); math.Abs(a.Elo.Value-r.Players[1].Elo.Value-want) > 1e-6 {
		t.Errorf("difference %v, want %v", a.Elo.Value-r.Players[1].Elo.Value, want)
	}
	if a.EloResampled == nil || a.EloResampled.High <= a.Elo.Value || r.Superiority[0][1] < 0.9 || math.Abs(r.Superiority[0][1]+r.Superiority[1][0]-1) > 1e-9 {
		t.Errorf("resampled %+v, superiority %v", a.EloResampled, r.Superiority)
	}
	again, _ := rateJSON(t, "", path, "--no-replay", "--white-advantage", "0", "--resample", "200")
	if *again.Players[0].EloResampled != *a.EloResampled {
		t.Error("the same seed gives another interval")
	}
	// Replayed, the games from a start without a pawn to move are refused.
	r, stderr = rateJSON(t, "", path, "--resample", "0", "--anchor", "B=1500")
	if r.Games.Malformed != 20 || r.Games.Rated != 63 || strings.Count(stderr, "ply 2") != 20 || !strings.Contains(stderr, path+": line ") {
		t.Errorf("games %+v, said %s", r.Games, stderr)
	}
	if b := r.Players[1]; b.Anchor == nil || b.Elo.Value != 1500 || b.Elo.Low != b.Elo.High || b.EloResampled != nil {
		t.Errorf("anchor %+v", b)
	}
}

func TestRateText(t *testing.T) {
	plot := filepath.Join(t.TempDir(), "ratings.svg")
	out, stderr, code := selfplayCommand(t, twoPlayers()+pgnGame("A", "?", "1-0")+pgnGame("A", "B", "*")+"[Event \"x]\n\n",
		"rate", "-", "--no-replay", "--plot", plot, "--resample", "50", "--anchor", "A=0/20")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"-: line ", "not counted: 1 of 86 games, malformed", "1 of 86 games, without names", "1 of 86 games, without a result"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("said %q, expected %q", stderr, want)
		}
	}
	for _, want := range []string{"± pairs", "A (anchor)", "0 10 10 10 10", "White's advantage", "83 games, 40 pairs and 3 single", "50 samples, seed 1", "stronger than"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if text, err := os.ReadFile(plot); err != nil || !strings.Contains(string(text), "Ratings from 83 games") {
		t.Errorf("plot: %v", err)
	}
}

// A plan takes the games that need least time by the tags of the PGN, and names nothing if
// the errors are small enough.
func TestRatePlan(t *testing.T) {
	var b strings.Builder
	timed := func(white, black, end string) {
		for i, result := range []string{"1-0", "1-0", "0-1", "0-1"} {
			w, k := white, black
			if i%2 == 1 {
				w, k = black, white
			}
			for range 10 {
				b.WriteString(pgnGame(w, k, result, "GameStartTime", "2026-11-29T13:13:14.000 +0000", "GameEndTime", end))
			}
		}
	}
	timed("A", "B", "2026-11-29T13:13:16.000 +0000")
	timed("B", "C", "2026-11-29T13:13:16.000 +0000")
	timed("A", "C", "2026-11-29T13:14:14.500 +0000")
	timed("A", "D", "2026-11-29T13:13:13.000 +0000") // ended before it began: not known
	args := []string{"rate", "-", "--resample", "0", "--anchor", "A=0", "--plan-for", "C"}
	plan := func(margin string) string {
		out, stderr, code := selfplayCommand(t, b.String(), append(args, "--plan", margin)...)
		if code != 0 {
			t.Fatal(stderr)
		}
		return out
	}
	text := plan("50")
	for _, want := range []string{"plan for ± 50: ", " one after the other; the widest error now is ± ", "games   time  players\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the output lacks %q:\n%s", want, text)
		}
	}
	_, rows, _ := strings.Cut(text, "  players\n")
	if rows = strings.Join(strings.Fields(rows), " "); !regexp.MustCompile(`^\d+ \S+ (A B \d+ \S+ B C|B C \d+ \S+ A B)$`).MatchString(rows) {
		t.Errorf("planned %q, expected A with B and B with C", rows)
	}
	if text := plan("500"); !strings.Contains(text, "plan: nothing to play, the widest error is ± ") {
		t.Errorf("expected nothing to play:\n%s", text)
	}
	r, _ := rateJSON(t, b.String(), "-", "--resample", "0", "--anchor", "A=0", "--plan-for", "C", "--plan", "50")
	if p := r.Plan; p.Margin != 50 || !p.Reached || len(p.Matches) != 2 || p.Matches[0].Seconds != 2*float64(p.Matches[0].Games) ||
		len(p.Errors) != 1 || p.Errors[0].Name != "C" || p.Errors[0].Now <= 50 || p.Errors[0].After > 50 {
		t.Errorf("plan %+v", p)
	}
}

// TestRateLog rates the log of a match and finds the score the match found.
func TestRateLog(t *testing.T) {
	dir := t.TempDir()
	log, pgn := filepath.Join(dir, "match.log"), filepath.Join(dir, "match.pgn")
	_, stderr, code := selfplayCommand(t, "", "match", "material,nodes=60,name=strong", "material,nodes=1,name=weak", "--games", "12", "--log", log, "--pgn", pgn)
	if code != 0 {
		t.Fatal(stderr)
	}
	args := []string{"--prior-draws", "1", "--resample", "20"}
	byLog, _ := rateJSON(t, "", append(args, log)...)
	byPGN, _ := rateJSON(t, "", append(args, pgn)...)
	if len(byLog.Players) != 2 || byLog.Players[0].Name != "strong" || byLog.Games.Rated != 12 || byLog.Games.Blocks != 6 {
		t.Errorf("by the log: %+v", byLog)
	}
	for i, p := range byLog.Players {
		q := byPGN.Players[i]
		if p.Name != q.Name || p.Games != q.Games || p.Pairs != q.Pairs || math.Abs(p.Elo.Value-q.Elo.Value) > 1e-6 {
			t.Errorf("by the log %+v, by the PGN %+v", p, q)
		}
	}
	damaged := filepath.Join(dir, "damaged.log")
	if err := os.WriteFile(damaged, []byte(`{"version":99}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := selfplayCommand(t, "", "rate", damaged); code != 1 || !strings.Contains(stderr, "damaged.log") {
		t.Errorf("damaged log: exit code %d, %s", code, stderr)
	}
}

func TestRateErrors(t *testing.T) {
	games := twoPlayers()
	for _, c := range []struct {
		stdin, args string
		code        int
		want        string
	}{
		{"", "", 2, "no files"},
		{games, "- --anchor A", 2, "NAME=ELO"},
		{games, "- --anchor A=x", 2, "NAME=ELO"},
		{games, "- --anchor A=1/-3", 2, "NAME=ELO"},
		{games, "- --anchor C=0", 2, "A, B"},
		{games, "- --anchor A=Inf", 2, "anchor at +Inf"},
		{games, "- --anchor A=0 --anchor A=5", 2, `found "A" twice`},
		{games, "- --prior-draws -1", 2, "-1 prior draws"},
		{games, "- --white-advantage NaN", 2, "White's advantage NaN"},
		{games, "- --white-advantage much", 2, "fit or a number"},
		{games, "- --resample 1", 2, "0 or 2"},
		{games, "- --plot a.gif", 2, ".svg"},
		{games, "- --variant shogi", 2, "shogi"},
		{games, "- --plan -5", 2, "margin -5"},
		{games, "- --plan 20 --plan-for C", 2, "A, B"},
		{games, "- --plan-for A", 2, "without --plan"},
		{games, "- --plan-among A", 2, "without --plan"},
		{games, "- --plan 20 --plan-among C", 2, "A, B"},
		{games, "- --variant crazyhouse", 1, "no games"},
		{"", "-", 1, "no games"},
		{games + pgnGame("C", "D", "1-0"), "- --no-replay", 1, "{C}, {D}"},
		{pgnGame("A", "B", "1-0") + pgnGame("B", "A", "1-0"), "-", 1, "--white-advantage 0"},
		{"", "/nowhere/games.pgn", 1, "/nowhere"},
	} {
		_, stderr, code := selfplayCommand(t, c.stdin, append([]string{"rate"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("rate %s: exit code %d, %s; expected %d, %q", c.args, code, stderr, c.code, c.want)
		}
	}
}

// A file that is given twice counts once.
func TestRateCountsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.pgn")
	text := twoPlayers()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	once, _ := rateJSON(t, "", path)
	twice, stderr := rateJSON(t, "", path, path)
	if twice.Games.Rated != once.Games.Rated || twice.Games.Repeated != once.Games.Read || once.Games.Repeated != 0 || twice.Players[0].Elo != once.Players[0].Elo {
		t.Errorf("found %+v, and %+v of the file twice", once, twice)
	}
	if !strings.Contains(stderr, fmt.Sprintf("not counted: %d of %d games, the same as in earlier files", once.Games.Read, 2*once.Games.Read)) {
		t.Errorf("found %q", stderr)
	}
}
