package dash

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

const (
	mostRefused     = 600     // files looked at; replay keeps fewer
	mostReasonBytes = 1 << 10 // of the reason for one
	shownRefused    = 20
)

// refusedGames follows the games that replay has put into quarantine.
type refusedGames struct {
	dir     string
	known   map[string]selfplay.Refusal // by the name of the file with the reason
	changed time.Time                   // the directory
	version int
}

// read reads what is new, if the directory has changed.
func (r *refusedGames) read(run string) error {
	info, err := os.Stat(r.dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.ModTime().Equal(r.changed) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := os.Open(r.dir)
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(2 * mostRefused)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	known := map[string]selfplay.Refusal{}
	for _, name := range names {
		stem, ok := strings.CutSuffix(name, ".txt")
		if !ok {
			continue
		}
		before, there := r.known[name]
		if !there {
			before, there = readRefusal(filepath.Join(r.dir, stem), run)
		}
		if there {
			known[name] = before
		}
	}
	r.known, r.changed = known, info.ModTime()
	r.version++
	return nil
}

// readRefusal reads why a game was refused, and whose it was.
func readRefusal(stem, run string) (out selfplay.Refusal, ok bool) {
	f, err := os.Open(stem + ".txt")
	if err != nil {
		return out, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return out, false
	}
	reason, err := io.ReadAll(io.LimitReader(f, mostReasonBytes))
	if err != nil {
		return out, false
	}
	out = selfplay.Refusal{Time: info.ModTime().UTC(), Reason: strings.TrimSpace(strings.ToValidUTF8(string(reason), "\uFFFD"))}
	if data, err := readSmall(stem + ".game"); err == nil {
		if h, err := game.DecodeHeader(data); err == nil {
			out.Actor = replay.ActorOf(h.ID, run)
		}
	}
	return out, true
}

// newest returns the newest refusals, the newest first.
func (r *refusedGames) newest() []selfplay.Refusal {
	list := make([]selfplay.Refusal, 0, len(r.known))
	for _, x := range r.known {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b selfplay.Refusal) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Reason, b.Reason))
	})
	return list[:min(shownRefused, len(list))]
}

// byActor counts them.
func (r *refusedGames) byActor() map[string]int {
	out := map[string]int{}
	for _, x := range r.known {
		out[cmp.Or(x.Actor, otherActors)]++
	}
	return out
}
