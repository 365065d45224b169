package selfplay

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// actorKeys are the public keys of a run's actors, as the replay role knows them: that
// of the first game under an actor's name is the key of all of them. The file survives
// the server, so an actor stays who it was.
type actorKeys struct {
	path  string
	known map[string]string // hex, by name
}

// errKeys says that the key of a new actor could not be recorded.
var errKeys = errors.New("keys of actors")

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
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, err
	}
	var f actorKeysFormat
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.Schema != actorKeysSchema {
		return nil, fmt.Errorf("%s: found schema %d, expected %d", path, f.Schema, actorKeysSchema)
	}
	for name, key := range f.Actors {
		k.known[name] = key
	}
	return k, nil
}

// check returns nil if a game is signed by the actor that its id names. The error
// wraps errKeys if that cannot be said yet, as a new actor could not be recorded.
func (k *actorKeys) check(run string, encoded []byte) error {
	record, seal, err := game.Unseal(encoded)
	if err != nil {
		return err
	}
	h, err := game.DecodeHeader(record)
	if err != nil {
		return err
	}
	actor := replay.ActorOf(h.ID, run)
	if actor == "" {
		return fmt.Errorf("%w: found %.80q, expected one of run %s", game.ErrID, h.ID, run)
	}
	if len(seal.PublicKey) != ed25519.PublicKeySize {
		return fmt.Errorf("%w: game %s is not signed", game.ErrSeal, h.ID)
	}
	found := hex.EncodeToString(seal.PublicKey)
	known, ok := k.known[actor]
	if !ok {
		return k.add(actor, found)
	}
	if known != found {
		return fmt.Errorf("%w: game %s is signed by key %s, expected %s, the key of actor %s", game.ErrSeal, h.ID, found, known, actor)
	}
	return nil
}

// add records the key of a new actor.
func (k *actorKeys) add(actor, key string) error {
	if len(k.known) >= maxActors {
		return fmt.Errorf("%w: actor %s: found %d actors, expected no more", game.ErrSeal, actor, len(k.known))
	}
	k.known[actor] = key
	text, err := json.MarshalIndent(actorKeysFormat{actorKeysSchema, k.known}, "", " ")
	if err == nil {
		err = durable.WriteFile(k.path, append(text, '\n'))
	}
	if err != nil {
		delete(k.known, actor)
		return fmt.Errorf("%w: %w", errKeys, err)
	}
	return nil
}
