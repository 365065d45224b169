package selfplay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/nets"
)

const (
	refereeRetry = 2 * time.Second // after a candidate could not be judged
	refereeLook  = time.Second     // between looks for a candidate
)

// referee has every offered net played against the current one and moves the
// current pointer when the sequential test says so. Which candidate was judged
// last is a pointer of its own, and a match's game log is its state, so a
// killed referee continues where it was.
//
// The pairs of a match are played by gate workers: that of the referee itself,
// and any number elsewhere, which ask for them by the services gate.next and
// gate.result. The claims of workers are kept in memory only.
type referee struct {
	run   *Run
	pairs *openPairs
	nets  *netCache
	dir   string     // of the logs
	slots int        // pairs that this process plays at a time
	fence uint64     // in every answer
	set   setPointer // writes only as long as this process is the referee

	curves *curves  // for TensorBoard
	told   judgings // to who watches

	mu    sync.Mutex
	wrote map[string]written // last, by pointer
}

// written is what the referee itself has written into a pointer.
type written struct {
	netPointer
	at time.Time
}

// copyLag is how long a server's copy of the pointers may be behind another's, which took a
// write. Later the servers are believed: they may have lost all and have begun again.
const copyLag = 10 * time.Second

// setPointer moves a pointer by compare-and-set.
type setPointer func(ctx context.Context, key, value string, revision uint64) (uint64, error)

func newReferee(r *Run) *referee {
	return &referee{
		run: r, curves: &curves{}, pairs: newOpenPairs(), nets: newNetCache(r), dir: r.path(gateDir), slots: r.cfg.Gate.Concurrency, set: r.bus.SetPointer,
		wrote: map[string]written{},
	}
}

// guarded are the pointers that only the holder of the referee's lease moves.
func (j *referee) guarded() []string { return []string{j.run.currentKey(), j.run.judgedKey()} }

// judgeUnder works until ctx ends as the holder of the referee's lease, under which
// the guarded pointers have been touched, for the workers of all machines. The error
// wraps bus.ErrFenced once another process is the referee.
func (j *referee) judgeUnder(ctx context.Context, l *bus.Lease) error {
	j.fence, j.set = l.Fence(), l.SetPointer
	for _, service := range []string{gateNext, gateResult, gateWatch} {
		stop, err := j.run.bus.Serve(service, func(request []byte) ([]byte, error) { return j.answer(ctx, service, request) })
		if err != nil {
			return err
		}
		defer stop()
	}
	return j.judgeAll(ctx)
}

// judgeAll works until ctx ends.
func (j *referee) judgeAll(ctx context.Context) error {
	j.told.load(j.run)
	j.curves = j.run.openCurves("gate", 0)
	defer j.curves.close()
	err := j.judgeEach(ctx)
	j.run.status.set(roleGate, "stopped")
	j.due("") // the next referee does
	return err
}

// playHere plays pairs of the match under way in this process until ctx ends.
func (j *referee) playHere(ctx context.Context) {
	w := newGateWorker(j.run, "referee", j.slots, j.answer, j.nets)
	w.news = j.pairs.changed
	w.work(ctx)
}

// answer answers a request to one of the referee's services.
func (j *referee) answer(ctx context.Context, service string, request []byte) ([]byte, error) {
	switch service {
	case gateNext:
		var r gateNextRequest
		if err := decodeMessage(request, &r); err != nil {
			return nil, err
		}
		reply := j.pairs.next(&r)
		reply.Fence, reply.AskAgainMS = j.fence, int(j.run.wait(askAgain).Milliseconds())
		return encodeMessage(&reply), nil
	case gateResult:
		var r gateResultRequest
		if err := decodeMessage(request, &r); err != nil {
			return nil, err
		}
		reply := gateResultReply{Schema: messageSchema, Fence: j.fence, Taken: true}
		if err := j.pairs.take(ctx, &r); err != nil {
			reply.Taken, reply.Why = false, err.Error()
		}
		return encodeMessage(&reply), ctx.Err()
	case gateWatch:
		var r watchRequest
		if err := decodeMessage(request, &r); err != nil {
			return nil, err
		}
		return encodeMessage(&watchReply{messageSchema, j.fence, j.told.answer(r.After)}), nil
	}
	return nil, fmt.Errorf("gate: no service %q", service)
}

