// Package configs holds the settings of a run: the structs with their units,
// the presets shipped in the binary, strict reading and validation.
//
// Values come, each overriding the one before, from the preset, a YAML file,
// the environment (SELFPLAY_TRAIN_BATCH sets train.batch) and key=value pairs
// given on the command line. An unknown key is an error that names the nearest
// known one. The effective configuration is written into the run's directory.
package configs

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Schema is the version of the file format that this build reads and writes.
const Schema = 1

// ErrInvalid is wrapped by every error about a setting's value or name.
var ErrInvalid = errors.New("configs: invalid configuration")

// Config is one run's settings.
type Config struct {
	Schema  int    `yaml:"schema"`  // format version, Schema
	Preset  string `yaml:"preset"`  // name of the preset it started from
	Variant string `yaml:"variant"` // crazyhouse or chess
	Seed    uint64 `yaml:"seed"`    // every random choice of the run follows from it

	Actor  Actor  `yaml:"actor"`
	Net    Net    `yaml:"net"`
	Bus    Bus    `yaml:"bus"`
	Replay Replay `yaml:"replay"`
	Train  Train  `yaml:"train"`
	Gate   Gate   `yaml:"gate"`
}

// Actor says how self-play games are made.
type Actor struct {
	Search        string  `yaml:"search"`          // ab, alpha–beta, for nets of kind nnue; mcts, tree search, for planes
	Tree          Tree    `yaml:"tree"`            // settings of mcts
	Workers       int     `yaml:"workers"`         // games played at the same time, one thread each
	Nodes         uint64  `yaml:"nodes"`           // search nodes a move; of mcts playouts of a full search
	HashMB        int     `yaml:"hash_mb"`         // transposition table, or tree, of each worker, MiB
	OpeningMin    int     `yaml:"opening_min"`     // random plies before the first searched move, at least
	OpeningMax    int     `yaml:"opening_max"`     // and at most
	OpeningScore  int     `yaml:"opening_score"`   // openings that a search scores beyond this are drawn again, centipawns
	BookShare     float64 `yaml:"book_share"`      // share of games that begin one or two random plies after a position of the program's book instead, 0..1; of variants that have a book
	RandomPlies   int     `yaml:"random_plies"`    // plies in which a random move may replace the engine's
	RandomProb    float64 `yaml:"random_prob"`     // probability of that, 0..1
	MaxPlies      int     `yaml:"max_plies"`       // a longer game is a draw
	WinScore      int     `yaml:"win_score"`       // adjudication: both agree on at least this, centipawns; 0 switches it off
	WinPlies      int     `yaml:"win_plies"`       // for so many plies
	PlayOutShare  float64 `yaml:"play_out_share"`  // share of games never adjudicated, 0..1
	SpoolMaxGames int     `yaml:"spool_max_games"` // games waiting for the bus before an actor pauses
}

// Tree says how tree search plays, in actors and, but for what is left to chance, in
// the gate. See mcts.Options.
type Tree struct {
	FastNodes           uint64  `yaml:"fast_nodes"`            // playouts of a search that is not full, which teaches no moves; 0: all are full
	FullShare           float64 `yaml:"full_share"`            // share of searches that are full, 0..1
	Gumbel              int     `yaml:"gumbel"`                // root moves that sequential halving begins with; 0: PUCT at the root
	Noise               float64 `yaml:"noise"`                 // share of Dirichlet noise in the root's priors, 0..1
	Temperature         float64 `yaml:"temperature"`           // of the choice by visits at the start of the game, without gumbel
	TemperatureFinal    float64 `yaml:"temperature_final"`     // and in the end
	TemperatureHalfLife float64 `yaml:"temperature_half_life"` // plies in which half of their difference goes
	MateProbe           int     `yaml:"mate_probe"`            // plies of checks looked through for mate at every new position: 0, 1 or 3
	Batch               int     `yaml:"batch"`                 // positions of all games that the net is given at once, at most
	Threads             int     `yaml:"threads"`               // that share a batch
	Runtime             string  `yaml:"runtime"`               // what runs plane nets: native, int8, onnxgo or ort
}

// Searches that actors and the gate play with.
const (
	AlphaBeta  = "ab"
	TreeSearch = "mcts"
)

