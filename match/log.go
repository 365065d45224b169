package match

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// Errors of the log of a match.
var (
	// ErrOtherSchedule: the log belongs to a match with another seed, other
	// players, limits, settings or openings; the error says which.
	ErrOtherSchedule = errors.New("match: log of another match")
	// ErrBadLog: the log is damaged elsewhere than at its end, or of a version
	// that cannot be read or gone on with.
	ErrBadLog = errors.New("match: bad log")
	// ErrLogInUse: another match plays with the log.
	ErrLogInUse = errors.New("match: log in use")
	// ErrPGNInUse: another match writes the file of PGN.
	ErrPGNInUse = errors.New("match: PGN in use")
)

const (
	logVersion = 2
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

// players returns the names of the players in order.
func (s schedule) players(version int) []string {
	if version == 1 {
		return []string{s["a"], s["b"]}
	}
	var names []string
	for name, ok := s[playerKey(0)]; ok; name, ok = s[playerKey(len(names))] {
		names = append(names, name)
	}
	return names
}

// The log is lines of JSON, each with its checksum, which those of earlier builds lack. The
// first is a logHeader, every other a logLine.
// Version 1 had two players, called a and b in the schedule, and no PGN.
type (
	logHeader struct {
		Version  int      `json:"version"`
		Schedule schedule `json:"schedule"`
		PGN      bool     `json:"pgn,omitempty"` // the games are kept too
	}
	logLine struct {
		Schedule string `json:"schedule"` // hash
		Pair
		PGN   int64  `json:"pgn,omitempty"`   // bytes of the PGN file with this pair; 0: the games are not kept
		Build string `json:"build,omitempty"` // version of the program that ran the match
	}
)

// Log is what the log of a match says.
type Log struct {
	Version int
	// Players are the names of the players.
	Players []string
	// Settings are those that the games follow from, by name: seed, openings,
	// "player 1.limits" and so on.
	Settings map[string]string
	// Pairs are the finished pairs, each once, in the order they finished.
	Pairs []Pair
	// Builds are the versions of the program that ran the match, in the order in
	// which they came; empty if they are not known, as in logs of earlier builds.
	Builds []string

	withPGN bool
	pgn     int64 // size of the PGN file with the last pair
	whole   int   // bytes up to the end of the last whole line
}

// ReadLog reads the log of a match, one under way as well: a last line that is
// not finished is left out. Errors wrap [ErrBadLog] or are those of r.
func ReadLog(r io.Reader) (Log, error) {
	log, err := readLog(r)
	if err == nil && log.Version == 0 {
		err = fmt.Errorf("%w: no whole line", ErrBadLog)
	}
	return log, err
}

// readLog is ReadLog of a log that may have no whole line: then its Version is 0.
func readLog(r io.Reader) (Log, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxLogSize+1))
	if err != nil {
		return Log{}, fmt.Errorf("match: log: %w", err)
	}
	if len(data) > maxLogSize {
		return Log{}, fmt.Errorf("%w: more than %d bytes", ErrBadLog, maxLogSize)
	}
	return decodeLog(data)
}

// decodeLog reads the lines of a log. Without a whole line, its Version is 0.
func decodeLog(data []byte) (Log, error) {
	var log Log
	hash, seen := "", make(map[int]bool)
	for line := 1; ; line++ {
		text, _, ok := bytes.Cut(data[log.whole:], []byte{'\n'})
		if !ok {
			return log, nil
		}
		log.whole += len(text) + 1
		text, err := durable.Unsum("what was written", text, "begin another log, or cut this one off before the line")
		switch {
		case err != nil:
		case line == 1:
			err = log.decodeHeader(text)
			hash = schedule(log.Settings).hash()
		default:
			err = log.decodeLine(text, hash, seen)
		}
		if err != nil {
			return Log{}, fmt.Errorf("%w: line %d: %w", ErrBadLog, line, err)
		}
	}
}

func (l *Log) decodeHeader(text []byte) error {
	var h logHeader
	if err := json.Unmarshal(text, &h); err != nil {
		return err
	}
	if h.Version < 1 || h.Version > logVersion {
		return fmt.Errorf("version %d, expected 1 to %d", h.Version, logVersion)
	}
	l.Version, l.Settings, l.withPGN = h.Version, h.Schedule, h.PGN
	if l.Players = h.Schedule.players(h.Version); len(l.Players) < 2 || len(l.Players) > MaxPlayers {
		return fmt.Errorf("%d players, expected 2 to %d", len(l.Players), MaxPlayers)
	}
	return nil
}

func (l *Log) decodeLine(text []byte, hash string, seen map[int]bool) error {
	var line logLine
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	if l.Version == 1 {
		line.Pair.Players = [2]int{0, 1}
	}
	switch {
	case line.Schedule != hash:
		return fmt.Errorf("schedule %.20q, expected %q", line.Schedule, hash)
	case seen[line.Number]:
		return fmt.Errorf("pair %d is there twice", line.Number)
	case !l.withPGN && line.PGN != 0:
		return fmt.Errorf("a PGN of %d bytes in a log without", line.PGN)
	case l.withPGN && line.PGN <= l.pgn:
		return fmt.Errorf("a PGN of %d bytes, expected more than the %d before", line.PGN, l.pgn)
	}
	seen[line.Number] = true
	l.pgn = line.PGN
	l.Pairs = append(l.Pairs, line.Pair)
	if line.Build != "" && !slices.Contains(l.Builds, line.Build) {
		l.Builds = append(l.Builds, line.Build)
	}
	return line.Pair.check(len(l.Players))
}

// encodeLine returns a part of the log as a line of JSON.
func encodeLine(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("match: strings and numbers are always JSON: %v", err))
	}
	return append(text, '\n')
}
