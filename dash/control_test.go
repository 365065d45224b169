package dash

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

const testToken = "0123456789abcdef-token"

// order sends an order as the page does, with changes.
func order(t *testing.T, s *Server, path, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	return ask(t, s, path, append([]func(*http.Request){func(r *http.Request) {
		*r = *httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Host = "127.0.0.1:8080"
		r.Header.Set("Origin", "http://127.0.0.1:8080")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+testToken)
	}}, change...)...)
}

func TestControl(t *testing.T) {
	var calls []string
	change := func(text string) (was, is nets.Record, err error) {
		calls = append(calls, text)
		if strings.Contains(text, "33333333") {
			return was, is, fmt.Errorf("%w: no such net", selfplay.ErrNoChoice)
		}
		return nets.Record{Generation: 2}, nets.Record{Generation: 1, Net: firstNet}, nil
	}
	control := &Control{
		Token: []byte(testToken),
		Promote: func(_ context.Context, net, why string) (was, is nets.Record, err error) {
			return change("promote " + net + " " + why)
		},
		Rollback: func(_ context.Context, generation int, why string) (was, is nets.Record, err error) {
			return change(fmt.Sprintf("rollback %d %s", generation, why))
		},
	}
	s := newTestServer(t, Config{Dir: trial(t), Control: control})
	header := func(key, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(key, value) }
	}
	const promotes, rollsBack = "/api/control/promote", "/api/control/rollback"
	for _, tc := range []struct {
		name, path, body string
		change           func(*http.Request)
		code             int
		call             string
	}{
		{"promotes", promotes, `{"net":"22222222","why":"better"}`, nil, 200, "promote 22222222 better"},
		{"rolls back", rollsBack, `{"why":"worse"}`, nil, 200, "rollback -1 worse"},
		{"rolls back to none", rollsBack, `{"generation":0,"why":"worse"}`, nil, 200, "rollback 0 worse"},
		{"a net that there is not", promotes, `{"net":"33333333","why":"better"}`, nil, 409, "promote 33333333 better"},
		{"no token", promotes, `{"net":"22222222","why":"x"}`, header("Authorization", ""), 401, ""},
		{"empty token", promotes, `{"net":"22222222","why":"x"}`, header("Authorization", "Bearer "), 401, ""},
		{"wrong token", promotes, `{"net":"22222222","why":"x"}`, header("Authorization", "Bearer "+testToken+"x"), 401, ""},
		{"part of the token", rollsBack, `{"why":"x"}`, header("Authorization", "Bearer "+testToken[:20]), 401, ""},
		{"another scheme", rollsBack, `{"why":"x"}`, header("Authorization", "Basic "+testToken), 401, ""},
		{"token in the address", rollsBack + "?token=" + testToken, `{"why":"x"}`, header("Authorization", ""), 401, ""},
		{"foreign origin", rollsBack, `{"why":"x"}`, header("Origin", "http://evil.example"), 403, ""},
		{"no origin", rollsBack, `{"why":"x"}`, func(r *http.Request) { r.Header.Del("Origin") }, 403, ""},
		{"foreign page", rollsBack, `{"why":"x"}`, header("Sec-Fetch-Site", "cross-site"), 403, ""},
		{"foreign name", rollsBack, `{"why":"x"}`, func(r *http.Request) { r.Host = "evil.example" }, 421, ""},
		{"a form", rollsBack, `{"why":"x"}`, header("Content-Type", "text/plain"), 400, ""},
		{"no reason", rollsBack, `{"why":" "}`, nil, 400, ""},
		{"long reason", rollsBack, `{"why":"` + strings.Repeat("x", mostWhy+1) + `"}`, nil, 400, ""},
		{"negative generation", rollsBack, `{"generation":-1,"why":"x"}`, nil, 409, ""},
		{"GET", rollsBack, ``, func(r *http.Request) { r.Method = http.MethodGet }, 404, ""},
	} {
		calls = nil
		changes := []func(*http.Request){}
		if tc.change != nil {
			changes = append(changes, tc.change)
		}
		w := order(t, s, tc.path, tc.body, changes...)
		if w.Code != tc.code && !(tc.name == "GET" && w.Code == http.StatusMethodNotAllowed) || strings.Join(calls, ";") != tc.call {
			t.Errorf("%s: code %d, calls %q, expected %d and %q: %s", tc.name, w.Code, calls, tc.code, tc.call, w.Body)
		}
		if strings.Contains(w.Body.String(), testToken) {
			t.Errorf("%s: the answer has the token", tc.name)
		}
	}
	if !read[State](t, s, "/api/state").Control {
		t.Error("the page does not know that there is a token")
	}
}

// Without a token the page only reads, whatever is sent.
func TestNoControl(t *testing.T) {
	s := newTestServer(t, Config{Dir: trial(t)})
	if w := order(t, s, "/api/control/rollback", `{"why":"x"}`); w.Code != http.StatusForbidden {
		t.Errorf("code %d, expected 403", w.Code)
	}
	if read[State](t, s, "/api/state").Control {
		t.Error("the page thinks that there is a token")
	}
	empty := newTestServer(t, Config{Dir: trial(t), Control: &Control{}})
	if w := order(t, empty, "/api/control/rollback", `{"why":"x"}`, func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }); w.Code != http.StatusUnauthorized {
		t.Errorf("an empty token: code %d, expected 401", w.Code)
	}
}

// After a net was chosen by hand the page shows it at once, in Nets as in Play and Analyse,
// and says so to the pages that are open.
func TestChosenNet(t *testing.T) {
	dir := trial(t)
	write(t, dir, "nets/"+firstNet+".nnue", "x")
	write(t, dir, "nets/"+secondNet+".nnue", "x")
	s := newTestServer(t, Config{Dir: dir})
	look := func() (string, string, int) {
		state := read[State](t, s, "/api/state")
		return read[Nets](t, s, "/api/nets").Current, read[Opponent](t, s, "/api/opponent").Net, state.Versions.Nets
	}
	if current, opponent, _ := look(); current != secondNet || opponent != secondNet {
		t.Errorf("found current net %.8s and opponent %.8s, expected %.8s", current, opponent, secondNet)
	}
	_, _, before := look()
	for _, net := range []string{firstNet, ""} {
		record := nets.Record{Schema: nets.RecordSchema, Net: net, Action: nets.Rollback, By: "anna@host", Why: "worse", From: secondNet}
		if net != "" {
			record.Generation = 1
		}
		write(t, dir, "pointers.json", fmt.Sprintf(`{"schema":1,"values":{"current.crazyhouse.nnue":%q}}`, record.String()))
		current, opponent, version := look()
		if current != net || opponent != net || version == before {
			t.Errorf("found current net %.8s, opponent %.8s and version %d after %d, expected net %.8s and another version", current, opponent, version, before, net)
		}
		before = version
	}
}
