package dash

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/await"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
	levels "github.com/crazyhouse-rl/selfplay/search/strength"
)

// withoutNet is the server of a run that has no net yet: the program's own plays.
func withoutNet(t testing.TB) *Server {
	t.Helper()
	dir := trial(t)
	if err := os.Remove(filepath.Join(dir, "pointers.json")); err != nil {
		t.Fatal(err)
	}
	return newTestServer(t, Config{Dir: dir})
}

// question sends a question as the page does.
func question(t testing.TB, s *Server, path, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, askPath+path, strings.NewReader(body))
	r.Host = "127.0.0.1:8080"
	r.Header.Set("Origin", "http://127.0.0.1:8080")
	r.Header.Set("Content-Type", "application/json")
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	s.Handler("").ServeHTTP(w, r)
	return w
}

func answered[T any](t testing.TB, s *Server, path, body string) (v T) {
	t.Helper()
	w := question(t, s, path, body)
	if w.Code != http.StatusOK {
		t.Fatalf("%s %s: code %d, %s", path, body, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

func TestPosition(t *testing.T) {
	s := withoutNet(t)
	table := answered[Table](t, s, "position", `{"moves":["e2e4","d7d5","e4d5","d8d5"],"move":"Nc3","person":"white","level":{"nodes":400}}`)
	last := table.Positions[len(table.Positions)-1]
	if len(table.Positions) != 6 || last.FEN != "rnb1kbnr/ppp1pppp/8/3q4/8/2N5/PPPP1PPP/R1BQKBNR[Pp] b KQkq - 1 3" || last.SAN != "Nc3" || last.UCI != "b1c3" {
		t.Errorf("found %d positions, the last %+v", len(table.Positions), last)
	}
	want, err := chess.ParseFEN(chess.Crazyhouse, last.FEN)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Legal) != want.CountLegal() || table.Result != "*" || table.End != "" || table.Start != "" {
		t.Errorf("found %d moves, result %s (%s) from %q, expected %d moves and none", len(table.Legal), table.Result, table.End, table.Start, want.CountLegal())
	}
	for _, tag := range []string{`[White "human"]`, `[Black "the built-in net, nodes 400"]`, `[Variant "Crazyhouse"]`, "3. Nc3 *"} {
		if !strings.Contains(table.PGN, tag) {
			t.Errorf("found no %s in the PGN\n%s", tag, table.PGN)
		}
	}
	drop := answered[Table](t, s, "position", `{"moves":["e2e4","d7d5","e4d5","d8d5"],"move":"P@e4"}`)
	if got := drop.Positions[5]; got.UCI != "P@e4" || !strings.Contains(got.FEN, "[p]") {
		t.Errorf("found %+v after a drop", got)
	}
	over := answered[Table](t, s, "position", `{"fen":"7k/8/5K2/8/8/8/8/6Q1[r] w - - 0 1","moves":["g1g7"]}`)
	if over.Result != "1-0" || over.End != "White mates" || len(over.Legal) != 0 || !over.Positions[1].Check || over.Start == "" || !strings.Contains(over.PGN, "[SetUp") {
		t.Errorf("found %+v", over)
	}
	drawn := answered[Table](t, s, "position", `{"moves":["g1f3","g8f6","f3g1","f6g8","g1f3","g8f6","f3g1","f6g8"]}`)
	if drawn.Result != "1/2-1/2" || len(drawn.Legal) != 0 {
		t.Errorf("the third occurrence: result %s, %d moves, expected a draw", drawn.Result, len(drawn.Legal))
	}
}

func TestBadQuestions(t *testing.T) {
	s := withoutNet(t)
	header := func(key, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(key, value) }
	}
	for _, tc := range []struct {
		name, body string
		change     func(*http.Request)
		code       int
		want       string
	}{
		{"illegal move", `{"moves":["e2e4","e7e6","e4e6"]}`, nil, 400, "ply 3: "},
		{"drop of nothing", `{"moves":["P@e4"]}`, nil, 400, "ply 1: "},
		{"SAN among the moves", `{"moves":["Nf3"]}`, nil, 400, "ply 1: "},
		{"no move", `{"move":"nonsense"}`, nil, 400, "not a move"},
		{"long move", `{"move":"` + strings.Repeat("x", 200) + `"}`, nil, 400, "200 bytes"},
		{"bad FEN", `{"fen":"8/8/8/8/8/8/8/8 w - - 0 1"}`, nil, 400, "FEN: "},
		{"rating", `{"level":{"elo":5000}}`, nil, 400, "found rating 5000"},
		{"person", `{"person":"green"}`, nil, 400, "expected white, black"},
		{"no JSON", `moves`, nil, 400, "bad question"},
		{"two values", `{}{}`, nil, 400, "more than one"},
		{"unknown key", `{"nets":1}`, nil, 400, "nets"},
		{"empty", ``, nil, 400, "bad question"},
		{"too many moves", `{"moves":["` + strings.Repeat(`e2e4","`, 4100) + `e2e4"]}`, nil, 400, "4101 moves"},
		{"too large", `{"fen":"` + strings.Repeat(" ", mostAsked) + `"}`, nil, 413, "more than 262144 bytes"},
		{"a form", `{}`, header("Content-Type", "text/plain"), 400, "expected application/json"},
		{"foreign origin", `{}`, header("Origin", "http://evil.example"), 403, "another page"},
		{"no origin", `{}`, header("Origin", ""), 403, "another page"},
		{"foreign page", `{}`, header("Sec-Fetch-Site", "cross-site"), 403, "another page"},
		{"foreign host", `{}`, func(r *http.Request) { r.Host = "evil.example"; r.Header.Set("Origin", "http://evil.example") }, 421, "host"},
		{"PUT", `{}`, func(r *http.Request) { r.Method = http.MethodPut }, 405, "PUT"},
	} {
		change := tc.change
		if change == nil {
			change = func(*http.Request) {}
		}
		for _, path := range []string{"position", "move"} {
			if w := question(t, s, path, tc.body, change); w.Code != tc.code || !strings.Contains(w.Body.String(), tc.want) {
				t.Errorf("%s, %s: code %d, %s; expected %d and %q", path, tc.name, w.Code, w.Body, tc.code, tc.want)
			}
		}
	}
	if w := question(t, s, "move", `{"fen":"7k/6Q1/5K2/8/8/8/8/8[] b - - 0 1"}`); w.Code != 400 || !strings.Contains(w.Body.String(), "game that is over") {
		t.Errorf("a move after the end: code %d, %s", w.Code, w.Body)
	}
	if w := ask(t, s, askPath+"position"); w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET of a question: code %d", w.Code)
	}
}

