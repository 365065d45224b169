//go:build unix

package clustertest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/replay"
)

// Verdict compares the games that the actors finished, as their spools showed them,
// with those in the replay buffer.
type Verdict struct {
	Finished  int // games seen in a spool
	Stored    int // different games in the buffer
	Lost      int // finished and not in the buffer
	Twice     int // more than once in the buffer
	Unseen    int // in the buffer, though no spool showed them
	Gaps      int // numbers missing between the games of an actor's worker
	Spooled   int // still in a spool
	Problems  []string
	Audit     replay.AuditReport
	firstLost []string
}

const shownIDs = 5 // of lost games

// OK returns an error that names everything wrong.
func (v *Verdict) OK() error {
	var errs []error
	for _, c := range []struct {
		n    int
		what string
	}{{v.Lost, "finished games are not in the buffer"}, {v.Twice, "games are in the buffer more than once"}, {v.Gaps, "numbers of games are missing"},
		{v.Unseen, "games in the buffer were in no spool"}, {v.Spooled, "games are left in the spools"}} {
		if c.n > 0 {
			errs = append(errs, fmt.Errorf("%d %s", c.n, c.what))
		}
	}
	if len(v.firstLost) > 0 {
		errs = append(errs, fmt.Errorf("the first lost: %s", strings.Join(v.firstLost, " ")))
	}
	if a := &v.Audit; a.Duplicates > 0 || a.Invalid > 0 || a.Corrupt > 0 || a.TornBytes > 0 {
		errs = append(errs, fmt.Errorf("the audit found damage:\n%v", a))
	}
	for _, p := range v.Problems {
		errs = append(errs, errors.New(p))
	}
	return errors.Join(errs...)
}

// String gives the figures in one line.
func (v *Verdict) String() string {
	return fmt.Sprintf("finished %d, stored %d, lost %d, twice %d, unseen %d, numbers missing %d, left in spools %d, positions %d in %d segments",
		v.Finished, v.Stored, v.Lost, v.Twice, v.Unseen, v.Gaps, v.Spooled, v.Audit.Plies, v.Audit.Segments)
}

// Verdict looks at spools and buffer after the cluster has ended. The watch of the
// spools ends with it.
func (c *Cluster) Verdict() (*Verdict, error) {
	finished, err := c.watch.Close()
	if err != nil {
		return nil, err
	}
	v := &Verdict{Finished: len(finished)}
	left, err := c.spooled()
	if err != nil {
		return nil, err
	}
	v.Spooled = len(left)
	for _, p := range c.actors {
		refused, err := os.ReadDir(filepath.Join(c.dir(p), spoolDir, "refused"))
		if err == nil && len(refused) > 0 {
			v.Problems = append(v.Problems, fmt.Sprintf("%s: %d games refused by the buffer", p.Name, len(refused)))
		}
	}
	buffer := filepath.Join(c.dir(c.replay), "replay")
	stored := map[string]int{}
	if err := replay.VisitIDs(buffer, func(id string) { stored[id]++ }); err != nil {
		return nil, err
	}
	if v.Audit, err = replay.Audit(buffer); err != nil {
		return nil, err
	}
	v.count(finished, stored)
	return v, nil
}

// count compares the ids seen in spools with those in the buffer, where each has the
// number of times that it is there.
func (v *Verdict) count(finished map[string]bool, stored map[string]int) {
	v.Stored = len(stored)
	for _, id := range slices.Sorted(maps.Keys(finished)) {
		if stored[id] == 0 {
			v.Lost++
			if len(v.firstLost) < shownIDs {
				v.firstLost = append(v.firstLost, id)
			}
		}
	}
	highest, games := map[string]int{}, map[string]int{}
	for id, n := range stored {
		if n > 1 {
			v.Twice++
		}
		if !finished[id] {
			v.Unseen++
		}
		// A worker numbers its games from 0, and finishes each before the next.
		dash := strings.LastIndexByte(id, '-')
		number, err := strconv.Atoi(id[dash+1:])
		if dash < 0 || err != nil {
			v.Problems = append(v.Problems, fmt.Sprintf("found game id %q, expected one that ends in its number", id))
			continue
		}
		worker := id[:dash]
		games[worker]++
		highest[worker] = max(highest[worker], number)
	}
	for worker, n := range games {
		v.Gaps += highest[worker] + 1 - n
	}
}
