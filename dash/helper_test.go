package dash

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
	"github.com/crazyhouse-rl/selfplay/search"
)

const (
	firstNet  = "1111111111111111111111111111111111111111111111111111111111111111"
	secondNet = "2222222222222222222222222222222222222222222222222222222222222222"
)

// record is an encoded game of random moves by a net.
func record(t testing.TB, id, net string, seed uint64) []byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	start := chess.Crazyhouse.Start()
	g := &game.Game{ID: id, Variant: chess.Crazyhouse, Start: start, Nets: [2]string{net, net}, Limits: "nodes 40", Build: "test"}
	line := chess.NewLine(start)
	for outcome := chess.Ongoing; outcome == chess.Ongoing && line.Len() < 40; outcome, g.Reason = line.Outcome() {
		m := game.RandomMove(line.Pos(), rng)
		g.Plies = append(g.Plies, game.Ply{Move: m, Score: search.Score(rng.IntN(400) - 200), HasScore: line.Len() > 3, Train: line.Len() > 3})
		line.Push(m)
	}
	if g.Outcome, g.Reason = line.Outcome(); g.Outcome == chess.Ongoing {
		g.Outcome, g.Reason = chess.Draw, game.PlyLimit
	}
	b, err := game.Encode(nil, g)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const testEvents = `{"time":"2026-01-02T03:00:00Z","level":"INFO","msg":"started","run":"trial","id":"abc","build":"b1"}
{"time":"2026-01-02T03:01:00Z","level":"INFO","msg":"net offered","generation":1,"net":"` + firstNet + `","step":40,"games":10,"held_out_loss":0.03,"sign_accuracy":0.7,"export_mean_raw":3.5,"export_max_raw":9}
{"time":"2026-01-02T03:02:00Z","level":"INFO","msg":"gate","candidate":1,"net":"` + firstNet + `","incumbent":"material","passed":true,"reason":"SPRT","elo":"80.00 +/- 30.00","games":8}
{"time":"2026-01-02T03:03:00Z","level":"INFO","msg":"net offered","generation":2,"net":"` + secondNet + `","step":80,"games":20,"held_out_loss":0.02,"sign_accuracy":0.8}
{"time":"2026-01-02T03:04:00Z","level":"INFO","msg":"gate","candidate":2,"net":"` + secondNet + `","incumbent":"` + firstNet + `","passed":true,"reason":"SPRT","elo":"20.00 +/- 40.00","games":8}
`

const testMatch = `{"version":2,"schedule":{"player 1":"candidate","player 1.net":"` + secondNet + `","player 2":"incumbent","player 2.net":"` + firstNet + `","seed":"1"}}
`

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// trial is the directory of a small run.
func trial(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	settings, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "config.yaml", string(settings.YAML()))
	write(t, dir, "run.json", `{"schema":2,"name":"trial","id":"abc","build":"b1","public_key":"00"}`)
	write(t, dir, "trainer.key", "SECRET KEY")
	write(t, dir, "events.jsonl", testEvents)
	write(t, dir, "pointers.json", `{"schema":1,"values":{"current.crazyhouse.nnue":"{\"schema\":1,\"net\":\"`+secondNet+`\",\"generation\":2,\"action\":\"publish\",\"by\":\"referee@x\",\"why\":\"\",\"from\":\"\",\"spread_s\":0}"}}`)
	write(t, dir, "gate/22222222-11111111.jsonl", testMatch)
	write(t, dir, "spool/a.game", "x")
	replaytest.Store(t, filepath.Join(dir, "replay"), record(t, "abc-1", firstNet, 1), record(t, "abc-2", firstNet, 2), record(t, "abc-5", secondNet, 3))
	return dir
}

func newTestServer(t testing.TB, cfg Config) *Server {
	t.Helper()
	if cfg.refresh == 0 {
		cfg.refresh = time.Nanosecond
	}
	w, err := NewWatch(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return NewServer(w)
}

// ask sends a request as a browser at the server's own address does.
func ask(t testing.TB, s *Server, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "127.0.0.1:8080"
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	s.Handler("").ServeHTTP(w, r)
	return w
}

func read[T any](t testing.TB, s *Server, path string) (v T) {
	t.Helper()
	w := ask(t, s, path)
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		t.Fatalf("%s: code %d, %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}
