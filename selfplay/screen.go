package selfplay

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// Why a game cannot be compared.
const (
	skipBuild    = "another build"
	skipNet      = "net not at hand"
	skipBook     = "book not at hand"
	skipSettings = "settings not at hand"
	skipRuntime  = "runtime whose results are not the same everywhere"
	skipExcluded = "actor found out before"
)

// screened is what a verifier finds in a game without playing it.
type screened struct {
	stored   []byte
	actor    string // empty if the game does not say
	record   []byte // without seal
	header   game.Header
	id       game.ID
	settings []configs.Actor // that it may have been played with, newest first
	skip     string          // why it cannot be compared
	verdict  *Verdict        // if it is forged in any case
}

// screen looks at a stored game without playing it: at its id and seed, whether its
// net is one of the run's and its limits are some that the run has had, and whether it
// can be played again. Of a game of another build it looks at id and seed alone.
func (v *verifier) screen(ctx context.Context, stored []byte) (s screened, err error) {
	wrong := func(format string, args ...any) (screened, error) {
		s.verdict = &Verdict{Actor: s.actor, Game: s.header.ID, Ply: -1, What: fmt.Sprintf(format, args...)}
		return s, nil
	}
	s.stored = stored
	if s.record, _, err = game.Unseal(stored); err != nil {
		return wrong("%v", err)
	}
	header, err := game.DecodeHeader(s.record)
	if err != nil {
		return wrong("%v", err)
	}
	s.header, s.actor = header, replay.ActorOf(header.ID, v.runID)
	otherBuild := header.Build != playingBuild(v.cfg.Actor, v.build)
	s.id, err = game.ParseID(v.runID, header.ID)
	switch {
	case err != nil && otherBuild && s.actor != "": // an id as ids were before actors had names
		s.skip = skipBuild
		return s, nil
	case err != nil:
		return wrong("%v", err)
	}
	if want := gameSeed(v.cfg.Seed, s.id); header.Seed != want {
		return wrong("found seed %#x, expected %#x of its id", header.Seed, want)
	}
	if otherBuild {
		s.skip = skipBuild
		return s, nil
	}
	if header.Variant != v.variant {
		return wrong("found %s, expected %s", header.Variant.Name, v.variant.Name)
	}
	whole := false
	if s.settings, whole, err = v.fitting(ctx, &header); err != nil {
		return s, err
	}
	switch {
	case len(s.settings) == 0 && whole:
		return wrong("found limits %.80q, which actors of the run never had", header.Limits)
	case len(s.settings) == 0:
		s.skip = skipSettings
		return s, nil
	}
	if header.Nets[0] != header.Nets[1] { // as only some ids have it, by settings that say so
		s.settings = slices.DeleteFunc(s.settings, func(c configs.Actor) bool {
			_, _, wanted := olderSide(c, v.cfg.Seed, s.id)
			return !wanted
		})
		switch {
		case len(s.settings) == 0 && whole:
			return wrong("found nets %.80q and %.80q, expected one", header.Nets[0], header.Nets[1])
		case len(s.settings) == 0:
			s.skip = skipSettings
			return s, nil
		}
	}
	for _, id := range header.Nets {
		switch v.place(ctx, id) {
		case netForeign:
			return wrong("found net %.80q, which the run's trainer never published", id)
		case netGone, netUnsure:
			s.skip = skipNet
		}
	}
	if s.skip == "" && !reproducible(s.settings) {
		s.skip = skipRuntime
	}
	return s, nil
}

// fitting returns the settings that a game with this header may have been played with,
// newest first, and whether there can be no others. The settings of the run are read
// again before it says that none fit.
func (v *verifier) fitting(ctx context.Context, h *game.Header) (fit []configs.Actor, whole bool, err error) {
	for range 2 {
		if v.had == nil {
			history, err := v.history(ctx)
			if err != nil {
				return nil, false, err
			}
			v.had = &history
		}
		if fit = v.had.fitting(h); len(fit) > 0 {
			return fit, v.had.Whole, nil
		}
		whole, v.had = v.had.Whole, nil
	}
	return nil, whole, nil
}

// maxPlaces bounds the nets whose place is remembered.
const maxPlaces = 1 << 16

// place says where the net with this id is. What cannot be said now is asked again.
func (v *verifier) place(ctx context.Context, id string) netPlace {
	place, known := v.places[id]
	if known {
		return place
	}
	place = v.findNet(ctx, id)
	if place == netAtHand || place == netGone {
		if len(v.places) >= maxPlaces {
			clear(v.places)
		}
		v.places[id] = place
	}
	return place
}

// The verifier warns of an actor when so many of its games, and this share of them, cannot be
// verified.
const (
	unverifiableGames = 20
	unverifiableShare = 0.1
	maxUnverifiable   = 8    // actors told of in a status, those with most such games
	maxCounted        = 4096 // actors that are counted
)

// actorCount counts the games of an actor.
type actorCount struct {
	games   uint64
	skipped map[string]uint64 // that cannot be verified, by reason
	told    bool
}

// count counts a game that was screened. A net that is gone counts against the actor
// only among new games: stored ones may be as old as the net.
func (v *verifier) count(s *screened) {
	v.stats.Seen++
	if s.skip != "" {
		v.stats.Skipped[s.skip]++
	}
	c := v.actors[s.actor]
	if c == nil {
		if len(v.actors) >= maxCounted {
			return
		}
		c = &actorCount{skipped: map[string]uint64{}}
		v.actors[s.actor] = c
	}
	if s.skip == skipExcluded || s.skip == skipNet && v.catchingUp {
		return
	}
	c.games++
	if s.skip != "" {
		c.skipped[s.skip]++
	}
	if u, many := c.unverifiable(s.actor); many && !c.told {
		c.told = true
		v.log.Warn("many games of an actor cannot be verified", "found", u.String())
	}
}

// unverifiable says how many games of an actor cannot be verified, and whether these
// are many.
func (c *actorCount) unverifiable(actor string) (u bus.Unverifiable, many bool) {
	u = bus.Unverifiable{Actor: actor, Games: c.games}
	for _, why := range slices.Sorted(maps.Keys(c.skipped)) {
		n := c.skipped[why]
		if u.Count += n; u.Why == "" || n > c.skipped[u.Why] {
			u.Why = why
		}
	}
	return u, u.Count >= unverifiableGames && float64(u.Count) > unverifiableShare*float64(c.games)
}

// unverifiable returns the actors of whom many games cannot be verified, those with
// most such games first.
func (v *verifier) unverifiable() []bus.Unverifiable {
	var all []bus.Unverifiable
	for actor, c := range v.actors {
		if u, many := c.unverifiable(actor); many {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b bus.Unverifiable) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Actor, b.Actor))
	})
	return all[:min(len(all), maxUnverifiable)]
}
