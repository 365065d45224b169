package selfplay

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// ErrLost says that a file is gone without which a run cannot go on.
var ErrLost = errors.New("a file of the run is lost")

const identitySchema = 2

// identity says which run a directory belongs to. It is written once. Schema 1, of
// earlier builds, has neither name nor keys, but counts the starts of the loop.
type identity struct {
	Schema    int    `json:"schema"`
	Name      string `json:"name"`             // that people call the run by
	ID        string `json:"id"`               // in the run's subjects, game ids and manifests
	PublicKey string `json:"public_key"`       // that signs the run's nets, in hex
	Instance  string `json:"instance"`         // names this directory to other machines: random
	Starts    int    `json:"starts,omitempty"` // of the loop, by an earlier build
	Build     string `json:"build"`            // that wrote it

	// Protocol is what the run's roles speak, in whose forms all of them write as long
	// as the run lasts; 0, in files of earlier builds: recordsProtocol.
	Protocol int `json:"protocol,omitempty"`
}

// readIdentity reads run.json of a directory; found is false if there is none. A
// directory that holds a run without it is ErrLost.
func readIdentity(dir string) (id identity, found bool, err error) {
	path := filepath.Join(dir, stateFile)
	err = durable.ReadObject(path, "put the file back from a backup or a copy of any age, it is written once; or, if it was changed on purpose, remove the key crc32c", &id)
	if errors.Is(err, fs.ErrNotExist) {
		return id, false, checkEmpty(dir)
	}
	if err != nil {
		return id, false, err
	}
	if id.Schema < 1 || id.Schema > identitySchema || !runID.MatchString(id.ID) || id.Starts < 0 {
		return id, false, fmt.Errorf("%s: found schema %d, id %.80q, %d starts, expected schema 1 or %d", path, id.Schema, id.ID, id.Starts, identitySchema)
	}
	return id, true, nil
}

// runID is what ids of runs look like; those of earlier builds are variant and seed.
var runID = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// checkEmpty refuses a directory that holds parts of a run.
func checkEmpty(dir string) error {
	segments, manifest := replay.Contents(filepath.Join(dir, replayDir))
	_, err := os.Stat(filepath.Join(dir, configFile))
	if !segments && !manifest && err != nil {
		return nil
	}
	return fmt.Errorf("%w: %s is not there, but %s holds a run: put the file back from a backup, or give another directory for a new run, "+
		"which may begin with the nets and games of this one (train.init, selfplay convert)", ErrLost, filepath.Join(dir, stateFile), dir)
}

func (id identity) write(dir string) error {
	text, err := json.MarshalIndent(id, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteSummed(filepath.Join(dir, stateFile), append(text, '\n'))
}

// randomID returns n random characters that may stand in ids: a-z and 2-7.
func randomID(n int) string { return strings.ToLower(rand.Text())[:n] }

const (
	runIDLength    = 10
	actorLength    = 8
	instanceLength = 16
)

// newIdentity is that of a new run.
func newIdentity(dir string, cfg configs.Config, build string) (identity, error) {
	id := identity{Schema: identitySchema, Name: cfg.Run.Name, ID: cfg.Run.ID, Instance: randomID(instanceLength), Build: build, Protocol: cmp.Or(cfg.Run.Protocol, bus.Protocol)}
	if id.ID == "" {
		id.ID = randomID(runIDLength)
	}
	if id.Name == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return id, err
		}
		id.Name = nameOf(filepath.Base(abs))
	}
	return id, nil
}

// nameOf makes the name of a directory one of a run.
func nameOf(base string) string {
	name := strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '-'
	}, base)
	return name[:min(len(name), 64)]
}

// upgrade gives the identity of an earlier build what it lacks.
func (id *identity) upgrade(dir string, cfg configs.Config, build string) error {
	next, err := newIdentity(dir, cfg, build)
	if err != nil {
		return err
	}
	next.ID, next.Starts = id.ID, id.Starts
	*id = next
	return nil
}

// agree refuses settings that name another run.
func (id *identity) agree(dir string, cfg configs.Config) error {
	if cfg.Run.ID != "" && cfg.Run.ID != id.ID || cfg.Run.Name != "" && cfg.Run.Name != id.Name {
		return fmt.Errorf("found run %s with id %s in %s, expected run %s %s: give another directory, or leave run.name and run.id out", id.Name, id.ID, dir, cfg.Run.Name, cfg.Run.ID)
	}
	if p := cfg.Run.Protocol; p != 0 && p != id.protocol() {
		return fmt.Errorf("found a run of protocol %d in %s, expected %d: a run keeps the protocol that it began with, leave run.protocol out", id.protocol(), dir, p)
	}
	return nil
}

