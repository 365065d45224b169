package selfplay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/match"
)

// gateTestConfig is that of a gate of some pairs.
func gateTestConfig(t *testing.T) configs.Config {
	t.Helper()
	cfg := smallConfig(t)
	if err := cfg.SetPairs([]string{"gate.pairs=40", "gate.nodes=10", "gate.elo0=-160", "gate.elo1=0", "actor.max_plies=30"}); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// verdict is what a gate found: its event, and the record of every pair that counts.
type verdict struct {
	passed          bool
	reason, elo     string
	games           float64
	published       int
	current, judged string
	pairs           []match.Pair
}

func gateLogs(t *testing.T, r *Run) []match.Pair {
	t.Helper()
	paths, err := filepath.Glob(r.path(filepath.Join(gateDir, "*"+gateLogExt)))
	if err != nil || len(paths) != 1 {
		t.Fatalf("logs %q, error %v, expected one", paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	log, err := match.ReadLog(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(log.Pairs, func(a, b match.Pair) int { return cmp.Compare(a.Number, b.Number) })
	return log.Pairs
}

// openGateRun opens a run with a candidate that has not been judged.
func openGateRun(t *testing.T) *Run {
	t.Helper()
	r := openRun(t, filepath.Join(t.TempDir(), "run"), gateTestConfig(t))
	t.Cleanup(func() { r.Close() })
	offerNet(t, r, 1)
	return r
}

// forget makes the candidate one that has not been judged.
func forget(t *testing.T, r *Run) {
	t.Helper()
	for _, key := range []string{r.judgedKey(), r.currentKey()} {
		p, err := r.bus.Pointer(t.Context(), key)
		if errors.Is(err, bus.ErrNoPointer) {
			continue
		}
		if err == nil {
			_, err = r.bus.SetPointer(t.Context(), key, "", p.Revision)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(r.path(gateDir)); err != nil {
		t.Fatal(err)
	}
}

// found reads the verdict of the one gate since there were a number of events.
func found(t *testing.T, r *Run, since int) verdict {
	t.Helper()
	v := verdict{current: netAt(t, r, r.currentKey()).Net, judged: judgedNet(t, r).Net, pairs: gateLogs(t, r)}
	gates := 0
	for _, e := range events(t, r.dir)[since:] {
		switch e["msg"] {
		case "gate":
			gates++
			v.passed, v.reason, v.elo, v.games = e["passed"].(bool), e["reason"].(string), e["elo"].(string), e["games"].(float64)
		case "net published":
			v.published++
		}
	}
	if gates != 1 {
		t.Errorf("%d verdicts, expected one", gates)
	}
	v.pairs = v.pairs[:min(len(v.pairs), int(v.games)/2)]
	return v
}

// judgeWith has a referee with a number of pairs at a time of its own judge the
// candidate, with the workers that start starts.
func judgeWith(t *testing.T, r *Run, slots int, start func(ctx context.Context, r *Run, j *referee, group *sync.WaitGroup)) verdict {
	t.Helper()
	forget(t, r)
	since := len(events(t, r.dir))
	j := newReferee(r)
	j.slots = slots
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	start(ctx, r, j, &group)
	judged, err := j.judgeNewest(ctx)
	cancel()
	group.Wait()
	if !judged || err != nil {
		t.Fatalf("judged %v, error %v", judged, err)
	}
	return found(t, r, since)
}

// startWorker starts a worker that asks the referee by a function.
func startWorker(ctx context.Context, r *Run, group *sync.WaitGroup, name string, slots int, a ask) {
	w := newGateWorker(r, name, slots, a, newNetCache(r))
	group.Go(func() { w.work(ctx) })
}

// plain starts n workers.
func plain(n, slots int) func(context.Context, *Run, *referee, *sync.WaitGroup) {
	return func(ctx context.Context, r *Run, j *referee, group *sync.WaitGroup) {
		for i := range n {
			startWorker(ctx, r, group, fmt.Sprint("worker", i), slots, j.answer)
		}
	}
}

// The verdict is that of the referee alone, whoever plays the pairs.
func TestGateIsTheSameForAnyWorkers(t *testing.T) {
	t.Parallel()
	r := openGateRun(t)
	alone := judgeWith(t, r, 2, plain(0, 0))
	if n := len(alone.pairs); n < 4 || n >= 40 || !strings.Contains(alone.reason, "accepted") {
		t.Fatalf("%d pairs, %s: the test would not show where it stops", n, alone.reason)
	}
	for name, start := range map[string]func(context.Context, *Run, *referee, *sync.WaitGroup){
		"one":         plain(1, 1),
		"two":         plain(2, 2),
		"five":        plain(5, 3),
		"killed":      withKilled,
		"twice":       withTwice,
		"garbage":     withGarbage,
		"former":      withFormer,
		"lost answer": withLostAnswers,
	} {
		t.Run(name, func(t *testing.T) {
			if got := judgeWith(t, r, 0, start); !reflect.DeepEqual(got, alone) {
				t.Errorf("found\n%+v\nexpected\n%+v", got, alone)
			}
		})
	}
}

// withKilled adds a worker that is killed once it has pairs.
func withKilled(ctx context.Context, r *Run, j *referee, group *sync.WaitGroup) {
	doomed, kill := context.WithCancel(ctx)
	given := make(chan struct{})
	startWorker(doomed, r, group, "doomed", 2, func(ctx context.Context, service string, request []byte) ([]byte, error) {
		answer, err := j.answer(ctx, service, request)
		var reply gateNextReply
		if service == gateNext && err == nil && decodeMessage(answer, &reply) == nil && len(reply.Pairs) > 0 {
			kill()
			close(given)
		}
		return answer, err
	})
	group.Go(func() {
		<-given // the others begin when its pairs are gone with it
		startWorker(ctx, r, group, "heir", 1, j.answer)
		startWorker(ctx, r, group, "other heir", 2, j.answer)
	})
}

// withTwice has every result handed in twice, by a worker that plays next to another.
func withTwice(ctx context.Context, r *Run, j *referee, group *sync.WaitGroup) {
	startWorker(ctx, r, group, "good", 1, j.answer)
	startWorker(ctx, r, group, "twice", 2, func(ctx context.Context, service string, request []byte) ([]byte, error) {
		answer, err := j.answer(ctx, service, request)
		if service == gateResult {
			second, err := j.answer(ctx, service, request)
			var reply gateResultReply
			if err == nil && (decodeMessage(second, &reply) != nil || reply.Taken) {
				panic(string(second))
			}
		}
		return answer, err
	})
}

// withGarbage has a worker send much before the right result, and claim what it was
// not given.
func withGarbage(ctx context.Context, r *Run, j *referee, group *sync.WaitGroup) {
	startWorker(ctx, r, group, "good", 1, j.answer)
	startWorker(ctx, r, group, "bad", 2, func(ctx context.Context, service string, request []byte) ([]byte, error) {
		var result gateResultRequest
		if service == gateNext || decodeMessage(request, &result) != nil {
			for _, text := range []string{"", "{", `{"schema":9}`, `{"schema":1,"worker":"bad","playing":[{"match":"0123456789abcdef","pair":0},{"match":"","pair":-5}]}`} {
				j.answer(ctx, service, []byte(text))
			}
			return j.answer(ctx, service, request)
		}
		for _, change := range []func(*gateResultRequest){
			func(r *gateResultRequest) { r.Match = "0123456789abcdef" },
			func(r *gateResultRequest) { r.Record.Number += 1000 },
			func(r *gateResultRequest) { r.Record.Opening = "fen" },
			func(r *gateResultRequest) { r.Record.Games[0].Result = "0-2" },
			func(r *gateResultRequest) { r.Schema = 9 },
		} {
			bad := result
			change(&bad)
			answer, err := j.answer(ctx, gateResult, encodeMessage(&bad))
			var reply gateResultReply
			if err == nil && (decodeMessage(answer, &reply) != nil || reply.Taken) {
				panic(fmt.Sprintf("%+v was taken", bad))
			}
		}
		return j.answer(ctx, service, request)
	})
}

// withFormer has the answers of a referee that another has followed come in between.
func withFormer(ctx context.Context, r *Run, j *referee, group *sync.WaitGroup) {
	j.fence = 5
	former := newReferee(r)
	former.fence = 4
	var mu sync.Mutex
	calls := 0
	startWorker(ctx, r, group, "worker", 3, func(ctx context.Context, service string, request []byte) ([]byte, error) {
		mu.Lock()
		calls++
		stale := calls == 2 || calls == 5
		mu.Unlock()
		if stale {
			return former.answer(ctx, service, request)
		}
		return j.answer(ctx, service, request)
	})
}

var errNoAnswer = errors.New("no answer")

// withLostAnswers loses every third answer.
func withLostAnswers(ctx context.Context, r *Run, j *referee, group *sync.WaitGroup) {
	var mu sync.Mutex
	calls := 0
	startWorker(ctx, r, group, "worker", 3, func(ctx context.Context, service string, request []byte) ([]byte, error) {
		answer, err := j.answer(ctx, service, request)
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls%3 == 0 {
			return nil, errNoAnswer
		}
		return answer, err
	})
}

// A referee that is stopped goes on from its log when it is started again, and one
// with an empty directory begins the match anew, to the same end. The worker lives
// through both.
func TestGateGoesOn(t *testing.T) {
	t.Parallel()
	r := openGateRun(t)
	want := judgeWith(t, r, 0, plain(1, 2))
	for _, keep := range []bool{true, false} {
		forget(t, r)
		since := len(events(t, r.dir))
		var mu sync.Mutex
		taken := 0
		present := newReferee(r)
		present.slots = 0
		ctx, stop := context.WithCancel(t.Context())
		working, leave := context.WithCancel(t.Context())
		var group sync.WaitGroup
		startWorker(working, r, &group, "worker", 2, func(ctx context.Context, service string, request []byte) ([]byte, error) {
			mu.Lock() // throughout, so that no more than three results are taken
			defer mu.Unlock()
			if present == nil {
				return nil, errNoAnswer
			}
			answer, err := present.answer(ctx, service, request)
			if service == gateResult && err == nil {
				if taken++; taken == 3 {
					stop()
					present = nil // or the worker may finish the match before the referee sees that it is stopped
				}
			}
			return answer, err
		})
		if _, err := present.judgeNewest(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the first referee: error %v", err)
		}
		before := len(gateLogs(t, r))
		if before < 2 || before >= len(want.pairs) {
			t.Errorf("the first referee had %d pairs in its log", before)
		}
		if !keep {
			if err := os.RemoveAll(r.path(gateDir)); err != nil {
				t.Fatal(err)
			}
		}
		second := newReferee(r)
		second.slots = 0
		second.fence = 1
		mu.Lock()
		present = second
		mu.Unlock()
		if judged, err := second.judgeNewest(t.Context()); !judged || err != nil {
			t.Errorf("the second referee: %v, %v", judged, err)
		}
		leave()
		group.Wait()
		if got := found(t, r, since); !reflect.DeepEqual(got, want) {
			t.Errorf("log kept %v: found\n%+v\nexpected\n%+v", keep, got, want)
		}
	}
}

// A referee that was stopped for so long that another took its lease moves no pointer
// any more. The other, on a machine without the log, plays the match again, with a
// worker that asks over the bus.
func TestFormerRefereeMovesNothing(t *testing.T) {
	t.Parallel()
	r := openGateRun(t)
	want := judgeWith(t, r, 0, plain(1, 2))
	forget(t, r)
	lease := func(j *referee) *bus.Lease {
		l, err := r.bus.Lease(t.Context(), "referee", bus.Holder{Instance: "one of two"}, nil) // whose own lease is taken at once
		if err == nil {
			err = l.Touch(t.Context(), j.guarded()...)
		}
		if err != nil {
			t.Error(err)
		}
		return l
	}
	former, next := newReferee(r), newReferee(r)
	former.slots, former.dir, next.slots = 0, t.TempDir(), 0
	held := lease(former)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	var taken *bus.Lease
	var once sync.Once
	startWorker(ctx, r, &group, "slow", 1, func(ctx context.Context, service string, request []byte) ([]byte, error) {
		once.Do(func() { taken = lease(next) })
		return former.answer(ctx, service, request)
	})
	if err := former.judgeUnder(ctx, held); !errors.Is(err, bus.ErrFenced) {
		t.Errorf("the former referee: error %v, expected ErrFenced", err)
	}
	cancel()
	group.Wait()
	if p := judgedNet(t, r); p.Net != "" {
		t.Errorf("the former referee set judged to %+v", p)
	}

	since := len(events(t, r.dir))
	changes, err := r.bus.WatchPointer(t.Context(), r.judgedKey())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	startWorker(ctx, r, &group, "worker", 2, r.bus.Ask)
	group.Go(func() {
		if err := next.judgeUnder(ctx, taken); err != nil {
			t.Errorf("the next referee: %v", err)
		}
	})
	for p := range changes {
		if p.Value != "" {
			break
		}
	}
	cancel()
	group.Wait()
	if got := found(t, r, since); !reflect.DeepEqual(got, want) {
		t.Errorf("found\n%+v\nexpected\n%+v", got, want)
	}
	if next.fence <= former.fence {
		t.Errorf("fences %d and %d", former.fence, next.fence)
	}
}

// logWatch is a log that says when a text is written to it.
type logWatch struct {
	text string
	mu   sync.Mutex
	all  bytes.Buffer
	seen chan struct{} // closed then
}

func (w *logWatch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := strings.Contains(w.all.String(), w.text)
	w.all.Write(p)
	if !before && strings.Contains(w.all.String(), w.text) {
		close(w.seen)
	}
	return len(p), nil
}

// A worker whose players would have other settings than the referee's says so and plays
// nothing; its pairs go to others.
func TestWorkerOfOtherSettings(t *testing.T) {
	t.Parallel()
	log := &logWatch{text: "found \\\"hash", seen: make(chan struct{})}
	o := testOptions()
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	r, err := Open(t.Context(), filepath.Join(t.TempDir(), "run"), gateTestConfig(t), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	offerNet(t, r, 1)
	j := newReferee(r)
	j.slots = 0
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	startWorker(ctx, r, &group, "other", 2, otherSettings(func(ctx context.Context, service string, request []byte) ([]byte, error) {
		if service == gateResult {
			t.Error("it played")
		}
		return j.answer(ctx, service, request)
	}))
	group.Go(func() {
		select {
		case <-log.seen:
			startWorker(ctx, r, &group, "good", 2, j.answer)
		case <-ctx.Done():
		}
	})
	judged, err := j.judgeNewest(ctx)
	cancel()
	group.Wait()
	if !judged || err != nil || len(gateLogs(t, r)) < 4 {
		t.Errorf("judged %v, error %v", judged, err)
	}
}
