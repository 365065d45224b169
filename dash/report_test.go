package dash

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// reportOf is the report of a run, and what it has in itself.
func reportOf(t *testing.T, dir string, games int) (*Report, map[string]json.RawMessage) {
	t.Helper()
	w, err := NewWatch(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Report(games)
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(r.HTML), `<script type="application/json" id="run">`)
	text, rest, ends := strings.Cut(text, "</script>")
	if !found || !ends || strings.TrimSpace(rest) != "</body>\n</html>" {
		t.Fatalf("found %.100q after the data, expected the end of the page", rest)
	}
	var data map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	return r, data
}

func TestReport(t *testing.T) {
	r, data := reportOf(t, trial(t), 2)
	var games Games
	if err := json.Unmarshal(data["games"], &games); err != nil || len(games.Games) != 2 || games.Total != 3 || r.Games != 2 || r.Left != 0 {
		t.Errorf("found %+v and %d games, error %v, expected the newest two of three", games, r.Games, err)
	}
	for _, path := range []string{"state", "learning", "nets", "actors", "games/abc-5", "games/abc-2"} {
		if len(data[path]) < 2 {
			t.Errorf("found no %s", path)
		}
	}
	if _, there := data["games/abc-1"]; there || strings.Contains(string(r.HTML), "SECRET") {
		t.Error("found what the report should not have")
	}
	if len(r.HTML) > MostReportBytes {
		t.Errorf("found %d bytes, expected at most %d", len(r.HTML), MostReportBytes)
	}
}

// The policy of a report allows its script and its style by their hashes, and nothing in
// it is asked for from elsewhere.
func TestReportPolicy(t *testing.T) {
	r, _ := reportOf(t, trial(t), 1)
	page := string(r.HTML)
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]+)"`).FindStringSubmatch(page)
	if policy == nil || !strings.HasPrefix(policy[1], "default-src 'none'; ") || strings.Contains(policy[1], "unsafe") {
		t.Fatalf("found policy %q", policy)
	}
	for element, opening := range map[string]string{"script": `<script type="module">`, "style": "<style>"} {
		_, text, _ := strings.Cut(page, opening)
		text, _, found := strings.Cut(text, "</"+element+">")
		sum := sha256.Sum256([]byte(text))
		if want := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !found || !strings.Contains(policy[1], want) {
			t.Errorf("%s: found policy %q, expected %q", element, policy[1], want)
		}
		if strings.Index(page, opening) < strings.Index(page, "Content-Security-Policy") {
			t.Errorf("%s stands before the policy", element)
		}
	}
	head, _, _ := strings.Cut(page, `<script type="module">`)
	_, body, _ := strings.Cut(page, "<body>")
	for _, part := range []string{head, body} {
		if found := regexp.MustCompile(`(src|href)="[^#][^"]*"|\son[a-z]+=`).FindString(part); found != "" {
			t.Errorf("the report asks for %q", found)
		}
	}
}

// What the run says stays text, whatever it is.
func TestReportEscapes(t *testing.T) {
	const bad = `</script><script>alert(1)</script><!--&"'`
	dir := trial(t)
	name, err := json.Marshal(bad)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "run.json", `{"schema":2,"name":`+string(name)+`,"id":"abc","build":"b1","public_key":"00"}`)
	write(t, dir, "events.jsonl", testEvents+`{"time":"2026-01-02T03:05:00Z","level":"INFO","msg":"net withdrawn","generation":2,"back_to":"x","why":`+string(name)+"}\n")
	r, data := reportOf(t, dir, 3)
	var state State
	if err := json.Unmarshal(data["state"], &state); err != nil || state.Run.Name != bad || !strings.Contains(state.Events[0].Text, bad) {
		t.Errorf("found name %q, events %+v, error %v", state.Run.Name, state.Events, err)
	}
	if n := strings.Count(string(r.HTML), "alert(1)"); strings.Contains(string(r.HTML), "<script>alert") || n < 3 {
		t.Errorf("found the name %d times, expected it escaped in title and data", n)
	}
}