// judgeEach judges one candidate after another.
func (j *referee) judgeEach(ctx context.Context) error {
	logged := "" // the last failure that was
	for ctx.Err() == nil {
		judged, err := j.judgeNewest(ctx)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, bus.ErrFenced):
			return err
		case err != nil:
			j.run.status.set(roleGate, triesAgain+": %v", err)
			if text := err.Error(); text != logged {
				logged = text
				j.run.log.Warn("gate failed, trying again", "error", err)
			}
			pause.For(ctx, j.run.wait(refereeRetry))
		case !judged:
			j.run.status.set(roleGate, "waiting for a candidate")
			pause.For(ctx, j.run.wait(refereeLook))
		}
	}
	return nil
}

// netPointer is a pointer to a net.
type netPointer struct {
	nets.Record
	revision uint64
}

// pointer reads a pointer; one that is not there names no net. Of a copy that is behind, what
// the referee wrote itself is taken instead: else it would judge a net again.
func (j *referee) pointer(ctx context.Context, key string) (netPointer, error) {
	p, err := j.readPointer(ctx, key)
	j.mu.Lock()
	defer j.mu.Unlock()
	if w, ok := j.wrote[key]; err == nil && ok && w.revision > p.revision && time.Since(w.at) < copyLag {
		p = w.netPointer
	}
	return p, err
}

// move sets a pointer from the given revision.
func (j *referee) move(ctx context.Context, set setPointer, key string, r nets.Record, revision uint64) error {
	revision, err := set(ctx, key, j.run.pointerText(r), revision)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wrote[key] = written{netPointer{r, revision}, time.Now()}
	return nil
}

func (j *referee) readPointer(ctx context.Context, key string) (netPointer, error) {
	p, err := j.run.bus.Pointer(ctx, key)
	if errors.Is(err, bus.ErrNoPointer) || err == nil && p.Value == "" {
		return netPointer{revision: p.Revision}, nil
	}
	if err != nil {
		return netPointer{}, err
	}
	record, err := nets.ParseRecord(p.Value)
	if err != nil {
		return netPointer{}, fmt.Errorf("pointer %s: %w", key, err)
	}
	return netPointer{record, p.Revision}, nil
}

// due notes the net that waits for its verdict, until that is noted or ctx ends; "": none
// does.
func (j *referee) due(id string) {
	j.run.status.update(func(s *Status) {
		if id != "" && id != s.Unjudged {
			s.Roles[roleGate].State = "preparing to judge net " + short(id)
		}
		s.Unjudged = id
	})
}

// judgeNewest judges the newest candidate unless it has been judged.
func (j *referee) judgeNewest(ctx context.Context) (bool, error) {
	candidate, err := j.pointer(ctx, j.run.candidateKey())
	if err != nil {
		return false, err
	}
	judged, err := j.pointer(ctx, j.run.judgedKey())
	if err != nil {
		return false, err
	}
	if candidate.Net == "" || judged.Net == candidate.Net {
		j.due("")
		return false, nil
	}
	j.due(candidate.Net)
	current, err := j.pointer(ctx, j.run.currentKey())
	if err != nil {
		return false, err
	}
	j.run.judging.Store(&candidate.Net)
	defer j.run.judging.Store(nil)
	newest := max(j.run.generation(ctx, judged.Record), j.run.generation(ctx, current.Record))
	generation, why, err := j.judge(ctx, candidate.Net, current, newest)
	if err != nil {
		return false, err
	}
	j.pruneLogs()
	verdict := j.record(candidate.Net, max(generation, newest), why, judged.Net)
	if err := j.move(ctx, j.set, j.run.judgedKey(), verdict, judged.revision); err != nil {
		return false, err
	}
	j.due("")
	j.run.status.update(func(s *Status) { s.Figures.Gated++ })
	j.run.showCurve()
	return true, nil
}

// GateOff is why a net is played with that no gate has judged, as its record says.
const GateOff = "gate is off"

// record is what the referee writes into a pointer.
func (j *referee) record(id string, generation int, why, from string) nets.Record {
	return nets.Record{Schema: nets.RecordSchema, Net: id, Generation: generation, Action: nets.Publish, By: "referee@" + hostname(), Why: why, From: from}
}

