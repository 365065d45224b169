package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// shownDifferences is how many differences a drill tells of each kind.
const shownDifferences = 5

// DrillReport says what a drill has compared, and what differs.
type DrillReport struct {
	Snapshot   string `json:"snapshot"`
	Files      int    `json:"files"`       // written anew, each with the SHA-256 that the snapshot names
	Bytes      int64  `json:"bytes"`       // of them
	Games      uint64 `json:"games"`       // records of the replay buffer, compared by id and bytes
	Unique     uint64 `json:"unique"`      // different ids, counted by an audit that replays each game by the rules
	Pending    int    `json:"pending"`     // messages of games on their way, compared by actor, id and bytes
	Rejects    int    `json:"rejects"`     // quarantined games of the servers, compared by reason and bytes
	Nets       int    `json:"nets"`        // of the servers, each read whole and hashed
	StoredNets int    `json:"stored_nets"` // of the directory, likewise
	Pointers   int    `json:"pointers"`    // keys, compared with all their values
	Values     int    `json:"values"`      // of the pointers
	Checkpoint string `json:"checkpoint"`  // loaded; empty: there is none
	Step       uint64 `json:"step"`        // of the optimiser, in it
	// Differences are what a restored run would not be as it was; none: the backup is good.
	Differences []string `json:"differences"`
	Notes       []string `json:"notes"`
}

// String prints what was compared, a line each, then the differences.
func (r *DrillReport) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "snapshot     %s\n", r.Snapshot)
	fmt.Fprintf(&s, "files        %d with %d bytes, by SHA-256\n", r.Files, r.Bytes)
	fmt.Fprintf(&s, "games        %d by id and bytes, %d of them different and legal; the replay buffer opens\n", r.Games, r.Unique)
	fmt.Fprintf(&s, "on their way %d messages, %d quarantined games, by their bytes\n", r.Pending, r.Rejects)
	fmt.Fprintf(&s, "nets         %d of the servers, %d of the directory, by SHA-256\n", r.Nets, r.StoredNets)
	fmt.Fprintf(&s, "pointers     %d with %d values\n", r.Pointers, r.Values)
	if r.Checkpoint != "" {
		fmt.Fprintf(&s, "checkpoint   %s loads, step %d\n", r.Checkpoint, r.Step)
	} else {
		fmt.Fprintln(&s, "checkpoint   none")
	}
	for _, n := range r.Notes {
		fmt.Fprintln(&s, "-", n)
	}
	for _, d := range r.Differences {
		fmt.Fprintln(&s, "!", d)
	}
	return strings.TrimSuffix(s.String(), "\n")
}

// drill compares a restored run with its snapshot.
type drill struct {
	repo     *Repository
	snapshot *Snapshot
	dir      string
	read     int64                     // bytes read so far
	progress func(read, written int64) // may be nil
	report   DrillReport
}

