package selfplay

import (
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
)

// How long nothing may come out of a stage that has work before it counts as stuck.
const (
	playLimit  = 15 * time.Minute // a game of many nodes a move takes minutes
	storeLimit = 2 * time.Minute  // from the end of a game to replay's disk: seconds
	trainLimit = 15 * time.Minute // a step, an export
	gateLimit  = 30 * time.Minute // a pair of games
)

// Stages of the data path that a process watches, as names of Stall.Stage.
const (
	StagePlay  = "play"
	StageStore = "store"
	StageTrain = "train"
	StageGate  = "gate"
)

// Stages are all of them, in the order of the data path.
var Stages = []string{StagePlay, StageStore, StageTrain, StageGate}

// stageLimits says when each counts as stuck.
var stageLimits = map[string]time.Duration{StagePlay: playLimit, StageStore: storeLimit, StageTrain: trainLimit, StageGate: gateLimit}

// passage is what went into a stage and what came out of it. A stage without work is calm
// however long that lasts; one with work is stuck if nothing comes out.
type passage struct {
	out   uint64
	moved time.Time // when something last came out, or there was no work
}

// look notes what went in and came out by now, and returns for how long work has waited
// without anything coming out.
func (p *passage) look(in, out uint64, now time.Time) time.Duration {
	if p.moved.IsZero() || in <= out || out != p.out {
		p.out, p.moved = out, now
	}
	return now.Sub(p.moved)
}

// stageWatch watches the stages of one process.
type stageWatch map[string]*passage

// look returns the stages that are stuck.
func (w stageWatch) look(s *Status, now time.Time) (stuck []bus.Stall) {
	for _, name := range Stages {
		in, out := s.through(name)
		p := w[name]
		if p == nil {
			p = &passage{}
			w[name] = p
		}
		if waited := p.look(in, out, now); waited >= stageLimits[name] {
			stuck = append(stuck, bus.Stall{Stage: name, Waiting: in - out, Seconds: uint64(waited.Seconds()), Why: s.Roles[roleOf[name]].State})
		}
	}
	return stuck
}

// roleOf says whose state tells what a stage does.
var roleOf = map[string]int{StagePlay: roleActor, StageStore: roleActor, StageTrain: roleTrainer, StageGate: roleGate}

// through returns what has gone into a stage of this process and what has come out. Of a
// stage that is at work on one thing after another that is one more.
func (s *Status) through(stage string) (in, out uint64) {
	switch stage {
	case StagePlay:
		out = s.SessionGames
		if state := s.Roles[roleActor].State; strings.HasPrefix(state, "playing") || strings.HasPrefix(state, spoolTakesNone) {
			return out + 1, out
		}
		return out, out // it waits for others, or does not play: not its own doing
	case StageStore:
		out = s.Figures.Left
		return out + uint64(s.Spooled), out
	case StageTrain:
		out = s.Step
		if s.Roles[roleTrainer].State == "training" {
			return out + 1, out
		}
		return out, out // it waits for games
	}
	out = uint64(s.Gate.Pairs) + s.Figures.Passed + s.Figures.Failed
	if s.Gate.Of > 0 {
		return out + 1, out
	}
	return out, out
}
