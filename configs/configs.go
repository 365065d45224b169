// Package configs holds the settings of loops and of runs on given data: the structs
// with their units, the presets shipped in the binary, and strict reading. Values are
// checked by the packages that use them.
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
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/internal/check"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/trainer"
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

	Run    Run     `yaml:"run"`
	Actor  Actor   `yaml:"actor"`
	Net    LoopNet `yaml:"net"`
	Bus    Bus     `yaml:"bus"`
	Replay Replay  `yaml:"replay"`
	Train  Train   `yaml:"train"`
	Gate   Gate    `yaml:"gate"`
	Verify Verify  `yaml:"verify"`

	Allocator Allocator `yaml:"allocator"`
}

// Run names a run and its protocol. All are for its beginning: a run keeps what it was
// given then.
type Run struct {
	Name string `yaml:"name"` // by which others find it on a server: letters, digits, - and _, at most 64; empty: the base name of its directory
	ID   string `yaml:"id"`   // in every subject, game id and manifest: a-z, 0-9 and -, at most 32; empty: made at random

	Protocol int `yaml:"protocol"` // that its roles speak, an earlier one if roles of earlier builds are to work for it; 0: the newest of the build
}

// Actor says how self-play games are made.
type Actor struct {
	Name          string  `yaml:"name"`            // of this actor among those of the run: a-z and 0-9, at most 24; empty: made once and kept
	Search        string  `yaml:"search"`          // ab, alpha–beta, for nets of kind nnue; mcts, tree search, for planes
	Tree          Tree    `yaml:"tree"`            // settings of mcts
	Workers       int     `yaml:"workers"`         // games played at the same time, one thread each
	Nodes         uint64  `yaml:"nodes"`           // search nodes a move; of mcts playouts of a full search
	NodesGrowth   string  `yaml:"nodes_growth"`    // how many instead with nets offered when as many games were stored, as in "20k: 400; 100k: 800", the fewest first; empty: no others
	QuickNodes    uint64  `yaml:"quick_nodes"`     // at which a search ends if the position is in check or the best move found captures or promotes; such positions are not trained on; 0: no search ends early
	HashMB        int     `yaml:"hash_mb"`         // transposition table, or tree, of each worker, MiB
	OpeningMin    int     `yaml:"opening_min"`     // random plies before the first searched move, at least
	OpeningMax    int     `yaml:"opening_max"`     // and at most
	OpeningScore  int     `yaml:"opening_score"`   // openings that a search scores beyond this are drawn again, centipawns
	Book          string  `yaml:"book"`            // opening book of actors and the gate: default, the program's own of the variant, if it has one; none; or a file of the trainer's machine, from which the others get it
	BookShare     float64 `yaml:"book_share"`      // share of games that begin one or two random plies after a position of the book instead, 0..1; if there is a book
	RandomPlies   int     `yaml:"random_plies"`    // plies in which a random move may replace the engine's
	RandomProb    float64 `yaml:"random_prob"`     // probability of that, 0..1
	MaxPlies      int     `yaml:"max_plies"`       // a longer game is a draw
	WinScore      int     `yaml:"win_score"`       // adjudication: both agree on at least this, centipawns; 0 switches it off
	WinPlies      int     `yaml:"win_plies"`       // for this many plies
	PlayOutShare  float64 `yaml:"play_out_share"`  // share of games never adjudicated, 0..1
	ResearchShare float64 `yaml:"research_share"`  // share of the positions of a game searched again after it, those that surprised most, 0..1; 0: none
	ResearchNodes uint64  `yaml:"research_nodes"`  // search nodes of each of them
	OlderShare    float64 `yaml:"older_share"`     // share of the games in which one side plays by an older net, 0..1
	OlderNets     int     `yaml:"older_nets"`      // the older net is one of so many published before the present one
	OlderTrain    bool    `yaml:"older_train"`     // the older net's positions may be trained on, too
	SpoolMaxGames int     `yaml:"spool_max_games"` // games waiting for the bus before an actor pauses
}

// Books that need no file.
const (
	DefaultBook = "default"
	NoBook      = "none"
)

// Tree says how tree search plays in actors. The gate plays likewise, but leaves
// nothing to chance and plays the move it thinks best.
type Tree struct {
	mcts.Options `yaml:",inline"` // Batch is of all games together

	Threads int    `yaml:"threads"` // that share a batch
	Runtime string `yaml:"runtime"` // what runs plane nets: native, int8, onnxgo or ort
}

// Searches that actors and the gate play with.
const (
	AlphaBeta  = "ab"
	TreeSearch = "mcts"
)

