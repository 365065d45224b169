package selfplay

import (
	"slices"
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

// begins reports whether a state begins with one of some texts.
func begins(state string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(state, text) })
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

// What a role says while it cannot do its work, which is no calm.
const (
	waitsForServer = "waiting for the server"
	triesAgain     = "waiting to try again"
	triesPair      = "waiting to try a pair again"
)

// calmTrainer begins what a trainer says that has nothing to do: it does not work, another
// process does, or it waits for games that others play, or for those it is copying. Whatever
// else it says, a step is due.
var calmTrainer = []string{"starting", "stopped", "waiting: ", "waiting for games", "waiting for the games of the replay role"}

// roleOf says whose state tells what a stage does.
var roleOf = map[string]int{StagePlay: roleActor, StageStore: roleActor, StageTrain: roleTrainer, StageGate: roleGate}

// through returns what has gone into a stage of this process and what has come out. Of a
// stage that is at work on one thing after another that is one more.
func (s *Status) through(stage string) (in, out uint64) {
	switch stage {
	case StagePlay:
		out = s.SessionGames
		if begins(s.Roles[roleActor].State, "playing", spoolTakesNone) {
			return out + 1, out
		}
		return out, out // it waits for others, or does not play: not its own doing
	case StageStore:
		out = s.Figures.Left
		return out + uint64(s.Spooled), out
	case StageTrain:
		out = s.Figures.Steps
		if begins(s.Roles[roleTrainer].State, calmTrainer...) {
			return out, out
		}
		return out + 1, out
	}
	out = s.Figures.Gated
	if s.Unjudged != "" || begins(s.Roles[roleGate].State, waitsForServer, triesAgain) {
		return out + 1, out
	}
	return out, out // all is judged, or another process is the referee
}
