//go:build linux

package chaos

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// Audit is what is left after a run, compared with what has to be. Lost, Waiting, Twice, Forged,
// Unjudged, Refused and Untold have to be 0, and Learned at least 1.
type Audit struct {
	Finished   int `json:"finished"`   // games seen in spools
	Stored     int `json:"stored"`     // different games in the buffer
	Lost       int `json:"lost"`       // finished, and neither in the buffer nor in a spool
	Waiting    int `json:"waiting"`    // finished, and still in a spool, though there was time to store them
	Twice      int `json:"twice"`      // in the buffer more than once
	Forged     int `json:"forged"`     // in the buffer, and not signed by their actor
	Unjudged   int `json:"unjudged"`   // nets that games were played with, and that no gate has passed
	Refused    int `json:"refused"`    // finished games that the buffer refused
	Destroyed  int `json:"destroyed"`  // games of which a flipped bit hit the only copy, and that are gone
	Unpromised int `json:"unpromised"` // games that were in a spool, but not yet synced, when the power was cut, and are gone
	Nets       int `json:"nets"`       // that games were played with
	Published  int `json:"published"`  // nets, during all of it
	Learned    int `json:"learned"`    // nets published after the last fault
	Rots       int `json:"rots"`       // bits flipped in files of this program
	Cold       int `json:"cold"`       // of those, in nets and logs that nothing reads any more, and that what reads them refuses
	Untold     int `json:"untold"`     // of those, that nobody said anything of and that are still there

	Damage []*damage `json:"damage,omitempty"`
	First  []string  `json:"first,omitempty"` // of what is wrong, some
}

const shownWrong = 20

func (a *Audit) wrong(count *int, format string, args ...any) {
	*count++
	if len(a.First) < shownWrong {
		a.First = append(a.First, fmt.Sprintf(format, args...))
	}
}

// Law is what has to be true after a run of a schedule.
type Law string

// The laws; docs/chaos.md says how each is looked at.
const (
	LawLost     Law = "lost"
	LawTwice    Law = "twice"
	LawForged   Law = "forged"
	LawUnjudged Law = "unjudged"
	LawRefused  Law = "refused"

	LawWaiting Law = "waiting"
	LawUntold  Law = "untold"
	LawLearned Law = "learned"
	LawPlayed  Law = "played" // some game was finished
	LawCalm    Law = "calm"   // the healed cluster got where it has to, in its time
	LawEnded   Law = "ended"  // roles that were asked to end did
)

// ofStored are the laws that hold or not however little time the healed cluster has.
var ofStored = []Law{LawLost, LawTwice, LawForged, LawUnjudged, LawRefused}

