package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/bin"
	"github.com/crazyhouse-rl/selfplay/sample/binpack"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
	"github.com/crazyhouse-rl/selfplay/sample/plain"
	"github.com/crazyhouse-rl/selfplay/sample/thesis"
)

// ErrExists says that a file is there already and may not be replaced.
var ErrExists = errors.New("file exists")

// Target is a file of samples to be written.
type Target struct {
	Name    string // "-" is Stdout
	Format  Format
	Variant *chess.Variant
	// Unit is that of the scores where the format leaves a choice.
	Unit   sample.Unit
	Append bool // to what is there
	Force  bool // replace what is there
	Locked bool // the caller has locked the file that is appended to
	Stdout io.Writer
	// Note, unless nil, receives what was done to an existing file.
	Note func(string)
}

// Sink is a file of samples being written.
type Sink struct {
	Target
	w     sample.Writer
	games *chain.Writer // nil if the format does not keep games
	buf   sample.Sample
}

// Games reports whether WriteGame can be used.
func (s *Sink) Games() bool { return s.games != nil && s.Unit == sample.CentipawnUnit }

// WriteGame writes a whole game by its record.
func (s *Sink) WriteGame(record []byte) error { return s.games.WriteRecord(record) }

// Write writes a sample whose score is in the given unit.
func (s *Sink) Write(x *sample.Sample, unit sample.Unit) error {
	if unit != s.Unit {
		s.buf = *x
		s.buf.Score = sample.Convert(x.Score, unit, s.Unit)
		x = &s.buf
	}
	return s.w.Write(x)
}

// Create writes the file t by calling write. The file appears, or grows, when
// write has returned without an error, and stays as it was otherwise, but for an empty
// one that Append may leave. A kill while it appends leaves what was written by then,
// of which the next Append cuts off a record that is not whole. The error
// wraps ErrExists if there is a file and neither Append nor Force is set.
func (t Target) Create(write func(*Sink) error) error {
	err := t.Check()
	switch {
	case err != nil:
		return err
	case t.Name == "-":
		return t.Encode(t.Stdout, write)
	case t.Append:
		return t.extend(write)
	}
	return durable.Write(t.Name, func(w io.Writer) error { return t.Encode(w, write) })
}

// CreateBoth is Create for two files, of which neither appears before both are written.
// Append has no effect.
func CreateBoth(a, b Target, write func(a, b *Sink) error) error {
	a.Append, b.Append = false, false
	for _, t := range []*Target{&a, &b} {
		if err := t.Check(); err != nil {
			return err
		}
	}
	if a.Name == "-" || b.Name == "-" {
		return a.Create(func(x *Sink) error {
			return b.Create(func(y *Sink) error { return write(x, y) })
		})
	}
	return durable.WriteAll([]string{a.Name, b.Name}, func(w []io.Writer) error {
		return a.Encode(w[0], func(x *Sink) error {
			return b.Encode(w[1], func(y *Sink) error { return write(x, y) })
		})
	})
}

// Check returns an error if the file cannot be written as t says.
func (t *Target) Check() error {
	if t.Format == Replay {
		return fmt.Errorf("%w: a replay buffer cannot be written, expected another format", ErrName)
	}
	if v := t.Format.variant(t.Variant); v != t.Variant {
		return fmt.Errorf("%w: %s keeps no positions of %s, expected %s", ErrName, t.Format, t.Variant, v)
	}
	if t.Name == "-" {
		return nil
	}
	switch info, err := os.Stat(t.Name); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%w: found the directory %s, expected a file", ErrName, t.Name)
	case t.Append && !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is no regular file, expected one to append to", ErrName, t.Name)
	case t.Append, t.Force, !info.Mode().IsRegular():
		return nil
	}
	return fmt.Errorf("%w: %s", ErrExists, t.Name)
}

// Encode writes to w, in place of a file, what write does.
func (t Target) Encode(w io.Writer, write func(*Sink) error) error {
	if unit := t.Format.unit(); unit != 0 {
		t.Unit = unit
	}
	s := &Sink{Target: t}
	switch t.Format {
	case Bin:
		s.w = bin.NewWriter(w, bin.Bits512)
	case Bin256:
		s.w = bin.NewWriter(w, bin.Bits256)
	case Plain:
		s.w = plain.NewWriter(w)
	case Binpack:
		s.w = binpack.NewWriter(w)
	case Text, Compact:
		s.w = thesis.NewWriter(w, t.Format == Compact)
	default:
		c, err := chain.NewWriter(w, t.Variant, t.Unit)
		if err != nil {
			return err
		}
		s.w, s.games = c, c
	}
	if err := write(s); err != nil {
		return err
	}
	return s.w.Close()
}

