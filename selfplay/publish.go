package selfplay

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/replay"
)

const (
	publishRetry = 500 * time.Millisecond // after the bus refused games
	bundlePause  = time.Second            // between two messages, unless there are enough games for the next
	bundleBytes  = 512 << 10              // of the games in a message, well below bus.MaxPayload
	confirmEvery = time.Second            // between questions which games are on disk
	endEvery     = 10 * time.Second       // between questions where the stream ends
)

// publisher sends the spool's games to the bus in bundles, and deletes a game when
// the replay role says that it is on disk. A game that the stream has lost is sent
// again.
type publisher struct {
	run   *Run
	spool *spool
	actor string             // its name
	key   ed25519.PrivateKey // signs the games; nil: they are not signed

	// One at a time publishes, and one asks: drain does so while publish and confirm
	// are still at it.
	publishing, asking sync.Mutex

	trying  []string // games of the message that was sent last, unless it was answered; guarded by publishing
	attempt int      // part of its id

	refused int       // games refused that were not told of; guarded by asking
	told    time.Time // of refused games
	end     time.Time // when the end of the stream was asked for; guarded by asking
}

// publish sends games, oldest first, until ctx ends. It sends a bundle when it has
// enough games for one, and else once in a while.
func (p *publisher) publish(ctx context.Context) error {
	refused := false
	for ctx.Err() == nil {
		sent, err := p.once(ctx)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, bus.ErrName) || errors.Is(err, bus.ErrBundle) || errors.Is(err, bus.ErrTooLarge):
			return err // a bug: no retry helps
		case err != nil:
			if !refused {
				p.run.log.Warn("the bus refuses games, they stay spooled", "error", err)
			}
			refused = true
			p.run.status.set(roleActor, "playing, but the bus refuses games: %d spooled", p.spool.size())
			pause.For(ctx, p.run.wait(publishRetry))
		case sent < p.most():
			refused = false
			if left, _ := p.spool.unsent(p.most()); sent > 0 && len(left) < p.most() {
				pause.For(ctx, p.run.wait(bundlePause))
			}
			if !p.unsent() {
				select {
				case <-ctx.Done():
				case <-p.spool.news():
				}
			}
		}
	}
	return nil
}

// most is how many games a message has at most.
func (p *publisher) most() int {
	if p.run.identity.bare() {
		return 1
	}
	return p.run.cfg.Bus.BundleGames
}

// unsent reports whether there are games to publish.
func (p *publisher) unsent() bool {
	ids, _ := p.spool.unsent(1)
	return len(ids) > 0
}

// once publishes one bundle and returns the number of games in it. After a lost answer that
// is the same bundle under the same id, which the stream stores once, whatever games were
// finished since; a bundle that holds a game which the stream lost has an id of its own.
func (p *publisher) once(ctx context.Context) (int, error) {
	p.publishing.Lock()
	defer p.publishing.Unlock()
	defer p.show()
	if len(p.trying) == 0 {
		p.trying, p.attempt = p.spool.unsent(p.most())
	}
	var games [][]byte
	var sent []string
	size := 0
	for _, id := range p.trying {
		data, err := p.read(id)
		if err != nil {
			return 0, err
		}
		if data == nil {
			continue
		}
		if size += len(data); size > bundleBytes && len(games) > 0 {
			break
		}
		games, sent = append(games, data), append(sent, id)
	}
	if p.trying = sent; len(games) == 0 {
		return 0, nil
	}
	message := fmt.Sprintf("%s-%d-%d", sent[0], len(sent), p.attempt)
	var result bus.PubResult
	var err error
	if p.run.identity.bare() {
		result, err = p.run.bus.PublishGame(ctx, p.actor, message, games[0])
	} else {
		result, err = p.run.bus.PublishGames(ctx, p.actor, message, games)
	}
	if err != nil {
		return 0, err
	}
	p.spool.mark(sent, published{result.Stream, result.Sequence})
	p.trying = nil
	return len(sent), nil
}

// read returns the bytes of a spooled game, or none if there is no game any more: a
// file that is no game of that id is set aside, so that it does not hold up others.
func (p *publisher) read(id string) ([]byte, error) {
	data, err := p.spool.read(id)
	if errors.Is(err, fs.ErrNotExist) { // somebody deleted it
		return nil, p.spool.remove(id)
	}
	if err != nil {
		return nil, err
	}
	h, err := game.DecodeHeader(data)
	if err == nil && h.ID != id {
		err = fmt.Errorf("found game %q, expected the one that the file is named after", h.ID)
	}
	if actor := replay.ActorOf(id, p.run.id()); err == nil && p.key != nil && actor != p.actor {
		// No key signs another actor's game, so it would be published again and again.
		err = fmt.Errorf("found a game of actor %q, expected one of %s: %s of the former one was lost", actor, p.actor, actorFile)
	}
	if err == nil {
		if p.key != nil {
			data = game.Seal(data, p.key)
		}
		return data, nil
	}
	p.run.event("spooled file set aside", "file", p.spool.path(id), "error", err.Error())
	return nil, p.spool.setAside(id)
}

func (p *publisher) show() {
	p.run.status.update(func(s *Status) {
		s.Spooled, s.Figures.Left = p.spool.passage()
		s.Figures.Oldest = p.spool.oldest()
	})
}

