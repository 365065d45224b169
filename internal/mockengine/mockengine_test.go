package mockengine

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// output is a builder of text that can be closed.
type output struct {
	text   strings.Builder
	closed bool
}

func (o *output) Write(p []byte) (int, error) {
	if o.closed {
		return 0, io.ErrClosedPipe
	}
	return o.text.Write(p)
}

func (o *output) Close() error {
	o.closed = true
	return nil
}

// talk runs the engine on commands and returns status, output and complaints.
func talk(script string, commands ...string) (int, string, string) {
	var out output
	var complaints strings.Builder
	status := Run(script, strings.NewReader(strings.Join(commands, "\n")), &out, &complaints)
	return status, out.text.String(), complaints.String()
}

func TestHealthyEngine(t *testing.T) {
	status, out, complaints := talk("", "uci", "setoption name UCI_Variant value crazyhouse", "isready",
		"position fen 6k1/8/8/8/8/8/8/6K1[Q] w - - 0 1", "go nodes 5", "quit", "isready")
	if status != 0 || complaints != "" || strings.Count(out, "bestmove") != 1 || strings.Count(out, "readyok") != 1 ||
		!strings.Contains(out, "uciok\nreadyok\n") {
		t.Errorf("status %d, %q\n%s", status, complaints, out)
	}
	if _, again, _ := talk("", "setoption name UCI_Variant value crazyhouse",
		"position fen 6k1/8/8/8/8/8/8/6K1[Q] w - - 0 1", "go depth 3"); !strings.HasSuffix(out, again) {
		t.Errorf("found %q, then %q", out, again)
	}
	if _, out, _ := talk("", "position startpos moves f2f3 e7e5 g2g4 d8h4", "go"); out != "bestmove (none)\n" {
		t.Errorf("when mated: %q", out)
	}
	if status, _, complaints := talk("", "position startpos moves e2e5"); status != 3 || complaints == "" {
		t.Errorf("illegal move: status %d, %q", status, complaints)
	}
}

func TestScripts(t *testing.T) {
	for _, test := range []struct {
		script          string
		status          int
		out, complaints string
	}{
		{"isready#2: print late | obey", 0, "readyok\nlate\nreadyok\nreadyok\n", ""},
		{"isready#2+: print no", 0, "readyok\nno\nno\n", ""},
		{"isready: echo | sleep 1ms", 0, "", "isready\nisready\nisready\n"},
		{"isready#1: print a; isready: print b", 0, "a\nb\nb\n", ""},
		{"start: print hello | complain oh", 0, "hello\nreadyok\nreadyok\nreadyok\n", "oh\n"},
		{"isready#2: exit 134", 134, "readyok\n", ""},
		{"isready#1: close; isready#2: flood", 1, "", ""},
		{"isready#1: close; isready#3: endless", 1, "", ""},
		{" ; ", 0, "readyok\nreadyok\nreadyok\n", ""},
	} {
		status, out, complaints := talk(test.script, "isready", "", "isready", "isready")
		if status != test.status || out != test.out || complaints != test.complaints {
			t.Errorf("%s: status %d, %q, %q; expected %d, %q, %q", test.script, status, out, complaints, test.status, test.out, test.complaints)
		}
	}
	_, out, _ := talk("go: think", "go infinite", "isready", "stop", "stop")
	if before, after, _ := strings.Cut(out, "readyok\n"); before != "" || strings.Count(after, "bestmove") != 1 {
		t.Errorf("think: %q", out)
	}
}

func TestBadScripts(t *testing.T) {
	for script, want := range map[string]string{
		"go":                 "no colon",
		"go: ":               "which is none",
		"go: fly":            `action "fly"`,
		": obey":             "expected one word",
		"go now: obey":       "expected one word",
		"go#0: obey":         "found number",
		"go#x+: obey":        "found number",
		"go: exit":           "expected a status",
		"go: exit 256":       "expected a status",
		"go: sleep 5":        "expected a time",
		"go: hang 5":         "expected nothing",
		"go: obey; uci hang": "no colon",
	} {
		_, err := parseScript(script)
		if !errors.Is(err, ErrScript) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", script, err, want)
		}
		if status, out, complaints := talk(script, "uci"); status != 2 || out != "" || !strings.Contains(complaints, want) {
			t.Errorf("%s: status %d, %q, %q", script, status, out, complaints)
		}
	}
}

func TestSleep(t *testing.T) {
	began := time.Now()
	if talk("go: sleep 30ms | obey", "go"); time.Since(began) < 30*time.Millisecond {
		t.Error("it did not sleep")
	}
}

func TestHealthyCECP(t *testing.T) {
	status, out, complaints := talk("", "xboard", "protover 2", "new", "variant crazyhouse", "ping 1", "usermove e2e4", "force", "e2e9",
		"setboard 8/8 w", "setboard 6k1/8/8/8/8/8/8/6K1 w - - 0 1", "holding [Q] [p]", "Q@e8", "ping 2", "?", "quit", "ping 3")
	if status != 0 || complaints != "" || strings.Count(out, "\nmove ") != 1 || !strings.Contains(out, "done=1\npong 1\n") ||
		!strings.HasSuffix(out, "\npong 2\n") || !strings.Contains(out, "Illegal move: e2e9\ntellusererror Illegal position") {
		t.Errorf("status %d, %q\n%s", status, complaints, out)
	}
	if _, out, _ := talk("go: think", "xboard", "new", "go", "?", "?"); strings.Count(out, "move ") != 1 {
		t.Errorf("think: %q", out)
	}
}
