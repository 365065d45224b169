package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// patience is how long a loop may take on a busy machine to get where it is sent.
const patience = 5 * time.Minute

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"9100": "127.0.0.1:9100", ":9100": "127.0.0.1:9100", "0.0.0.0:9100": "0.0.0.0:9100", "[::]:9100": "[::]:9100", "localhost:0": "localhost:0",
		"": "", "x": "", "65536": "", "a:b:1": "", "host:http": "",
	} {
		got, err := Address(text)
		if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, ErrAddress) {
			t.Errorf("%q: found %q and %v, expected %q", text, got, err, want)
		}
	}
}

func TestNothingIsServedUnlessAsked(t *testing.T) {
	s, err := Listen("", "test")
	if s != nil || err != nil {
		t.Fatalf("found %v and %v, expected neither", s, err)
	}
	s.Watch(nil)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// get returns the code and the body of an answer.
func get(t *testing.T, s *Server, path string) (int, string) {
	t.Helper()
	a, err := http.Get("http://" + s.Addr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(body)
}

// values are the samples of a scrape by their names with labels.
func values(t *testing.T, text string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.LastIndexByte(line, ' ')
		var v float64
		if _, err := fmt.Sscan(line[i+1:], &v); err != nil {
			t.Fatalf("sample %q: %v", line, err)
		}
		all[line[:i]] = v
	}
	return all
}

var documented = regexp.MustCompile("(?m)^\\| `(selfplay_[a-z_]+)(?:\\{([a-z, ]+)\\})?` \\|")

// documentedNames are the names of the table in docs/cluster.md.
func documentedNames(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range documented.FindAllStringSubmatch(string(page), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

var family = regexp.MustCompile(`(?m)^# TYPE (selfplay_[a-z_]+) `)

// A tiny loop is scraped until a net was judged: the names are those that the page
// lists and that the client's linter accepts, and the figures are those of the loop.
func TestLoopIsScraped(t *testing.T) {
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.SetPairs([]string{
		"actor.nodes=15", "actor.max_plies=60", "train.min_positions=300", "train.batch=64",
		"train.steps_per_net=20", "train.checkpoint=10", "train.held_out=100", "gate.pairs=1", "gate.nodes=10", "actor.spool_max_games=50000",
	}); err != nil {
		t.Fatal(err)
	}
	s, err := Listen("127.0.0.1:0", "v1-test")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if code, text := get(t, s, "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(text, "not joined") {
		t.Errorf("before the run: %d %q", code, text)
	}
	if code, text := get(t, s, "/healthz"); code != http.StatusOK || text != "ok\n" {
		t.Errorf("health before the run: %d %q", code, text)
	}

	run, err := selfplay.Open(t.Context(), t.TempDir(), cfg, selfplay.Options{Build: "v1-test"})
	if err != nil {
		t.Fatal(err)
	}
	s.Watch(run)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run.Loop(ctx, selfplay.Limits{For: patience}) }()

	var text string
	var found map[string]float64
	for judged := false; !judged; {
		select {
		case err := <-ended:
			t.Fatalf("the loop ended before a net was judged: %v\n%s", err, text)
		case <-time.After(100 * time.Millisecond):
		}
		var code int
		if code, text = get(t, s, "/metrics"); code != http.StatusOK {
			t.Fatalf("scrape: %d %s", code, text)
		}
		found = values(t, text)
		judged = found[`selfplay_gate_verdicts_total{verdict="passed"}`]+found[`selfplay_gate_verdicts_total{verdict="failed"}`] > 0 &&
			found["selfplay_actor_confirmation_seconds_count"] > 0
	}
	if code, text := get(t, s, "/readyz"); code != http.StatusOK || text != "ready\n" {
		t.Errorf("of a loop at work: %d %q", code, text)
	}
	for name, least := range map[string]float64{
		"selfplay_actor_games_total": 1, "selfplay_actor_positions_total": 2, "selfplay_replay_games_total": 1, "selfplay_replay_positions_total": 300, "selfplay_replay_games": 1, "selfplay_replay_positions": 300,
		"selfplay_replay_bytes": 100, "selfplay_replay_window_positions": 1, "selfplay_trainer_steps_total": 20, "selfplay_trainer_steps": 20, "selfplay_trainer_samples_total": 20 * 64, "selfplay_trainer_loss": 1e-9,
		"selfplay_trainer_last_offer_timestamp_seconds": 1e9, "selfplay_trainer_last_checkpoint_timestamp_seconds": 1e9,
		"selfplay_replay_last_stored_timestamp_seconds": 1e9, "selfplay_actor_confirmation_seconds_sum": 1e-9,
		"selfplay_stream_limit_bytes": 16777216, "selfplay_disk_free_bytes": 1, "selfplay_ready": 1, "selfplay_server_connected": 1,
		"selfplay_gate_judged_generation": 1, `selfplay_lease_held{lease="replay"}`: 1, `selfplay_lease_held{lease="trainer"}`: 1, `selfplay_lease_held{lease="referee"}`: 1,
		"selfplay_actor_spool_limit_games": 50000,
	} {
		if v, there := found[name]; !there || v < least {
			t.Errorf("%s: found %g (there: %v), expected %g or more", name, v, there, least)
		}
	}
	for _, part := range []string{`selfplay_run_info{id="`, `role="loop",run="`, `version="v1-test"`, `selfplay_lease_holder{holder="`} {
		if !strings.Contains(text, part) {
			t.Errorf("the scrape has no %q", part)
		}
	}

	problems, err := testutil.GatherAndLint(s.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	names := documentedNames(t)
	for _, m := range family.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, m[1]) {
			t.Errorf("docs/cluster.md does not list %s", m[1])
		}
	}

	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	s.Watch(nil)
	if err := run.Close(); err != nil {
		t.Error(err)
	}
	if code, _ := get(t, s, "/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("after the run: %d", code)
	}
	if code, text := get(t, s, "/metrics"); code != http.StatusOK || strings.Contains(text, "selfplay_actor") {
		t.Errorf("figures of a run that is closed: %d %s", code, text)
	}
}

// The page lists what there is, and nothing else.
func TestEveryMetricIsDocumented(t *testing.T) {
	want := Names()
	if names := documentedNames(t); !slices.Equal(names, want) {
		t.Errorf("docs/cluster.md lists\n%s\nexpected\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
}