// confirm asks which games are on disk, until ctx ends. The error wraps errOtherKey.
func (p *publisher) confirm(ctx context.Context) error {
	for pause.For(ctx, pause.Spread(p.run.wait(confirmEvery))) {
		err := p.ask(ctx)
		if errors.Is(err, errOtherKey) {
			return err
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, bus.ErrNobody) {
			p.run.log.Warn("games not confirmed, they stay spooled", "error", err)
		}
	}
	return nil
}

// ask asks once about all games that were published, deletes those that are on disk
// and has those published again that were lost.
func (p *publisher) ask(ctx context.Context) error {
	p.asking.Lock()
	defer p.asking.Unlock()
	defer p.show()
	ids, at := p.spool.waiting(maxAsked)
	if len(ids) == 0 {
		return nil
	}
	answer, err := p.question(ctx, ids)
	if errors.Is(err, bus.ErrNobody) && p.run.identity.bare() {
		return p.spool.remove(ids...) // a replay role of that time answers no questions: the stream has them
	}
	if err != nil {
		return err
	}
	var done, lost, refused []string
	var coming []int // places of games that are on their way, or after the end of the stream
	var failed error // one game that cannot be set aside holds up no other
	for i, id := range ids {
		switch state := answer.States[i]; {
		case state == 's':
			done = append(done, id)
		case state == 'r':
			if err := p.spool.setAside(id); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			refused = append(refused, id)
		case answer.lost(at[i]):
			lost = append(lost, id)
		default:
			coming = append(coming, i)
		}
	}
	if len(coming) > 0 && time.Since(p.end) >= p.run.wait(endEvery) {
		p.end = time.Now()
		stream, last, err := p.run.bus.End(ctx) // with an error: next time
		for _, i := range coming {
			if err == nil && at[i].stream == stream && at[i].sequence > last { // the servers lost the end
				lost = append(lost, ids[i])
			}
		}
	}
	p.tell(refused, answer.Why)
	if len(lost) > 0 {
		p.spool.mark(lost, published{})
		p.run.event("games that the stream has lost are published again", "games", len(lost), "first", lost[0])
	}
	waited := p.spool.waited(done)
	p.run.status.update(func(s *Status) {
		s.Figures.Confirmed += uint64(len(done))
		s.Figures.Waited += waited
	})
	return errors.Join(p.spool.remove(done...), failed)
}

// errOtherKey says that no game of an actor can be stored, as others are under its name.
var errOtherKey = errors.New("the actor's name has another key")

// checkKey refuses, with an error that wraps errOtherKey, an actor whose games the replay
// role would refuse. One that does not answer refuses nobody.
func (p *publisher) checkKey(ctx context.Context) error {
	if p.key == nil {
		return nil
	}
	if _, err := p.question(ctx, nil); errors.Is(err, errOtherKey) {
		return err
	}
	return nil
}

// question asks about games. The error wraps errOtherKey if the actor has not the key of its
// name.
func (p *publisher) question(ctx context.Context, ids []string) (a hasAnswer, err error) {
	q := hasRequest{Schema: messageSchema, IDs: ids}
	if p.key != nil {
		q.Actor, q.Key = p.actor, hex.EncodeToString(p.key.Public().(ed25519.PublicKey))
	}
	reply, err := p.run.bus.Ask(ctx, hasService, encodeMessage(&q))
	if err != nil {
		return a, err
	}
	if a, err = parseHas(reply, len(ids)); err == nil && a.Key != "" {
		err = fmt.Errorf("%w: found %s in %s, expected %s, with which the games of actor %s in the replay buffer are signed: "+
			"if the actor has lost its directory, an operator gives its name a new key (selfplay quarantine %s --new-key --why TEXT), then the games in the spool are stored; "+
			"if another actor has the name, give this one another name and directory", errOtherKey, q.Key, p.run.path(actorFile), a.Key, p.actor, p.actor)
	}
	return a, err
}

// tellEvery is the least time between two events about refused games of one actor: all games
// of one in quarantine are refused.
const tellEvery = time.Minute

// tell tells of games that the replay buffer has refused: of the first and, some time
// later, of how many there were since.
func (p *publisher) tell(refused []string, why map[string]string) {
	if p.refused += len(refused); len(refused) == 0 || time.Since(p.told) < tellEvery {
		return
	}
	p.run.event("games refused by the replay buffer, set aside", "games", p.refused, "game", refused[0], "why", why[refused[0]], "dir", filepath.Join(p.spool.dir, refusedDir))
	p.refused, p.told = 0, time.Now()
}

// drain publishes everything in the spool and waits until it is on disk, until ctx ends,
// or until it is known that no game of the actor is stored; then it returns the last error,
// and the games that are left stay spooled.
func (p *publisher) drain(ctx context.Context) error {
	var last error
	for wait := 5 * time.Millisecond; p.spool.size() > 0; wait = min(2*wait, p.run.wait(confirmEvery)) {
		if err := p.round(ctx); errors.Is(err, errOtherKey) {
			return err
		} else if err != nil && ctx.Err() == nil {
			last = err
		}
		if p.spool.size() > 0 && !pause.For(ctx, wait) {
			return errors.Join(ctx.Err(), last)
		}
	}
	return nil
}

// round publishes all that is not on the bus, and asks once what is on disk.
func (p *publisher) round(ctx context.Context) error {
	for p.unsent() {
		if _, err := p.once(ctx); err != nil {
			return err
		}
	}
	return p.ask(ctx)
}