// Bus says where games and nets travel.
type Bus struct {
	URL      string `yaml:"url"`       // an existing NATS server; empty starts one inside the process
	Listen   string `yaml:"listen"`    // host:port on which the embedded server accepts others; empty: none
	Token    string `yaml:"token"`     // shared secret asked of everyone who connects; empty: none
	MaxBytes int64  `yaml:"max_bytes"` // size of the games stream; a full stream makes actors wait
	KeepNets int    `yaml:"keep_nets"` // newest nets kept, beside the first and the current one
}

// Replay bounds the buffer.
type Replay struct {
	MaxBytes       int64   `yaml:"max_bytes"`       // segments on disk
	SegmentBytes   int64   `yaml:"segment_bytes"`   // size at which a new segment begins
	WindowMin      int     `yaml:"window_min"`      // positions in the smallest window
	WindowExponent float64 `yaml:"window_exponent"` // growth of the window with the positions seen, KataGo's power law
	WindowSlope    float64 `yaml:"window_slope"`    // its slope at the minimum
}

// Train is the optimiser's side.
type Train struct {
	Batch         int     `yaml:"batch"`           // positions a step
	Workers       int     `yaml:"workers"`         // threads; the result does not depend on it
	MinPositions  int     `yaml:"min_positions"`   // positions in the buffer before training starts
	SamplesPerRow float64 `yaml:"samples_per_row"` // train-to-play ratio: samples drawn per new position
	StepsPerNet   int     `yaml:"steps_per_net"`   // a candidate net every so many steps
	RenewGrowth   float64 `yaml:"renew_growth"`    // the trainer begins with a fresh net whenever the positions stored have grown by this factor; 0: never
	RenewSamples  float64 `yaml:"renew_samples"`   // samples that a fresh net draws in advance per position in the window
	LR            float64 `yaml:"lr"`              // learning rate at the start
	LRFinal       float64 `yaml:"lr_final"`        // learning rate after lr_steps, cosine between
	LRSteps       int     `yaml:"lr_steps"`
	WarmupSteps   int     `yaml:"warmup_steps"`
	MeanDecay     float64 `yaml:"mean_decay"`   // share that the averaged net, which is the one offered, keeps per step
	Lambda        float64 `yaml:"lambda"`       // share of the search score in the target at the start, the rest is the result
	LambdaFinal   float64 `yaml:"lambda_final"` // the share after lambda_steps
	LambdaSteps   int     `yaml:"lambda_steps"`
	NetScale      float64 `yaml:"net_scale"`     // raw units (208 a pawn) of the net's output per unit of log-odds of winning
	Optimiser     string  `yaml:"optimiser"`     // sgd, adam, adamw, radam or ranger
	Loss          string  `yaml:"loss"`          // power or cross-entropy, of the net's win probability against the target
	Power         float64 `yaml:"power"`         // exponent of the loss power
	PSQTStart     string  `yaml:"psqt_start"`    // first values of the PSQT weights: pieces, the material in raw units as far as the features tell it; or zero
	Factorise     bool    `yaml:"factorise"`     // rows that differ in the own king's square only have a virtual row in common
	PerGame       int     `yaml:"per_game"`      // positions drawn from one game at a time
	MinPly        int     `yaml:"min_ply"`       // earlier plies are not trained on
	MaxScore      int     `yaml:"max_score"`     // positions beyond this score are not trained on, centipawns; 0: no limit
	SkipCaptures  bool    `yaml:"skip_captures"` // leave out positions whose best move captures or promotes
	SkipInCheck   bool    `yaml:"skip_in_check"` // and those in check
	PolicyWeight  float64 `yaml:"policy_weight"` // of planes: weight of the loss of moves
	ValueWeight   float64 `yaml:"value_weight"`  // of planes: weight of the loss of scores and results
	PliesWeight   float64 `yaml:"plies_weight"`  // of planes: weight of the loss of plies left
	Surprise      float64 `yaml:"surprise"`      // of planes: share of the weight that goes by what surprised the search, 0..1
	HeldOut       int     `yaml:"held_out"`      // positions of held-out games measured for the held-out loss
	Checkpoint    int     `yaml:"checkpoint"`    // steps between checkpoints
}

// Gate decides whether a candidate replaces the current net.
type Gate struct {
	Enabled     bool    `yaml:"enabled"`
	Nodes       uint64  `yaml:"nodes"`       // search nodes a move
	Pairs       int     `yaml:"pairs"`       // opening pairs at most
	Concurrency int     `yaml:"concurrency"` // games at the same time
	Elo0        float64 `yaml:"elo0"`        // logistic Elo of H0
	Elo1        float64 `yaml:"elo1"`        // and H1
	Alpha       float64 `yaml:"alpha"`
	Beta        float64 `yaml:"beta"`
	Undecided   string  `yaml:"undecided"` // who passes if the test does not decide: elo, with more than half of the points; llr, if H1 is likelier; fail, nobody
}

