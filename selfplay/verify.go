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

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
)

// ErrVerifier says that a verifier does not play as the actors do, so that it can
// accuse nobody.
var ErrVerifier = errors.New("the verifier is not to be trusted")

// maxDiffering is how many games may differ before one was the same.
const maxDiffering = 64

// actorHistory are the settings that a run's actors have had.
type actorHistory struct {
	Settings []configs.Actor // newest first
	// Whole says that there were no others. If it is not known, a game that differs
	// may have been played with those that are missing, and is skipped.
	Whole bool
}

// VerifyStats counts what a verifier did with the games it was given.
type VerifyStats struct {
	Seen    uint64            // games given
	Same    uint64            // played again with the same bytes
	Differ  uint64            // verdicts given
	Skipped map[string]uint64 // that cannot be compared, by reason
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
	book    func(ctx context.Context, setting string) (*book.Book, error)
	findNet func(ctx context.Context, id string) netPlace

	had        *actorHistory          // settings as read last
	places     map[string]netPlace    // of nets
	actors     map[string]*actorCount // by name
	catchingUp bool                   // the games given are not new

	playing   *replayer         // the newest one used
	nets      map[string]*net   // loaded, by id
	proof     []byte            // a game that was the same
	differing int               // games that differed before there was proof
	suspects  map[string][]byte // one of them by each actor
	excluded  map[string]bool   // actors with a verdict, until games come that were asked for after it
	stats     VerifyStats
}

