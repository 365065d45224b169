package selfplay

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
)

// ErrVerifier says that a verifier does not play as the actors do, so that it can
// accuse nobody.
var ErrVerifier = errors.New("the verifier is not to be trusted")

// maxDiffering is how many games may differ before one was the same.
const maxDiffering = 64

// Why a game is not compared.
const (
	skipBuild    = "another build"
	skipNet      = "net not at hand"
	skipSettings = "settings not at hand"
	skipRuntime  = "runtime whose results are not the same everywhere"
	skipExcluded = "actor found out before"
)

// actorHistory are the settings that a run's actors have had.
type actorHistory struct {
	Settings []configs.Actor // newest first
	// Whole says that there were no others. If it is not known, a game that differs
	// may have been played with those that are missing, and is skipped.
	Whole bool
}

// firstSettings is how long after a run's beginning its first settings are there.
const firstSettings = time.Minute

// readHistory reads the settings that actors of a run have had out of the values of
// the run's settings, oldest first. They are the whole history if they reach back to
// when the run was created: a server keeps so many only, and may have lost all.
func readHistory(own configs.Config, created time.Time, said []bus.Pointer) actorHistory {
	h := actorHistory{Whole: len(said) > 0 && said[0].Time.Before(created.Add(firstSettings))}
	for _, p := range slices.Backward(said) {
		cfg, err := configs.WithShared(own, []byte(p.Value), "settings of the run")
		if err != nil { // of another build
			h.Whole = false
			continue
		}
		h.Settings = append(h.Settings, cfg.Actor)
	}
	return h
}

// VerifyStats counts what a verifier did with the games it was given.
type VerifyStats struct {
	Seen    uint64            // games given
	Same    uint64            // played again with the same bytes
	Differ  uint64            // verdicts given
	Skipped map[string]uint64 // chosen but not compared, by reason
}

// verifier plays games of a run again and compares. It is for one goroutine.
//
// A verifier that computes otherwise than the actors, on a broken machine or by a
// bug, would accuse them all. So it accuses nobody before it has found one game
// the same; and before it accuses it plays that game again, and the game that
// differs a second time, both by fresh players.
type verifier struct {
	cfg     configs.Config // of the run; what it says of actors does not count
	runID   string
	variant *chess.Variant
	build   string
	log     *slog.Logger
	share   float64 // of the games given that is played again
	history func(context.Context) (actorHistory, error)
	loadNet func(ctx context.Context, id string) (*net, error)

	playing   *replayer         // the newest one used
	net       *net              // the newest one loaded
	proof     []byte            // a game that was the same
	differing int               // games that differed before there was proof
	suspects  map[string][]byte // one of them by each actor
	excluded  map[string]bool   // actors with a verdict
	stats     VerifyStats
}

// newVerifier returns a verifier of the run's games, to which history tells the
// settings that actors have had, as readHistory does.
func newVerifier(r *Run, history func(context.Context) (actorHistory, error)) *verifier {
	first := r.firstNet()
	return &verifier{
		suspects: map[string][]byte{}, excluded: map[string]bool{}, stats: VerifyStats{Skipped: map[string]uint64{}},
		cfg: r.cfg, runID: r.id(), variant: r.variant, build: r.opt.Build, log: r.log, share: r.cfg.Verify.Share, history: history,
		loadNet: func(ctx context.Context, id string) (*net, error) {
			if id == first.ID {
				return first, nil
			}
			return r.loadNet(ctx, id)
		},
	}
}

// run verifies a random share of the games that next returns, sealed or not, until
// next returns io.EOF or ctx ends. Convict is called with every verdict; an actor
// gets one. The error wraps ErrVerifier if the verifier has reason to doubt itself.
func (v *verifier) run(ctx context.Context, next func(context.Context) ([]byte, error), convict func(Verdict) error) error {
	defer v.close()
	for ctx.Err() == nil {
		stored, err := next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = v.consider(ctx, stored, convict)
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("verify: %w", err)
		}
	}
	return nil
}

// consider verifies a game if chance wants it.
func (v *verifier) consider(ctx context.Context, stored []byte, convict func(Verdict) error) error {
	v.stats.Seen++
	if !chosen(v.share) {
		return nil
	}
	verdicts, err := v.verify(ctx, stored)
	for _, verdict := range verdicts {
		if e := convict(verdict); e != nil {
			return errors.Join(err, e)
		}
	}
	return err
}

