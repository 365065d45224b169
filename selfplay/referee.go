package selfplay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

const refereeRetry = 2 * time.Second

// referee plays every offered net against the current one and moves the
// current pointer when the sequential test says so. Which candidate was judged
// last is a pointer of its own, and a match's game log is its state, so a
// killed referee continues where it was.
type referee struct{ run *Run }

// judgeAll works until ctx ends.
func (j *referee) judgeAll(ctx context.Context) error {
	logged := "" // the last failure that was
	for ctx.Err() == nil {
		judged, err := j.judgeNewest(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			j.run.status.set(roleGate, "waiting to try again: %v", err)
			if text := err.Error(); text != logged {
				logged = text
				j.run.log.Warn("gate failed, trying again", "error", err)
			}
			sleep(ctx, refereeRetry)
		case !judged:
			j.run.status.set(roleGate, "waiting for a candidate")
			sleep(ctx, time.Second)
		}
	}
	j.run.status.set(roleGate, "stopped")
	return nil
}

// judgeNewest judges the newest candidate unless it has been judged.
func (j *referee) judgeNewest(ctx context.Context) (bool, error) {
	candidate, err := j.run.bus.Pointer(ctx, j.run.candidateKey())
	if errors.Is(err, bus.ErrNoPointer) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	judged, err := j.run.bus.Pointer(ctx, j.run.judgedKey())
	if err != nil && !errors.Is(err, bus.ErrNoPointer) {
		return false, err
	}
	if judged.Value == candidate.Value {
		return false, nil
	}
	current, err := j.run.bus.Pointer(ctx, j.run.currentKey())
	if err != nil && !errors.Is(err, bus.ErrNoPointer) {
		return false, err
	}
	j.run.judging.Store(&candidate.Value)
	defer j.run.judging.Store(nil)
	if err := j.judge(ctx, candidate.Value, current); err != nil {
		return false, err
	}
	_, err = j.run.bus.SetPointer(ctx, j.run.judgedKey(), candidate.Value, judged.Revision)
	return true, err
}

// judge plays one candidate against the net that current names, material if it
// names none, and moves the pointer if it passed.
func (j *referee) judge(ctx context.Context, id string, current bus.Pointer) error {
	if current.Value == id {
		return nil // judged by a process that was killed before it could say so
	}
	candidate, err := j.run.loadNet(ctx, id)
	if err != nil {
		return err
	}
	incumbent := j.run.firstNet()
	if current.Value != "" {
		if incumbent, err = j.run.loadNet(ctx, current.Value); err != nil {
			return err
		}
	}
	passed, reason := true, "gate is off"
	if j.run.cfg.Gate.Enabled {
		result, err := j.play(ctx, candidate, incumbent)
		if err != nil {
			return err
		}
		passed, reason = result.Passed, result.Reason
		figures := &result.Result.Encounters[0]
		j.run.event("gate", "candidate", candidate.generation, "net", id, "incumbent", incumbent.ID, "passed", passed, "reason", reason,
			"elo", figures.Elo.String(), "games", figures.Games.Games())
	}
	j.run.status.update(func(s *Status) {
		verdict := "failed"
		if passed {
			verdict = "passed"
		}
		s.LastGate = fmt.Sprintf("gen %d %s", candidate.generation, verdict)
	})
	if !passed {
		return nil
	}
	if _, err := j.run.bus.SetPointer(ctx, j.run.currentKey(), id, current.Revision); err != nil {
		return err
	}
	j.run.event("net published", "generation", candidate.generation, "net", id, "parent", incumbent.ID, "elapsed_s", int(j.run.Status().Elapsed.Seconds()))
	return nil
}

// undecided are the rules by their names in the configuration.
var undecided = map[string]match.UndecidedRule{
	configs.UndecidedElo:  match.UndecidedElo,
	configs.UndecidedLLR:  match.UndecidedLLR,
	configs.UndecidedFail: match.UndecidedFail,
}

// play is the gate's match; its log lies under the candidate's name.
func (j *referee) play(ctx context.Context, candidate, incumbent *net) (match.GateResult, error) {
	g, c := j.run.cfg.Gate, j.run.cfg.Actor
	dir := j.run.path(gateDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return match.GateResult{}, err
	}
	side := func(n *net, name string) match.Contestant {
		c := match.NewContestant(j.run.style.spec().With(n.Net, player.Defaults{Limits: search.Limits{Nodes: g.Nodes}, HashMB: c.HashMB}))
		c.Name, c.Net = fmt.Sprintf("%s %s", name, short(n.ID)), n.ID
		return c
	}
	seed := mix(j.run.cfg.Seed, uint64(candidate.generation))
	openings, err := j.openings(seed)
	if err != nil {
		return match.GateResult{}, err
	}
	log := filepath.Join(dir, short(candidate.ID)+"-"+short(incumbent.ID)+".jsonl")
	cfg := match.GateConfig{
		Config: match.Config{
			Players:     []match.Contestant{side(candidate, "candidate"), side(incumbent, "incumbent")},
			Variant:     j.run.variant,
			Openings:    openings,
			Pairs:       g.Pairs,
			Concurrency: g.Concurrency,
			SPRT:        gateTest(g),
			Game:        game.Config{MaxPlies: c.MaxPlies, WinScore: search.Score(c.WinScore), WinPlies: c.WinPlies},
			Seed:        seed,
			Log:         log,
			RunID:       j.run.id(),
			Build:       j.run.opt.Build,
			OnPair: func(_ match.Pair, _ [2]*game.Game, r match.Result) {
				j.run.status.set(roleGate, "playing gen %d: pair %d of %d, LLR %.2f", candidate.generation, r.Pairs(), g.Pairs, r.LLR)
			},
		},
		Undecided: undecided[g.Undecided],
	}
	result, err := match.Gate(ctx, cfg)
	if errors.Is(err, match.ErrOtherSchedule) || errors.Is(err, match.ErrBadLog) {
		j.run.event("gate log set aside", "log", log, "error", err.Error())
		if err := os.Rename(log, log+".old"); err != nil {
			return result, err
		}
		return match.Gate(ctx, cfg)
	}
	return result, err
}

// openings are those of the program's book, in an order that the seed gives, or
// random ones of a variant without a book. In the book neither side is winning,
// as one often is after a few random moves.
func (j *referee) openings(seed uint64) (match.Openings, error) {
	v, c := j.run.variant, j.run.cfg.Actor
	if !book.HasDefault(v) {
		return match.RandomOpenings(v, seed, c.OpeningMin, c.OpeningMax), nil
	}
	b, _, err := book.Default(v)
	if err != nil {
		return match.Openings{}, err
	}
	return match.FromBook(b, seed), nil
}

// gateTest returns the sequential test of the gate.
func gateTest(g configs.Gate) *rating.SPRT {
	return &rating.SPRT{Elo0: g.Elo0, Elo1: g.Elo1, Alpha: g.Alpha, Beta: g.Beta}
}