// newVerifier returns a verifier of the run's games, to which history tells the
// settings that actors have had.
func newVerifier(r *Run, history func(context.Context) (actorHistory, error)) *verifier {
	first := r.firstNet()
	return &verifier{
		suspects: map[string][]byte{}, excluded: map[string]bool{}, stats: VerifyStats{Skipped: map[string]uint64{}},
		places: map[string]netPlace{}, nets: map[string]*net{}, actors: map[string]*actorCount{}, findNet: r.findNet,
		book: r.openingBook, cfg: r.cfg, runID: r.id(), variant: r.variant, build: r.opt.Build, log: r.log, share: r.cfg.Verify.Share, history: history,
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
// gets one until it is released. The error wraps ErrVerifier if the verifier has reason
// to doubt itself.
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

// consider screens a game, and verifies it if it is forged in any case or chance wants
// it.
func (v *verifier) consider(ctx context.Context, stored []byte, convict func(Verdict) error) error {
	s, err := v.screen(ctx, stored)
	if err != nil {
		return err
	}
	if v.excluded[s.actor] && s.skip == "" {
		s.skip = skipExcluded
	}
	v.count(&s)
	// Until one game was the same, the first of every actor is played; more of one
	// actor, who may have sent nothing but forged ones, only as chance wants it.
	first := v.proof == nil && v.suspects[s.actor] == nil && v.share > 0
	forged := v.proof != nil && s.verdict != nil
	if s.skip != "" || !forged && !first && !chosen(v.share) {
		return nil
	}
	verdicts, err := v.verify(ctx, &s)
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
		v.playing.release()
		v.playing = nil
	}
}

// verify plays a game again. It returns the verdicts on it and on games before it that
// had waited for proof that this verifier plays as it should.
func (v *verifier) verify(ctx context.Context, s *screened) ([]Verdict, error) {
	verdict, skip, err := v.compare(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case skip != "":
		v.stats.Skipped[skip]++
		return nil, nil
	case verdict != nil:
		return v.accuse(ctx, s.stored, *verdict)
	}
	v.stats.Same++
	if v.proof != nil {
		return nil, nil
	}
	v.proof, v.differing = bytes.Clone(s.stored), 0
	var all []Verdict
	for _, actor := range slices.Sorted(maps.Keys(v.suspects)) {
		suspect, err := v.screen(ctx, v.suspects[actor])
		delete(v.suspects, actor)
		if err != nil {
			return all, err
		}
		if suspect.skip != "" {
			continue
		}
		verdicts, err := v.verify(ctx, &suspect)
		if all = append(all, verdicts...); err != nil {
			return all, err
		}
	}
	return all, nil
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
	v.had = nil // the settings may have changed since
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

// examine screens a stored game and plays it again.
func (v *verifier) examine(ctx context.Context, stored []byte) (verdict *Verdict, skip string, err error) {
	s, err := v.screen(ctx, stored)
	if err != nil || s.skip != "" {
		return nil, s.skip, err
	}
	return v.compare(ctx, &s)
}

// compare plays a screened game again. The verdict is nil if the same comes out, or
// if the game is not compared for the reason skip.
func (v *verifier) compare(ctx context.Context, s *screened) (verdict *Verdict, skip string, err error) {
	if s.verdict != nil {
		return s.verdict, "", nil
	}
	g, err := game.Decode(s.record)
	if err != nil {
		return &Verdict{Actor: s.actor, Game: s.header.ID, Ply: -1, What: err.Error()}, "", nil
	}
	var n [2]*net
	for side, id := range s.header.Nets {
		if n[side], err = v.netOf(ctx, id); err != nil {
			return nil, "", err
		}
		if n[side] == nil {
			return nil, skipNet, nil
		}
	}
	// The settings that fit longest say best what was done to the game.
	verdict = &Verdict{Actor: s.actor, Game: s.header.ID, Ply: -2}
	for _, c := range s.settings {
		again, err := v.play(ctx, c, n, s.id)
		if errors.Is(err, bus.ErrNoFile) {
			return nil, skipBook, nil
		}
		if err != nil {
			return nil, "", err
		}
		want, err := game.Encode(nil, again)
		if err != nil {
			return nil, "", err
		}
		if bytes.Equal(s.record, want) {
			return nil, "", nil
		}
		if ply, what := difference(g, again); ply > verdict.Ply {
			verdict.Ply, verdict.What = ply, what
		}
	}
	if !v.had.Whole {
		return nil, skipSettings, nil
	}
	return verdict, "", nil
}

// fitting returns the settings that a game with this header may have been played
// with, newest first, each once.
func (a *actorHistory) fitting(h *game.Header) []configs.Actor {
	var fit []configs.Actor
	played, _ := game.SplitResearch(h.Limits)
	for _, c := range a.Settings {
		if c = ofGames(c); slices.Contains(limitsTexts(c), played) && !slices.Contains(fit, c) {
			fit = append(fit, c)
		}
	}
	return fit
}

// ofGames returns c without the settings that change no game.
func ofGames(c configs.Actor) configs.Actor {
	c.Name, c.Workers, c.SpoolMaxGames = "", 1, 0
	if c.BookShare == 0 {
		c.Book = configs.NoBook
	}
	if c.ResearchShare == 0 {
		c.ResearchNodes = 0
	}
	c.OlderNets = 0 // which of them is in the record
	if c.OlderShare == 0 {
		c.OlderTrain = false
	}
	c.Tree.Threads, c.Tree.Batch = 1, 1
	return c
}

// reproducible reports whether games with all these settings are the same everywhere.
func reproducible(settings []configs.Actor) bool {
	return !slices.ContainsFunc(settings, func(c configs.Actor) bool {
		return c.Search == configs.TreeSearch && c.Tree.Runtime != runtimes.Native && c.Tree.Runtime != runtimes.Int8
	})
}

// maxNets is how many loaded nets a verifier keeps.
const maxNets = 8

// netOf returns the net with this id, nil if it is not at hand.
func (v *verifier) netOf(ctx context.Context, id string) (*net, error) {
	if n := v.nets[id]; n != nil {
		return n, nil
	}
	n, err := v.loadNet(ctx, id)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		v.log.Warn("games cannot be verified: their net is not at hand", "net", id, "error", err)
		return nil, nil
	}
	if len(v.nets) >= maxNets {
		clear(v.nets)
	}
	v.nets[id] = n
	return n, nil
}

// replayer plays games with one actor's settings again.
type replayer struct {
	settings         configs.Actor
	style            style
	games            *gameMaker
	player, opponent keptPlayer
}

// release gives back what it plays with.
func (r *replayer) release() {
	r.player.leave()
	r.opponent.leave()
}

// play plays a game again with the nets of White and Black.
func (v *verifier) play(ctx context.Context, c configs.Actor, n [2]*net, id game.ID) (*game.Game, error) {
	if v.playing == nil || v.playing.settings != c {
		v.close()
		r, err := v.open(ctx, c)
		if err != nil {
			return nil, err
		}
		v.playing = r
	}
	pair, err := v.playing.pair(n, v.cfg.Seed, id)
	if err != nil {
		return nil, err
	}
	return v.playing.games.play(ctx, pair, id)
}

// pair says who plays a game with the nets of White and Black, of which screen has
// found that they may be what they are.
func (r *replayer) pair(n [2]*net, seed uint64, id game.ID) (pairing, error) {
	if n[0] == n[1] {
		err := r.player.take(r.style, n[0])
		return alone(r.player.player, n[0]), err
	}
	older, _, _ := olderSide(r.settings, seed, id)
	err := errors.Join(r.player.take(r.style, n[older.Other()]), r.opponent.take(r.style, n[older]))
	return against(r.player.player, n[older.Other()], r.opponent.player, n[older], older), err
}

func (v *verifier) open(ctx context.Context, c configs.Actor) (*replayer, error) {
	b, err := v.book(ctx, c.Book)
	if err != nil {
		return nil, err
	}
	games := newGameMaker(c, v.variant, b, v.cfg.Seed, v.build, v.log)
	cfg := v.cfg
	cfg.Actor = c
	style, err := newStyle(&Run{cfg: cfg, variant: v.variant, status: newSharedStatus(), log: v.log})
	if err != nil {
		return nil, err
	}
	return &replayer{settings: c, style: style, games: games}, nil
}
