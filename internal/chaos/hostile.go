//go:build linux

package chaos

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// misbehave does what somebody with an actor's rights can do wrong.
func (c *cluster) misbehave(ctx context.Context, what string, rng *rand.Rand) (did string, err error) {
	id, err := c.runID()
	if err != nil {
		return "", err
	}
	nc, err := nats.Connect(fmt.Sprintf("nats://127.0.0.1:%d", c.ports[rng.IntN(len(c.ports))].client), nats.Timeout(time.Second), nats.NoReconnect())
	if err != nil {
		return "", err
	}
	defer nc.Close()
	subject := id + ".game.evil"
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return "", err
	}
	sent := 0
	send := func(games ...[]byte) error {
		b, err := bus.EncodeBundle(games)
		if err == nil {
			err = nc.Publish(subject, b)
		}
		sent++
		return err
	}
	genuine := c.genuine(rng, 20)
	switch what {
	case "garbage":
		for ; sent < 20 && err == nil; sent++ {
			err = nc.Publish(subject, noise(1+rng.IntN(4000)))
		}
	case "oversize":
		for ; sent < 3 && err == nil; sent++ {
			err = nc.Publish(subject, noise(950_000))
		}
	case "flood":
		for ; sent < 2000 && err == nil; sent++ {
			err = nc.Publish(subject, noise(64))
		}
	case "questions":
		for ; sent < 200 && err == nil; sent++ {
			err = nc.PublishRequest(id+".ask.replay.has", nats.NewInbox(), noise(rng.IntN(2000)))
		}
	default:
		for _, sealed := range genuine {
			record, _, e := game.Unseal(sealed)
			if e != nil {
				continue
			}
			switch what {
			case "unsigned":
				err = send(record)
			case "stolen-name": // a game that its actor has not finished yet
				err = send(game.Seal(forge(record), key))
			case "another-key":
				err = send(game.Seal(record, key))
			case "truncated":
				err = send(sealed[:1+rng.IntN(len(sealed)-1)])
			case "replayed":
				err = send(sealed)
			}
			if err != nil {
				break
			}
		}
	}
	if err == nil {
		err = nc.FlushTimeout(2 * time.Second)
	}
	return fmt.Sprintf("%d messages", sent), err
}

// forge returns a game record as that of a game which the same actor has not finished yet:
// the last of its numbers begins with another digit.
func forge(record []byte) []byte {
	g, err := game.Decode(record)
	if err != nil {
		return record
	}
	at := strings.LastIndexByte(g.ID, '-') + 1
	g.ID = g.ID[:at] + "9" + g.ID[at+1:]
	forged, err := game.Encode(nil, g)
	if err != nil {
		return record
	}
	return forged
}

// genuine returns games that the replay buffer has, at most n.
func (c *cluster) genuine(rng *rand.Rand, n int) (games [][]byte) {
	paths, _ := filepath.Glob(filepath.Join(c.nodes["replay"].dir, "replay", "*.seg"))
	if len(paths) == 0 {
		return nil
	}
	data, err := os.ReadFile(one(rng, paths))
	if err != nil {
		return nil
	}
	replay.VisitRecords(data, func(encoded []byte) {
		if len(games) < n {
			games = append(games, encoded)
		}
	})
	return games
}

// runID returns the id of the run, as the trainer's directory says.
func (c *cluster) runID() (string, error) {
	text, err := os.ReadFile(filepath.Join(c.nodes["trainer"].dir, "run.json"))
	if err != nil {
		return "", err
	}
	var run struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(text, &run); err != nil || strings.Trim(run.ID, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "", fmt.Errorf("run.json cannot be read: %w", err)
	}
	return run.ID, nil
}
