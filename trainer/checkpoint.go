package trainer

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

var (
	// ErrNoCheckpoint says that a directory holds no checkpoint.
	ErrNoCheckpoint = errors.New("no checkpoint")
	// ErrCheckpoint says that a checkpoint, the trainer's part or the model's, is
	// damaged or belongs to another kind of net.
	ErrCheckpoint = errors.New("unusable checkpoint")
)

// A checkpoint file, little-endian:
//
//	magic [8], version uint32, length uint32
//	state: JSON of that length
//	CRC-32C of everything before it, uint32
//	the model's checkpoint, to the end of the file
//
// Version 2 added state.Drawn and state.RateScale; since version 3 all keys of the
// state are in snake_case.
const (
	checkpointMagic   = "TRAINER\n"
	checkpointVersion = 3
	headerSize        = len(checkpointMagic) + 8
	maxState          = 1 << 20
	keepCheckpoints   = 2
	checkpointPattern = "step-*.checkpoint"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checkpoint writes the model, its optimiser, the random generator and the
// position in the schedules to a new file in dir, which it creates if missing,
// and removes all but the last two. caller is kept along with them for the
// caller, who gets it back from Resume. A crash at any moment leaves the older
// checkpoints intact.
func (t *Trainer) Checkpoint(dir string, caller []byte) error {
	head, err := t.header(caller)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if err := durable.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	path := filepath.Join(dir, CheckpointName(t.state.Step))
	err = durable.Write(path, func(w io.Writer) error {
		if _, err := w.Write(head); err != nil {
			return err
		}
		return t.model.Checkpoint(w)
	})
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return prune(dir)
}

// CheckpointName returns the name of the file of the checkpoint after step steps.
func CheckpointName(step uint64) string { return fmt.Sprintf("step-%012d.checkpoint", step) }

// NewestStep returns the step of the newest checkpoint in dir by its name; 0: there is none.
func NewestStep(dir string) (step uint64) {
	paths, err := checkpoints(dir)
	if err != nil || len(paths) == 0 {
		return 0
	}
	_, err = fmt.Sscanf(filepath.Base(paths[0]), "step-%d.checkpoint", &step)
	if err != nil {
		return 0
	}
	return step
}

func (t *Trainer) header(caller []byte) ([]byte, error) {
	s := t.state
	s.Caller = caller
	var err error
	if s.RNG, err = t.rng.MarshalBinary(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if len(text) > maxState {
		return nil, fmt.Errorf("state of %d bytes, expected at most %d", len(text), maxState)
	}
	b := []byte(checkpointMagic)
	b = binary.LittleEndian.AppendUint32(b, checkpointVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	b = append(b, text...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// prune removes all but the newest checkpoints, and what interrupted saves left.
func prune(dir string) error {
	if err := durable.RemoveTemps(dir); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	paths, err := checkpoints(dir)
	if err != nil {
		return err
	}
	for _, path := range paths[min(keepCheckpoints, len(paths)):] {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	return nil
}

// checkpoints lists the checkpoints of dir, newest first.
func checkpoints(dir string) ([]string, error) {
	paths, err := durable.Glob(dir, checkpointPattern)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	slices.Reverse(paths)
	return paths, nil
}

// Resumed says what Resume found.
type Resumed struct {
	Path    string
	Step    uint64
	Caller  []byte  // what Checkpoint was given
	Damaged []error // newer checkpoints that could not be read; they are now called *.damaged
}

// Resume continues from the newest checkpoint in dir that is whole. It fails
// with ErrNoCheckpoint if there is none at all, with ErrCheckpoint or the
// model's error if none can be read; the trainer is then unchanged.
func (t *Trainer) Resume(dir string) (Resumed, error) {
	paths, err := checkpoints(dir)
	if err != nil {
		return Resumed{}, err
	}
	if len(paths) == 0 {
		return Resumed{}, fmt.Errorf("%w in %s", ErrNoCheckpoint, dir)
	}
	var damaged []error
	for i, path := range paths {
		err := t.load(path)
		if err == nil {
			caller := t.state.Caller
			t.state.Caller = nil
			for _, newer := range paths[:i] {
				if err := os.Rename(newer, newer+".damaged"); err != nil {
					return Resumed{}, fmt.Errorf("resume: put a damaged checkpoint aside: %w", err)
				}
			}
			return Resumed{Path: path, Step: t.state.Step, Caller: caller, Damaged: damaged}, nil
		}
		damaged = append(damaged, fmt.Errorf("%s: %w", path, err))
	}
	return Resumed{Damaged: damaged}, fmt.Errorf("resume: no checkpoint in %s can be read, put one back from a backup or remove them to begin training anew: %w", dir, errors.Join(damaged...))
}

func (t *Trainer) load(path string) error {
	if err := t.Close(); err != nil {
		return err
	}
	modelFor := t.cfg.ModelFor
	if modelFor == nil {
		modelFor = func([]byte) (Model, error) { return t.model, nil }
	}
	m, s, rng, err := restore(path, modelFor)
	if err != nil {
		return err
	}
	t.model, t.state, t.rng = m, s, rng
	return t.seek()
}

// LoadModel replaces the state of m with that in a checkpoint file and returns
// the step it was written at, for those who want the model and no training.
// Errors wrap ErrCheckpoint or are the model's; m is then unchanged.
func LoadModel(path string, m Model) (step uint64, err error) {
	_, s, _, err := restore(path, func([]byte) (Model, error) { return m, nil })
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return s.Step, nil
}

// restore reads a checkpoint file, its model into that of modelFor.
func restore(path string, modelFor func(caller []byte) (Model, error)) (Model, state, *rand.PCG, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, state{}, nil, err
	}
	defer f.Close()
	s, rng, err := readState(f)
	if err != nil {
		return nil, state{}, nil, err
	}
	m, err := modelFor(s.Caller)
	if err != nil {
		return nil, state{}, nil, err
	}
	return m, s, rng, m.Restore(f)
}

// readState reads the part of a checkpoint before the model's.
func readState(r io.Reader) (state, *rand.PCG, error) {
	var s state
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(r, head); err != nil {
		return s, nil, fmt.Errorf("%w: header: %w", ErrCheckpoint, err)
	}
	if !bytes.HasPrefix(head, []byte(checkpointMagic)) {
		return s, nil, fmt.Errorf("%w: found magic %q, expected %q", ErrCheckpoint, head[:len(checkpointMagic)], checkpointMagic)
	}
	version := binary.LittleEndian.Uint32(head[len(checkpointMagic):])
	length := binary.LittleEndian.Uint32(head[len(checkpointMagic)+4:])
	if version < 1 || version > checkpointVersion {
		return s, nil, fmt.Errorf("%w: found version %d, expected 1 to %d", ErrCheckpoint, version, checkpointVersion)
	}
	if length > maxState {
		return s, nil, fmt.Errorf("%w: found state of %d bytes, expected at most %d", ErrCheckpoint, length, maxState)
	}
	rest := make([]byte, length+4)
	if _, err := io.ReadFull(r, rest); err != nil {
		return s, nil, fmt.Errorf("%w: state: %w", ErrCheckpoint, err)
	}
	text := rest[:length]
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, text)
	if found := binary.LittleEndian.Uint32(rest[length:]); found != sum {
		return s, nil, fmt.Errorf("%w: found checksum %08x, expected %08x", ErrCheckpoint, found, sum)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, nil, fmt.Errorf("%w: state: %w", ErrCheckpoint, err)
	}
	rng := new(rand.PCG)
	if err := rng.UnmarshalBinary(s.RNG); err != nil {
		return s, nil, fmt.Errorf("%w: random generator: %w", ErrCheckpoint, err)
	}
	if s.Origin > s.Step {
		return s, nil, fmt.Errorf("%w: schedules begin at step %d, after step %d", ErrCheckpoint, s.Origin, s.Step)
	}
	s.RNG = nil
	if version == 1 {
		s.Drawn = s.Samples
	}
	return s, rng, nil
}