// Bus says where games and nets travel. Its secrets are named by files, never
// written here.
type Bus struct {
	URL         string `yaml:"url"`          // existing NATS servers, nats://host:port,…; empty starts one inside the process
	Listen      string `yaml:"listen"`       // host:port on which the embedded server accepts others; empty: none
	TokenFile   string `yaml:"token_file"`   // file of the shared secret asked of everyone who connects; empty: none
	Creds       string `yaml:"creds"`        // file of NATS credentials to connect with; empty: none
	TLSCA       string `yaml:"tls_ca"`       // file of the certificates that vouch for the servers, PEM; empty: those of the system
	Replicas    int    `yaml:"replicas"`     // copies of everything in a cluster of servers: 1, 3 or 5
	BundleGames int    `yaml:"bundle_games"` // games in a message, at most
	MaxBytes    int64  `yaml:"max_bytes"`    // size of the games stream; a full stream makes actors wait
	KeepNets    int    `yaml:"keep_nets"`    // newest nets kept, besides the first ones and those in use
}

// Replay bounds the buffer.
type Replay struct {
	MaxBytes       int64   `yaml:"max_bytes"`       // segments on disk
	SegmentBytes   int64   `yaml:"segment_bytes"`   // size at which a new segment begins
	WindowMin      int     `yaml:"window_min"`      // positions in the smallest window
	WindowExponent float64 `yaml:"window_exponent"` // growth of the window with the positions seen, KataGo's power law
	WindowSlope    float64 `yaml:"window_slope"`    // its slope at the minimum

	ActorGamesPerMinute int `yaml:"actor_games_per_minute"` // games that one actor elsewhere may have stored, on average; 0: no limit
	ActorGamesPerDay    int `yaml:"actor_games_per_day"`    // likewise, from midnight to midnight UTC
}

// Train is how the loop trains, and with how many of its positions.
type Train struct {
	trainer.Settings `yaml:",inline"`

	MinPositions  int     `yaml:"min_positions"`   // positions in the buffer before training starts
	SamplesPerRow float64 `yaml:"samples_per_row"` // train-to-play ratio: samples drawn per new position
	StepsPerNet   int     `yaml:"steps_per_net"`   // steps between candidate nets
	RenewGrowth   float64 `yaml:"renew_growth"`    // the trainer begins with a fresh net whenever the positions stored have grown by this factor; 0: never
	RenewSamples  float64 `yaml:"renew_samples"`   // samples that a fresh net draws in advance per position in the window
	PerGame       int     `yaml:"per_game"`        // positions drawn from one game at a time
	// ResearchWeight is how many times as likely as others of its game a position is
	// drawn that was searched again.
	ResearchWeight float64 `yaml:"research_weight"`
	// Relabel says how the present net scores the positions that are drawn anew, whose
	// scores these replace: off, quiescence, or depth1 to depth6.
	Relabel string `yaml:"relabel"`
	// InsideShare is the share of the positions drawn that are replaced by positions
	// from inside the searches that score them anew.
	InsideShare float64 `yaml:"inside_share"`
	// TailShare is the share of the steps before every candidate net, the last ones,
	// that are made at TailRate times the learning rate, on the newest TailNewest of
	// the window, and through the integer net's rounding; 0: none.
	TailShare  float64 `yaml:"tail_share"`
	TailRate   float64 `yaml:"tail_rate"`
	TailNewest float64 `yaml:"tail_newest"`
	Checkpoint int     `yaml:"checkpoint"` // steps between checkpoints
}

// How positions are labelled anew.
const (
	RelabelOff        = "off"
	RelabelQuiescence = "quiescence"
	RelabelDepth      = "depth" // a number follows
)

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

// Verify plays stored games again.
type Verify struct {
	Share float64 `yaml:"share"` // of the games, chosen at random, 0..1
}

// Allocator divides the cores of a loop among its parts by what a second of each earns.
type Allocator struct {
	Enabled       bool    `yaml:"enabled"`
	Minutes       float64 `yaml:"minutes"`         // of a round, after which it is measured what was earned
	LeastPlay     float64 `yaml:"least_play"`      // share of the cores that play keeps over minutes, 0..1
	SamplesPerRow float64 `yaml:"samples_per_row"` // the most that training may draw as its share grows, at least train.samples_per_row
}

// Rules for gates whose test does not decide.
const (
	UndecidedElo  = "elo"
	UndecidedLLR  = "llr"
	UndecidedFail = "fail"
)

//go:embed *.yaml
var presetFiles embed.FS

var presets = library{presetFiles, ".", "laptop"}

// Presets lists the names that Preset knows, sorted.
func Presets() []string { return presets.names() }

// Preset returns the named preset. Unknown names give an error that lists the
// known ones.
func Preset(name string) (Config, error) {
	var c Config
	if err := presets.lay(name, c.Merge); err != nil {
		return Config{}, err
	}
	c.Preset = name
	return c, nil
}

// Merge overlays the YAML text of the file called name. Keys that are absent
// keep their values; unknown keys, another schema and another preset than the
// one it is merged over are errors, and then nothing has changed. Settings of
// earlier builds are read as what they meant.
func (c *Config) Merge(text []byte, name string) error {
	values, err := decode(text, name)
	if err != nil {
		return err
	}
	return c.merge(values, name)
}

