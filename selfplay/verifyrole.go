package selfplay

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// excludeService is the service by which a verifier has the replay role take an
// actor's games out of the window.
const excludeService = "replay.exclude"

// excludeRequest names an actor and why its games are not to be trusted.
type excludeRequest struct {
	Schema int    `json:"schema"`
	Actor  string `json:"actor"`
	Game   string `json:"game"` // id of the game that proves it
	Why    string `json:"why"`
	By     string `json:"by"`
}

func (q *excludeRequest) check() error {
	if q.Actor == "" {
		return errors.New("found no actor, expected one")
	}
	return checkSchema(q.Schema)
}

// answerExclude excludes an actor.
func (in *ingester) answerExclude(request []byte) ([]byte, error) {
	var q excludeRequest
	if err := decodeMessage(request, &q); err != nil {
		return nil, err
	}
	if err := in.buffer.Exclude(q.Actor, q.Why); err != nil {
		return nil, err
	}
	in.run.event("actor excluded, its games are kept but not trained on", "actor", q.Actor, "game", q.Game, "why", q.Why, "by", q.By)
	in.show()
	return nil, nil
}

// Verify plays a random share of the run's games again until ctx ends, and has the
// games of an actor excluded of which one is not what its seed, net and settings give.
// It reads the games from the replay role.
func (r *Run) Verify(ctx context.Context) (err error) {
	ctx, err = r.whileSettingsStay(ctx)
	if err != nil {
		return err
	}
	defer func() { err = because(ctx, err) }()
	record, err := r.conn.FindRun(ctx, r.identity.Name)
	if err != nil {
		return err
	}
	v := newVerifier(r, func(ctx context.Context) (actorHistory, error) {
		said, err := r.bus.PointerHistory(ctx, configKey)
		return readHistory(r.cfg, record.Created, said), err
	})
	var source verifySource
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.announce(ctx, r.identity.Instance) })
	group.Go(func() error {
		return v.run(ctx, func(ctx context.Context) ([]byte, error) {
			defer r.status.set(roleVerify, "%s", v.stats)
			return source.next(ctx, r)
		}, func(verdict Verdict) error { return r.convict(ctx, verdict) })
	})
	err = group.Wait()
	r.event("stopped", "role", r.opt.Role, "games", v.stats.Seen, "same", v.stats.Same, "verdicts", v.stats.Differ)
	return err
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
		sleep(ctx, jitter(leaseRetry))
	}
}

// verifySource gives the games that the replay buffer has, in order, and waits for new
// ones.
type verifySource struct {
	games [][]byte
	after replay.Cursor
}

func (s *verifySource) next(ctx context.Context, r *Run) ([]byte, error) {
	for len(s.games) == 0 {
		c, err := r.askWindow(ctx, s.after)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && !errors.Is(err, bus.ErrNobody) && !errors.Is(err, bus.ErrUnavailable):
			return nil, err
		case err != nil || len(c.Games) == 0:
			sleep(ctx, jitter(mirrorEvery))
		}
		if err == nil {
			s.games, s.after = c.Games, c.Next
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
	return fmt.Sprintf("%d games seen, %d played again and the same, %d not the same, %d not comparable", s.Seen, s.Same, s.Differ, skipped)
}
