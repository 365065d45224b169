package dash

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// ratings are those of the run's nets against opponents of known strength, which the
// command ladder writes.
type ratings struct {
	dir     string // of the run
	changed time.Time
	size    int64
	list    selfplay.Ratings
	wrong   error // of the file as it is
	version int
}

// read reads the file if it is another than at the last look.
func (r *ratings) read() error {
	info, err := os.Stat(filepath.Join(r.dir, selfplay.LadderDir, selfplay.RatingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		if r.size > 0 {
			*r = ratings{dir: r.dir, version: r.version + 1}
		}
		return nil
	}
	if err != nil {
		return err
	}
	if !info.ModTime().Equal(r.changed) || info.Size() != r.size {
		r.changed, r.size = info.ModTime(), info.Size()
		r.list, r.wrong = selfplay.ReadRatings(r.dir)
		r.version++
	}
	return r.wrong
}

// Ladder are the ratings of the run's nets against opponents of known strength.
type Ladder struct {
	Nets   []selfplay.RatedNet `json:"nets"`   // by the ladder that was used last, by generation; of many, some
	Others int                 `json:"others"` // ratings by other ladders, which do not compare with these
	// Command is what rates the run's nets; empty: none, and NoCommand says why.
	Command   string `json:"command"`
	NoCommand string `json:"no_command"` // noNets or noOpponents; empty with a command
}

// Why there is no command that rates the run's nets.
const (
	noNets      = "nets"      // they are not here
	noOpponents = "opponents" // the program's own do not play the run's variant
)

// view is what is shown of the ratings.
func (r *ratings) view() Ladder {
	out := Ladder{Nets: []selfplay.RatedNet{}}
	var last time.Time
	ladder := ""
	for _, n := range r.list.Nets {
		if !n.Rated.Before(last) {
			last, ladder = n.Rated, n.Ladder
		}
	}
	for _, n := range r.list.Nets {
		if n.Ladder == ladder {
			out.Nets = append(out.Nets, n)
		}
	}
	out.Others = len(r.list.Nets) - len(out.Nets)
	out.Nets = thin(out.Nets, mostPoints)
	return out
}

// ladder is what Learning has of the ratings.
func (w *Watch) ladder() Ladder {
	out := w.ratings.view()
	switch {
	case w.run.Variant == chess.Chess.Name: // the program's own opponents play crazyhouse
		out.NoCommand = noOpponents
	case w.onServers():
		out.NoCommand = noNets
	default:
		out.Command = ladderCommand(w.cfg.Dir)
	}
	return out
}

func ladderCommand(dir string) string {
	return words.Shell("selfplay", "ladder", dir, "--history", "--every", "5", "--margin", "40")
}
