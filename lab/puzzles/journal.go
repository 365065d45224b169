package puzzles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/bounded"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
)

// ErrJournal says that a journal is no journal, or one of other games or settings.
var ErrJournal = errors.New("puzzles: bad journal")

// Journal is a file of what was found in games: a line that names games and settings,
// and for every game its puzzles as EPD and a line with the number of games done.
type Journal struct {
	Games int      // done
	Found []Puzzle // in them

	file  *os.File
	after []int // puzzles found when each game was done
}

// OpenJournal opens the journal at path, or makes it. Its first line is header, which
// names what the puzzles depend on and must not have line ends; a journal with another
// one is refused. A last game cut short, by a crash, is taken away. The journal is
// locked until it is closed. Errors wrap [ErrJournal] or [dirlock.ErrFileHeld], or are
// the file's.
func OpenJournal(path string, v *chess.Variant, header string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f}
	err = dirlock.LockFile(f)
	if err == nil {
		err = j.load(v, "# "+header)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

// load reads the file and leaves its offset after the last whole game.
func (j *Journal) load(v *chess.Variant, header string) error {
	data, err := bounded.Read(j.file, maxText, ErrBad)
	if err != nil {
		return err
	}
	first, rest, whole := bytes.Cut(data, []byte("\n"))
	if whole && len(rest) == 0 && bytes.HasPrefix(first, []byte("# ")) {
		first, whole = nil, false // no game was looked through: begin anew, with whatever settings
		if err := j.file.Truncate(0); err != nil {
			return err
		}
	}
	if string(first) != header && (whole || !strings.HasPrefix(header, string(first))) {
		return fmt.Errorf("%w: found\n%.500s\nexpected\n%s\nDelete it to begin anew", ErrJournal, first, header)
	}
	end := len(first) + 1
	if !whole { // new, or cut short in its first line
		if _, err := j.file.WriteAt([]byte(header+"\n"), 0); err != nil {
			return err
		}
		end = len(header) + 1
	}
	kept, err := j.parse(v, string(rest))
	if err != nil {
		return err
	}
	if err := j.file.Truncate(int64(end + kept)); err != nil {
		return err
	}
	_, err = j.file.Seek(0, io.SeekEnd)
	return err
}

// parse reads the lines below the header and returns the bytes of the whole games.
func (j *Journal) parse(v *chess.Variant, text string) (kept int, err error) {
	read, number := 0, 1
	var found []Puzzle
	for line := range strings.Lines(text) {
		read, number = read+len(line), number+1
		line, ended := strings.CutSuffix(line, "\n")
		if !ended {
			break
		}
		if strings.HasPrefix(line, "#") {
			if line != marker(j.Games+1) {
				return 0, fmt.Errorf("%w: line %d: found %.80q, expected %q", ErrJournal, number, line, marker(j.Games+1))
			}
			j.count(found)
			kept, found = read, nil
			continue
		}
		p, err := Parse(v, line)
		if err != nil {
			return 0, fmt.Errorf("%w: line %d: %w", ErrJournal, number, err)
		}
		found = append(found, p)
	}
	return kept, nil
}

// marker is the line after the puzzles of the n-th game.
func marker(n int) string { return fmt.Sprintf("# game %d", n) }

// Add adds what was found in the next game.
func (j *Journal) Add(found []Puzzle) error {
	j.count(found)
	_, err := j.file.Write(append(EPD(found), marker(j.Games)+"\n"...))
	return err
}

func (j *Journal) count(found []Puzzle) {
	j.Games, j.Found = j.Games+1, append(j.Found, found...)
	j.after = append(j.after, len(j.Found))
}

// First returns how many games are done, at most a number of them, and what was found
// in these, the first ones; 0 means all.
func (j *Journal) First(games int) (done int, found []Puzzle) {
	if games <= 0 || games >= j.Games {
		return j.Games, j.Found
	}
	return games, j.Found[:j.after[games-1]]
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
