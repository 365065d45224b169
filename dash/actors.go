package dash

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

const (
	mostActors  = 1000 // of which each is counted for itself
	mostMembers = 1000 // in the list; actors are left out first
	otherActors = "others"
)

// Actors are who plays the games and who else works for the run.
type Actors struct {
	Time    time.Time          `json:"time"`    // by the server's clock, which Seen is by
	Members []Member           `json:"members"` // as they announced themselves, actors last; nil: no server was asked
	Present int                `json:"present"` // who announced themselves; Members leaves some out if there are many
	Asked   *time.Time         `json:"asked"`   // when the server answered last; nil: not yet, or none is asked
	Problem string             `json:"problem"` // why it did not answer; empty: it did
	Build   string             `json:"build"`   // that began the run
	Actors  []ActorLine        `json:"actors"`  // by the games stored, the one with most games first
	Counted uint64             `json:"counted"` // games by which Actors is known
	Refused []selfplay.Refusal `json:"refused"` // the newest quarantined games, the newest first
}

// Member is a process of the run.
type Member struct {
	Role       string    `json:"role"`
	Instance   string    `json:"instance"`
	Host       string    `json:"host"`
	PID        int       `json:"pid"`
	Build      string    `json:"build"`
	Protocol   int       `json:"protocol"`
	Since      time.Time `json:"since"`
	Seen       time.Time `json:"seen"` // its newest heartbeat
	State      string    `json:"state"`
	Net        string    `json:"net"`
	Generation int       `json:"generation"`
	Games      uint64    `json:"games"`   // finished since it began
	Rate       float64   `json:"rate"`    // games a second, of the last seconds
	Waiting    uint64    `json:"waiting"` // games that it keeps for others
	Failed     string    `json:"failed"`  // net that it cannot load, and why; empty: none
}

// ActorLine is an actor as its stored games tell.
type ActorLine struct {
	Name       string     `json:"name"`
	Games      uint64     `json:"games"`
	Rate       float64    `json:"rate"`       // games stored a second, of the last seconds
	Seen       *time.Time `json:"seen"`       // when its newest game was seen; nil: before the page was served
	Net        string     `json:"net"`        // that played White in it
	Generation int        `json:"generation"` // of that net, as generations.of has it
	Build      string     `json:"build"`      // that played it
	Refused    int        `json:"refused"`    // of the quarantined games that are kept
}

// actorGames are the games of an actor.
type actorGames struct {
	games uint64
	seen  time.Time
	net   string
	build string
	rate  meter
}

// countActor counts a stored game for its actor.
func (b *buffer) countActor(s stored, now time.Time) {
	name := cmp.Or(replay.ActorOf(s.header.ID, b.run), otherActors)
	a := b.actors[name]
	if a == nil {
		if len(b.actors) >= mostActors {
			name = otherActors
		}
		if a = b.actors[name]; a == nil {
			a = &actorGames{}
			b.actors[name] = a
		}
	}
	a.games++
	a.net, a.build = s.header.Nets[0], s.header.Build
	if b.begun {
		a.seen = now
	}
}

// actors are who plays and works, as far as it is known.
func (w *Watch) actors(now time.Time) Actors {
	out := Actors{Time: now, Build: w.run.Build, Actors: []ActorLine{}, Refused: w.refused.newest()}
	generation := w.generations()
	by := w.refused.byActor()
	for _, name := range slices.Sorted(maps.Keys(w.buffer.actors)) {
		a := w.buffer.actors[name]
		out.Counted += a.games
		line := ActorLine{
			Name: name, Games: a.games, Rate: a.rate.perSecond(now), Net: a.net, Generation: generation.of(a.net), Build: a.build, Refused: by[name],
		}
		if seen := a.seen; !seen.IsZero() {
			line.Seen = &seen
		}
		out.Actors = append(out.Actors, line)
	}
	slices.SortStableFunc(out.Actors, func(a, b ActorLine) int { return cmp.Compare(b.Games, a.Games) })
	if v := w.servers.overview; v != nil {
		answered := w.servers.answered
		out.Asked, out.Build, out.Present = &answered, v.Run.Build, len(v.Members)
		out.Members = make([]Member, 0, min(mostMembers, len(v.Members)))
		for _, actors := range []bool{false, true} {
			for _, m := range v.Members {
				if (m.Role == "actor") == actors && len(out.Members) < mostMembers {
					out.Members = append(out.Members, w.member(m, now))
				}
			}
		}
		if len(out.Refused) == 0 && v.Refused != nil {
			out.Refused = v.Refused
		}
	}
	out.Problem = w.servers.problem
	return out
}

func (w *Watch) member(m bus.Member, now time.Time) Member {
	out := Member{
		Role: m.Role, Instance: m.Instance, Host: m.Host, PID: m.PID, Build: m.Build, Protocol: m.Protocol, Since: m.Since, Seen: m.Seen,
		State: m.State, Net: m.Net, Generation: m.Generation, Games: m.Games, Waiting: m.Waiting,
	}
	if rate := w.servers.rates[memberKey(m)]; rate != nil {
		out.Rate = rate.perSecond(now)
	}
	if m.FailedNet != "" {
		out.Failed = shortID(m.FailedNet) + ": " + m.FailedWhy
	}
	return out
}
