package selfplay

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// What lies in a run's directory.
const (
	configFile = "config.yaml"   // the effective configuration
	stateFile  = "run.json"      // runState
	eventsFile = "events.jsonl"  // nets, gate results, starts and stops: the curve of the run
	keyFile    = "trainer.key"   // signs the run's nets
	busDir     = "bus"           // store of the embedded server
	spoolDir   = "spool"         // games not yet acknowledged
	netsDir    = "nets"          // nets by content
	replayDir  = "replay"        // segments
	trainDir   = "train"         // checkpoints
	gateDir    = "gate"          // game logs of the gate's matches
	exportFile = "candidate.net" // a net between export and store
)

// Options are what a process brings to a run.
type Options struct {
	Build string       // version of the program, recorded in games and nets
	Log   *slog.Logger // events for a person or a machine; nil: none
}

// Limits end a loop in order; zero fields set none.
type Limits struct {
	For        time.Duration // since the run was opened
	Games      uint64        // played by this process
	Generation int           // of the net the actors play with
}

// Run is one run's directory, opened by this process alone, with its bus.
type Run struct {
	cfg     configs.Config
	dir     string
	opt     Options
	variant *chess.Variant
	style   style // of the nets it trains and plays with
	epoch   int   // starts of the run before this one; part of every game id
	lock    *dirlock.Lock
	conn    *bus.Conn
	bus     *bus.Bus
	store   *nets.Store
	key     ed25519.PrivateKey
	status  *sharedStatus
	events  *os.File
	log     *slog.Logger
	judging atomic.Pointer[string] // id of the net the referee is at; kept from pruning
}

// runState is what a run remembers of its processes.
type runState struct {
	Schema int    `json:"schema"`
	ID     string `json:"id"`
	Starts int    `json:"starts"`
	Build  string `json:"build"` // of the newest start
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
	return cfg, true, cfg.Merge(text, path)
}

// isFixed says which settings a run keeps for life.
func isFixed(key string) bool {
	return key == "variant" || key == "seed" || strings.HasPrefix(key, "net.")
}

// Open opens the run in dir, or begins one there, with the effective
// configuration cfg, which is written into the directory first. The error
// wraps dirlock.ErrHeld if another process has the run.
func Open(ctx context.Context, dir string, cfg configs.Config, o Options) (*Run, error) {
	if err := Check(cfg); err != nil {
		return nil, err
	}
	r := &Run{cfg: cfg, dir: dir, opt: o, status: newSharedStatus(), log: o.Log}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if err := r.open(ctx); err != nil {
		r.Close()
		return nil, fmt.Errorf("open run %s: %w", dir, err)
	}
	return r, nil
}

func (r *Run) open(ctx context.Context) (err error) {
	if r.variant, err = chess.ParseVariant(r.cfg.Variant); err != nil {
		return err
	}
	if r.style, err = newStyle(r); err != nil {
		return err
	}
	r.status.update(func(s *Status) { s.Net = r.firstNet().ID })
	if err := run.CheckInit(r.cfg.Train.Init, r.path(trainDir)); err != nil {
		return fmt.Errorf("train.%w", err)
	}
	if r.lock, err = dirlock.Acquire(r.dir); err != nil {
		return err
	}
	if err := r.tidy(); err != nil {
		return err
	}
	saved, resumed, err := r.checkConfig()
	if err != nil {
		return err
	}
	if r.events, err = os.OpenFile(r.path(eventsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	if r.key, err = nets.LoadOrCreateKey(r.path(keyFile)); err != nil {
		return err
	}
	if r.store, err = nets.Open(r.path(netsDir)); err != nil {
		return err
	}
	if err := r.openBus(ctx); err != nil {
		return err
	}
	// Only settings that work replace those that did.
	if err := durable.WriteFile(r.path(configFile), r.cfg.YAML()); err != nil {
		return err
	}
	if err := r.begin(); err != nil {
		return err
	}
	r.event("started", "start", r.epoch, "build", r.opt.Build)
	if resumed {
		for _, d := range configs.Differences(saved, r.cfg) {
			r.event("setting changed", "setting", d)
		}
	}
	return nil
}

func (r *Run) openBus(ctx context.Context) (err error) {
	o := bus.Options{
		TokenFile: r.cfg.Bus.TokenFile, Creds: r.cfg.Bus.Creds, TLSCA: r.cfg.Bus.TLSCA,
		Name: "loop", Log: r.log,
	}
	if o.URL = r.cfg.Bus.URL; o.URL == "" {
		o.Dir, o.Listen = r.path(busDir), r.cfg.Bus.Listen
	} else {
		r.log.Info("connecting", "nats", o.URL)
	}
	if r.conn, err = bus.Open(ctx, o); err != nil {
		return err
	}
	r.bus, err = r.conn.Join(ctx, r.id(), bus.JoinOptions{MaxBytes: r.cfg.Bus.MaxBytes, Replicas: r.cfg.Bus.Replicas})
	return err
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
	return saved, found, nil
}

// begin counts this start of the run.
func (r *Run) begin() error {
	state := runState{Schema: 1, ID: r.id()}
	text, err := os.ReadFile(r.path(stateFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(text, &state); err != nil {
			return fmt.Errorf("%s: %w", r.path(stateFile), err)
		}
		if state.Schema != 1 || state.ID != r.id() || state.Starts < 0 {
			return fmt.Errorf("%s: found schema %d, run %q, %d starts, expected schema 1, run %q", r.path(stateFile), state.Schema, state.ID, state.Starts, r.id())
		}
	}
	r.epoch = state.Starts
	state.Starts++
	state.Build = r.opt.Build
	text, err = json.Marshal(state)
	if err != nil {
		return err
	}
	return durable.WriteFile(r.path(stateFile), append(text, '\n'))
}

// id names the run on the bus and in the ids of its games.
func (r *Run) id() string { return fmt.Sprintf("%s-%d", r.cfg.Variant, r.cfg.Seed) }

func (r *Run) path(name string) string { return filepath.Join(r.dir, name) }

// Status returns what the run is doing now.
func (r *Run) Status() Status { return r.status.snapshot() }

// event records something that a person will want to look up later, and logs it.
func (r *Run) event(name string, args ...any) {
	r.log.Info(name, args...)
	slog.New(slog.NewJSONHandler(r.events, nil)).Info(name, args...)
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
	if r.lock != nil {
		errs = append(errs, r.lock.Release())
	}
	return errors.Join(errs...)
}
