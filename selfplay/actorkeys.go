package selfplay

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// actorKeys are the public keys of a run's actors, as the replay role knows them: that
// of the first game under an actor's name is the key of all of them. The file survives
// the server, so an actor stays who it was.
type actorKeys struct {
	path  string
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
// that are not signed by the actor that their id names. An error says that new actors could not be recorded,
// so that nothing can be said of their games yet. Signatures take most of the time
// that storing games does, so they are checked on all processors, and all new actors
// of a batch are recorded with one write.
func (k *actorKeys) check(run string, games [][]byte) (signed []signature, refused map[int]error, err error) {
	signed = make([]signature, len(games))
	parallel.Do(runtime.GOMAXPROCS(0), len(games), func(_, i int) { signed[i] = signatureOf(run, games[i]) })
	refused = make(map[int]error)
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

func signatureOf(run string, encoded []byte) signature {
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
	}
	return s
}

func (k *actorKeys) save() error {
	text, err := json.MarshalIndent(actorKeysFormat{actorKeysSchema, k.known}, "", " ")
	if err != nil {
		return err
	}
	return durable.WriteSummed(k.path, append(text, '\n'))
}
