package rescore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// Errors about files that are there already.
var (
	// ErrOther says that a file is not of this run, or of other input.
	ErrOther = errors.New("rescore: file of another run")
	// ErrDamaged says that a file is shorter than it was.
	ErrDamaged = errors.New("rescore: damaged file")
)

// state says how far a run has come; see the package comment.
type state struct {
	Run     string `json:"run"`
	Read    int64  `json:"read"`
	Input   uint64 `json:"input,omitempty,string"`
	Written int64  `json:"written"`
	Stuck   int64  `json:"stuck"`
	Calm    int64  `json:"calm"`
	Bytes   int64  `json:"bytes"`
	Done    bool   `json:"done"`
}

func stateName(path string) string { return path + ".run" }

// remedy is what somebody is to do about a file that cannot be gone on with.
const remedy = "choose another file, they can be joined later"

// readState reads the state beside a file; found is false if there is none.
func readState(path string) (s state, found bool, err error) {
	text, err := durable.ReadSummed(stateName(path), remedy)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, false, nil
	case errors.Is(err, durable.ErrSum):
		return s, false, fmt.Errorf("%w: %w", ErrDamaged, err)
	case err != nil:
		return s, false, err
	}
	if s, err = parseState(text); err != nil {
		return s, false, fmt.Errorf("%s: %w", stateName(path), err)
	}
	return s, true, nil
}

// parseState reads what save writes. The error wraps ErrDamaged.
func parseState(text []byte) (s state, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if s.Run == "" || s.Read < 0 || s.Written < 0 || s.Stuck < 0 || s.Calm < 0 || s.Bytes < 0 || s.Stuck > s.Read || s.Calm > s.Read-s.Stuck || s.Written > s.Read-s.Stuck-s.Calm {
		return s, fmt.Errorf("%w: found %.200s, expected the state of a run", ErrDamaged, text)
	}
	return s, nil
}

// open takes the file for this process alone and settles where the run goes on. What is
// in the file beyond that is cut off.
func (r *runner) open(run string) (unlock func() error, err error) {
	f, err := os.OpenFile(r.cfg.Target.Name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := dirlock.LockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.Name(), err), f.Close())
	}
	if err := r.resume(f, run); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

func (r *runner) resume(f *os.File, run string) error {
	at, found, err := readState(f.Name())
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	switch size := info.Size(); {
	case !found && size > 0:
		return fmt.Errorf("%w: %s: found no %s that says which: %s", ErrOther, f.Name(), stateName(f.Name()), remedy)
	case !found:
		return r.save(state{Run: run})
	case at.Run != run:
		return fmt.Errorf("%w: %s: found run %q, expected %q: settings or the names of the input are others; %s", ErrOther, f.Name(), at.Run, run, remedy)
	case size < at.Bytes:
		return fmt.Errorf("%w: %s has %d bytes, expected %d as it had", ErrDamaged, f.Name(), size, at.Bytes)
	}
	r.at = at
	if r.cfg.Note != nil {
		r.cfg.Note(fmt.Sprintf("%s: found %d positions, goes on after %d samples of the input", f.Name(), at.Written, at.Read))
	}
	return f.Truncate(at.Bytes)
}

// save makes at the state of the run, whose file is as it is to stay.
func (r *runner) save(at state) error {
	info, err := os.Stat(r.cfg.Target.Name)
	if err != nil {
		return err
	}
	at.Bytes = info.Size()
	text, err := json.Marshal(&at)
	if err != nil {
		return fmt.Errorf("rescore: %w", err)
	}
	if err := durable.WriteSummed(stateName(r.cfg.Target.Name), append(text, '\n')); err != nil {
		return err
	}
	r.at = at
	return nil
}
