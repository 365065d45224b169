package selfplay

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/nets"
)

// LocalOverview says what the directory of a run tells of it, for a run whose server is
// inside its process and closed to others. Of the stream of games it knows nothing.
func LocalOverview(dir string, cfg configs.Config, now time.Time) (v Overview, err error) {
	s := &ServerReader{run: newRun(dir, cfg, Options{}), dir: dir}
	if err := s.takeDirectory(); err != nil {
		return v, err
	}
	v.Run, v.Local = s.record, true
	if v.Run.Created, err = firstStart(s.run.path(eventsFile)); err != nil {
		return v, err
	}
	paths, err := durable.Glob(dir, statusFile("*"))
	if err != nil {
		return v, err
	}
	for _, path := range paths {
		m, err := readStatus(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // it has just ended
		}
		if err != nil {
			return v, err
		}
		why, err := silent(dir, &m, now)
		if err != nil {
			return v, err
		}
		if why != "" {
			v.Gone = append(v.Gone, fmt.Sprintf("%s (process %d) was seen last at %s: %s", m.Role, m.PID, m.Seen.Local().Format(time.DateTime), why))
			continue
		}
		v.Members = append(v.Members, m)
		if m.Seen.After(v.Time) {
			v.Time = m.Seen
		}
	}
	left := 0
	err = eachSpooled(s.run.path(spoolDir), func(string, fs.DirEntry) error {
		left++
		return nil
	})
	if err != nil {
		return v, err
	}
	if left > 0 && len(v.Members) == 0 {
		v.Gone = append(v.Gone, fmt.Sprintf("%s in the spool for a process that stores them", words.Count(left, "game waits", "games wait")))
	}
	kept, err := s.run.readPointers()
	if err != nil {
		return v, err
	}
	for key, value := range kept.Values {
		record, err := nets.ParseRecord(value)
		switch {
		case err != nil:
			return v, fmt.Errorf("%s: %w", pointersFile, err)
		case strings.HasPrefix(key, "current."):
			v.Current = &record
		case strings.HasPrefix(key, "candidate."):
			v.Offered = &record
		}
	}
	v.Findings = slices.Concat(v.Gone, v.findings())
	return v, nil
}

// silent says why a process that wrote its status into dir is taken for gone; "": it is there.
func silent(dir string, m *bus.Member, now time.Time) (why string, err error) {
	late := now.Sub(m.Seen).Abs() > memberGone // the clock may have been set back since
	if m.Host != hostname() {                  // and the lock is of that machine
		if late {
			why = "it was killed, or its machine stands still"
		}
		return why, nil
	}
	held, err := dirlock.Held(dir)
	switch {
	case err != nil:
		return "", err
	case !held:
		why = "it was killed"
	case late:
		why = "it has the directory, and cannot write into it or stands still"
	}
	return why, nil
}

// firstStart returns when the run of an events file was started first; zero: it does not
// say.
func firstStart(path string) (at time.Time, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	defer f.Close()
	line, _, err := bufio.NewReaderSize(f, maxEventLine).ReadLine()
	if errors.Is(err, io.EOF) {
		return at, nil
	}
	if err != nil {
		return at, fmt.Errorf("%s: %w", path, err)
	}
	var e struct {
		Time  time.Time `json:"time"`
		Event string    `json:"msg"`
	}
	if line, err = CheckEvent(line); err != nil || json.Unmarshal(line, &e) != nil || e.Event != "started" {
		return at, nil // as a full disk may leave it
	}
	return e.Time, nil
}

// memberGone is how old the status of a role may be.
const memberGone = 3 * announceEvery

// maxStatus bounds the file of a role's status.
const maxStatus = 64 << 10

func readStatus(path string) (m bus.Member, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return m, err
	}
	if info.Size() > maxStatus {
		return m, fmt.Errorf("%s: found %d bytes, expected at most %d", path, info.Size(), maxStatus)
	}
	text, err := durable.ReadSummed(filepath.Clean(path), "a role that works writes it again within seconds")
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	m.Seen = info.ModTime()
	return m, nil
}

// Progress compares two looks at a run, of which v is the later one, and says in one
// sentence whether games get through. Stuck says that work waits and nothing came out, of
// a stage of a process for as long as it says or of the stream between the looks, or that
// of a run that others work for a role is missing: it ended, or has not said for 30 s
// that it is there.
func (v *Overview) Progress(before *Overview) (sentence string, stuck bool) {
	var stalls []string
	for _, m := range v.Members {
		for _, s := range m.Stalled {
			stalls = append(stalls, fmt.Sprintf("%s %s: %v", m.Role, m.Instance, s))
		}
	}
	stalls = append(stalls, v.Gone...)
	if len(v.Members) > 0 && !v.Local {
		stalls = append(stalls, v.missing()...)
	}
	over := v.Time.Sub(before.Time).Round(time.Millisecond)
	// Both go back where the servers' store was put back from an earlier copy.
	in, out := grown(v.Stream.LastSeq, before.Stream.LastSeq), grown(v.Stream.AckFloor, before.Stream.AckFloor)
	same := v.Stream.Stream == before.Stream.Stream
	waiting := v.Stream.Pending + uint64(v.Stream.Unacked)
	waited := before.Stream.Pending + uint64(before.Stream.Unacked)
	if same && v.Stream.AckFloor == before.Stream.AckFloor && waiting > 0 && waited > 0 {
		stalls = append(stalls, fmt.Sprintf("replay is stuck: %d messages of games wait and none was stored within %v%s", waiting, over, v.trouble()))
	}
	switch {
	case len(stalls) > 0:
		return strings.Join(stalls, "; "), true
	case len(v.Members) == 0:
		return "calm: nobody works for the run, and nothing waits", false
	case v.Local:
		return fmt.Sprintf("calm: %s", v.Members[0].State), false
	case !same:
		return "calm: the stream of games is a new one", false
	case in == 0 && waiting == 0:
		return fmt.Sprintf("calm: no games came within %v, and none waits", over), false
	}
	return fmt.Sprintf("games get through: %d messages came and %d were stored within %v, %d wait", in, out, over, waiting), false
}

// trouble is what hinders the replay role by its own word, after a semicolon.
func (v *Overview) trouble() string {
	for _, m := range v.Members {
		if m.Role != "replay" && m.Role != "loop" {
			continue
		}
		for words := range strings.SplitSeq(m.State, " | ") { // a loop says what each of its roles does
			if words = strings.TrimPrefix(words, "replay: "); strings.HasPrefix(words, triesAgain) {
				return "; it says: " + words
			}
		}
	}
	return ""
}