// chosen is true with the given probability, which nobody can foresee.
func chosen(share float64) bool {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return float64(binary.LittleEndian.Uint64(b[:])>>11)/(1<<53) < share
}

// close gives back what the verifier plays with.
func (v *verifier) close() {
	if v.playing != nil {
		v.playing.player.release()
		v.playing = nil
	}
}

// verify plays a stored game again. It returns the verdicts on it and on games
// before it that had waited for proof that this verifier plays as it should.
func (v *verifier) verify(ctx context.Context, stored []byte) ([]Verdict, error) {
	if v.excluded[v.actorOf(stored)] {
		v.stats.Skipped[skipExcluded]++
		return nil, nil
	}
	verdict, skip, err := v.examine(ctx, stored)
	switch {
	case err != nil:
		return nil, err
	case skip != "":
		v.stats.Skipped[skip]++
		return nil, nil
	case verdict != nil:
		return v.accuse(ctx, stored, *verdict)
	}
	v.stats.Same++
	if v.proof != nil {
		return nil, nil
	}
	v.proof, v.differing = bytes.Clone(stored), 0
	var all []Verdict
	for _, actor := range slices.Sorted(maps.Keys(v.suspects)) {
		suspect := v.suspects[actor]
		delete(v.suspects, actor)
		verdicts, err := v.verify(ctx, suspect)
		if all = append(all, verdicts...); err != nil {
			return all, err
		}
	}
	return all, nil
}

// actorOf returns who sent a game, nothing if its bytes do not say.
func (v *verifier) actorOf(stored []byte) string {
	h, err := game.DecodeHeader(stored)
	if err != nil {
		return ""
	}
	id, err := game.ParseID(v.runID, h.ID)
	if err != nil {
		return ""
	}
	return id.Actor
}

// suspect keeps a game that differs until there is proof.
func (v *verifier) suspect(stored []byte, verdict Verdict) error {
	v.log.Warn("a game differs, but no other was found the same yet, so nobody is accused", "found", verdict.String())
	v.differing++
	if v.suspects[verdict.Actor] == nil {
		v.suspects[verdict.Actor] = bytes.Clone(stored)
	}
	if v.differing < maxDiffering {
		return nil
	}
	return fmt.Errorf("%w: the first %d games differ, the last is %v: this machine or build computes otherwise, the settings are not those of the run, or every actor sends forged games",
		ErrVerifier, maxDiffering, verdict)
}

// accuse gives a verdict once fresh players have found that the game which was the
// same still is, and that the one which differs does so again.
func (v *verifier) accuse(ctx context.Context, stored []byte, first Verdict) ([]Verdict, error) {
	if v.proof == nil {
		return nil, v.suspect(stored, first)
	}
	v.close()
	again, skip, err := v.examine(ctx, v.proof)
	if err != nil {
		return nil, err
	}
	if skip != "" { // its net is gone, for example
		v.proof = nil
		return nil, v.suspect(stored, first)
	}
	if again != nil {
		return nil, fmt.Errorf("%w: what was the same differs now: %v", ErrVerifier, *again)
	}
	v.close()
	second, skip, err := v.examine(ctx, stored)
	if err != nil || skip != "" {
		return nil, err
	}
	if second == nil || *second != first {
		return nil, fmt.Errorf("%w: played twice, a game differed at first by %v and then by %v", ErrVerifier, first, second)
	}
	v.stats.Differ++
	if first.Actor != "" {
		v.excluded[first.Actor] = true
	}
	return []Verdict{first}, nil
}

