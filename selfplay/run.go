package selfplay

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// What lies in a run's directory.
const (
	configFile = "config.yaml"  // the effective configuration
	stateFile  = "run.json"     // identity
	eventsFile = "events.jsonl" // nets, gate results, starts and stops: the curve of the run
	keyFile    = "trainer.key"  // signs the run's nets
	busDir     = "bus"          // store of the embedded server
	spoolDir   = "spool"        // games not yet acknowledged
	netsDir    = "nets"         // nets by content
	replayDir  = "replay"       // segments
	trainDir   = run.LoopCheckpoints
	gateDir    = "gate"          // game logs of the gate's matches
	exportFile = "candidate.net" // a net between export and store
)

// Options are what a process brings to a run.
type Options struct {
	Build string       // version of the program, recorded in games and nets
	Log   *slog.Logger // events for a person or a machine; nil: none
	Role  string       // of the process, for the lists of others; empty: loop
	// Patience is how long the first connection to a server is tried; 0: a minute.
	Patience time.Duration
	// ReplaceBuffer lets the replay buffer of the directory take the place of the one
	// that the run's games were kept in.
	ReplaceBuffer bool

	haste int // tests': divides every wait between looks or attempts; 0: 1
}

// Limits end a loop in order; zero fields set none.
type Limits struct {
	For        time.Duration // since the run was opened
	CPU        time.Duration // processor time of this process on all cores; the time passed where the system does not report it (cputime)
	Games      uint64        // played by this process
	Generation int           // of the net the actors play with; in a Trainer of the current one
}

// reached reports whether a process with a status has come to a limit; the generation is that
// of the net that its limit is about.
func (l Limits) reached(s *Status, generation int) bool {
	return l.For > 0 && s.Elapsed >= l.For || l.CPU > 0 && cputime.Process(os.Getpid()) >= l.CPU ||
		l.Games > 0 && s.SessionGames >= l.Games || l.Generation > 0 && generation >= l.Generation
}

// After returns the limits of a process that opens the run again, by its last status of the
// opening before: at least the least time and one game, as zero would set no limit.
func (l Limits) After(s Status) Limits {
	if l.For > 0 {
		l.For = max(1, l.For-s.Elapsed)
	}
	if l.Games > 0 {
		l.Games -= min(l.Games-1, s.SessionGames)
	}
	return l
}

// Run is what one process has of a run: its directory and its place on the bus. A
// loop has all of it; a single role leaves empty what it does not need.
type Run struct {
	cfg      configs.Config
	dir      string
	opt      Options
	identity identity
	shared   string // settings of the run, as a role joined with them
	begun    bool   // at this start, or by an earlier build: there is no actor yet
	variant  *chess.Variant
	style    style         // of the nets it trains and plays with
	owner    *dirlock.Lock // of the directory, in a loop and a trainer
	conn     *bus.Conn
	bus      *bus.Bus
	listened bool // the embedded server, closed now, was open when what is on it was published
	store    *nets.Store
	public   ed25519.PublicKey  // that signs the run's nets
	key      ed25519.PrivateKey // its other half, which trainers have
	status   *sharedStatus
	events   *os.File
	curve    curveFile // of the events
	log      *slog.Logger
	judging  atomic.Pointer[string] // id of the net the referee is at; kept from pruning
	books    bookCache
	cores    *cores     // that the roles of a loop share; nil: the system divides them
	boards   boards     // of the actor
	leading  sync.Mutex // held by lead and keepOnce
}

// SavedConfig returns the configuration of the run in dir; found is false if
// there is none.
func SavedConfig(dir string) (cfg configs.Config, found bool, err error) {
	path := filepath.Join(dir, configFile)
	text, err := configs.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cfg, false, nil
	}
	if err != nil {
		return cfg, false, err
	}
	preset, err := configs.FilePreset(text, path)
	if err != nil {
		return cfg, false, err
	}
	// A setting that the file does not have, an older build's, is the preset's.
	if cfg, err = configs.Preset(preset); err != nil {
		return cfg, false, fmt.Errorf("%s: %w", path, err)
	}
	return cfg, true, cfg.MergeSaved(text, path)
}

// isFixed says which settings a run keeps for life.
func isFixed(key string) bool {
	return key == "variant" || key == "seed" || strings.HasPrefix(key, "net.") && key != "net.growth"
}

// checkGrowth refuses settings that do not name an architecture of the saved ones: the
// run may have nets of it, which its roles would not play with any more.
func checkGrowth(saved, cfg configs.LoopNet) error {
	before, err := saved.All()
	if err != nil {
		return err
	}
	all, err := cfg.All()
	if err != nil {
		return err
	}
	for _, net := range before {
		if !slices.Contains(all, net) {
			return fmt.Errorf("net.growth: found %q without %s, of which the run may have nets: "+
				"leave it in, with a number of positions that is not reached if there shall be no more of them", cfg.Growth, net.Size())
		}
	}
	return nil
}

// tidy removes what a killed process left half written.
func (r *Run) tidy() error {
	for _, name := range []string{".", netsDir, trainDir, gateDir} {
		if err := durable.RemoveTemps(r.path(name)); err != nil {
			return err
		}
	}
	if err := os.Remove(r.path(exportFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// checkConfig refuses settings that would change what the run in the directory
// depends on.
func (r *Run) checkConfig() (saved configs.Config, found bool, err error) {
	saved, found, err = SavedConfig(r.dir)
	if err != nil || !found {
		return saved, found, err
	}
	var differ []string
	for _, d := range configs.Differences(saved, r.cfg) {
		if key, _, _ := strings.Cut(d, ":"); isFixed(key) {
			differ = append(differ, d)
		}
	}
	if len(differ) > 0 {
		return saved, found, fmt.Errorf("found a run whose games and checkpoint depend on other settings (%s): give another directory, or the settings it began with", strings.Join(differ, ", "))
	}
	return saved, found, checkGrowth(saved.Net, r.cfg.Net)
}

// id names the run on the bus and in the ids of its games.
func (r *Run) id() string { return r.identity.ID }

func (r *Run) path(name string) string { return filepath.Join(r.dir, name) }

// wait is how long to wait between two looks, or two attempts.
func (r *Run) wait(usual time.Duration) time.Duration {
	return usual / time.Duration(max(1, r.opt.haste))
}

// Status returns what the run is doing now.
func (r *Run) Status() Status { return r.status.snapshot(time.Now()) }

// event records something that a person will want to look up later, and logs it.
func (r *Run) event(name string, args ...any) {
	r.log.Info(name, args...)
	slog.New(slog.NewJSONHandler(summedLines{r.events}, nil)).Info(name, args...)
}

// Close gives everything back. The run can be opened again.
func (r *Run) Close() error {
	var errs []error
	if r.conn != nil {
		errs = append(errs, r.conn.Close())
	}
	if r.events != nil {
		errs = append(errs, r.events.Close())
	}
	if r.owner != nil {
		errs = append(errs, r.owner.Release())
	}
	return errors.Join(errs...)
}
