package dash

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// ErrNoRun says that a directory has no run.
var ErrNoRun = errors.New("no run in this directory")

const (
	usualRefresh  = time.Second
	mostFileBytes = 1 << 20 // of a file that is read as a whole
	mostSpooled   = 10_000  // files of the spool that are counted
)

// Config says what is watched.
type Config struct {
	// Dir is the directory of the run; empty: it is seen through its servers, by Ask and
	// Nets.
	Dir string
	// Status is the run's own, in its process; nil: it is another's.
	Status func() selfplay.Status
	// Ask asks the run's servers who works for it; nil: they are not known. It is called
	// by one goroutine at a time.
	Ask func(context.Context) (selfplay.Overview, error)
	// Nets asks them for the nets of the run and the changes of the one played with,
	// if there is no directory. The caller of Ask calls it.
	Nets func(context.Context) ([]nets.Manifest, []selfplay.NetChange, error)

	// Judging asks the referee of such a run for the matches under way, and for its
	// verdicts but the first after of them. The caller of Ask calls it.
	Judging func(ctx context.Context, after int) (selfplay.Judging, error)
	// Games calls visit with the games of such a run that are published from now on.
	Games func(visit func(encoded []byte)) (stop func(), err error)
	// Stored are the games that such a run has stored; of a directory they are those in it.
	Stored StoredGames
	// NetFile returns the file of a net of such a run. One goroutine at a time calls it.
	NetFile func(ctx context.Context, id string) (string, error)
	// Boards are the games that the process of the run plays; nil: it is another's.
	Boards func() []selfplay.LiveBoard

	// Control lets a page change the net that the run plays with; nil: none does.
	Control *Control

	refresh time.Duration // tests': between two looks at the directory; 0: a second
}

// Watch reads the directory of a run, as often as it is asked, but at most once a second.
// All methods may be called at the same time.
type Watch struct {
	cfg Config
	id  string // random

	mu       sync.Mutex
	looked   time.Time
	run      Run
	settings configs.Config
	savedAs  fs.FileInfo // of the settings' file; nil: not read yet
	events   eventLog
	buffer   buffer
	logs     gateLogs
	refused  refusedGames
	ratings  ratings
	servers  servers
	compared *compared   // nil: it is a run
	stored   StoredGames // nil: of a comparison
	gameRate meter
	playing  string   // id of the net that was played with at the last look
	changes  int      // of it and of the settings
	problems []string // what could not be read at the last look
	stateAs  []byte   // JSON at the last look

	over      context.Context // ends with the server of the page
	end       context.CancelFunc
	questions sync.WaitGroup // to the servers
}

// NewWatch returns a watch of the run, or the comparison, in a directory. The error wraps
// ErrNoRun if there is none; everything else that is wrong with the directory is shown on the page.
func NewWatch(cfg Config) (*Watch, error) {
	if cfg.refresh == 0 {
		cfg.refresh = usualRefresh
	}
	w := &Watch{cfg: cfg, id: rand.Text()}
	w.over, w.end = context.WithCancel(context.Background())
	if w.onServers() {
		w.buffer, w.stored = newBuffer(""), cfg.Stored
		return w, nil
	}
	for _, name := range []string{"run.json", "config.yaml", "events.jsonl"} {
		if _, err := os.Stat(w.path(name)); err == nil {
			w.events.file.Path = w.path("events.jsonl")
			w.buffer = newBuffer(w.path("replay"))
			w.logs.dir = w.path("gate")
			w.ratings.dir = cfg.Dir
			w.stored = storedHere{replay.NewArchive(w.path("replay"))}
			w.refused.dir = filepath.Join(w.path("replay"), "quarantine")
			return w, nil
		}
	}
	if isComparison(w.path) {
		w.compared = &compared{path: w.path}
		w.buffer = newBuffer(w.path("replay"))
		w.run = Run{Name: filepath.Base(filepath.Clean(cfg.Dir))}
		return w, nil
	}
	return nil, fmt.Errorf("%w: %s: found neither run.json, config.yaml nor events.jsonl, and no plan.yaml of a comparison; give the directory that a loop was started with (--dir)", ErrNoRun, cfg.Dir)
}

func (w *Watch) path(name string) string { return filepath.Join(w.cfg.Dir, name) }

// look calls read with the lock held, after reading what is new in the directory if the
// last look was not just before.
func (w *Watch) look(read func(now time.Time)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if now.Sub(w.looked) >= w.cfg.refresh {
		w.looked = now
		w.problems = nil
		switch {
		case w.onServers():
			w.buffer.meter(now)
			w.ask(now)
		case w.compared != nil:
			w.note(w.compared.read())
		default:
			w.readDirectory(now)
			w.ask(now)
		}
		w.stateAs = encode(w.state(now))
	}
	read(now)
}

// readDirectory reads what is new in the directory of the run.
func (w *Watch) readDirectory(now time.Time) {
	w.note(w.readSettings(), w.readRun(), w.events.read())
	w.note(w.buffer.read(now, w.run.ID), w.logs.read(w.settings.Gate), w.refused.read(w.run.ID), w.ratings.read())
	games, _, _ := w.buffer.total()
	w.gameRate.add(now, games)
	if r, _ := w.current(); r.Net != w.playing {
		w.playing = r.Net
		w.changes++
	}
}