// trainerKey returns the key that signs the run's nets, which must be the one that
// the identity names; the identity of a new run gets a new one.
func (id *identity) trainerKey(dir string) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, keyFile)
	key, err := nets.LoadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if id.PublicKey != "" || hasNets(filepath.Join(dir, netsDir)) {
			return nil, fmt.Errorf("%w: %s, with which the nets of run %s are signed (public key %s), is not there: "+
				"put it back from a backup, or begin a new run with this one's newest net (--dir NEW --set train.init=%s)", ErrLost, path, id.Name, id.PublicKey, dir)
		}
		key, err = nets.CreateKey(path)
	}
	if err != nil {
		return nil, err
	}
	public := hex.EncodeToString(key.Public().(ed25519.PublicKey))
	if id.PublicKey != "" && id.PublicKey != public {
		return nil, fmt.Errorf("%s: found public key %s, expected %s, which signs the nets of run %s as %s says: put the one of the two that is not the run's back from a backup",
			path, public, id.PublicKey, id.Name, filepath.Join(dir, stateFile))
	}
	id.PublicKey = public
	return key, nil
}

// publicKey reads the key that a run's nets are signed by.
func publicKey(text string) (ed25519.PublicKey, error) {
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("found public key %.80q, expected %d bytes in hex", text, ed25519.PublicKeySize)
	}
	return key, nil
}

func hasNets(dir string) bool {
	s, err := nets.Open(dir)
	if err != nil {
		return false
	}
	all, _ := s.List()
	return len(all) > 0
}

// actorIdentity is what an actor keeps of itself. Name, key and count belong together: an
// actor that has lost them is another actor, so no game id comes twice. If its settings
// give it the same name, it counts from a start on that the former one cannot have had,
// and an operator has to say that the name has a new key.
type actorIdentity struct {
	Schema int    `json:"schema"`
	Run    string `json:"run"`    // id
	Name   string `json:"name"`   // letters and digits
	Seed   string `json:"seed"`   // of the Ed25519 key that signs its games, 32 bytes in hex
	Starts int    `json:"starts"` // of the actor, the present one included
}

const (
	actorSchema = 1
	actorFile   = "actor.json"

	// localActor is the name of the actor of a loop.
	localActor = "local"
)

// actorName is what names of actors look like.
var actorName = regexp.MustCompile(`^[a-z0-9]{1,24}$`)

// openActor reads the identity of the actor in dir, or makes one with the given name and
// number of earlier starts, and counts this start. An empty name stands for a random one.
func openActor(dir, run, name string, starts int) (actorIdentity, error) {
	path := filepath.Join(dir, actorFile)
	a := actorIdentity{Schema: actorSchema, Run: run, Name: name, Starts: starts}
	text, err := secret.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		seed := make([]byte, ed25519.SeedSize)
		rand.Read(seed) // never fails
		a.Seed = hex.EncodeToString(seed)
		if a.Name == "" {
			a.Name = randomID(actorLength)
		}
	case err != nil:
		return a, err
	default:
		if err := a.parse(path, text); err != nil {
			return a, err
		}
		if a.Run != run {
			return a, fmt.Errorf("%s: found an actor of run %s, expected one of run %s: give another directory", path, a.Run, run)
		}
		if name != "" && name != localActor && a.Name != name {
			return a, fmt.Errorf("%s: found actor %s, expected %s of actor.name: give another directory, or leave actor.name out", path, a.Name, name)
		}
	}
	a.Starts++
	return a, a.write(dir)
}

func (a *actorIdentity) write(dir string) error {
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	return durable.WritePrivate(filepath.Join(dir, actorFile), durable.Sum(append(text, '\n')))
}

// parse reads the content of the file at path. An older copy of that is no remedy: the
// actor would count its starts, and number its games, as it did before.
func (a *actorIdentity) parse(path string, text []byte) error {
	const remedy = "remove it, and the actor goes on under another name; if actor.name gives it the same one, an operator gives that a new key (selfplay quarantine NAME --new-key)"
	text, err := durable.Unsum(path, text, remedy)
	if err != nil {
		return err
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(a); err != nil {
		return fmt.Errorf("%s: %w: %s", path, err, remedy)
	}
	if seed, err := hex.DecodeString(a.Seed); a.Schema != actorSchema || !actorName.MatchString(a.Name) || err != nil || len(seed) != ed25519.SeedSize || a.Starts < 0 {
		return fmt.Errorf("%s: found schema %d, name %.40q, a key of %d bytes and %d starts, expected schema %d, letters and digits, and %d bytes: %s", path, a.Schema, a.Name, len(seed), a.Starts, actorSchema, ed25519.SeedSize, remedy)
	}
	return nil
}

// epoch is the number of starts before the present one.
func (a *actorIdentity) epoch() int { return a.Starts - 1 }

// key returns the key that signs the actor's games.
func (a *actorIdentity) key() ed25519.PrivateKey {
	seed, _ := hex.DecodeString(a.Seed) // checked by parse
	return ed25519.NewKeyFromSeed(seed)
}