// A question may hold any bytes.
func FuzzQuestion(f *testing.F) {
	s := withoutNet(f)
	for _, seed := range []string{`{"moves":["e2e4"],"move":"P@e5"}`, `{"fen":"7k/8/5K2/8/8/8/8/6Q1[r] w - - 0 1","move":"Qg7#"}`, `{"level":{"elo":-100}}`, "\x00", `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if w := question(t, s, "position", string(body)); w.Code != 200 && w.Code != 400 && w.Code != 413 {
			t.Errorf("code %d, %s", w.Code, w.Body)
		}
	})
}

// The net moves as the same player does elsewhere, and loses a mate in one to no one.
func TestMove(t *testing.T) {
	s := withoutNet(t)
	r := answered[Reply](t, s, "move", `{"fen":"7k/8/5K2/8/8/8/8/6Q1[r] w - - 0 1","level":{"nodes":2000},"person":"black"}`)
	if r.SAN != "Qg7#" || r.Table.Result != "1-0" || r.Place.Mate == nil || *r.Place.Mate != 1 || !strings.Contains(r.Table.PGN, `[Black "human"]`) {
		t.Errorf("found %+v, table %+v", r, r.Table)
	}
	n, err := player.ReadNet(player.Builtin, chess.Crazyhouse)
	if err != nil {
		t.Fatal(err)
	}
	full, _, err := open(n)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	const elo, seed = -500, 7
	line := chess.NewLine(chess.Crazyhouse.Start())
	want, err := player.Weaken(full, levels.ForElo(elo), seed).Search(context.Background(), line, search.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the same question, the same move
		if r := answered[Reply](t, s, "move", `{"level":{"elo":-500,"seed":7}}`); r.Table.Positions[1].UCI != line.Pos().UCI(want.Move) {
			t.Errorf("found %s, expected %s", r.SAN, line.Pos().SAN(want.Move))
		}
	}
}

// The net that the run's pointer names plays, read once. One that cannot be read is said
// to be so; where its file is not there, the program's own plays.
func TestNewestNetPlays(t *testing.T) {
	dir := trial(t)
	s := newTestServer(t, Config{Dir: dir})
	if r := answered[Reply](t, s, "move", `{"level":{"nodes":50}}`); r.Opponent != "the built-in net (generation 2 is not on disk)" {
		t.Errorf("without the net's file: found %q", r.Opponent)
	}
	write(t, dir, "nets/"+secondNet+".nnue", "not a net")
	if o := read[Opponent](t, s, "/api/opponent"); o.Name != "generation 2 of trial" || o.Net != secondNet || o.Variant != "crazyhouse" || len(o.Elo) != levels.FullSkill || o.Nodes == 0 {
		t.Errorf("found %+v", o)
	}
	if w := question(t, s, "move", `{}`); w.Code != http.StatusInternalServerError {
		t.Errorf("a net that is none: code %d, %s", w.Code, w.Body)
	}
	small, err := nnuetest.Random(nnue.Narrow(16), 1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := small.Write(&b); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "nets/"+secondNet+".nnue", b.String())
	if w := question(t, s, "move", `{}`); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "corrupt") {
		t.Errorf("a net with another hash: code %d, %s", w.Code, w.Body)
	}
	id := nets.Hash(b.Bytes())
	write(t, dir, "nets/"+id+".nnue", b.String())
	pointers, err := os.ReadFile(filepath.Join(dir, "pointers.json"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "pointers.json", strings.ReplaceAll(string(pointers), secondNet, id))
	for range 2 {
		if r := answered[Reply](t, s, "move", `{"level":{"nodes":50}}`); r.Opponent != "generation 2 of trial" || s.searches.net.ID != id {
			t.Errorf("found %+v with net %s, expected %s", r, s.searches.net.ID, id)
		}
		write(t, dir, "nets/"+id+".nnue", "not a net") // the second time it is in memory
	}
}

// endless has the server search until it is told to stop.
func endless(s *Server) { s.searches.most = search.Limits{Nodes: 1 << 60, MoveTime: 1000 * time.Hour} }

// A search ends when the page that asked for it goes away, and others are refused as
// long as there is no room.
func TestSearchesAreBoundedAndCancelled(t *testing.T) {
	s := withoutNet(t)
	s.searches.room = make(chan struct{}, searchesInRun)
	endless(s)
	address := serve(t, s)
	for path, body := range map[string]string{"move": `{}`, "analysis": `{"lines":2}`} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		post := func() (*http.Response, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+askPath+path, strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return nil, err
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Origin", "http://"+address)
			return http.DefaultClient.Do(r)
		}
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			if resp, err := post(); err == nil {
				resp.Body.Close()
				t.Errorf("%s: found an answer (%s), expected none", path, resp.Status)
			}
		}()
		await.True(t, "the search begins", func() bool { return len(s.searches.room) == 1 })
		resp, err := post()
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s: a second search: %s, expected 503", path, resp.Status)
		}
		if w := question(t, s, "position", `{}`); w.Code != http.StatusOK {
			t.Errorf("a question without a search: code %d, expected 200", w.Code)
		}
		cancel()
		<-gone
		await.True(t, "the search ends", func() bool { return len(s.searches.room) == 0 })
	}
}

// A run loses one thread at most.
func TestSearchesInARun(t *testing.T) {
	if in, beside := newSearches(true), newSearches(false); cap(in.room) != 1 || cap(beside.room) != 2 || in.most.Nodes == 0 || in.most.MoveTime == 0 {
		t.Errorf("found %d and %d searches at once within %+v", cap(in.room), cap(beside.room), in.most)
	}
}
