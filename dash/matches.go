package dash

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

const (
	mostMatches   = 20      // of the gate that are shown
	mostLogBytes  = 8 << 20 // of a log of the gate
	mostGateFiles = 1000    // looked at
)

// Match is one of the gate, as its log or its referee tells. Generation is 0 if it is not
// known.
type Match = selfplay.WatchedMatch

// knownLog is what a log holds, or why it cannot be read.
type knownLog struct {
	match Match // with Written alone if it cannot be read
	wrong error
}

// gateLogs reads the logs of the gate's matches; those that have not changed, once.
type gateLogs struct {
	dir     string
	known   map[string]knownLog // by file name
	matches []Match             // the newest first
	version int                 // changes with matches
}

// read reads the logs that have changed. One that cannot be read is left out, and the error says
// why, at every call until the log changes or is removed.
func (l *gateLogs) read(gate configs.Gate) error {
	type file struct {
		name    string
		size    int64
		written time.Time
	}
	dir, err := os.Open(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(mostGateFiles)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var files []file
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, file{e.Name(), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(b.written.Compare(a.written), cmp.Compare(b.name, a.name))
	})
	known, matches, changed := map[string]knownLog{}, []Match(nil), false
	var wrong []error
	for _, f := range files[:min(mostMatches, len(files))] {
		k, there := l.known[f.name]
		if !there || !k.match.Written.Equal(f.written) {
			changed = true
			k = knownLog{}
			if k.match, err = readMatch(filepath.Join(l.dir, f.name), gate); err != nil {
				k.wrong = fmt.Errorf("gate: %s: %w", f.name, err)
			}
			k.match.Written = f.written
		}
		known[f.name] = k
		if k.wrong != nil {
			wrong = append(wrong, k.wrong)
			continue
		}
		matches = append(matches, k.match)
	}
	if changed || len(matches) != len(l.matches) {
		l.version++
	}
	l.known, l.matches = known, matches
	return errors.Join(wrong...)
}

// readMatch reads a log of the gate, which may be of a match under way.
func readMatch(path string, gate configs.Gate) (Match, error) {
	f, err := os.Open(path)
	if err != nil {
		return Match{}, err
	}
	defer f.Close()
	log, err := match.ReadLog(io.LimitReader(f, mostLogBytes))
	if err != nil {
		return Match{}, err
	}
	m := Match{
		Candidate: log.Settings["player 1.net"], Incumbent: log.Settings["player 2.net"],
		Of: gate.Pairs, Elo0: gate.Elo0, Elo1: gate.Elo1, Path: []float64{},
	}
	test := rating.SPRT{Elo0: gate.Elo0, Elo1: gate.Elo1, Alpha: gate.Alpha, Beta: gate.Beta}
	if err := test.Validate(); err != nil {
		return Match{}, err
	}
	m.Low, m.High = test.Bounds()
	pairs := slices.Clone(log.Pairs)
	slices.SortFunc(pairs, func(a, b match.Pair) int { return cmp.Compare(a.Number, b.Number) })
	var counts rating.Pentanomial
	for i, p := range pairs {
		if p.Number != i { // a pair before it is being played
			break
		}
		counts.Add(p.Outcome(0), p.Outcome(1))
		llr := test.LLR(counts)
		if math.IsNaN(llr) || math.IsInf(llr, 0) {
			break
		}
		m.Path = append(m.Path, llr)
		if test.Status(llr) != rating.Continue {
			break
		}
	}
	games := counts.Games()
	m.Wins, m.Draws, m.Losses = games[rating.Win], games[rating.Draw], games[rating.Loss]
	return m, nil
}
