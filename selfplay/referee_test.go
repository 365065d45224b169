package selfplay

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
)

// randomNet returns the file of a net of random weights.
func randomNet(t *testing.T, r *Run, generation int) *bytes.Buffer {
	t.Helper()
	network, err := nnuetest.Random(r.style.(*abStyle).architectures[0], uint64(generation))
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := network.Write(&file); err != nil {
		t.Fatal(err)
	}
	return &file
}

// storeNet puts a net of that content, which the run's trainer has signed, into the local
// store.
func storeNet(t *testing.T, r *Run, file []byte, generation int) nets.Manifest {
	t.Helper()
	id, _, err := r.store.Put(bytes.NewReader(file), nets.KindNNUE)
	if err != nil {
		t.Fatal(err)
	}
	m := nets.Manifest{Schema: nets.ManifestSchema, ID: id, Size: int64(len(file)), Kind: nets.KindNNUE, Variant: r.cfg.Variant, Generation: generation}
	if err := m.Sign(r.key); err != nil {
		t.Fatal(err)
	}
	if err := r.store.PutManifest(m); err != nil {
		t.Fatal(err)
	}
	return m
}

// offerNet stores a net of random weights on the bus, as the learner does.
func offerNet(t *testing.T, r *Run, generation int) string {
	t.Helper()
	m := storeNet(t, r, randomNet(t, r, generation).Bytes(), generation)
	l := &learner{run: r, set: r.bus.SetPointer}
	if err := l.publish(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return m.ID
}

// netAt is the record that a pointer holds; the zero record if there is none.
func netAt(t *testing.T, r *Run, key string) nets.Record {
	t.Helper()
	p, err := r.bus.Pointer(t.Context(), key)
	if errors.Is(err, bus.ErrNoPointer) || err == nil && p.Value == "" {
		return nets.Record{}
	}
	if err != nil {
		t.Fatal(err)
	}
	record, err := nets.ParseRecord(p.Value)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// judgedNet is the net that was judged last.
func judgedNet(t *testing.T, r *Run) nets.Record { return netAt(t, r, r.judgedKey()) }

func TestRefereeJudgesOnce(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	defer r.Close()
	j := newReferee(r)
	if judged, err := j.judgeNewest(t.Context()); judged || err != nil {
		t.Fatalf("without a candidate: %v, %v", judged, err)
	}
	id := offerNet(t, r, 1)
	if judged, err := j.judgeNewest(t.Context()); !judged || err != nil {
		t.Fatalf("first look: %v, %v", judged, err)
	}
	if got := judgedNet(t, r); got.Net != id || got.Generation != 1 || !strings.Contains(got.Why, "undecided after 1 pairs") {
		t.Errorf("judged %+v, want %q", got, id)
	}
	if judged, err := j.judgeNewest(t.Context()); judged || err != nil {
		t.Errorf("second look: %v, %v; the candidate was judged already", judged, err)
	}
}

// A server's copy of the pointers that is behind what the referee wrote a moment ago does not
// have it judge a net again; one that stays behind is one that has begun again, and does.
func TestCopyIsBehind(t *testing.T) {
	t.Parallel()
	r := openRun(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	defer r.Close()
	j := newReferee(r)
	id := offerNet(t, r, 1)
	if judged, err := j.judgeNewest(t.Context()); !judged || err != nil {
		t.Fatalf("first look: %v, %v", judged, err)
	}
	p, err := r.bus.Pointer(t.Context(), r.judgedKey())
	if err != nil {
		t.Fatal(err)
	}
	behind, err := r.bus.SetPointer(t.Context(), r.judgedKey(), "", p.Revision) // as it was before the verdict
	if err != nil {
		t.Fatal(err)
	}
	w := j.wrote[r.judgedKey()]
	w.revision = behind + 1
	j.wrote[r.judgedKey()] = w
	if judged, err := j.judgeNewest(t.Context()); judged || err != nil {
		t.Errorf("the copy is behind: %v, %v, expected that the verdict is known", judged, err)
	}
	w.at = w.at.Add(-copyLag)
	j.wrote[r.judgedKey()] = w
	if judged, err := j.judgeNewest(t.Context()); !judged || err != nil || judgedNet(t, r).Net != id {
		t.Errorf("the copy stays behind: %v, %v, judged %+v, expected net %s", judged, err, judgedNet(t, r), id)
	}
}

// A trainer whose checkpoint is older than the newest net goes on after that.
func TestNumberingGoesOn(t *testing.T) {
	t.Parallel()
	r, buffer := openWithBuffer(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	for _, generation := range []int{0, 7} { // 0: none is offered yet
		var id string
		if generation > 0 {
			id = offerNet(t, r, generation)
		}
		l, err := newLearner(r, buffer, r.bus.SetPointer)
		if err == nil {
			err = l.catchUp(t.Context())
		}
		if err != nil || l.state.Generation != generation || l.state.Parent != id {
			t.Errorf("error %v, generation %d after net %q, want %d after %q", err, l.state.Generation, l.state.Parent, generation, id)
		}
	}
}

// The trainer does not go on after a net that another key signed, nor vouch for it.
func TestNumberingIgnoresForeignNet(t *testing.T) {
	t.Parallel()
	r, buffer := openWithBuffer(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	r.key, other = other, r.key
	id := offerNet(t, r, 7)
	r.key = other
	l, err := newLearner(r, buffer, r.bus.SetPointer)
	if err == nil {
		err = l.catchUp(t.Context())
	}
	if err != nil || l.state.Generation != 0 || l.state.Parent != "" {
		t.Errorf("error %v, generation %d after net %q, expected the first", err, l.state.Generation, l.state.Parent)
	}
	if known, whole := l.offered.has(id); known || !whole {
		t.Errorf("the list of the run's nets has it: %v, is whole: %v", known, whole)
	}
}

// A run whose nets all fail has drawings of what was offered, and no strength in them; losses
// that nobody measured are none.
func TestFailedNetsAreDrawn(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Gate.Undecided = configs.UndecidedFail // one pair decides nothing
	dir := filepath.Join(t.TempDir(), "run")
	r := openRun(t, dir, cfg)
	defer r.Close()
	j := newReferee(r)
	for generation, loss := range []float64{0, 0, 0.4, 0.3} {
		if generation == 0 {
			continue
		}
		id := offerNet(t, r, generation)
		r.event("net offered", "generation", generation, "net", id, "games", 10*generation, "held_out_loss", loss)
		if judged, err := j.judgeNewest(t.Context()); !judged || err != nil {
			t.Fatalf("generation %d: %v, %v", generation, judged, err)
		}
		for _, name := range []string{CurveFile, CurveImage} {
			if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != (generation == 3) {
				t.Errorf("%s after generation %d: error %v, expected it once there are two losses", name, generation, err)
			}
		}
	}
	if c, err := curveOf(dir); err != nil || len(c.Judged) != 3 || len(c.Passed) != 0 {
		t.Errorf("found %d verdicts, %d passed, error %v, expected three that failed", len(c.Judged), len(c.Passed), err)
	}
}

func TestGateOffPublishes(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Gate.Enabled = false
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	defer r.Close()
	j := newReferee(r)
	id := offerNet(t, r, 1)
	if _, err := j.judgeNewest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := netAt(t, r, r.currentKey()).Net; got != id {
		t.Errorf("current %q, want %q", got, id)
	}
	// Killed after the pointer moved and before the verdict was noted: the next
	// look notes it and plays nothing.
	p, err := r.bus.Pointer(t.Context(), r.judgedKey())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.bus.SetPointer(t.Context(), r.judgedKey(), "", p.Revision); err != nil {
		t.Fatal(err)
	}
	if judged, err := j.judgeNewest(t.Context()); !judged || err != nil || judgedNet(t, r).Net != id {
		t.Errorf("after the kill: %v, %v, judged %+v", judged, err, judgedNet(t, r))
	}
}

// A candidate that is no newer than what was judged is refused, once, and does not
// make room for others of its age.
func TestRefereeRefusesOldNets(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Gate.Enabled = false
	dir := filepath.Join(t.TempDir(), "run")
	r := openRun(t, dir, cfg)
	defer r.Close()
	offer := func(generation int, want string) {
		t.Helper()
		id := offerNet(t, r, generation)
		if want == "" {
			want = id
		}
		j := newReferee(r) // a restart forgets nothing
		if judged, err := j.judgeNewest(t.Context()); !judged || err != nil {
			t.Fatalf("generation %d: %v, %v", generation, judged, err)
		}
		if judged, err := j.judgeNewest(t.Context()); judged || err != nil {
			t.Fatalf("generation %d again: %v, %v", generation, judged, err)
		}
		current, err := j.pointer(t.Context(), r.currentKey())
		if err != nil || current.Net != want || judgedNet(t, r).Net != id {
			t.Errorf("generation %d: current %s, expected %s; judged %+v; %v", generation, current.Net, want, judgedNet(t, r), err)
		}
	}
	offer(2, "")
	offer(1, nets.Hash(randomNet(t, r, 2).Bytes()))
	offer(5, "")
	for _, old := range []int{1, 2, 3, 4} {
		offer(old, nets.Hash(randomNet(t, r, 5).Bytes()))
	}
	offer(6, "")
	refused := 0
	for _, e := range events(t, dir) {
		if e["msg"] == "old net offered as new, refused" {
			refused++
		}
	}
	if refused != 5 {
		t.Errorf("%d refusals in the log, expected 5", refused)
	}
}

// Logs of the gate's matches are kept for the newest ones only.
func TestGateLogsAreBounded(t *testing.T) {
	dir := t.TempDir()
	if err := pruneGateLogs(filepath.Join(dir, "none")); err != nil {
		t.Error(err)
	}
	now := time.Now()
	write := func(name string, age time.Duration) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte("x"), 0o644), os.Chtimes(path, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		ext := gateLogExt
		if i%3 == 0 {
			ext += gateLogOld
		}
		write(fmt.Sprintf("%08d-material%s", i, ext), time.Duration(i)*time.Minute)
	}
	write("notes.txt", time.Hour)
	if err := pruneGateLogs(dir); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != keptGateLog+1 || !strings.HasPrefix(filepath.Base(left[keptGateLog-1]), "00000019") {
		t.Errorf("%d files left, %v: %q", len(left), err, left)
	}
}

// Every gate has openings of its own, from the book where there is one, and the
// same ones when it is played again.
func TestGateOpenings(t *testing.T) {
	t.Parallel()
	for variant, source := range map[string]string{"crazyhouse": "book ", "chess": "random "} {
		cfg := smallConfig(t)
		if err := cfg.SetPairs([]string{"net.features=HalfKAv2", "variant=" + variant}); err != nil {
			t.Fatal(err)
		}
		r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
		defer r.Close()
		j := newReferee(r)
		first := func(seed uint64) (string, string) {
			o, err := j.openings(t.Context(), seed)
			if err != nil {
				t.Fatal(err)
			}
			fen := ""
			for pair := range 3 {
				opening, err := o.Opening(pair)
				if err != nil {
					t.Fatal(err)
				}
				line := chess.NewLine(opening.Start)
				for _, m := range opening.Moves {
					line.Push(m)
				}
				fen += line.Pos().FEN() + "\n"
			}
			return o.ID, fen
		}
		id, fens := first(1)
		againID, again := first(1)
		otherID, other := first(2)
		if !strings.HasPrefix(id, source) || againID != id || again != fens || otherID == id || other == fens {
			t.Errorf("%s: openings %q, then %q, and %q with another seed:\n%s\n%s\n%s", variant, id, againID, otherID, fens, again, other)
		}
	}
}

// Nets in use survive pruning, however old they are.
func TestPruneKeepsNetsInUse(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Bus.KeepNets = 1
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	defer r.Close()
	ids := make([]string, 9)
	for g := 1; g < len(ids); g++ {
		ids[g] = offerNet(t, r, g)
	}
	if _, err := r.bus.SetPointer(t.Context(), r.currentKey(), ids[5], 0); err != nil {
		t.Fatal(err)
	}
	r.judging.Store(&ids[6])
	if err := r.pruneNets(t.Context()); err != nil {
		t.Fatal(err)
	}
	for g := 1; g < len(ids); g++ {
		want := g <= firstNets || g == 5 || g == 6 || g == 8
		_, err := r.bus.NetManifest(t.Context(), ids[g])
		if r.store.Has(ids[g]) != want || (err == nil) != want {
			t.Errorf("generation %d: in the store %v, on the bus %v; want %v", g, r.store.Has(ids[g]), err == nil, want)
		}
	}
}

// The follower goes past a net that cannot be had to the next one.
func TestFollowerPassesMissingNet(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	r := openRun(t, dir, smallConfig(t))
	defer r.Close()
	good := offerNet(t, r, 1)
	f, send, end := startFollower(t, r)
	for _, id := range []string{nets.Hash([]byte("nowhere")), good} {
		send(id)
	}
	end()
	if f.current().ID != good {
		t.Errorf("net %s is loaded, expected %s", f.current().ID, good)
	}
	failed := 0
	for _, e := range events(t, dir) {
		if e["msg"] == "net could not be loaded, playing on with the old one" {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d failures to load a net are in the log, expected one", failed)
	}
}
