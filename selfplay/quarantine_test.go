package selfplay

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/crazyhouse-rl/selfplay/bus"
)

// An exclusion whose first answer comes too late succeeds, and is in the audit once.
func TestQuarantineIsAskedAgain(t *testing.T) {
	t.Parallel()
	r, own := openOnServer(t)
	own.Run.Name = "test"
	in := mustIngester(t, r)
	defer in.close()
	var asked atomic.Int32
	again := make(chan struct{})
	answerFirst := sync.OnceFunc(func() { close(again) })
	stop, err := r.bus.Serve(excludeService, func(request []byte) ([]byte, error) {
		answer, err := in.answerExclude(request)
		if asked.Add(1) == 1 {
			<-again // who asked has given up by then
		} else {
			answerFirst() // a slow machine may be asked a third time
		}
		return answer, err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	defer answerFirst() // stop waits for all answers
	games, err := Quarantine(t.Context(), "", own, testOptions(), "bad", "anna@desk", "its clock is broken", false)
	if err != nil || games != -1 || asked.Load() < 2 {
		t.Errorf("asked %d times, told of %d games, error %v, expected to be asked twice at least and −1", asked.Load(), games, err)
	}
	entries, err := r.bus.AuditLog(t.Context())
	if err != nil || len(entries) != 1 || entries[0].Action != auditQuarantine || entries[0].What != "bad" {
		t.Errorf("audit %+v, error %v, expected one entry", entries, err)
	}
	if x := in.buffer.Excluded(); len(x) != 1 || x[0].Actor != "bad" {
		t.Errorf("excluded %v, expected bad", x)
	}
}

// Who asks for what is being done, or is done, changes nothing and adds nothing to the audit.
func TestRepeatedExclusionIsAuditedOnce(t *testing.T) {
	t.Parallel()
	r, buffer := openWithBuffer(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	in := &ingester{run: r, stream: r.bus, buffer: buffer}
	ask := func(answer func([]byte) ([]byte, error), why string) {
		request := encodeMessage(&excludeRequest{Schema: messageSchema, Actor: "bad", Why: why, By: "anna@desk"})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := answer(request); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	for i, c := range []struct {
		answer func([]byte) ([]byte, error)
		why    string
		action string
	}{
		{in.answerExclude, "its clock is broken", auditQuarantine},
		{in.answerExclude, "it forges", auditQuarantine},
		{in.answerInclude, "it was the book", auditRelease},
	} {
		ask(c.answer, c.why)
		entries, err := r.bus.AuditLog(t.Context())
		if err != nil || len(entries) != i+1 || entries[i].Action != c.action || entries[i].Why != c.why {
			t.Fatalf("after %s four times for %q: audit %+v, error %v, expected one entry more", c.action, c.why, entries, err)
		}
	}
}

// An actor of a stopped run that is excluded already is not excluded again.
func TestRepeatedExclusionOfStoppedRun(t *testing.T) {
	t.Parallel()
	dir, cfg := filepath.Join(t.TempDir(), "run"), smallConfig(t)
	if err := openRun(t, dir, cfg).Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if games, err := Quarantine(t.Context(), dir, cfg, Options{}, localActor, "anna@desk", "why not", false); err != nil || games != 0 {
			t.Fatalf("told of %d games, error %v, expected none", games, err)
		}
	}
	entries, err := Audit(t.Context(), dir, cfg, Options{})
	if err != nil || len(entries) != 1 || entries[0] != (bus.AuditEntry{Schema: bus.AuditSchema, Time: entries[0].Time, By: "anna@desk", Action: auditQuarantine, What: localActor, Why: "why not"}) {
		t.Errorf("audit %+v, error %v, expected one entry", entries, err)
	}
}
