package selfplay

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// actorKeys are the public keys of a run's actors, as the replay role knows them: that
// of the first game under an actor's name is the key of all of them, until an operator
// says that the actor has a new one. The file survives the server, so an actor stays who
// it was. It is safe for concurrent use.
type actorKeys struct {
	path string

	mu    sync.Mutex
	known map[string]string // hex, by name
}

const (
	actorKeysSchema = 1
	actorKeysFile   = "actors.json"
	maxActors       = 1 << 20
)

// actorKeysFormat is the content of the file.
type actorKeysFormat struct {
	Schema int               `json:"schema"`
	Actors map[string]string `json:"actors"`
}

func openActorKeys(path string) (*actorKeys, error) {
	k := &actorKeys{path: path, known: map[string]string{}}
	var f actorKeysFormat
	err := durable.ReadObject(path, "put it back from a backup; actors that came later are known again by their next games", &f)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, err
	}
	if f.Schema != actorKeysSchema {
		return nil, fmt.Errorf("%s: found schema %d, expected %d", path, f.Schema, actorKeysSchema)
	}
	for name, key := range f.Actors {
		k.known[name] = key
	}
	return k, nil
}

// check returns who signed each game, and why games are refused, by their place: those
// that are not signed by the actor that their id names, or that another sent. The key of
// a game that another sent is not taken for its actor's. An error says that new actors
// could not be recorded, so that nothing can be said of their games yet. Signatures take
// most of the time that storing games does, so they are checked on all processors, and all
// new actors of a batch are recorded with one write.
func (k *actorKeys) check(run string, games [][]byte, senders []string) (signed []signature, refused map[int]error, err error) {
	signed = make([]signature, len(games))
	parallel.Do(runtime.GOMAXPROCS(0), len(games), func(_, i int) { signed[i] = signatureOf(run, senders[i], games[i]) })
	refused = make(map[int]error)
	k.mu.Lock()
	defer k.mu.Unlock()
	var added []string
	for i, s := range signed {
		known, ok := k.known[s.actor]
		switch {
		case s.err != nil:
			refused[i] = s.err
		case ok && known != s.key:
			refused[i] = fmt.Errorf("%w: game %s is signed by key %s, expected %s, the key of actor %s", game.ErrSeal, s.id, s.key, known, s.actor)
		case !ok && len(k.known) >= maxActors:
			refused[i] = fmt.Errorf("%w: actor %s: found %d actors, expected no more", game.ErrSeal, s.actor, len(k.known))
		case !ok:
			k.known[s.actor] = s.key
			added = append(added, s.actor)
		}
	}
	if len(added) == 0 {
		return signed, refused, nil
	}
	if err := k.save(); err != nil {
		for _, actor := range added {
			delete(k.known, actor)
		}
		return nil, nil, fmt.Errorf("keys of actors: %w", err)
	}
	return signed, refused, nil
}

// signature says who a game is of and who signed it, or why that cannot be said.
type signature struct {
	id, actor string
	key       string // in hex
	err       error
}

func signatureOf(run, sender string, encoded []byte) signature {
	record, seal, err := game.Unseal(encoded)
	if err != nil {
		return signature{err: err}
	}
	h, err := game.DecodeHeader(record)
	if err != nil {
		return signature{err: err}
	}
	s := signature{id: h.ID, actor: replay.ActorOf(h.ID, run), key: hex.EncodeToString(seal.PublicKey)}
	switch {
	case s.actor == "":
		s.err = fmt.Errorf("%w: found %.80q, expected one of run %s", game.ErrID, h.ID, run)
	case s.key == "":
		s.err = fmt.Errorf("%w: game %s is not signed", game.ErrSeal, h.ID)
	case s.actor != sender:
		s.err = fmt.Errorf("%w: game %s was sent by actor %.80q, expected actor %s, whose name it has", game.ErrSeal, h.ID, sender, s.actor)
	}
	return s
}

// other returns the key of an actor's name, if it is another than the one given. Nothing is
// to be said of an actor that gives none, or where games are not signed.
func (k *actorKeys) other(actor, key string) string {
	if k == nil || key == "" {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if known := k.known[actor]; known != key {
		return known
	}
	return ""
}

// forget makes the key of an actor's next game the key of its name.
func (k *actorKeys) forget(actor string) error {
	if k == nil {
		return errors.New("games of this run are not signed, so no actor has a key")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key, there := k.known[actor]
	if !there {
		return fmt.Errorf("found no key of actor %s: that of its first game becomes it without being asked; selfplay status shows the names", actor)
	}
	delete(k.known, actor)
	if err := k.save(); err != nil {
		k.known[actor] = key
		return fmt.Errorf("keys of actors: %w", err)
	}
	return nil
}

// save writes the file. The mutex is held.
func (k *actorKeys) save() error {
	text, err := json.MarshalIndent(actorKeysFormat{actorKeysSchema, k.known}, "", " ")
	if err != nil {
		return err
	}
	return durable.WriteSummed(k.path, append(text, '\n'))
}

// newKeyService is the service by which an operator has the replay role forget the key of
// an actor that has lost it.
const newKeyService = "replay.newkey"

// NewActorKey has the replay role of a run, or the stopped run in dir, take the key of an
// actor's next game for the key of its name: the actor has lost the former one. The run is
// chosen as by Quarantine, whose errors it returns too. If no replay role works and
// dir has the keys of actors, it is done there: a loop whose own actor this is has ended.
func NewActorKey(ctx context.Context, dir string, cfg configs.Config, o Options, actor, by, why string) (err error) {
	if err := checkActorName(actor); err != nil {
		return err
	}
	choice, err := ChooseNet(ctx, dir, cfg, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, choice.Close()) }()
	r := choice.run
	if r.cfg.Bus.URL != "" {
		_, err = r.askReplay(ctx, newKeyService, &excludeRequest{Schema: messageSchema, Actor: actor, Why: why, By: by})
		if dir == "" || !errors.Is(err, bus.ErrNobody) {
			return err
		}
		if _, e := os.Stat(filepath.Join(r.path(replayDir), actorKeysFile)); e != nil {
			return err
		}
	}
	if e := r.forgetKey(actor); e != nil {
		return errors.Join(err, e)
	}
	return r.bus.Audit(ctx, bus.AuditEntry{By: by, Action: auditNewKey, What: actor, Why: why})
}

// forgetKey forgets the key of an actor in the run's directory, whose replay buffer nobody may
// have open.
func (r *Run) forgetKey(actor string) (err error) {
	lock, err := dirlock.Acquire(r.path(replayDir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	keys, err := openActorKeys(filepath.Join(r.path(replayDir), actorKeysFile))
	if err != nil {
		return err
	}
	return keys.forget(actor)
}

// answerNewKey forgets the key of an actor. The answer is empty.
func (in *ingester) answerNewKey(request []byte) ([]byte, error) {
	var q excludeRequest
	if err := decodeMessage(request, &q); err != nil {
		return nil, err
	}
	if err := in.keys.forget(q.Actor); err != nil {
		return nil, err
	}
	in.run.event("key of an actor forgotten, that of its next game takes its place", "actor", q.Actor, "why", q.Why, "by", q.By)
	in.changed(auditNewKey, q)
	return nil, nil
}
