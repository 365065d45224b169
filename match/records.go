package match

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// records are the files of a match: its log and its games as PGN. The games of
// a pair are made durable before the pair's line in the log, which holds the
// size the PGN then has. So whatever follows the size in the last line
// belongs to a pair that does not count, and is cut off.
type records struct {
	log     *os.File // nil: none
	hash    string   // of the schedule
	build   string   // version of the program, for the log
	pgn     *os.File // nil: none
	pgnSize int64
}

// openRecords opens the files, or starts them, and returns the pairs they hold.
// What a crash left half-written is removed. Empty paths keep nothing. Games of the
// match have the RunId.
func openRecords(logPath, pgnPath, runID string, s schedule) (r *records, pairs []Pair, err error) {
	r = &records{hash: s.hash()}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	var log Log
	if logPath != "" {
		if log, err = r.openLog(logPath, s, pgnPath != ""); err != nil {
			return r, nil, fmt.Errorf("log %s: %w", logPath, err)
		}
	}
	if pgnPath != "" {
		if err = r.openPGN(pgnPath, runID, &log); err != nil {
			return r, nil, fmt.Errorf("PGN %s: %w", pgnPath, err)
		}
	}
	if logPath != "" && log.Version == 0 { // the PGN is known to be new
		if err = r.startLog(s); err != nil {
			return r, nil, fmt.Errorf("log %s: %w", logPath, err)
		}
	}
	return r, log.Pairs, nil
}

// openLog opens, locks and reads the log, and leaves it ready for its next
// line.
func (r *records) openLog(path string, s schedule, withPGN bool) (Log, error) {
	var err error
	if r.log, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return Log{}, err
	}
	if err := dirlock.LockFile(r.log); errors.Is(err, dirlock.ErrFileHeld) {
		return Log{}, fmt.Errorf("%w by another match", ErrLogInUse)
	} else if err != nil {
		return Log{}, err
	}
	log, err := readLog(r.log)
	if err != nil {
		return Log{}, err
	}
	if log.Version != 0 {
		err := log.continues(s, withPGN)
		if errors.Is(err, ErrOtherSchedule) && len(log.Pairs) == 0 {
			log, err = Log{}, nil // nothing was played yet: begin anew
		}
		if err != nil {
			return Log{}, err
		}
	}
	if log.Version == 0 {
		return log, beganAsLog(r.log) // startLog makes it new
	}
	return log, r.cutLog(log.whole)
}

// beganAsLog returns an error unless a file without a whole line is empty, or what is left
// of the first line of a log: another would be somebody's.
func beganAsLog(f *os.File) error {
	head := make([]byte, len(logStart))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if head = head[:n]; string(head) != logStart[:n] && len(bytes.Trim(head, "\x00")) > 0 {
		return fmt.Errorf("%w: found a file that begins with %q, expected a new one or a log, which begins with %q", ErrBadLog, head, logStart)
	}
	return nil
}

// cutLog leaves that many bytes in the log, and writes on from there.
func (r *records) cutLog(size int) error {
	err := r.log.Truncate(int64(size))
	if err == nil {
		_, err = r.log.Seek(int64(size), io.SeekStart)
	}
	return err
}

// continues returns an error unless a match of the schedule may go on from the
// log.
func (l *Log) continues(s schedule, withPGN bool) error {
	if l.Version != logVersion {
		return fmt.Errorf("%w: version %d, from an earlier build: its pairs can be read but not added to, begin another log", ErrBadLog, l.Version)
	}
	if diff := words.Difference(s, l.Settings, "in the log"); diff != "" {
		return fmt.Errorf("%w: %s", ErrOtherSchedule, diff)
	}
	if withPGN != l.withPGN {
		found, wanted := "without", "with"
		if l.withPGN {
			found, wanted = wanted, found
		}
		return fmt.Errorf("%w: it was begun %s PGN, found a match %s", ErrOtherSchedule, found, wanted)
	}
	return nil
}