// examine plays a stored game again. The verdict is nil if the same comes out, or
// if the game is not compared for the reason skip.
func (v *verifier) examine(ctx context.Context, stored []byte) (verdict *Verdict, skip string, err error) {
	record, _, err := game.Unseal(stored)
	if err != nil {
		return &Verdict{Ply: -1, What: err.Error()}, "", nil
	}
	h, err := game.DecodeHeader(record)
	if err != nil {
		return &Verdict{Ply: -1, What: err.Error()}, "", nil
	}
	wrong := func(format string, args ...any) (*Verdict, string, error) {
		return &Verdict{Actor: v.actorOf(record), Game: h.ID, Ply: -1, What: fmt.Sprintf(format, args...)}, "", nil
	}
	if h.Build != playingBuild(v.cfg.Actor, v.build) {
		return nil, skipBuild, nil
	}
	id, err := game.ParseID(v.runID, h.ID)
	if err != nil {
		return wrong("%v", err)
	}
	if want := gameSeed(v.cfg.Seed, id); h.Seed != want {
		return wrong("found seed %#x, expected %#x of its id", h.Seed, want)
	}
	if h.Variant != v.variant {
		return wrong("found %s, expected %s", h.Variant.Name, v.variant.Name)
	}
	if h.Nets[0] != h.Nets[1] {
		return wrong("found nets %.80q and %.80q, expected one", h.Nets[0], h.Nets[1])
	}
	g, err := game.Decode(record)
	if err != nil {
		return wrong("%v", err)
	}
	history, err := v.history(ctx)
	if err != nil {
		return nil, "", err
	}
	settings := history.fitting(&h)
	switch {
	case len(settings) == 0 && history.Whole:
		return wrong("found limits %.80q, which actors of the run never had", h.Limits)
	case len(settings) == 0:
		return nil, skipSettings, nil
	case !reproducible(settings):
		return nil, skipRuntime, nil
	}
	n, err := v.netOf(ctx, h.Nets[0])
	if err != nil {
		return nil, "", err
	}
	if n == nil {
		return nil, skipNet, nil
	}
	// The settings that fit longest say best what was done to the game.
	verdict = &Verdict{Actor: id.Actor, Game: h.ID, Ply: -2}
	for _, c := range settings {
		again, err := v.play(ctx, c, n, id)
		if err != nil {
			return nil, "", err
		}
		want, err := game.Encode(nil, again)
		if err != nil {
			return nil, "", err
		}
		if bytes.Equal(record, want) {
			return nil, "", nil
		}
		if ply, what := difference(g, again); ply > verdict.Ply {
			verdict.Ply, verdict.What = ply, what
		}
	}
	if !history.Whole {
		return nil, skipSettings, nil
	}
	return verdict, "", nil
}

// fitting returns the settings that a game with this header may have been played
// with, newest first, each once.
func (a *actorHistory) fitting(h *game.Header) []configs.Actor {
	var fit []configs.Actor
	for _, c := range a.Settings {
		if c = ofGames(c); h.Limits == game.LimitsText(limitsOf(c)) && !slices.Contains(fit, c) {
			fit = append(fit, c)
		}
	}
	return fit
}

// ofGames returns c without the settings that change no game.
func ofGames(c configs.Actor) configs.Actor {
	c.Name, c.Workers, c.SpoolMaxGames = "", 1, 0
	c.Tree.Threads, c.Tree.Batch = 1, 1
	return c
}

// reproducible reports whether games with all these settings are the same everywhere.
func reproducible(settings []configs.Actor) bool {
	return !slices.ContainsFunc(settings, func(c configs.Actor) bool {
		return c.Search == configs.TreeSearch && c.Tree.Runtime != runtimes.Native && c.Tree.Runtime != runtimes.Int8
	})
}

// netOf returns the net with this id, nil if it is not at hand.
func (v *verifier) netOf(ctx context.Context, id string) (*net, error) {
	if v.net != nil && v.net.ID == id {
		return v.net, nil
	}
	n, err := v.loadNet(ctx, id)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		v.log.Warn("games cannot be verified: their net is not at hand", "net", id, "error", err)
		return nil, nil
	}
	v.net = n
	return n, nil
}

// replayer plays games of one net with one actor's settings.
type replayer struct {
	settings configs.Actor
	net      string
	games    *gameMaker
	player   *actorPlayer
}

// play plays a game again.
func (v *verifier) play(ctx context.Context, c configs.Actor, n *net, id game.ID) (*game.Game, error) {
	if v.playing == nil || v.playing.settings != c || v.playing.net != n.ID {
		v.close()
		r, err := v.open(c, n)
		if err != nil {
			return nil, err
		}
		v.playing = r
	}
	return v.playing.games.play(ctx, v.playing.player, n.ID, id)
}

func (v *verifier) open(c configs.Actor, n *net) (*replayer, error) {
	games, err := newGameMaker(c, v.variant, v.cfg.Seed, v.build, v.log)
	if err != nil {
		return nil, err
	}
	cfg := v.cfg
	cfg.Actor = c
	style, err := newStyle(&Run{cfg: cfg, variant: v.variant, status: newSharedStatus(), log: v.log})
	if err != nil {
		return nil, err
	}
	player, err := style.player(n)
	if err != nil {
		return nil, err
	}
	return &replayer{c, n.ID, games, player}, nil
}