// generation returns that of a record's net. A record of an earlier build says it
// by the net's manifest; 0 if that is gone.
func (r *Run) generation(ctx context.Context, record nets.Record) int {
	if record.Schema != 0 || record.Net == "" {
		return record.Generation
	}
	m, err := r.store.Manifest(record.Net)
	if err != nil {
		m, err = r.bus.NetManifest(ctx, record.Net)
	}
	if err != nil || r.checkManifest(m) != nil {
		return 0
	}
	return m.Generation
}

// judge plays one candidate against the net that current names, or what plays
// without a net if it names none, and moves the pointer if it passed. A candidate that
// is not newer than the newest judged is refused: it is an old net.
func (j *referee) judge(ctx context.Context, id string, current netPointer, newest int) (generation int, why string, err error) {
	if current.Net == id {
		return j.run.generation(ctx, current.Record), "", nil // judged by a process that was killed before it could say so
	}
	j.nets.keep(id, current.Net)
	candidate, err := j.nets.get(ctx, id)
	if err != nil {
		return 0, "", err
	}
	if candidate.generation <= newest {
		j.run.event("old net offered as new, refused", "candidate", candidate.generation, "net", id, "newest", newest)
		return candidate.generation, fmt.Sprintf("refused: an old net, generation %d offered after %d", candidate.generation, newest), nil
	}
	incumbent := j.run.firstNet()
	if current.Net != "" {
		if incumbent, err = j.nets.get(ctx, current.Net); err != nil {
			return 0, "", err
		}
	}
	passed, reason := true, GateOff
	if j.run.cfg.Gate.Enabled {
		result, err := j.play(ctx, candidate, incumbent)
		if err == nil {
			err = ctx.Err() // a stopped referee leaves the verdict to the next one, which finds it in the log
		}
		if err != nil {
			return 0, "", err
		}
		passed, reason = result.Passed, result.Reason
		figures := &result.Result.Encounters[0]
		j.told.end(JudgedNet{
			Time: time.Now().UTC(), Generation: candidate.generation, Net: id, Incumbent: incumbent.ID, Passed: passed, Reason: reason,
			Elo: figures.Elo.String(), Games: figures.Games.Games(),
		})
		j.run.event("gate", "candidate", candidate.generation, "net", id, "incumbent", incumbent.ID, "passed", passed, "reason", reason,
			"elo", figures.Elo.String(), "games", figures.Games.Games())
		if m, err := j.run.store.Manifest(id); err == nil {
			j.curves.judged(m.Step, &result)
		}
		j.run.status.update(func(s *Status) { s.Figures.Elo = figures.Elo })
	}
	j.run.status.update(func(s *Status) {
		if s.Figures.Judged = candidate.generation; passed {
			s.Figures.Passed++
		} else {
			s.Figures.Failed++
		}
		if j.run.cfg.Gate.Enabled {
			s.LastGate = fmt.Sprintf("generation %d %s", candidate.generation, passedText(passed))
		}
	})
	if !passed {
		return candidate.generation, reason, nil
	}
	record := j.record(id, candidate.generation, reason, current.Net)
	if m, err := j.run.store.Manifest(id); err == nil {
		record.Spread = j.run.spread(ctx, m.Size)
	}
	if err := j.move(ctx, j.set, j.run.currentKey(), record, current.revision); err != nil {
		return 0, "", err
	}
	j.run.event("net published", "generation", candidate.generation, "net", id, "parent", incumbent.ID, "elapsed_s", int(j.run.Status().Elapsed.Seconds()))
	return candidate.generation, reason, nil
}

// undecided are the rules by their names in the configuration.
var undecided = map[string]match.UndecidedRule{
	configs.UndecidedElo:  match.UndecidedElo,
	configs.UndecidedLLR:  match.UndecidedLLR,
	configs.UndecidedFail: match.UndecidedFail,
}

