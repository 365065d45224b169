package match

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// Errors of the log of a match.
var (
	// ErrOtherSchedule: the log belongs to a match with another seed, other
	// players, limits, settings or openings; the error says which.
	ErrOtherSchedule = errors.New("match: log of another match")
	// ErrBadLog: the log is damaged elsewhere than at its end.
	ErrBadLog = errors.New("match: bad log")
)

const (
	logVersion = 1
	maxLogSize = 1 << 30 // bytes; two million pairs and more
)

// schedule is everything the games of a match follow from, by name. Two
// matches with equal schedules have the same pairs.
type schedule map[string]string

// hash identifies the schedule in every line of the log: the first 16 hex
// digits of the SHA-256 of its line of JSON, newline included, whose keys are
// sorted.
func (s schedule) hash() string {
	sum := sha256.Sum256(encodeLine(s))
	return hex.EncodeToString(sum[:8])
}

// difference says in what s, the schedule wanted, and found are not the same.
func (s schedule) difference(found schedule) string {
	var names []string
	for name := range s {
		names = append(names, name)
	}
	for name := range found {
		if _, ok := s[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var parts []string
	for _, name := range names {
		if s[name] != found[name] {
			parts = append(parts, fmt.Sprintf("%s is %.80q in the log, %.80q here", name, found[name], s[name]))
		}
	}
	return strings.Join(parts, "; ")
}

// The log is lines of JSON. The first is a logHeader, every other a logLine.
type (
	logHeader struct {
		Version  int      `json:"version"`
		Schedule schedule `json:"schedule"`
	}
	logLine struct {
		Schedule string `json:"schedule"` // hash
		Pair
	}
)

// pairLog appends finished pairs to a file. With an empty path there is no
// file and the log remembers nothing.
type pairLog struct {
	file *os.File
	hash string
}

// openLog opens the log at path, or starts it, and returns the pairs it holds,
// each once, in the order they were written. A last line cut short by a crash
// is removed.
func openLog(path string, s schedule) (*pairLog, []Pair, error) {
	if path == "" {
		return &pairLog{}, nil, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("match: log: %w", err)
	}
	l := &pairLog{file: file, hash: s.hash()}
	pairs, err := l.load(s)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("log %s: %w", path, err), file.Close())
	}
	return l, pairs, nil
}

// load reads the file and leaves it ready for the next line.
func (l *pairLog) load(s schedule) ([]Pair, error) {
	data, err := io.ReadAll(io.LimitReader(l.file, maxLogSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxLogSize {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrBadLog, maxLogSize)
	}
	pairs, whole, err := decodeLog(data, s)
	if err != nil {
		return nil, err
	}
	if err := l.file.Truncate(int64(whole)); err != nil {
		return nil, err
	}
	if _, err := l.file.Seek(int64(whole), io.SeekStart); err != nil {
		return nil, err
	}
	if whole > 0 {
		return pairs, nil
	}
	if err := l.write(logHeader{logVersion, s}); err != nil {
		return nil, err
	}
	return nil, durable.SyncDir(filepath.Dir(l.file.Name()))
}

// decodeLog reads the lines of a log that must be one of the schedule. It
// returns the pairs and the number of bytes up to the end of the last whole
// line; what follows is the beginning of a line whose writing was cut short.
func decodeLog(data []byte, s schedule) (pairs []Pair, whole int, err error) {
	hash := s.hash()
	seen := make(map[int]bool)
	for line := 1; ; line++ {
		text, _, ok := bytes.Cut(data[whole:], []byte{'\n'})
		if !ok {
			return pairs, whole, nil
		}
		whole += len(text) + 1
		if line == 1 {
			if err := decodeHeader(text, s); err != nil {
				return nil, 0, err
			}
			continue
		}
		pair, err := decodeLine(text, hash)
		if err == nil && seen[pair.Number] {
			err = fmt.Errorf("pair %d is there twice", pair.Number)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%w: line %d: %w", ErrBadLog, line, err)
		}
		seen[pair.Number] = true
		pairs = append(pairs, pair)
	}
}

func decodeHeader(text []byte, s schedule) error {
	var h logHeader
	if err := json.Unmarshal(text, &h); err != nil {
		return fmt.Errorf("%w: line 1: %w", ErrBadLog, err)
	}
	if h.Version != logVersion {
		return fmt.Errorf("%w: line 1: version %d, expected %d", ErrBadLog, h.Version, logVersion)
	}
	if diff := s.difference(h.Schedule); diff != "" {
		return fmt.Errorf("%w: %s", ErrOtherSchedule, diff)
	}
	return nil
}

func decodeLine(text []byte, hash string) (Pair, error) {
	var l logLine
	if err := json.Unmarshal(text, &l); err != nil {
		return Pair{}, err
	}
	if l.Schedule != hash {
		return Pair{}, fmt.Errorf("schedule %.20q, expected %q", l.Schedule, hash)
	}
	return l.Pair, l.Pair.check()
}

// append makes a finished pair durable before it returns.
func (l *pairLog) append(p Pair) error {
	if l.file == nil {
		return nil
	}
	if err := l.write(logLine{l.hash, p}); err != nil {
		return fmt.Errorf("match: log: %w", err)
	}
	return nil
}

func (l *pairLog) write(v any) error {
	if _, err := l.file.Write(encodeLine(v)); err != nil {
		return err
	}
	return l.file.Sync()
}

// encodeLine returns a part of the log as a line of JSON.
func encodeLine(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("match: strings and numbers are always JSON: %v", err))
	}
	return append(text, '\n')
}

func (l *pairLog) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