// extend appends to the file, after the last whole record.
func (t Target) extend(write func(*Sink) error) (err error) {
	f, err := os.OpenFile(t.Name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !t.Locked {
		if err := dirlock.LockFile(f); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	end, err := t.end(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	if cut := info.Size() - end; cut > 0 {
		t.note("%s: %d bytes at the end that are no whole record were cut off", t.Name, cut)
		if err := f.Truncate(end); err != nil {
			return err
		}
	}
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		return err
	}
	err = t.endLine(f, end)
	if err == nil {
		err = t.Encode(f, write)
	}
	if err != nil {
		return errors.Join(err, f.Truncate(end))
	}
	err = f.Sync()
	if info.Size() == 0 { // it may be new
		err = errors.Join(err, durable.SyncDir(filepath.Dir(t.Name)))
	}
	return err
}

// endLine ends the last line of a text, which may have no end.
func (t *Target) endLine(f *os.File, end int64) error {
	if t.Format != Plain || end == 0 {
		return nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], end-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err := f.Write([]byte("\n"))
	return err
}

func (t *Target) note(format string, args ...any) {
	if t.Note != nil {
		t.Note(fmt.Sprintf(format, args...))
	}
}

// end returns where the last whole record of an existing file ends. The unit of a
// .chain file becomes that of t.
func (t *Target) end(f *os.File, size int64) (int64, error) {
	switch t.Format {
	case Bin:
		return t.binEnd(f, size, bin.Bits512)
	case Bin256:
		return t.binEnd(f, size, bin.Bits256)
	case Plain:
		return plainEnd(f, size)
	case Text, Compact:
		return t.textEnd(f, size)
	case Binpack:
		return binpackEnd(f, size)
	}
	info, err := chain.Recover(f)
	if err != nil || info.Blocks == 0 {
		return 0, err
	}
	if info.Variant != t.Variant {
		return 0, fmt.Errorf("%w: found positions of %s, expected %s", ErrName, info.Variant, t.Variant)
	}
	t.Unit = info.Unit
	return info.End, nil
}

// binEnd returns where the last record of a .bin file ends. Anything could be cut into
// records, so the file must begin with some.
func (t *Target) binEnd(f *os.File, size int64, format bin.Format) (int64, error) {
	var first sample.Sample
	err := bin.NewReader(io.NewSectionReader(f, 0, size), t.Variant, format).Read(&first)
	if errors.Is(err, sample.ErrFormat) {
		return 0, err
	}
	return size - size%int64(format.RecordSize()), nil
}

// textEnd returns where the last whole line of a text of samples ends. Any text has lines, so
// the file must begin with samples.
func (t *Target) textEnd(f *os.File, size int64) (int64, error) {
	if r := thesis.NewReader(io.NewSectionReader(f, 0, size), t.Variant); size > 0 && !hasSample(r) {
		return 0, fmt.Errorf("%w: found no sample in the first lines, expected FEN,score,move", sample.ErrFormat)
	}
	return lastLine(f, size, func([]byte) bool { return true })
}

// plainEnd returns where the last record of a .plain file ends: after a line that is "e",
// whose end may be missing.
func plainEnd(f *os.File, size int64) (int64, error) {
	last := make([]byte, min(size, 2))
	if _, err := f.ReadAt(last, size-int64(len(last))); err != nil && size > 0 {
		return 0, err
	}
	if string(last) == "\ne" {
		return size, nil
	}
	return lastLine(f, size, func(line []byte) bool { return string(bytes.TrimSuffix(line, []byte("\r"))) == "e" })
}

// lastLine returns the offset after the last whole line in f that ends a record, which
// must be near the end, 0 in an empty file.
func lastLine(f *os.File, size int64, ends func(line []byte) bool) (int64, error) {
	const near = 64 << 10
	tail := make([]byte, min(size, near))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && len(tail) > 0 {
		return 0, err
	}
	for end := len(tail); ; {
		i := bytes.LastIndexByte(tail[:end], '\n')
		if i < 0 {
			break
		}
		if begin := bytes.LastIndexByte(tail[:i], '\n') + 1; ends(tail[begin:i]) {
			return size - int64(len(tail)-i-1), nil
		}
		end = i
	}
	if size > 0 {
		return 0, fmt.Errorf("%w: found no end of a record in the last %d bytes", sample.ErrFormat, len(tail))
	}
	return 0, nil
}

// binpackEnd returns where the last whole block ends, by the blocks' sizes.
func binpackEnd(f *os.File, size int64) (int64, error) {
	var head [8]byte
	at := int64(0)
	for at+int64(len(head)) <= size {
		if _, err := f.ReadAt(head[:], at); err != nil {
			return 0, err
		}
		if string(head[:4]) != "BINP" {
			return 0, fmt.Errorf("%w: found %q at byte %d, expected a block", sample.ErrFormat, head[:4], at)
		}
		next := at + int64(len(head)) + int64(binary.LittleEndian.Uint32(head[4:]))
		if next > size {
			break
		}
		at = next
	}
	if r := binpack.NewReader(io.NewSectionReader(f, at, size-at)); hasSample(r) {
		return 0, fmt.Errorf("found a block at byte %d that is cut off after samples that can still be read, expected whole blocks: "+
			"convert the file to a new one and append to that", at)
	}
	return at, nil
}

// hasSample reports whether r reads a sample.
func hasSample(r sample.Reader) bool {
	var s sample.Sample
	err := r.Read(&s)
	for errors.Is(err, sample.ErrRecord) {
		err = r.Read(&s)
	}
	return err == nil
}
