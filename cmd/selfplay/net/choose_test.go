package net

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

func TestPrintHistory(t *testing.T) {
	id := strings.Repeat("5f0c2a91", 8)
	changes := []selfplay.NetChange{
		{Time: time.Unix(0, 0), Record: nets.Record{Schema: 1, Net: id, Generation: 7, Action: nets.Publish, By: "referee", Why: "H1"}, Revision: 3},
		{Time: time.Unix(60, 0), Record: nets.Record{Schema: 1, Action: nets.Rollback, By: "anna@host", Why: "it hangs its queen", From: id}, Revision: 4},
		{Time: time.Unix(90, 0), Revision: 5, Error: "bad"},
	}
	var text, lines, none bytes.Buffer
	if err := errors.Join(printHistory(&text, changes, false), printHistory(&lines, changes, true), printHistory(&none, nil, false)); err != nil {
		t.Fatal(err)
	}
	want := `time                  action    generation  net         by         why
1970-01-01 00:00:00Z  publish   7           5f0c2a91    referee    H1
1970-01-01 00:01:00Z  rollback  0           none        anna@host  it hangs its queen
1970-01-01 00:01:30Z            0           unreadable             bad
`
	if text.String() != want {
		t.Errorf("found\n%sexpected\n%s", text.String(), want)
	}
	first := `{"time":"` + changes[0].Time.Format(time.RFC3339) + `","schema":1,"net":"` + id + `","generation":7,"action":"publish","by":"referee","why":"H1","from":"","spread_s":0,"revision":3}`
	if got, _, _ := strings.Cut(lines.String(), "\n"); got != first {
		t.Errorf("found %s, expected %s", got, first)
	}
	if none.String() != "the run has had no net yet\n" {
		t.Errorf("found %q", none.String())
	}
}

func TestChooseOfStoppedRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	run, err := selfplay.Open(t.Context(), dir, cfg, selfplay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, stderr, code := selfplayCommand(t, "", "net", "history", dir)
	if code != 1 || !strings.Contains(stderr, "in use") || !strings.Contains(stderr, "--nats") {
		t.Errorf("a running run: exit %d, error %q", code, stderr)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	if out, stderr, code := selfplayCommand(t, "", "net", "history", dir); code != 0 || out != "the run has had no net yet\n" {
		t.Errorf("exit %d, output %q, error %q", code, out, stderr)
	}
	for args, want := range map[string]string{
		"rollback " + dir + " --why x":                 "no net yet",
		"promote " + dir + " 0123456789abcdef --why x": "found 0 nets",
	} {
		if _, stderr, code := selfplayCommand(t, "", append([]string{"net"}, strings.Fields(args)...)...); code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, error %q, expected %q", args, code, stderr, want)
		}
	}
}

func TestChooseUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, want := range map[string]string{
		"history":                                "neither the directory of a run nor both --nats and --run",
		"history --nats nats://a":                "neither the directory",
		"history --run a":                        "neither the directory",
		"history --nats foo --run a":             "bus.url",
		"history --nats nats://b:word@a --run a": "a user or a password",
		"history a b":                            "found 2 arguments",
		"promote":                                "expected 1 or more",
		"promote a b c --why x":                  "found 3 arguments",
		"promote a b":                            "--why: found nothing",
		"rollback a":                             "--why: found nothing",
		"rollback a --why x --to -1":             "--to: found -1",
	} {
		if _, stderr, code := selfplayCommand(t, "", append([]string{"net"}, strings.Fields(args)...)...); code != 2 || !strings.Contains(stderr, want) || strings.Contains(stderr, "word@") {
			t.Errorf("%s: exit %d, error %q, expected 2 and %q", args, code, stderr, want)
		}
	}
	if _, stderr, code := selfplayCommand(t, "", "net", "history", "nowhere"); code != 1 || !strings.Contains(stderr, "found no run") {
		t.Errorf("exit %d, error %q", code, stderr)
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 0 {
		t.Errorf("left %v, error %v", entries, err)
	}
}