// Rules for gates whose test does not decide.
const (
	UndecidedElo  = "elo"
	UndecidedLLR  = "llr"
	UndecidedFail = "fail"
)

//go:embed *.yaml
var presets embed.FS

// What train.optimiser, train.loss and train.psqt_start may be: the names of packages nnuefit and
// planesfit.
var (
	optimisers = map[string][]string{NNUE: {"sgd", "adam", "adamw", "radam", "ranger"}, Planes: {"sgd", "adamw"}}
	losses     = []string{"power", "cross-entropy"}
	psqtStarts = []string{"pieces", "zero"}
)

// base is the preset that gives every value; the others say what differs.
const base = "laptop"

// Presets lists the names that Preset knows, sorted.
func Presets() []string {
	files, _ := fs.Glob(presets, "*.yaml")
	files = slices.DeleteFunc(files, func(f string) bool { return f == ladderFile })
	for i, f := range files {
		files[i] = strings.TrimSuffix(f, ".yaml")
	}
	slices.Sort(files)
	return files
}

// Preset returns the named preset. Unknown names give an error that lists the
// known ones.
func Preset(name string) (Config, error) {
	var c Config
	for _, layer := range []string{base, name} {
		text, err := presets.ReadFile(layer + ".yaml")
		if err != nil || layer+".yaml" == ladderFile {
			return Config{}, fmt.Errorf("%w: preset: found %q, expected one of %s", ErrInvalid, name, strings.Join(Presets(), ", "))
		}
		if err := c.Merge(text, layer+".yaml"); err != nil {
			return Config{}, err
		}
	}
	c.Preset = name
	return c, nil
}

// FilePreset returns the preset that the file's key preset names; "" if it has
// no such key. A file is meant to be merged over that preset.
func FilePreset(text []byte, name string) (string, error) {
	values, err := parse(text, name)
	if err != nil {
		return "", err
	}
	preset, _ := values["preset"].(string) // Merge says so if it is none
	return preset, nil
}

// Merge overlays the YAML text of the file called name. Keys that are absent
// keep their values; unknown keys, another schema and another preset than the
// one it is merged over are errors, and then nothing has changed.
func (c *Config) Merge(text []byte, name string) error {
	values, err := parse(text, name)
	if err != nil {
		return err
	}
	if found, ok := values["preset"]; ok && c.Preset != "" && found != c.Preset {
		return fmt.Errorf("%w: %s: preset: found %v, expected %s, which it is merged over", ErrInvalid, name, found, c.Preset)
	}
	next := *c
	for key, field := range next.fields() {
		value, ok := values[key]
		if !ok {
			continue
		}
		if err := assign(field, key, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	*c = next
	return nil
}

// parse reads a file's settings under their dotted names and checks its schema
// and that every name is known.
func parse(text []byte, name string) (map[string]any, error) {
	var raw map[string]any
	if err := yaml.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, name, err)
	}
	if found, ok := raw["schema"]; !ok || fmt.Sprint(found) != fmt.Sprint(Schema) {
		if !ok {
			found = "none"
		}
		return nil, fmt.Errorf("%w: %s: schema: found %v, expected %d as the file's first key", ErrInvalid, name, found, Schema)
	}
	values := map[string]any{}
	flatten("", raw, values)
	if err := translateNet(values, name); err != nil {
		return nil, err
	}
	if err := translateTree(values, name); err != nil {
		return nil, err
	}
	known := Keys()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if _, ok := known[key]; !ok {
			return nil, fmt.Errorf("%w: %s: unknown key %q, the nearest known one is %q", ErrInvalid, name, key, nearest(key, known))
		}
	}
	return values, nil
}

// YAML returns the effective configuration as a file that Merge reads back.
func (c Config) YAML() []byte {
	text, err := yaml.Marshal(c)
	if err != nil { // plain values only: cannot happen
		panic(err)
	}
	return text
}