// play is the gate's match; its log lies under the candidate's name.
func (j *referee) play(ctx context.Context, candidate, incumbent *net) (match.GateResult, error) {
	defer j.run.status.update(func(s *Status) { s.Gate = GateProgress{} })
	defer j.run.status.setMatch("")
	if err := os.MkdirAll(j.dir, 0o755); err != nil {
		return match.GateResult{}, err
	}
	log := filepath.Join(j.dir, short(candidate.ID)+"-"+short(incumbent.ID)+gateLogExt)
	m, cfg, err := j.match(ctx, candidate, incumbent, log)
	if err != nil {
		return match.GateResult{}, err
	}
	j.told.begin(candidate, incumbent, cfg.Pairs, cfg.SPRT)
	j.show(candidate, &match.Result{}) // a match that nobody plays is seen to be one
	j.pairs.begin(m)
	defer j.pairs.end()
	if j.slots > 0 {
		here, stop := context.WithCancel(ctx)
		var worker sync.WaitGroup
		defer worker.Wait()
		defer stop()
		worker.Go(func() { j.playHere(here) })
	}
	result, err := match.Gate(ctx, cfg)
	if errors.Is(err, match.ErrOtherSchedule) || errors.Is(err, match.ErrBadLog) {
		j.run.event("gate log set aside", "log", log, "error", err.Error())
		if err := os.Rename(log, log+gateLogOld); err != nil {
			return result, err
		}
		return match.Gate(ctx, cfg)
	}
	return result, err
}

// show says how far the match with a candidate is.
func (j *referee) show(candidate *net, r *match.Result) {
	g := j.run.cfg.Gate
	low, high := gateTest(g).Bounds()
	j.run.status.update(func(s *Status) {
		s.Gate = GateProgress{candidate.generation, r.Pairs(), g.Pairs, r.LLR, low, high}
	})
	j.run.status.setMatch(fmt.Sprintf("playing generation %d: pair %d of %d, LLR %.2f, %s", candidate.generation, r.Pairs(), g.Pairs, r.LLR, words.Count(j.pairs.busy(), "worker", "workers")))
}

// match describes a match of the gate, for workers and for package match.
func (j *referee) match(ctx context.Context, candidate, incumbent *net, log string) (gateMatch, match.GateConfig, error) {
	g, c := j.run.cfg.Gate, j.run.cfg.Actor
	a, b := j.run.gatePlayer(candidate, gateSides[0], g.Nodes, c.HashMB), j.run.gatePlayer(incumbent, gateSides[1], g.Nodes, c.HashMB)
	seed := mix(j.run.cfg.Seed, uint64(candidate.generation))
	m := gateMatch{
		Candidate: a.Net, Incumbent: b.Net, CandidateSettings: a.Settings, IncumbentSettings: b.Settings,
		Nodes: g.Nodes, HashMB: c.HashMB, Seed: seed, MaxPlies: c.MaxPlies, WinScore: c.WinScore, WinPlies: c.WinPlies,
	}
	openings, err := j.openings(ctx, seed)
	cfg := match.GateConfig{
		Config: match.Config{
			Players:     []match.Contestant{a, b},
			Variant:     j.run.variant,
			Openings:    openings,
			Pairs:       g.Pairs,
			Concurrency: maxOpenPairs,
			SPRT:        gateTest(g),
			Game:        m.rules(),
			Seed:        seed,
			PlayPair:    j.pairs.play,
			Log:         log,
			RunID:       j.run.id(),
			Build:       j.run.opt.Build,
			OnResume:    func(r match.Result) { j.show(candidate, &r) },
			OnPair: func(p match.Pair, _ [2]*game.Game, r match.Result) {
				j.pairs.logged(p.Number)
				j.told.pair(r)
				j.run.status.update(func(s *Status) { s.Figures.Gated++ })
				j.show(candidate, &r)
			},
		},
		Undecided: undecided[g.Undecided],
	}
	m.Key = cfg.Config.Key()
	return m, cfg, err
}

// openings are those of the run's book, in an order that the seed gives, or
// random ones of a run without a book. In the program's book neither side is winning,
// as one often is after a few random moves.
func (j *referee) openings(ctx context.Context, seed uint64) (match.Openings, error) {
	c := j.run.cfg.Actor
	b, err := j.run.openingBook(ctx, c.Book)
	switch {
	case err != nil:
		return match.Openings{}, err
	case b == nil:
		return match.RandomOpenings(j.run.variant, seed, c.OpeningMin, c.OpeningMax), nil
	}
	return match.FromBook(b, seed), nil
}

// gateTest returns the sequential test of the gate.
func gateTest(g configs.Gate) *rating.SPRT {
	return &rating.SPRT{Elo0: g.Elo0, Elo1: g.Elo1, Alpha: g.Alpha, Beta: g.Beta}
}
