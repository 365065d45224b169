package book

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/bounded"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrJournal says that a journal is no journal, or one of other walks.
var ErrJournal = errors.New("book: bad journal")

// appendWalk appends the line a journal has for a walk: number, verdict,
// and for a scored one score and FEN, between tabs.
func appendWalk(dst []byte, w *Walk) []byte {
	dst = strconv.AppendInt(dst, int64(w.Number), 10)
	dst = append(append(dst, '\t'), w.Verdict.String()...)
	if w.Verdict == Scored {
		dst = strconv.AppendInt(append(dst, '\t'), int64(w.Score), 10)
		dst = w.End.AppendFEN(append(dst, '\t'))
	}
	return append(dst, '\n')
}

// parseWalk reads a line of appendWalk, without its end.
func parseWalk(v *chess.Variant, text string) (Walk, error) {
	fields := strings.Split(text, "\t")
	number, err := strconv.ParseInt(fields[0], 10, 32)
	if err != nil || number < 0 {
		return Walk{}, fmt.Errorf("found number %.20q, expected one from 0", fields[0])
	}
	w := Walk{Number: int(number)}
	if len(fields) == 2 {
		for i, name := range verdictNames {
			if name == fields[1] && Verdict(i) != Scored {
				w.Verdict = Verdict(i)
				return w, nil
			}
		}
	}
	if len(fields) != 4 || fields[1] != Scored.String() {
		return Walk{}, fmt.Errorf("found %.80q, expected number, verdict, and if that is scored, score and FEN, between tabs", text)
	}
	score, err := strconv.Atoi(fields[2])
	if err != nil || score < -int(search.MateScore) || score > int(search.MateScore) {
		return Walk{}, fmt.Errorf("found score %.20q, expected centipawns within %d", fields[2], search.MateScore)
	}
	w.Score = search.Score(score)
	if w.End, err = chess.ParseFEN(v, fields[3]); err != nil {
		return Walk{}, err
	}
	if w.End.Chess960() { // walks begin from the variant's own start
		return Walk{}, fmt.Errorf("found castling of Chess960 in %q, expected that of standard chess", fields[3])
	}
	return w, nil
}

// Journal is a file of walks made: a line that names their settings and one for
// every walk, in order from 0.
type Journal struct {
	file  *os.File
	w     *bufio.Writer
	walks []Walk
}

// OpenJournal opens the journal at path, or makes it. Its first line is
// header, which names the settings that walks depend on; a journal with another
// one is refused. A last line cut short, by a crash, is taken away. The journal is
// locked until it is closed. Errors wrap [ErrJournal] or
// [dirlock.ErrFileHeld], or are the file's.
func OpenJournal(path string, v *chess.Variant, header string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f, w: bufio.NewWriter(f)}
	err = dirlock.LockFile(f)
	if err == nil {
		err = j.load(v, header)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

// maxJournal bounds the bytes of a journal, for millions of walks.
const maxJournal = 1 << 30

// load reads the file and leaves its offset after its last whole line.
func (j *Journal) load(v *chess.Variant, header string) error {
	data, err := bounded.Read(j.file, maxJournal, ErrJournal)
	if err != nil {
		return err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	first, rest, _ := strings.Cut(string(whole), "\n")
	if first != header && !strings.HasPrefix(header, string(data)) {
		return fmt.Errorf("%w: its walks have other settings:\n%.500s\nexpected\n%s", ErrJournal, first, header)
	}
	if err := j.parse(v, rest); err != nil {
		return err
	}
	if err := j.file.Truncate(int64(len(whole))); err != nil {
		return err
	}
	if _, err := j.file.Seek(0, io.SeekEnd); err != nil || len(whole) > 0 {
		return err
	}
	_, err = j.w.WriteString(header + "\n")
	return errors.Join(err, j.w.Flush())
}

// parse reads the lines below the header.
func (j *Journal) parse(v *chess.Variant, lines string) error {
	for line := range strings.Lines(lines) {
		w, err := parseWalk(v, strings.TrimSuffix(line, "\n"))
		if err != nil {
			return fmt.Errorf("%w: line %d: %w", ErrJournal, len(j.walks)+2, err)
		}
		if w.Number != len(j.walks) {
			return fmt.Errorf("%w: line %d: found walk %d, expected %d", ErrJournal, len(j.walks)+2, w.Number, len(j.walks))
		}
		j.walks = append(j.walks, w)
	}
	return nil
}

// Close flushes and closes the file.
func (j *Journal) Close() error { return errors.Join(j.w.Flush(), j.file.Close()) }

// Run gives the walks 0, 1, … in order to visit until that returns false: those of
// the journal first, then ones that e makes, which are added to it.
func (j *Journal) Run(ctx context.Context, e *Explorer, visit func(Walk) (more bool, err error)) error {
	for _, w := range j.walks {
		if more, err := visit(w); err != nil || !more {
			return err
		}
	}
	return e.Run(ctx, len(j.walks), func(w Walk) (bool, error) {
		j.walks = append(j.walks, w)
		if _, err := j.w.Write(appendWalk(nil, &w)); err != nil {
			return false, err
		}
		if len(j.walks)%16 == 0 { // a kill loses little
			if err := j.w.Flush(); err != nil {
				return false, err
			}
		}
		return visit(w)
	})
}
