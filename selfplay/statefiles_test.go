package selfplay

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/golden"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
	"github.com/crazyhouse-rl/selfplay/nets"
)

// TestFlippedBits: of every file of state that a role reads, a flipped bit is an error that
// names the file, or makes no difference.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newRun(dir, configs.Config{}, Options{Build: "test"})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := nets.CreateKey(r.path(keyFile))
	must(err)
	id := identity{Schema: identitySchema, Name: "a", ID: "abcdefghij", PublicKey: hex.EncodeToString(key.Public().(ed25519.PublicKey)), Instance: "x", Build: "test", Protocol: bus.Protocol}
	must(id.write(dir))
	_, err = openActor(dir, id.ID, "", 0)
	must(err)
	list, err := openNetList(r.path(publishedFile), true)
	must(err)
	must(list.add(hex.EncodeToString(make([]byte, 32))))
	keys, err := openActorKeys(r.path(actorKeysFile))
	must(err)
	keys.known["local"] = id.PublicKey
	must(keys.save())
	p := pointers{Schema: 1, Values: map[string]string{"current.crazyhouse.nnue": "abc"}, History: map[string][]string{"current.crazyhouse.nnue": {"ab", "abc"}}}
	must(p.write(r.path(pointersFile)))
	_, err = r.keepSettings(settingsList{Whole: true, Values: []string{"schema: 1\n"}})
	must(err)
	must(r.writeStatus("actor", bus.Member{Role: "actor", Instance: "x"}))

	for _, c := range []struct {
		name   string
		summed bool // else the content has a check of its own
		read   func(path string) (any, error)
	}{
		{stateFile, true, func(string) (any, error) { id, _, err := readIdentity(dir); return id, err }},
		{keyFile, false, func(string) (any, error) { return id.trainerKey(dir) }},
		{actorFile, true, func(path string) (any, error) {
			var a actorIdentity
			text, err := secret.ReadFile(path)
			if err == nil {
				err = a.parse(path, text)
			}
			return a, err
		}},
		{publishedFile, true, func(path string) (any, error) {
			l, err := openNetList(path, false)
			if err != nil {
				return nil, err
			}
			return l.list, nil
		}},
		{actorKeysFile, true, func(path string) (any, error) {
			k, err := openActorKeys(path)
			if err != nil {
				return nil, err
			}
			return k.known, nil
		}},
		{pointersFile, true, func(string) (any, error) { return r.readPointers() }},
		{settingsFile, true, func(path string) (any, error) {
			text, err := durable.ReadSummed(path, settingsRemedy)
			if err != nil {
				return nil, err
			}
			return parseSettings(text, path)
		}},
		{statusFile("actor"), true, func(path string) (any, error) {
			m, err := readStatus(path)
			m.Seen = time.Time{} // it is the file's
			return m, err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, c.name)
			if told := golden.Flip(t, path, func() (any, error) { return c.read(path) }); told == 0 {
				t.Error("no flipped bit made a difference")
			}
			text := golden.Read(t, path)
			object, err := durable.Unsum(path, text, "")
			if err != nil || bytes.Equal(object, text) == c.summed {
				t.Fatalf("found\n%s\nwith checksum %t, error %v", text, c.summed, err)
			}
			want, err := c.read(path)
			must(err)
			must(os.WriteFile(path, object, 0o600)) // as earlier builds wrote it
			if found, err := c.read(path); err != nil || !reflect.DeepEqual(found, want) {
				t.Errorf("without a checksum: found %+v, error %v, expected %+v", found, err, want)
			}
		})
	}
}
