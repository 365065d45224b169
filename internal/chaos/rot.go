//go:build linux

package chaos

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// kindsOfFiles are what each role keeps, by pattern in its directory. A file is drawn from a
// kind that is drawn first, so that rare kinds are hit as often as others.
var kindsOfFiles = map[string][]string{
	"actor":   {"actor.json", "run.json", "events.jsonl", "spool/*.game", "nets/*", "books/*"},
	"replay":  {"run.json", "events.jsonl", "replay/*.seg", "replay/manifest.json", "replay/actors.json"},
	"trainer": {"run.json", "events.jsonl", "trainer.key", "config.yaml", "published.json", "settings.json", "pointers.json", "train/*.checkpoint", "nets/*", "window/*.seg", "window/manifest.json", "window/mirror.json"},
	"gate":    {"run.json", "events.jsonl", "gate/*", "nets/*", "books/*"},
	"verify":  {"run.json", "events.jsonl", "nets/*", "books/*"},
}

// damage is a flipped bit.
type damage struct {
	Process string `json:"process"`
	File    string `json:"file"` // in its directory
	Byte    int    `json:"byte"`
	Bit     int    `json:"bit"`
	Found   string `json:"found"` // what became of it
	Told    string `json:"told,omitempty"`

	path          string
	whole, rotten []byte
	from          int64 // offset of the process's log
}

// What became of damage.
const (
	rotTold     = "told"
	rotReplaced = "replaced before it was read"
	rotRepaired = "told, put back from a copy"
	rotServer   = "a server's, copied from others"
	rotCold     = "nothing reads it any more; what reads it refuses it"
	rotUntold   = "not told"
)

// rot kills a process and flips a bit of one of its files. Replay segments are full of
// games that are nowhere else: those that are hit are noted.
func (c *cluster) rot(n *node, rng *rand.Rand) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kill()
	c.watch.Look()
	path, err := n.pick(rng)
	if err != nil || path == "" {
		return "killed; it has no file yet", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	d := &damage{Process: n.name, Byte: rng.IntN(len(data)), Bit: rng.IntN(8), path: path, whole: data, rotten: bytes.Clone(data), from: n.logSize()}
	d.File, _ = filepath.Rel(n.dir, path)
	d.rotten[d.Byte] ^= 1 << d.Bit
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.WriteAt(d.rotten[d.Byte:][:1], int64(d.Byte)); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case n.name == "replay" && replay.IsSegment(path):
		left := idsOf(d.rotten)
		for id := range idsOf(data) {
			c.destroyed[id] = c.destroyed[id] || !left[id]
		}
	case strings.HasSuffix(path, ".game"):
		c.destroyed[strings.TrimSuffix(filepath.Base(path), ".game")] = true
	}
	n.rots = append(n.rots, d)
	return fmt.Sprintf("killed, bit %d of byte %d of %s", d.Bit, d.Byte, d.File), nil
}

// pick draws a file of the process that is not empty, "" if there is none.
func (n *node) pick(rng *rand.Rand) (string, error) {
	kinds := kindsOfFiles[strings.TrimRight(n.name, "12")]
	if slices.Contains(servers, n.name) {
		var all []string
		err := filepath.WalkDir(n.dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && !empty(path) {
				all = append(all, path)
			}
			return err
		})
		if len(all) == 0 {
			return "", err
		}
		return one(rng, all), err
	}
	for _, i := range rng.Perm(len(kinds)) {
		paths, err := filepath.Glob(filepath.Join(n.dir, kinds[i]))
		if err != nil {
			return "", err
		}
		paths = slices.DeleteFunc(paths, empty)
		if len(paths) > 0 {
			return one(rng, paths), nil
		}
	}
	return "", nil
}

func empty(path string) bool {
	info, err := os.Stat(path)
	return err != nil || !info.Mode().IsRegular() || info.Size() == 0
}

// idsOf returns the games in a segment.
func idsOf(segment []byte) map[string]bool {
	ids := map[string]bool{}
	replay.VisitRecords(segment, func(encoded []byte) {
		if h, err := game.DecodeHeader(encoded); err == nil {
			ids[h.ID] = true
		}
	})
	return ids
}

// settle looks what became of a process's damage. Its mutex is held.
func (n *node) settle() {
	for _, d := range n.rots {
		if d.Found != "" && d.Found != rotUntold {
			continue
		}
		now, err := os.ReadFile(d.path)
		switch told := sentence(n.said(d.from), filepath.Base(d.path)); {
		case told != "":
			d.Found, d.Told = rotTold, told
		case slices.Contains(servers, n.name):
			d.Found = rotServer
		case err != nil || len(now) <= d.Byte || now[d.Byte] != d.rotten[d.Byte]:
			d.Found = rotReplaced
		default:
			d.Found = rotUntold
		}
	}
}

// cold looks at damage of a net or of the log of a gate, which nothing may have had a reason to read
// since, by what reads such a file.
func (n *node) cold(d *damage, run ed25519.PublicKey) error {
	stem, _, _ := strings.Cut(filepath.Base(d.path), ".")
	switch filepath.Dir(d.File) {
	case "nets":
		s, err := nets.Open(filepath.Dir(d.path))
		if err != nil {
			return err
		}
		m, err := s.Manifest(stem)
		if whole, e := nets.ParseManifest(d.whole); err == nil && e == nil && m == whole && filepath.Ext(d.path) == ".json" {
			return errors.New("it says the same: the case of a digit has changed")
		}
		if err == nil {
			err = m.Verify(run)
		}
		if err == nil {
			_, err = s.Get(stem)
		}
		return err
	case "gate":
		f, err := os.Open(d.path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = match.ReadLog(f)
		return err
	}
	return nil
}

// sentence returns the first line of a log that names the file, by its name or, of nets, by
// the beginning of their id.
func sentence(log, name string) string {
	stem, _, _ := strings.Cut(name, ".")
	if len(stem) == 64 {
		name = stem[:8]
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, name) && !strings.Contains(line, `"level":"INFO","msg":"net `) {
			line = strings.TrimSpace(line)
			return line[:min(len(line), 500)]
		}
	}
	return ""
}

// repair puts damaged files back that keep a process from starting and of which it says so.
// The mutex is held.
func (n *node) repair(log *slog.Logger) {
	n.settle()
	for _, d := range n.rots {
		now, err := os.ReadFile(d.path)
		if d.Found != rotTold || err != nil || !bytes.Equal(now, d.rotten) {
			continue
		}
		if err := os.WriteFile(d.path, d.whole, 0o600); err != nil {
			log.Error("not put back", "file", d.path, "error", err)
			continue
		}
		d.Found = rotRepaired
		log.Info("put back from a copy", "process", n.name, "file", d.File)
	}
}
