package selfplay

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/await"
	"github.com/crazyhouse-rl/selfplay/nets"
)

// A net that is offered and not judged is work, whatever keeps the referee from its verdict: it is
// stuck in time, and says why.
func TestUnjudgedNetIsStuck(t *testing.T) {
	t.Parallel()
	tries := new(atomic.Int64) // to note a verdict
	for name, test := range map[string]struct {
		prepare func(ctx context.Context, r *Run, j *referee, group *sync.WaitGroup)
		why     string
		then    func() bool
	}{
		"the servers lack it": {func(ctx context.Context, r *Run, _ *referee, _ *sync.WaitGroup) {
			if _, err := r.bus.SetPointer(ctx, r.candidateKey(), nets.Hash([]byte("nowhere")), 0); err != nil {
				t.Error(err)
			}
		}, triesAgain + ": net ", nil},
		"nobody plays": {func(_ context.Context, r *Run, _ *referee, _ *sync.WaitGroup) {
			offerNet(t, r, 1)
		}, "playing generation 1: pair 0 of 40, ", nil},
		"nobody can play": {func(ctx context.Context, r *Run, j *referee, group *sync.WaitGroup) {
			offerNet(t, r, 1)
			r.status.holds(refereeLease, true)
			startWorker(ctx, r, group, "other", 1, otherSettings(j.answer))
		}, "waiting to try a pair again: net ", nil},
		"the verdict is not noted": {func(_ context.Context, r *Run, j *referee, _ *sync.WaitGroup) {
			offerNet(t, r, 1)
			r.cfg.Gate.Enabled = false
			j.set = func(context.Context, string, string, uint64) (uint64, error) {
				tries.Add(1)
				return 0, errors.New("no right")
			}
		}, triesAgain + ": no right", func() bool { return tries.Load() > 3 }},
	} {
		t.Run(name, func(t *testing.T) {
			r := openRun(t, filepath.Join(t.TempDir(), "run"), gateTestConfig(t))
			defer r.Close()
			j := newReferee(r)
			j.slots = 0
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var group sync.WaitGroup
			test.prepare(ctx, r, j, &group)
			group.Go(func() {
				if err := j.judgeAll(ctx); err != nil {
					t.Error(err)
				}
			})
			await.True(t, test.why, func() bool { return strings.HasPrefix(r.Status().Roles[roleGate].State, test.why) })
			now := time.Now()
			if test.then != nil {
				await.True(t, "it is tried again", test.then)
			}
			await.True(t, "the gate is stuck: "+test.why, func() bool { // the words change with every try
				got := r.status.snapshot(now.Add(gateLimit)).Stalled
				return len(got) == 1 && got[0].Stage == StageGate && strings.HasPrefix(got[0].Why, test.why)
			})
			cancel()
			group.Wait()
			if got := r.status.snapshot(now.Add(3 * gateLimit)).Stalled; len(got) != 0 {
				t.Errorf("once it is stopped: found %v, expected nothing", got)
			}
		})
	}
}

// otherSettings has a worker think that the referee wants other settings than its own.
func otherSettings(a ask) ask {
	return func(ctx context.Context, service string, request []byte) ([]byte, error) {
		answer, err := a(ctx, service, request)
		return bytes.ReplaceAll(answer, []byte(`settings":"hash`), []byte(`settings":"mash`)), err
	}
}

// A referee is calm once the newest net is judged, and while there is none.
func TestJudgedNetIsCalm(t *testing.T) {
	t.Parallel()
	r := openRun(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	defer r.Close()
	j := newReferee(r)
	stages := stageWatch{}
	now := time.Unix(1000, 0)
	look := func(when string) {
		t.Helper()
		for range 2 {
			s := r.Status()
			now = now.Add(gateLimit)
			if got := stages.look(&s, now); len(got) != 0 {
				t.Errorf("%s: found %v, expected nothing", when, got)
			}
		}
	}
	look("without a net")
	offerNet(t, r, 1)
	if judged, err := j.judgeNewest(t.Context()); !judged || err != nil {
		t.Fatalf("judged %v, error %v", judged, err)
	}
	look("with a verdict")
	if s := r.Status(); s.Figures.Gated != 2 {
		t.Errorf("%d came out, expected a pair and a verdict", s.Figures.Gated)
	}
}