// Validate checks every value and reports all that are wrong at once.
func (c Config) Validate() error {
	var wrong []error
	check := func(ok bool, key string, found any, expected string) {
		if !ok {
			wrong = append(wrong, fmt.Errorf("%w: %s: found %v, expected %s", ErrInvalid, key, found, expected))
		}
	}
	positive := func(key string, v int) { check(v > 0, key, v, "a positive number") }
	natural := func(key string, v int) { check(v >= 0, key, v, "0 or more") }
	share := func(key string, v float64) { check(v >= 0 && v <= 1, key, v, "a number from 0 to 1") }

	for key, field := range c.fields() {
		if field.CanFloat() {
			v := field.Float()
			check(!math.IsNaN(v) && !math.IsInf(v, 0), key, v, "a finite number")
		}
	}
	check(c.Schema == Schema, "schema", c.Schema, fmt.Sprint(Schema))
	check(slices.Contains(Presets(), c.Preset), "preset", c.Preset, "one of "+strings.Join(Presets(), ", "))
	check(c.Variant == "crazyhouse" || c.Variant == "chess", "variant", c.Variant, "crazyhouse or chess")

	check(c.Actor.Workers > 0 && c.Actor.Workers <= 1024, "actor.workers", c.Actor.Workers, "1 to 1024")
	check(c.Actor.Nodes > 0, "actor.nodes", c.Actor.Nodes, "a positive number")
	check(c.Actor.HashMB > 0 && c.Actor.HashMB <= 65536, "actor.hash_mb", c.Actor.HashMB, "1 to 65536")
	check(c.Actor.OpeningMin >= 0 && c.Actor.OpeningMin <= c.Actor.OpeningMax, "actor.opening_min", c.Actor.OpeningMin, "0 to actor.opening_max")
	check(c.Actor.OpeningMax <= 64, "actor.opening_max", c.Actor.OpeningMax, "at most 64")
	check(c.Actor.MaxPlies > c.Actor.OpeningMax && c.Actor.MaxPlies <= 4096, "actor.max_plies", c.Actor.MaxPlies, "more than actor.opening_max, at most 4096")
	positive("actor.opening_score", c.Actor.OpeningScore)
	share("actor.book_share", c.Actor.BookShare)
	natural("actor.random_plies", c.Actor.RandomPlies)
	share("actor.random_prob", c.Actor.RandomProb)
	share("actor.play_out_share", c.Actor.PlayOutShare)
	natural("actor.win_score", c.Actor.WinScore)
	positive("actor.win_plies", c.Actor.WinPlies)
	positive("actor.spool_max_games", c.Actor.SpoolMaxGames)

	wrong = append(wrong, c.Actor.Tree.validate()...)

	if _, err := c.Net.Text(c.Variant); err != nil {
		wrong = append(wrong, fmt.Errorf("net: %w", err))
	}
	if kinds := map[string]string{NNUE: AlphaBeta, Planes: TreeSearch}; kinds[c.Net.Kind] != "" {
		check(c.Actor.Search == kinds[c.Net.Kind], "actor.search", c.Actor.Search, kinds[c.Net.Kind]+", which nets of kind "+c.Net.Kind+" play with")
	}

	check(c.Bus.URL == "" || c.Bus.Listen == "", "bus.listen", c.Bus.Listen, "nothing when bus.url is set")
	check(c.Bus.Listen == "" || hasPort(c.Bus.Listen), "bus.listen", c.Bus.Listen, "host:port")
	check(c.Bus.Listen == "" || c.Bus.Token != "" || isLoopback(c.Bus.Listen), "bus.listen", c.Bus.Listen, "an address of this machine only (localhost, 127.0.0.1, ::1) while bus.token is empty")
	check(c.Bus.MaxBytes >= 1<<20, "bus.max_bytes", c.Bus.MaxBytes, "at least 1 MiB")
	positive("bus.keep_nets", c.Bus.KeepNets)

	check(c.Replay.SegmentBytes >= 1<<12 && c.Replay.SegmentBytes <= 1<<29, "replay.segment_bytes", c.Replay.SegmentBytes, "4096 to 536870912")
	check(c.Replay.MaxBytes >= 2*c.Replay.SegmentBytes, "replay.max_bytes", c.Replay.MaxBytes, "at least two segments")
	positive("replay.window_min", c.Replay.WindowMin)
	check(c.Replay.WindowExponent > 0 && c.Replay.WindowExponent <= 1, "replay.window_exponent", c.Replay.WindowExponent, "more than 0, at most 1")
	check(c.Replay.WindowSlope > 0 && c.Replay.WindowSlope <= 1, "replay.window_slope", c.Replay.WindowSlope, "more than 0, at most 1")

	check(c.Train.Batch >= 16 && c.Train.Batch <= 1<<20, "train.batch", c.Train.Batch, "16 to 1048576")
	positive("train.workers", c.Train.Workers)
	positive("train.min_positions", c.Train.MinPositions)
	check(c.Train.RenewGrowth == 0 || c.Train.RenewGrowth > 1, "train.renew_growth", c.Train.RenewGrowth, "0 or more than 1")
	check(c.Train.RenewGrowth == 0 || c.Gate.Enabled, "train.renew_growth", c.Train.RenewGrowth, "0 while gate.enabled is false, as a fresh net is worse than the one before at first")
	check(c.Train.RenewSamples >= 0, "train.renew_samples", c.Train.RenewSamples, "0 or more")
	check(c.Train.SamplesPerRow > 0, "train.samples_per_row", c.Train.SamplesPerRow, "a positive number")
	positive("train.steps_per_net", c.Train.StepsPerNet)
	check(c.Train.LR > 0 && c.Train.LR < 1, "train.lr", c.Train.LR, "more than 0, less than 1")
	check(c.Train.LRFinal > 0 && c.Train.LRFinal <= c.Train.LR, "train.lr_final", c.Train.LRFinal, "more than 0, at most train.lr")
	positive("train.lr_steps", c.Train.LRSteps)
	natural("train.warmup_steps", c.Train.WarmupSteps)
	check(c.Train.MeanDecay >= 0 && c.Train.MeanDecay < 1, "train.mean_decay", c.Train.MeanDecay, "0 to less than 1")
	share("train.lambda", c.Train.Lambda)
	share("train.lambda_final", c.Train.LambdaFinal)
	positive("train.lambda_steps", c.Train.LambdaSteps)
	check(c.Train.NetScale >= 20 && c.Train.NetScale <= 10000, "train.net_scale", c.Train.NetScale, "20 to 10000")
	if known := optimisers[c.Net.Kind]; known != nil {
		check(slices.Contains(known, c.Train.Optimiser), "train.optimiser", c.Train.Optimiser, "one of "+strings.Join(known, ", "))
	}
	check(slices.Contains(psqtStarts, c.Train.PSQTStart), "train.psqt_start", c.Train.PSQTStart, "one of "+strings.Join(psqtStarts, ", "))
	check(slices.Contains(losses, c.Train.Loss), "train.loss", c.Train.Loss, "one of "+strings.Join(losses, ", "))
	check(c.Train.Power >= 1 && c.Train.Power <= 4, "train.power", c.Train.Power, "1 to 4")
	check(c.Train.PolicyWeight >= 0 && c.Train.PolicyWeight <= 1000, "train.policy_weight", c.Train.PolicyWeight, "0 to 1000")
	check(c.Train.ValueWeight >= 0 && c.Train.ValueWeight <= 1000, "train.value_weight", c.Train.ValueWeight, "0 to 1000")
	check(c.Train.PliesWeight >= 0 && c.Train.PliesWeight <= 1000, "train.plies_weight", c.Train.PliesWeight, "0 to 1000")
	share("train.surprise", c.Train.Surprise)
	positive("train.per_game", c.Train.PerGame)
	natural("train.min_ply", c.Train.MinPly)
	natural("train.max_score", c.Train.MaxScore)
	check(c.Train.HeldOut > 0 && c.Train.HeldOut <= 1<<20, "train.held_out", c.Train.HeldOut, "1 to 1048576")
	positive("train.checkpoint", c.Train.Checkpoint)

	check(c.Gate.Pairs > 0, "gate.pairs", c.Gate.Pairs, "a positive number")
	check(c.Gate.Nodes > 0, "gate.nodes", c.Gate.Nodes, "a positive number")
	positive("gate.concurrency", c.Gate.Concurrency)
	check(c.Gate.Elo0 < c.Gate.Elo1, "gate.elo0", c.Gate.Elo0, "less than gate.elo1")
	check(c.Gate.Alpha > 0 && c.Gate.Beta > 0 && c.Gate.Alpha+c.Gate.Beta < 1, "gate.alpha", c.Gate.Alpha, "alpha and beta above 0, their sum below 1")
	check(slices.Contains([]string{UndecidedElo, UndecidedLLR, UndecidedFail}, c.Gate.Undecided), "gate.undecided", c.Gate.Undecided, "elo, llr or fail")
	return errors.Join(wrong...)
}

func hasPort(listen string) bool {
	_, port, err := net.SplitHostPort(listen)
	return err == nil && port != ""
}

// isLoopback reports whether only this machine can reach the address listen.
func isLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
