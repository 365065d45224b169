package selfplay

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// excludeService is the service by which a verifier has the replay role take an
// actor's games out of the window.
const excludeService = "replay.exclude"

// includeService is the service by which an operator takes that back.
const includeService = "replay.include"

// What is written into the audit.
const (
	auditQuarantine = "quarantine"
	auditRelease    = "release"
	auditNewKey     = "new-key"
	auditSettings   = "settings"
)

// excludeRequest names an actor and why its games are not to be trusted, or are again.
type excludeRequest struct {
	Schema int    `json:"schema"`
	Actor  string `json:"actor"`
	Game   string `json:"game"` // id of the game that proves it; empty: a person wants it
	Why    string `json:"why"`
	By     string `json:"by"`
}

func (q *excludeRequest) check() error {
	if !actorName.MatchString(q.Actor) {
		return fmt.Errorf("found actor %.40q, expected 1 to 24 letters and digits", q.Actor)
	}
	return checkSchema(q.Schema)
}

// excludeAnswer says how many stored games an exclusion or a release has changed.
type excludeAnswer struct {
	Schema int   `json:"schema"`
	Games  int64 `json:"games"`
}

func (a *excludeAnswer) check() error {
	if a.Games < 0 {
		return fmt.Errorf("found %d games, expected none or more", a.Games)
	}
	return checkSchema(a.Schema)
}

// setExcluded excludes an actor, or with release takes it again. It returns how many
// stored games that changes, and whether it changes anything: an actor may be excluded
// already, for the same reason.
func setExcluded(buffer *replay.Buffer, actor, why string, release bool) (games int64, changed bool, err error) {
	before, was := int64(buffer.Stats().Excluded), buffer.Excluded()
	if release {
		err = buffer.Include(actor)
	} else {
		err = buffer.Exclude(actor, why)
	}
	games = int64(buffer.Stats().Excluded) - before
	if release {
		games = -games
	}
	return max(games, 0), !slices.Equal(was, buffer.Excluded()), err // segments may be deleted meanwhile
}

// answerExclude excludes an actor.
func (in *ingester) answerExclude(request []byte) ([]byte, error) {
	return in.answerChange(request, false)
}

// answerInclude undoes answerExclude.
func (in *ingester) answerInclude(request []byte) ([]byte, error) {
	return in.answerChange(request, true)
}

func (in *ingester) answerChange(request []byte, release bool) ([]byte, error) {
	var q excludeRequest
	if err := decodeMessage(request, &q); err != nil {
		return nil, err
	}
	// One at a time: who had no answer yet asks again, and that changes nothing.
	in.excluding.Lock()
	defer in.excluding.Unlock()
	games, changed, err := setExcluded(in.buffer, q.Actor, q.Why, release)
	switch {
	case err != nil:
		return nil, err
	case !changed:
	case release:
		in.run.event("actor released, its games are trained on again", "actor", q.Actor, "why", q.Why, "by", q.By)
		in.changed(auditRelease, q)
	default:
		in.run.event("actor excluded, its games are kept but not trained on", "actor", q.Actor, "game", q.Game, "why", q.Why, "by", q.By)
		in.changed(auditQuarantine, q)
	}
	return encodeMessage(&excludeAnswer{messageSchema, games}), nil
}

// changed writes into the audit who changed which actors are excluded. A failure is
// logged: the server may be away, and the buffer has changed.
func (in *ingester) changed(action string, q excludeRequest) {
	in.show()
	in.run.audit(bus.AuditEntry{By: q.By, Action: action, What: q.Actor, Why: q.Why})
}

// audit writes into the audit what was done. A failure is logged.
func (r *Run) audit(e bus.AuditEntry) {
	if err := r.bus.Audit(context.Background(), e); err != nil {
		r.log.Warn("not written into the audit", "action", e.Action, "what", e.What, "error", err)
	}
}

