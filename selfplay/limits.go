package selfplay

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// Why games above an actor's limits are refused.
var (
	errRate  = errors.New("the actor sends too many games a minute")
	errQuota = errors.New("the actor has sent too many games today")
)

func isOverLimit(err error) bool { return errors.Is(err, errRate) || errors.Is(err, errQuota) }

// actorLimits bound what the replay role takes from each actor. A token bucket of a
// minute's games fills evenly; a day begins at midnight UTC. The counts begin anew with
// the process. It is for one goroutine.
type actorLimits struct {
	perMinute, perDay int
	now               func() time.Time
	actors            map[string]*usage
	over              news
}

// usage is what an actor has sent.
type usage struct {
	tokens float64
	filled time.Time
	day    int64 // since 1970
	today  int
}

func newActorLimits(c configs.Replay) *actorLimits {
	return &actorLimits{perMinute: c.ActorGamesPerMinute, perDay: c.ActorGamesPerDay, now: time.Now, actors: map[string]*usage{}}
}

// check returns why games are refused, by their place, and counts the others, but for those
// that are free.
func (l *actorLimits) check(signed []signature, free []bool) map[int]error {
	if l == nil || l.perMinute == 0 && l.perDay == 0 {
		return nil
	}
	var over map[int]error
	now := l.now()
	for i, s := range signed {
		if free[i] || s.actor == "" {
			continue
		}
		if err := l.take(s.actor, now); err != nil {
			if over == nil {
				over = map[int]error{}
			}
			over[i] = err
		}
	}
	return over
}

// giveBack takes back what check has counted, for games that could not be stored.
func (l *actorLimits) giveBack(signed []signature, free []bool, over map[int]error) {
	if l == nil {
		return
	}
	for i, s := range signed {
		if u := l.actors[s.actor]; u != nil && !free[i] && over[i] == nil {
			u.tokens, u.today = min(float64(l.perMinute), u.tokens+1), max(0, u.today-1)
		}
	}
}

// take counts one game of an actor, unless it is above a limit.
func (l *actorLimits) take(actor string, now time.Time) error {
	const secondsADay = 24 * 60 * 60
	u := l.actors[actor]
	if u == nil { // there are at most maxActors
		u = &usage{tokens: float64(l.perMinute), filled: now}
		l.actors[actor] = u
	}
	if day := now.Unix() / secondsADay; day != u.day {
		u.day, u.today = day, 0
	}
	if l.perDay > 0 && u.today >= l.perDay {
		return fmt.Errorf("%w: found %d, expected at most %d (replay.actor_games_per_day)", errQuota, u.today+1, l.perDay)
	}
	if l.perMinute > 0 {
		u.tokens = min(float64(l.perMinute), u.tokens+now.Sub(u.filled).Minutes()*float64(l.perMinute))
		u.filled = now
		if u.tokens < 1 {
			return fmt.Errorf("%w: expected at most %d (replay.actor_games_per_minute)", errRate, l.perMinute)
		}
		u.tokens--
	}
	u.today++
	return nil
}

// news counts refused games by actor and says when to tell of them, once in tellEvery for
// each: an actor that plays on sends some every second. It is for one goroutine.
type news map[string]untold

type untold struct {
	games int       // since they were told of
	told  time.Time // when that was
}

// tell counts the refused games of a batch, why each was by actor. It calls event for every
// actor of whom it is time to tell, with how many there are and why the batch's first was.
func (n *news) tell(batch map[string][]error, now time.Time, event func(actor string, games int, why error)) {
	for _, actor := range slices.Sorted(maps.Keys(batch)) {
		if games := n.add(actor, len(batch[actor]), now); games > 0 {
			event(actor, games, batch[actor][0])
		}
	}
}

// add counts refused games of an actor. It returns how many there are to tell of, 0 if it
// is too early.
func (n *news) add(actor string, games int, now time.Time) int {
	if *n == nil {
		*n = news{} // of at most maxActors
	}
	u := (*n)[actor]
	u.games += games
	due := 0
	if now.Sub(u.told) >= tellEvery {
		due, u = u.games, untold{told: now}
	}
	(*n)[actor] = u
	return due
}

// maxTold bounds the refused games whose reasons are remembered.
const maxTold = 1 << 14

// refusals remember why games were refused, the newest ones.
type refusals struct {
	mu    sync.Mutex
	games map[string]refusal
	ring  []string // their ids, oldest from next on once it is full
	next  int

	// coming are games that are being stored: of one that the buffer has just refused
	// the reason is not here yet.
	coming map[string]bool
}

type refusal struct {
	why     string
	dropped bool // the buffer does not know it
}

// begin says that games are being stored, whose refusals are added before end is called.
func (r *refusals) begin(games []signature) (end func()) {
	coming := make(map[string]bool, len(games))
	for _, g := range games {
		coming[g.id] = true
	}
	set := func(games map[string]bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.coming = games
	}
	set(coming)
	return func() { set(nil) }
}

func (r *refusals) add(id, why string, dropped bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.games == nil {
		r.games = map[string]refusal{}
	}
	if _, known := r.games[id]; !known {
		if len(r.ring) < maxTold {
			r.ring = append(r.ring, id)
		} else {
			delete(r.games, r.ring[r.next])
			r.ring[r.next] = id
			r.next = (r.next + 1) % maxTold
		}
	}
	r.games[id] = refusal{why[:min(len(why), maxToldWhy)], dropped}
}

const (
	maxToldWhy = 200 // bytes of a reason that an actor is told
	toldAtOnce = 500 // reasons in one answer
)

// known returns the state of each game of ids, and why those that were refused were.
func (in *ingester) known(ids []string) ([]replay.State, map[string]string) {
	states, why := in.buffer.Known(ids), map[string]string{}
	in.told.mu.Lock()
	defer in.told.mu.Unlock()
	for i, id := range ids {
		r, told := in.told.games[id]
		if !told && states[i] == replay.Refused && in.told.coming[id] {
			states[i] = replay.Unknown // to who asks again it is said why
		}
		if !told || states[i] == replay.Stored {
			continue
		}
		if r.dropped {
			states[i] = replay.Refused
		}
		if states[i] == replay.Refused && len(why) < toldAtOnce {
			why[id] = r.why
		}
	}
	return states, why
}