// Broken returns the laws that do not hold, and what is to be said of each.
func (a *Audit) Broken() (laws []Law, said []string) {
	for _, c := range []struct {
		n    int
		law  Law
		what string
	}{
		{a.Lost, LawLost, "finished games are lost"}, {a.Waiting, LawWaiting, "finished games did not come from their spool to the buffer"}, {a.Twice, LawTwice, "games are stored more than once"}, {a.Forged, LawForged, "forged games are stored"},
		{a.Unjudged, LawUnjudged, "nets were played that no gate has passed"}, {a.Refused, LawRefused, "finished games were refused"}, {a.Untold, LawUntold, "damaged files were not told of"},
	} {
		if c.n > 0 {
			laws, said = append(laws, c.law), append(said, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if a.Learned == 0 {
		laws, said = append(laws, LawLearned), append(said, "no net was published after the last fault")
	}
	if a.Finished == 0 {
		laws, said = append(laws, LawPlayed), append(said, "no game was finished")
	}
	return laws, said
}

// OK returns an error that names everything wrong.
func (a *Audit) OK() error {
	laws, said := a.Broken()
	if len(laws) == 0 {
		return nil
	}
	return fmt.Errorf("%s\n%s", strings.Join(said, "; "), strings.Join(a.First, "\n"))
}

// evidence is what an audit is made from.
type evidence struct {
	finished   map[string]bool // ids of games seen in spools
	unpromised map[string]bool // that a power cut took before they were synced
	destroyed  map[string]bool // whose only copy a flipped bit hit
	waiting    map[string]bool // ids in spools at the end
	refused    []string
	stored     [][]byte          // records of the buffer, as they are
	keys       map[string]string // public keys of the actors in hex, by name
	run        string            // id
	passed     map[string]bool   // nets that a gate has passed
	rots       []*damage
}

// audit compares.
func (e *evidence) audit() (a Audit) {
	a.Finished = len(e.finished)
	stored, played := map[string]int{}, map[string]bool{}
	for _, sealed := range e.stored {
		record, by, err := game.Unseal(sealed)
		var h game.Header
		if err == nil {
			h, err = game.DecodeHeader(record)
		}
		if err != nil {
			continue // replay's own audit tells of it
		}
		if stored[h.ID]++; stored[h.ID] == 2 {
			a.wrong(&a.Twice, "twice: %s", h.ID)
		}
		actor := replay.ActorOf(h.ID, e.run)
		if key := e.keys[actor]; key == "" || key != hex.EncodeToString(by.PublicKey) {
			a.wrong(&a.Forged, "forged: %s", h.ID)
		}
		for _, id := range h.Nets {
			if len(id) == 64 {
				played[id] = true
			}
		}
	}
	a.Stored, a.Nets = len(stored), len(played)
	for _, id := range slices.Sorted(maps.Keys(played)) {
		if !e.passed[id] {
			a.wrong(&a.Unjudged, "no gate has passed net %s", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.finished)) {
		switch {
		case stored[id] > 0:
		case e.destroyed[id]:
			a.Destroyed++
		case e.unpromised[id]:
			a.Unpromised++
		case e.waiting[id]:
			a.wrong(&a.Waiting, "waiting in a spool: %s", id)
		default:
			a.wrong(&a.Lost, "lost: %s", id)
		}
	}
	for _, id := range e.refused {
		if !e.destroyed[id] {
			a.wrong(&a.Refused, "refused: %s", id)
		}
	}
	a.Damage = e.rots
	for _, d := range e.rots {
		if d.Found == rotServer {
			continue
		}
		a.Rots++
		switch d.Found {
		case rotCold:
			a.Cold++
		case rotUntold:
			a.wrong(&a.Untold, "nobody told of bit %d of byte %d of %s in %s", d.Bit, d.Byte, d.File, d.Process)
		}
	}
	return a
}

// gather reads what an audit is made from after everything has ended.
func (c *cluster) gather() (*evidence, error) {
	finished, err := c.watch.Close()
	if err != nil {
		return nil, err
	}
	e := &evidence{finished: finished, unpromised: c.unpromised, destroyed: c.destroyed, keys: map[string]string{}, passed: map[string]bool{}, waiting: map[string]bool{}}
	for _, id := range c.spooled() {
		e.waiting[id] = true
	}
	if e.run, err = c.runID(); err != nil {
		return nil, err
	}
	key, err := nets.LoadKey(filepath.Join(c.nodes["trainer"].dir, "trainer.key"))
	if err != nil {
		return nil, err
	}
	for _, n := range c.all() {
		n.mu.Lock()
		n.settle()
		for _, d := range n.rots {
			if d.Found == rotUntold {
				if err := n.cold(d, key.Public().(ed25519.PublicKey)); err != nil {
					d.Found, d.Told = rotCold, err.Error()
				}
			}
		}
		e.rots = append(e.rots, n.rots...)
		n.mu.Unlock()
	}
	for _, name := range []string{"actor1", "actor2"} {
		dir := c.nodes[name].dir
		refused, _ := filepath.Glob(filepath.Join(dir, "spool", "refused", "*.game"))
		for _, path := range refused {
			e.refused = append(e.refused, strings.TrimSuffix(filepath.Base(path), ".game"))
		}
		if err := e.actor(filepath.Join(dir, "actor.json")); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"gate1", "gate2"} {
		e.verdicts(c.nodes[name].said(0))
	}
	paths, err := filepath.Glob(filepath.Join(c.nodes["replay"].dir, "replay", "*.seg"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		replay.VisitRecords(data, func(encoded []byte) { e.stored = append(e.stored, encoded) })
	}
	return e, nil
}

// actor takes the key of an actor, as it was before its file was damaged.
func (e *evidence) actor(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(e.rots, func(d *damage) bool { return d.path == path }); i >= 0 {
		text = e.rots[i].whole // the key does not change
	}
	var a struct {
		Name string `json:"name"`
		Seed string `json:"seed"`
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	seed, err := hex.DecodeString(a.Seed)
	if err != nil || len(seed) != ed25519.SeedSize {
		return fmt.Errorf("%s: found a key of %d bytes, expected %d", path, len(seed), ed25519.SeedSize)
	}
	e.keys[a.Name] = hex.EncodeToString(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
	return nil
}

// verdicts takes the nets that passed, by the log of a gate.
func (e *evidence) verdicts(log string) {
	for line := range strings.Lines(log) {
		var v struct {
			Msg    string `json:"msg"`
			Net    string `json:"net"`
			Passed bool   `json:"passed"`
		}
		if json.Unmarshal([]byte(line), &v) == nil && v.Msg == "gate" && v.Passed {
			e.passed[v.Net] = true
		}
	}
}
