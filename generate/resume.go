package generate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
)

// FindSeed returns the seed of the run that the file called path holds, and
// whether there is one.
func FindSeed(path string, f dataset.Format) (seed uint64, found bool, err error) {
	if f != dataset.Chain {
		s, err := readState(path)
		return s.Seed, s.Run != "", err
	}
	h, found, err := firstHeader(path)
	return h.Seed, found, err
}

// firstHeader reads the header of the first game that can be read in a .chain file. It
// is not found if there is none, or no file.
func firstHeader(path string) (h game.Header, found bool, err error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return h, false, nil
	} else if err != nil {
		return h, false, err
	}
	defer file.Close()
	r := chain.NewReader(file)
	record, err := r.Record(nil)
	for errors.Is(err, sample.ErrRecord) { // the games after the damage are of the same run
		record, err = r.Record(nil)
	}
	if err != nil || len(record) == 0 {
		return h, false, nil // Run reports it
	}
	h, err = game.DecodeHeader(record)
	return h, err == nil, err
}

func stateName(path string) string { return path + ".run" }

// readState reads the state beside the first file; it is empty if there is none.
func readState(path string) (s state, err error) {
	f, err := os.Open(stateName(path))
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	} else if err != nil {
		return s, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err == nil {
		text, err = durable.Unsum(f.Name(), text, "begin another file, they can be joined later")
	}
	if errors.Is(err, durable.ErrSum) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err != nil {
		return s, err
	}
	if s, err = parseState(text); err != nil {
		return s, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return s, nil
}

// Bounds of a state.
const (
	maxState = 4096 // bytes
	maxFiles = 1 << 20
)

// parseState reads what state.write writes. The error wraps ErrDamaged.
func parseState(text []byte) (s state, err error) {
	if len(text) > maxState {
		return s, fmt.Errorf("%w: found more than %d bytes, expected the state of a run", ErrDamaged, maxState)
	}
	old := struct {
		*state
		FilePositions *int64 // the key of older builds
	}{&s, &s.FilePositions}
	if err := json.Unmarshal(text, &old); err != nil {
		return s, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if s.Run == "" || s.Positions < 0 || s.FilePositions < 0 || s.FilePositions > s.Positions || s.Bytes < 0 || s.File < 0 || s.File > maxFiles {
		return s, fmt.Errorf("%w: found %.200s, expected the state of a run", ErrDamaged, text)
	}
	return s, nil
}

func (s *state) write(path string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	return durable.WriteSummed(stateName(path), append(text, '\n'))
}

// otherRun says that a file has games that are not of this run.
func otherRun(name, found, run string) error {
	return fmt.Errorf("%w: %s: found run %q, expected %q: settings or seed are others; choose another file, they can be joined later", ErrOther, name, found, run)
}

// resumeSamples goes on where the state beside the files says.
func (o *output) resumeSamples(c *Config, s seen) error {
	at, err := readState(o.path)
	if err != nil {
		return err
	}
	if at.Run == "" {
		info, err := o.lock.Stat()
		if err != nil {
			return err
		}
		if info.Size() > 0 {
			return fmt.Errorf("%w: %s: found no %s that says which: choose another file, they can be joined later", ErrOther, o.path, stateName(o.path))
		}
		if c.SaveEvery > 0 {
			if err := o.unused(1); err != nil {
				return err
			}
		}
		if err := o.openFile(0, 0); err != nil {
			return err
		}
		return o.at.write(o.path)
	}
	if at.Run != o.run {
		return otherRun(o.path, at.Run, o.run)
	}
	o.at, o.openAt = at, at.Bytes
	if err := o.openFile(at.File, at.Bytes); err != nil {
		return err
	}
	var found int64
	for k := range at.File + 1 {
		n, err := o.readSamples(fileName(o.path, k), c.Variant, s)
		if err != nil {
			return err
		}
		found += n
	}
	if found != at.Positions {
		return fmt.Errorf("%w: %s and those after it: found %d positions, expected %d as there were", ErrDamaged, o.path, found, at.Positions)
	}
	return nil
}

// readSamples adds the positions of a file to s and counts them.
func (o *output) readSamples(name string, v *chess.Variant, s seen) (n int64, err error) {
	src, err := dataset.Open(name, o.format, v, nil)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	var x sample.Sample
	for {
		switch err := src.Read(&x); {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		}
		s.add(&x.Pos)
		n++
	}
}

// resumeChain goes on after the last whole block, or in it if there is room.
func (o *output) resumeChain(c *Config, s seen) error {
	last := 0
	for {
		there, err := o.hasFile(last + 1)
		if err != nil {
			return err
		}
		if !there {
			break
		}
		last++
	}
	for k := range last + 1 {
		if err := o.readFile(c, k, s, k == last); err != nil {
			return err
		}
	}
	return nil
}

// hasFile reports whether there is a file k, from 1 on, to be read as one of the run. A run
// that begins no more files leaves those of others alone.
func (o *output) hasFile(k int) (bool, error) {
	name := fileName(o.path, k)
	info, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil || o.every > 0 {
		return err == nil, err
	}
	h, found, err := firstHeader(name)
	if !found && err == nil && info.Size() > 0 { // the run's own and damaged, if a later one is the run's
		return o.hasFile(k + 1)
	}
	run, _, _ := parseGameID(h.ID)
	return found && run == o.run, err
}

// readFile takes file k into account. The last one is opened for writing.
func (o *output) readFile(c *Config, k int, s seen, last bool) error {
	name := fileName(o.path, k)
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := chain.Recover(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	note := func(format string, args ...any) {
		if c.Note != nil {
			c.Note(fmt.Sprintf("%s: "+format, append([]any{name}, args...)...))
		}
	}
	o.at.File, o.at.FilePositions, o.at.Bytes, o.openAt = k, 0, info.End, info.End
	if err := o.readGames(chain.NewSection(f, info.End, 0, math.MaxInt64), note, func(g *game.Game) { o.count(g, s) }); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !last {
		return nil
	}
	if cut := size - info.End; cut > 0 {
		note("%d bytes at the end that are no whole block are cut off", cut)
	}
	if err := o.reopenBlock(f, info, note); err != nil {
		return err
	}
	return o.openFile(k, info.End)
}

// count takes a game of the run into account.
func (o *output) count(g *game.Game, s seen) {
	positions := int64(0)
	for w := sample.WalkGame(g, sample.RulesClock); w.Ply < len(g.Plies); w.Make(g.Plies[w.Ply].Move) {
		if g.Plies[w.Ply].Train {
			s.add(&w.Pos)
			positions++
		}
	}
	o.at.Positions += positions
	o.at.FilePositions += positions
}

// reopenBlock takes the games of the last block as open if it is not full.
func (o *output) reopenBlock(f *os.File, info chain.Info, note func(string, ...any)) error {
	if info.Blocks == 0 {
		return nil
	}
	next := o.at.Next
	o.at.Next = 0
	var games []*game.Game
	plies := 0
	err := o.readGames(chain.NewSection(f, info.End, info.Last, math.MaxInt64), func(string, ...any) {}, func(g *game.Game) {
		games = append(games, g)
		plies += len(g.Plies)
	})
	o.at.Next = next
	if err != nil {
		return err
	}
	if plies < blockPlies {
		o.open, o.plies, o.openAt = games, plies, info.Last
	}
	return nil
}

// readGames visits the games that r reads, whose numbers must rise from that of
// the next game on. What is damaged is reported by note and left out.
func (o *output) readGames(r *chain.Reader, note func(string, ...any), visit func(*game.Game)) error {
	for {
		record, err := r.Record(nil)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, sample.ErrRecord):
			note("%v", err)
			continue
		case err != nil:
			return err
		}
		if len(record) == 0 {
			return otherRun("a chain without its game", "none", o.run)
		}
		g, err := game.Decode(record)
		if err != nil {
			return err
		}
		run, number, ok := parseGameID(g.ID)
		if !ok || run != o.run {
			return otherRun("game "+g.ID, run, o.run)
		}
		if number < o.at.Next {
			return fmt.Errorf("%w: found game %d, expected %d or a later one", ErrDamaged, number, o.at.Next)
		}
		o.at.Next = number + 1
		visit(g)
	}
}