// note keeps what could not be read for the page.
func (w *Watch) note(errs ...error) {
	for _, err := range errs {
		if err != nil {
			w.problems = append(w.problems, err.Error())
		}
	}
}

// readSettings reads the run's settings if their file has changed: a run may be resumed
// with others.
func (w *Watch) readSettings() error {
	info, err := os.Stat(w.path("config.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if was := w.savedAs; was != nil && info.Size() == was.Size() && info.ModTime().Equal(was.ModTime()) {
		return nil
	}
	settings, found, err := selfplay.SavedConfig(w.cfg.Dir)
	if err != nil || !found {
		return err
	}
	w.settings, w.savedAs = settings, info
	w.run.Variant, w.run.Preset, w.run.Kind = settings.Variant, settings.Preset, settings.Net.Kind
	w.changes++
	return nil
}

// readRun reads which run it is, once.
func (w *Watch) readRun() error {
	if w.run.ID != "" {
		return nil
	}
	w.run.Name = filepath.Base(filepath.Clean(w.cfg.Dir))
	data, err := readSmall(w.path("run.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var identity struct {
		Name  string `json:"name"`
		ID    string `json:"id"`
		Build string `json:"build"`
	}
	if err := json.Unmarshal(data, &identity); err != nil {
		return fmt.Errorf("run.json: %w", err)
	}
	if identity.Name != "" {
		w.run.Name = identity.Name
	}
	w.run.ID, w.run.Build = identity.ID, identity.Build
	return nil
}

// readSmall reads a file of at most mostFileBytes.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostFileBytes+1))
	if err == nil && len(data) > mostFileBytes {
		err = fmt.Errorf("%s: found more than %d bytes", filepath.Base(path), mostFileBytes)
	}
	return data, err
}

// current returns which net the run plays with, as its pointers say, or before they are
// written the store of its nets.
func (w *Watch) current() (nets.Record, bool) {
	if w.onServers() {
		if v := w.servers.overview; v != nil && v.Current != nil {
			return *v.Current, v.Current.Net != ""
		}
		return nets.Record{}, false
	}
	if w.cfg.Status != nil {
		s := w.cfg.Status()
		return nets.Record{Net: s.Net, Generation: s.Generation}, s.Generation > 0
	}
	data, err := readSmall(w.path("pointers.json"))
	if err != nil {
		id, err := readSmall(filepath.Join(w.path("nets"), "current"))
		net := strings.TrimSpace(string(id))
		generation, known := w.generations()[net]
		return nets.Record{Net: net, Generation: generation}, err == nil && known
	}
	var pointers struct {
		Values map[string]string `json:"values"`
	}
	if json.Unmarshal(data, &pointers) != nil {
		return nets.Record{}, false
	}
	for key, value := range pointers.Values {
		if strings.HasPrefix(key, "current.") {
			r, err := nets.ParseRecord(value)
			return r, err == nil && r.Net != ""
		}
	}
	return nets.Record{}, false
}

// changed is when the run has written last.
func (w *Watch) changed() time.Time {
	last := w.events.last
	if info, err := os.Stat(w.path("replay")); err == nil && info.ModTime().After(last) {
		last = info.ModTime()
	}
	if w.buffer.last.After(last) {
		last = w.buffer.last
	}
	for _, m := range w.logs.matches {
		if m.Written.After(last) {
			last = m.Written
		}
	}
	return last
}

// windowRows is the window that the run's rule gives for the positions stored.
func (w *Watch) windowRows(rows uint64) uint64 {
	r := w.settings.Replay
	if r.WindowMin <= 0 || r.WindowExponent <= 0 {
		return rows
	}
	return replay.WindowRule{Min: r.WindowMin, Exponent: r.WindowExponent, Slope: r.WindowSlope}.Size(rows)
}

// countFiles counts the games of a spool.
func countFiles(dir string) (n int, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	names, err := f.Readdirnames(mostSpooled)
	for _, name := range names {
		if strings.HasSuffix(name, ".game") {
			n++
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// meter measures a rate between looks.
type meter struct {
	at     []time.Time
	counts []uint64
}

const meterSpan = 15 * time.Second

// add adds a look. After a time without any, as when nobody had the page open, it begins
// anew: the mean over that time is no rate of the last seconds.
func (m *meter) add(now time.Time, count uint64) {
	if !m.fresh(now) {
		m.at, m.counts = nil, nil
	}
	m.at, m.counts = append(m.at, now), append(m.counts, count)
	for len(m.at) > 2 && now.Sub(m.at[1]) >= meterSpan {
		m.at, m.counts = m.at[1:], m.counts[1:]
	}
}

// fresh reports whether the last look was not long ago. Heartbeats come every ten seconds.
func (m *meter) fresh(now time.Time) bool {
	n := len(m.at)
	return n > 0 && now.Sub(m.at[n-1]) <= 2*meterSpan
}

// perSecond is the mean of the last seconds, 0 as long as there is one look.
func (m *meter) perSecond(now time.Time) float64 {
	if len(m.at) < 2 || !m.fresh(now) {
		return 0
	}
	n := len(m.at) - 1
	if s := m.at[n].Sub(m.at[0]).Seconds(); s > 0 && m.counts[n] > m.counts[0] {
		return float64(m.counts[n]-m.counts[0]) / s
	}
	return 0
}