// Drill restores a snapshot into a directory of its own under temp, with a server inside
// the process, compares what is there then with what the snapshot says, and removes it.
// The report has the differences; an error means that the comparison was not made to its
// end. Of the options, Servers are not used.
func (r *Repository) Drill(ctx context.Context, s *Snapshot, temp string, o RestoreOptions) (report DrillReport, err error) {
	report.Snapshot = s.Label()
	base, err := os.MkdirTemp(temp, "selfplay-drill-")
	if err != nil {
		return report, fmt.Errorf("drill: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(base)) }()
	d := &drill{repo: r, snapshot: s, dir: filepath.Join(base, "run"), progress: o.Progress, report: report}
	o.embed = true
	restored, err := r.Restore(ctx, s, d.dir, o)
	d.read = restored.Bytes
	d.report.Files, d.report.Bytes, d.report.Notes = restored.Files, restored.Bytes, restored.Notes
	if err == nil {
		err = d.compare(ctx)
	}
	if errors.Is(err, ErrDamaged) {
		d.differ("%v", err)
		err = nil
	}
	return d.report, err
}

func (d *drill) differ(format string, args ...any) {
	d.report.Differences = append(d.report.Differences, fmt.Sprintf(format, args...))
}

func (d *drill) compare(ctx context.Context) error {
	state, err := d.repo.state(d.snapshot)
	if err != nil {
		return err
	}
	if err := d.servers(ctx, state); err != nil {
		return err
	}
	if err := d.storedNets(); err != nil {
		return err
	}
	return d.games(state)
}

// servers compares what the restored server has.
func (d *drill) servers(ctx context.Context, want selfplay.ServerState) (err error) {
	cfg, found, err := selfplay.SavedConfig(d.dir)
	if err == nil && !found {
		cfg, err = configs.Preset("laptop")
	}
	if err != nil {
		return err
	}
	cfg = embedded(cfg)
	cfg.Run.Name, cfg.Run.ID = want.Run.Name, want.Run.ID
	cfg.Variant, cfg.Net.Kind = want.Run.Variant, want.Run.Kind
	servers, err := selfplay.ReadServers(ctx, d.dir, cfg, selfplay.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, servers.Close()) }()
	state, err := servers.State(ctx)
	if err != nil {
		return err
	}
	record, err := json.Marshal(state.Run)
	wanted, e := json.Marshal(want.Run)
	if err := errors.Join(err, e); err != nil {
		return err
	}
	if !bytes.Equal(record, wanted) {
		d.differ("record of the run: found %s, expected %s", record, wanted)
	}
	d.pointers(state.Pointers, want.Pointers)
	for _, id := range want.Nets {
		hash := sha256.New()
		if _, err := servers.Net(ctx, id, hash); err != nil {
			d.differ("net %s: %v", id, err)
		} else if found := hex.EncodeToString(hash.Sum(nil)); found != id {
			d.differ("net %s: found content with SHA-256 %s", id, found)
		} else {
			d.report.Nets++
		}
	}
	return d.onTheirWay(ctx, servers)
}

func (d *drill) pointers(found, want map[string][]string) {
	for key, values := range want {
		if len(values) == 0 {
			continue
		}
		if !slices.Equal(found[key], values) {
			d.differ("pointer %s: found %d values, expected %d, the last %.80q", key, len(found[key]), len(values), values[len(values)-1])
			continue
		}
		d.report.Pointers++
		d.report.Values += len(values)
	}
	for key := range found {
		if len(want[key]) == 0 {
			d.differ("pointer %s: found one, expected none", key)
		}
	}
}

// onTheirWay compares the games of the stream and the quarantined ones of the servers.
func (d *drill) onTheirWay(ctx context.Context, servers *selfplay.ServerReader) error {
	want := map[string][]byte{} // a message of an id that came before is not stored
	err := lines(d.repo, d.snapshot, gamesPath, func(m message) error {
		if want[m.Actor+" "+m.ID] == nil {
			want[m.Actor+" "+m.ID] = m.Data
		}
		return nil
	})
	if err != nil {
		return err
	}
	all := len(want)
	err = servers.Games(ctx, func(m bus.PendingMessage) error {
		name := m.Actor + " " + m.ID
		if data, there := want[name]; !there || !bytes.Equal(data, m.Data) {
			d.differ("message %s: found %d bytes, expected %d", name, len(m.Data), len(data))
		}
		delete(want, name)
		return nil
	})
	if err != nil {
		return err
	}
	d.report.Pending = all - len(want)
	for _, name := range slices.Sorted(maps.Keys(want))[:min(len(want), shownDifferences)] {
		d.differ("message %s: found none of %d bytes", name, len(want[name]))
	}
	found, err := servers.Rejects(ctx)
	if err != nil {
		return err
	}
	err = lines(d.repo, d.snapshot, rejectsPath, func(g rejected) error {
		if i := d.report.Rejects; i >= len(found) || found[i].Reason != g.Reason || !bytes.Equal(found[i].Data, g.Data) {
			d.differ("quarantined game %d: found another than %.80q", i, g.Reason)
		}
		d.report.Rejects++
		return nil
	})
	return err
}

// storedNets reads the nets of the directory, which are named by their content.
func (d *drill) storedNets() error {
	store, err := nets.Open(filepath.Join(d.dir, "nets"))
	if err != nil {
		return err
	}
	all, err := store.List()
	if err != nil {
		d.differ("nets: %v", err)
	}
	for _, m := range all {
		switch _, err := store.Get(m.ID); {
		case errors.Is(err, nets.ErrNotFound): // its file was removed before the backup
		case err != nil:
			d.differ("net %s: %v", m.ID, err)
		default:
			d.report.StoredNets++
		}
	}
	return nil
}

// games opens buffer and checkpoint as the run's roles do, and compares each game of the
// buffer, as the trainer's side reads them, with the snapshot's segments.
func (d *drill) games(state selfplay.ServerState) error {
	dir := filepath.Join(d.dir, "replay")
	if segments, manifest := replay.Contents(dir); !segments && !manifest {
		if d.snapshot.Games > 0 {
			d.differ("games: found no replay buffer, expected %d games", d.snapshot.Games)
		}
	}
	cfg, found, err := selfplay.SavedConfig(d.dir)
	if err == nil && !found {
		cfg, err = configs.Preset("laptop")
		cfg.Variant, cfg.Net.Kind = state.Run.Variant, state.Run.Kind
	}
	if err != nil {
		return err
	}
	facts, err := selfplay.VerifyDirectory(d.dir, cfg, state.Run)
	if err != nil {
		d.differ("%v", err)
		return nil
	}
	d.report.Checkpoint, d.report.Step = facts.Checkpoint, facts.Step
	for _, damage := range facts.Damage[:min(len(facts.Damage), shownDifferences)] {
		if damage.Games > 0 { // else it is a record that was being written
			d.differ("replay buffer: %v", damage)
		}
	}
	if err := d.eachGame(dir); err != nil {
		return err
	}
	audit, err := replay.Audit(dir)
	if err != nil {
		return err
	}
	if d.report.Unique = audit.UniqueIDs; audit.Wrong() || audit.Games != d.snapshot.Games {
		d.differ("audit of the replay buffer: %d games, expected %d; %d twice, %d not legal, %d damaged places, %d missing", audit.Games, d.snapshot.Games, audit.Duplicates, audit.Invalid, audit.Corrupt, audit.Missing)
	}
	return nil
}

// eachGame compares the stored games one by one.
func (d *drill) eachGame(dir string) error {
	var failed error
	next, stop := iter.Pull(d.records(&failed))
	defer stop()
	digest, shown := sha256.New(), 0
	err := replay.NewFollower(dir, math.MaxInt64).Next(func(encoded []byte, _ int) {
		sum := sha256.Sum256(encoded)
		digest.Write(sum[:])
		want, there := next()
		d.report.Games++
		if (!there || !bytes.Equal(want, encoded)) && shown < shownDifferences {
			shown++
			d.differ("game %d: found %s of %d bytes, expected %s of %d", d.report.Games, idOf(encoded), len(encoded), idOf(want), len(want))
		}
	})
	for want, there := next(); there && shown < shownDifferences; want, there = next() {
		shown++
		d.differ("game %s of %d bytes: found none", idOf(want), len(want))
	}
	if found := hex.EncodeToString(digest.Sum(nil)); found != d.snapshot.Digest || d.report.Games != d.snapshot.Games {
		d.differ("games: found %d with digest %.16s…, expected %d with %.16s… as the run had", d.report.Games, found, d.snapshot.Games, d.snapshot.Digest)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, failed)
}

// records are the games of the snapshot's segments.
func (d *drill) records(failed *error) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, f := range d.snapshot.Files {
			if !replay.IsSegment(f.Path) || path.Dir(f.Path) != "replay" {
				continue
			}
			data, err := d.repo.content(f, math.MaxInt64)
			if err != nil {
				*failed = err
				return
			}
			if d.read += f.Size; d.progress != nil {
				d.progress(d.read, d.report.Bytes)
			}
			more := true
			replay.VisitRecords(data, func(encoded []byte) { more = more && yield(encoded) })
			if !more {
				return
			}
		}
	}
}

// idOf returns the id of an encoded game for people.
func idOf(encoded []byte) string {
	h, err := game.DecodeHeader(encoded)
	if err != nil {
		return "no game"
	}
	return h.ID
}