// openPGN opens the PGN and cuts off what is not of a pair in the log.
func (r *records) openPGN(path, runID string, log *Log) error {
	var err error
	if r.pgn, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return err
	}
	info, err := r.pgn.Stat()
	if err != nil {
		return err
	}
	if r.log != nil {
		is, err := r.log.Stat()
		if err != nil {
			return err
		}
		if os.SameFile(info, is) {
			return fmt.Errorf("%w: it is the log's file, expected another one", ErrConfig)
		}
	}
	if err := dirlock.LockFile(r.pgn); errors.Is(err, dirlock.ErrFileHeld) {
		return fmt.Errorf("%w by another match", ErrPGNInUse)
	} else if err != nil {
		return err
	}
	switch {
	case log.Version == 0 && info.Size() > 0:
		return fmt.Errorf("found a file of %d bytes, expected a new one: with a log a match goes on, without one it begins anew", info.Size())
	case info.Size() < log.pgn:
		return fmt.Errorf("found %d bytes, expected at least the %d of the pairs in the log", info.Size(), log.pgn)
	}
	if len(log.Pairs) > 0 {
		err = endsWithPair(r.pgn, log)
	} else if info.Size() > 0 {
		err = firstPairOf(r.pgn, runID)
	}
	if err != nil {
		return err
	}
	r.pgnSize = log.pgn
	if err := r.pgn.Truncate(r.pgnSize); err != nil {
		return err
	}
	if _, err := r.pgn.Seek(r.pgnSize, io.SeekStart); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// firstPairOf returns an error unless a PGN is what a match leaves that is stopped before its
// first pair is in the log: one or two games with its RunId, the last of them torn perhaps. It
// is cut off, and another file would be somebody's.
func firstPairOf(f *os.File, runID string) error {
	const most = 8 << 20 // bytes, more than any two games
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return err
	}
	parts := strings.Split(string(text), "\n\n") // tags and moves in turn
	ok := len(text) < most && (len(parts) < 5 || len(parts) == 5 && parts[4] == "")
	for i := 0; i < len(parts) && ok; i += 2 {
		tags := parts[i]
		if i == len(parts)-1 {
			ok = tornTags(tags)
		} else {
			ok = strings.HasPrefix(tags, firstTag) && strings.Contains(tags, fmt.Sprintf("\n[RunId %q]", runID))
		}
	}
	if !ok {
		return errors.New("found other games than those of the match, whose log has no pairs, expected a new file or the one that the match began with")
	}
	return nil
}

// firstTag begins every game.
const firstTag = "[Event "

// tornTags reports whether a text can be the beginning of a game's tags.
func tornTags(text string) bool {
	for line := range strings.Lines(text) {
		if line[0] != '[' {
			return false
		}
	}
	return strings.HasPrefix(text, firstTag) || strings.HasPrefix(firstTag, text)
}

// endsWithPair returns an error unless the games of the last pair in the log end where it says:
// what follows is cut off, which in another file would be somebody's.
func endsWithPair(f *os.File, log *Log) error {
	tail := make([]byte, min(log.pgn, 1<<20))
	if _, err := f.ReadAt(tail, log.pgn-int64(len(tail))); err != nil {
		return err
	}
	tag := fmt.Sprintf("[PairId \"%d\"]\n", log.Pairs[len(log.Pairs)-1].Number)
	last := bytes.LastIndex(tail, []byte("[PairId "))
	if last < 0 || !bytes.HasPrefix(tail[last:], []byte(tag)) || !bytes.HasSuffix(tail, []byte("\n\n")) {
		return fmt.Errorf("found other games than those of the log before byte %d, expected its last pair to end there: give the file that the match began with", log.pgn)
	}
	return nil
}

func (r *records) startLog(s schedule) error {
	if err := r.cutLog(0); err != nil {
		return err
	}
	if err := r.writeLog(logHeader{logVersion, s, r.pgn != nil}); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(r.log.Name()))
}

// append makes a finished pair and its games durable before it returns.
func (r *records) append(p Pair, games []byte) error {
	if r.pgn != nil {
		n, err := r.pgn.Write(games)
		r.pgnSize += int64(n)
		if err == nil && r.log != nil {
			err = r.pgn.Sync()
		}
		if err != nil {
			return fmt.Errorf("match: PGN: %w", err)
		}
	}
	if r.log == nil {
		return nil
	}
	if err := r.writeLog(logLine{r.hash, p, r.pgnSize, r.build}); err != nil {
		return fmt.Errorf("match: log: %w", err)
	}
	return nil
}

func (r *records) writeLog(v any) error {
	if _, err := r.log.Write(durable.Sum(encodeLine(v))); err != nil {
		return err
	}
	return r.log.Sync()
}

func (r *records) close() error {
	var errs []error
	for _, f := range []*os.File{r.log, r.pgn} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
