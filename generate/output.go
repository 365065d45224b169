package generate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
)

// Errors about files that are there already.
var (
	// ErrOther says that a file is not of this run.
	ErrOther = errors.New("generate: file of another run")
	// ErrDamaged says that a file is shorter than it was, or has games twice.
	ErrDamaged = errors.New("generate: damaged file")
)

// blockPlies is how many plies a block of a file has before the next begins: few
// enough to be encoded anew at every saving.
const blockPlies = 8192

// output writes the files of a run. The games of the last block stay in memory,
// for the block is written anew, in its place, when it has more games.
type output struct {
	path   string
	format dataset.Format
	run    string
	at     state
	every  int64 // Config.SaveEvery

	lock *os.File // the first file
	file *os.File // the one being written
	open []*game.Game
	// openAt is where in the file the block of the open games begins.
	openAt int64
	plies  int  // of the open games
	saved  bool // nothing was added since
	buf    bytes.Buffer
}

// state says how far a run has come; see the package comment for its fields.
type state struct {
	Run           string `json:"run"`
	Seed          uint64 `json:"seed"`
	Next          uint64 `json:"next"`
	Positions     int64  `json:"positions"`
	File          int    `json:"file"`
	FilePositions int64  `json:"file_positions"`
	Bytes         int64  `json:"bytes"`
}

// fileName returns the name of file k of a run.
func fileName(path string, k int) string {
	if k == 0 {
		return path
	}
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "_" + strconv.Itoa(k) + ext
}

// gameID is the id of a game of a run.
func gameID(run string, number uint64) string { return run + "-" + strconv.FormatUint(number, 10) }

// parseGameID reads what gameID writes.
func parseGameID(id string) (run string, number uint64, ok bool) {
	run, text, _ := strings.Cut(id, "-")
	number, err := strconv.ParseUint(text, 10, 63) // there is always a next one
	return run, number, err == nil && id == gameID(run, number)
}

// openOutput opens the files of a run where the last whole game ends, and adds the
// positions they have to s.
func openOutput(c *Config, run string, s seen) (*output, error) {
	o := &output{path: c.Output, format: c.Format, run: run, every: c.SaveEvery, saved: true}
	o.at = state{Run: run, Seed: c.Seed}
	var err error
	if o.lock, err = os.OpenFile(c.Output, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, err
	}
	err = dirlock.LockFile(o.lock)
	if err == nil && c.Format == dataset.Chain {
		err = o.resumeChain(c, s)
	} else if err == nil {
		err = o.resumeSamples(c, s)
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

// openFile opens file k for writing from the offset on.
func (o *output) openFile(k int, offset int64) error {
	f, err := os.OpenFile(fileName(o.path, k), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	o.file = f
	if k > 0 { // the first is locked all the time
		if err := dirlock.LockFile(f); err != nil {
			return err
		}
	}
	info, err := f.Stat()
	if err == nil && info.Size() < offset {
		err = fmt.Errorf("%w: %s has %d bytes, expected %d as it had", ErrDamaged, f.Name(), info.Size(), offset)
	}
	if err != nil {
		return err
	}
	if err := f.Truncate(offset); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(o.path))
}

// add adds the next game.
func (o *output) add(number uint64, g *game.Game, positions int64) error {
	if o.every > 0 && o.at.FilePositions >= o.every {
		if err := o.nextFile(); err != nil {
			return err
		}
	}
	o.open = append(o.open, g)
	o.plies += len(g.Plies)
	o.at.Next = number + 1
	o.at.Positions += positions
	o.at.FilePositions += positions
	o.saved = false
	if o.plies < blockPlies {
		return nil
	}
	if err := o.save(); err != nil {
		return err
	}
	o.openAt, o.open, o.plies = o.at.Bytes, nil, 0
	return nil
}

func (o *output) nextFile() error {
	err := errors.Join(o.save(), o.file.Close())
	o.file = nil
	if err == nil {
		err = o.unused(o.at.File + 1)
	}
	if err != nil {
		return err
	}
	o.at.File++
	o.at.FilePositions, o.at.Bytes = 0, 0
	o.openAt, o.open, o.plies = 0, nil, 0
	if err := o.openFile(o.at.File, 0); err != nil || o.format == dataset.Chain {
		return err
	}
	return o.at.write(o.path) // so that the file is known to be of this run
}

// unused returns an error if a file of the run would take the place of somebody's.
func (o *output) unused(k int) error {
	name := fileName(o.path, k)
	if info, err := os.Stat(name); err == nil && info.Size() > 0 {
		return fmt.Errorf("%w: %s: found a file that this run has not written, expected none: choose another name", ErrOther, name)
	}
	return nil
}

// save writes what was added, so that it is there after a crash.
func (o *output) save() error {
	if o.saved {
		return nil
	}
	o.buf.Reset()
	if err := o.encode(&o.buf); err != nil {
		return err
	}
	if _, err := o.file.WriteAt(o.buf.Bytes(), o.openAt); err != nil {
		return err
	}
	if err := o.file.Sync(); err != nil {
		return err
	}
	o.at.Bytes = o.openAt + int64(o.buf.Len())
	o.saved = true
	if o.format == dataset.Chain {
		return nil
	}
	return o.at.write(o.path)
}

// encode writes the open games.
func (o *output) encode(w io.Writer) error {
	if o.format == dataset.Chain {
		c, err := chain.NewWriter(w, o.open[0].Variant, sample.CentipawnUnit)
		if err != nil {
			return err
		}
		for _, g := range o.open {
			if err := c.WriteGame(g); err != nil {
				return fmt.Errorf("game %s: %w", g.ID, err)
			}
		}
		return c.Close()
	}
	target := dataset.Target{Format: o.format, Variant: o.open[0].Variant}
	return target.Encode(w, func(sink *dataset.Sink) error {
		var samples []sample.Sample
		for _, g := range o.open {
			samples = sample.From(g, sample.RulesClock, samples[:0])
			for i := range samples {
				if err := sink.Write(&samples[i], sample.CentipawnUnit); err != nil {
					return fmt.Errorf("game %s: %w", g.ID, err)
				}
			}
		}
		return nil
	})
}

// close closes the files. What is not saved is lost.
func (o *output) close() (err error) {
	if o.file != nil {
		err = o.file.Close()
	}
	return errors.Join(err, o.lock.Close())
}