// MergeSaved is Merge for the configuration that a run has saved, which an earlier build
// may have written: of a setting that was not there then it has what the run did without.
func (c *Config) MergeSaved(text []byte, name string) error {
	values, err := decode(text, name)
	if err != nil {
		return err
	}
	keepOffset(values)
	return c.merge(values, name)
}

func (c *Config) merge(values map[string]any, name string) error {
	if found, ok := values["preset"]; ok && c.Preset != "" && found != c.Preset {
		return fmt.Errorf("%w: %s: preset: found %v, expected %s, which it is merged over", ErrInvalid, name, found, c.Preset)
	}
	if err := c.translate(values, name); err != nil {
		return err
	}
	if err := checkKeys(c, values, name); err != nil {
		return err
	}
	next := *c
	for key, field := range fields(&next) {
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

// YAML returns the effective configuration as a file that Merge reads back.
func (c Config) YAML() []byte { return toYAML(c) }

// envPrefix begins the name of every environment variable that sets a key:
// SELFPLAY_TRAIN_LR sets train.lr.
const envPrefix = "SELFPLAY_"

// variable is the name of the environment variable that sets a key.
func variable(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// Set gives the setting called key the value written in text: as it stands for
// a string, read as YAML for others. The preset cannot be set: it is what all
// settings are laid over.
func (c *Config) Set(key, text string) error {
	if key == "preset" {
		return fmt.Errorf("%w: preset: found %q among the settings, expected it to be chosen before them", ErrInvalid, text)
	}
	if key == oldToken {
		return refuseToken(text, "")
	}
	if now := replaced(key); now != "" {
		return fmt.Errorf("%w: unknown key %q, replaced by %s", ErrInvalid, key, now)
	}
	return set(c, key, text)
}

// SetEnv applies the variables of environ (each "NAME=value") that begin with
// SELFPLAY_. A variable that names no key is an error.
func (c *Config) SetEnv(environ []string) error {
	names := map[string]string{}
	for _, key := range append(keys(c), oldToken) {
		names[variable(key)] = key
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) {
			continue
		}
		key, ok := names[name]
		if !ok {
			nearest := words.Nearest(name, slices.Sorted(maps.Keys(names)))
			return fmt.Errorf("%w: environment: unknown variable %s, the nearest known one is %s", ErrInvalid, name, nearest)
		}
		if err := c.Set(key, value); err != nil {
			return fmt.Errorf("environment: %w", err)
		}
	}
	return nil
}

// SetPairs applies "key=value" pairs.
func (c *Config) SetPairs(pairs []string) error {
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%w: found %q, expected key=value", ErrInvalid, pair)
		}
		if err := c.Set(key, value); err != nil {
			return err
		}
	}
	return nil
}

// Differences names the settings in which two configurations differ, each as
// "key: a → b"; of an address without the user and password that it may have.
func Differences(a, b Config) []string {
	var out []string
	for key := range fields(&a) {
		was, is := get(&a, key), get(&b, key)
		if was == is {
			continue
		}
		if key == "bus.url" {
			was, is = secret.Redact(was), secret.Redact(is)
		}
		out = append(out, fmt.Sprintf("%s: %s → %s", key, was, is))
	}
	return out
}

var (
	runName   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	runID     = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	actorName = regexp.MustCompile(`^[a-z0-9]{1,24}$`)
)

// Validate reports what is wrong with the values that this package gives their
// meaning, and every number that is not finite. The others are checked by the
// packages that use them; package selfplay checks all.
func (c Config) Validate() error {
	wrong := check.Of(ErrInvalid)
	for key, field := range fields(&c) {
		if field.CanFloat() {
			v := field.Float()
			wrong.That(!math.IsNaN(v) && !math.IsInf(v, 0), key, v, "a finite number")
		}
	}
	check.Within(wrong, "schema", c.Schema, Schema, Schema)
	check.OneOf(wrong, "preset", c.Preset, Presets()...)
	check.OneOf(wrong, "variant", c.Variant, "crazyhouse", "chess")
	wrong.That(c.Run.Name == "" || runName.MatchString(c.Run.Name), "run.name", c.Run.Name, "1 to 64 letters, digits, - and _")
	wrong.That(c.Run.ID == "" || runID.MatchString(c.Run.ID), "run.id", c.Run.ID, "1 to 32 of a-z, 0-9 and -")
	wrong.That(c.Actor.Name == "" || actorName.MatchString(c.Actor.Name), "actor.name", c.Actor.Name, "1 to 24 of a-z and 0-9")
	_, err := c.Actor.NodeStages()
	wrong.Add(err)
	check.Within(wrong, "verify.share", c.Verify.Share, 0, 1)
	if _, err := c.Net.Text(c.Variant); err != nil {
		wrong.Add(fmt.Errorf("net: %w", err))
	}
	if err := c.Net.checkGrowth(c.Variant); err != nil {
		wrong.Add(fmt.Errorf("net: %w", err))
	}
	return wrong.Err()
}