// Verify plays a random share of the run's games again until ctx ends, and has the
// games of an actor excluded of which one is not what its seed, net and settings give.
// It reads the games from the replay role.
func (r *Run) Verify(ctx context.Context) (err error) {
	ctx, err = r.whileSettingsStay(ctx)
	if err != nil || ctx.Err() != nil {
		return because(ctx, err)
	}
	defer func() { err = because(ctx, err) }()
	v := newVerifier(r, r.actorHistory)
	var source verifySource
	v.catchingUp = true
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.announce(ctx, r.identity.Instance) })
	group.Go(func() error {
		return v.run(ctx, func(ctx context.Context) ([]byte, error) {
			r.status.set(roleVerify, "%s", v.stats)
			r.status.update(func(s *Status) { s.Unverifiable, s.Figures.Verified = v.unverifiable(), v.stats.clone() })
			return v.nextOf(ctx, &source, r)
		}, func(verdict Verdict) error { return r.convict(ctx, verdict) })
	})
	err = group.Wait()
	r.event("stopped", "role", r.opt.Role, "games", v.stats.Seen, "same", v.stats.Same, "verdicts", v.stats.Differ, "skipped", v.stats.Skipped)
	for _, u := range v.unverifiable() {
		r.event("many games of an actor cannot be verified", "actor", u.Actor, "games", u.Games, "not_verifiable", u.Count, "why", u.Why)
	}
	return err
}

// nextOf returns the next game of a source. Of excluded actors no games come that are
// asked for after that: one of whom some come was released, and may be accused again.
func (v *verifier) nextOf(ctx context.Context, source *verifySource, r *Run) ([]byte, error) {
	if len(source.games) == 0 {
		clear(v.excluded)
	}
	stored, err := source.next(ctx, r)
	v.catchingUp = !source.caughtUp
	return stored, err
}

// actorHistory reads the settings that the run's actors have had.
func (r *Run) actorHistory(ctx context.Context) (actorHistory, error) {
	s, _, err := r.saidSettings(ctx)
	return s.read(r.cfg), err
}

// convict writes a verdict down and has the actor excluded. It tries until the replay
// role has done so.
func (r *Run) convict(ctx context.Context, verdict Verdict) error {
	r.event("game is not what its id gives", "game", verdict.Game, "actor", verdict.Actor, "ply", verdict.Ply, "what", verdict.What)
	if verdict.Actor == "" {
		return nil
	}
	request := encodeMessage(&excludeRequest{Schema: messageSchema, Actor: verdict.Actor, Game: verdict.Game, Why: verdict.String(), By: "verify@" + hostname()})
	for {
		_, err := r.bus.Ask(ctx, excludeService, request)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		r.log.Warn("the actor is not excluded yet, trying again", "actor", verdict.Actor, "error", err)
		pause.For(ctx, pause.Spread(r.wait(leaseRetry)))
	}
}

// verifySource gives the games that the replay buffer has, in order, and waits for new
// ones.
type verifySource struct {
	games    [][]byte
	after    replay.Cursor
	end      bool // there was nothing after the games last given
	caughtUp bool // those were verified
}

func (s *verifySource) next(ctx context.Context, r *Run) ([]byte, error) {
	for len(s.games) == 0 {
		s.caughtUp = s.caughtUp || s.end
		c, err := r.askWindow(ctx, s.after)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && !errors.Is(err, bus.ErrNobody) && !errors.Is(err, bus.ErrUnavailable):
			return nil, err
		case err != nil || len(c.Games) == 0:
			pause.For(ctx, pause.Spread(r.wait(mirrorEvery)))
		}
		if err == nil {
			s.games, s.after, s.end = c.Games, c.Next, c.End
		}
	}
	stored := s.games[0]
	s.games = s.games[1:]
	return stored, nil
}

// String says what a verifier has done, in words.
func (s VerifyStats) String() string {
	skipped := uint64(0)
	for _, n := range s.Skipped {
		skipped += n
	}
	return fmt.Sprintf("%d games seen, %d played again and the same, %d forged, %d not verifiable", s.Seen, s.Same, s.Differ, skipped)
}
