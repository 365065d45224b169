package configs

import (
	"embed"
	"fmt"
	"maps"
	"math"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/crazyhouse-rl/selfplay/internal/check"
	"github.com/crazyhouse-rl/selfplay/player"
)

// Compare is a comparison of representations: nets that learn from the same data and
// then play each other.
type Compare struct {
	Schema  int      `yaml:"schema"`  // format version, Schema
	Variant string   `yaml:"variant"` // crazyhouse or chess
	Data    []string `yaml:"data"`    // as learn takes them

	Train  map[string]any `yaml:"train"`  // settings of learn that all rows have
	Budget CompareBudget  `yaml:"budget"` // what a net may cost, in place of epochs; a row may have its own
	Seed   uint64         `yaml:"seed"`   // of the first net of each row; the others follow
	Seeds  int            `yaml:"seeds"`  // nets of each row

	Rows    []CompareRow `yaml:"rows"`
	Anchors []Opponent   `yaml:"anchors"` // players that every net meets
	Games   CompareGames `yaml:"games"`
	Sort    string       `yaml:"sort"` // column that the table is sorted by, one of CompareSorts
}

// CompareBudget is what the training of a net may cost, in place of epochs: one of the two, or
// neither where the settings of learn say it.
type CompareBudget struct {
	Samples uint64        `yaml:"samples"` // positions learned from, repetitions included
	Time    time.Duration `yaml:"time"`    // of one core: as many samples as the trainer learns from in it
}

func (b CompareBudget) validate(wrong *check.List, key string) {
	wrong.That(b.Time >= 0, key+".time", b.Time, "0 or more")
	wrong.That(b.Samples == 0 || b.Time == 0, key, "samples and time", "one of them")
}

// CompareRow is one of the representations. In a file its settings stand beside its
// name. A setting init of RowPrefix and another row's name has each net begin from that
// row's of the same seed.
type CompareRow struct {
	Name     string
	Budget   *CompareBudget // in place of the comparison's; nil: that
	Settings map[string]any // of learn, over those of Compare.Train
}

// Opponent is a player that nets meet, with limits of its own or those of the nets.
type Opponent struct {
	Name   string      `yaml:"name"`
	Player player.Spec `yaml:"player"`
	Elo    *float64    `yaml:"elo"` // where ratings fix it; nil: it is rated like the rows
}

// RowPrefix stands before a row's name where init means that row's nets.
const RowPrefix = "row:"

// CompareGames says what the nets play.
type CompareGames struct {
	Pairs   int           `yaml:"pairs"`   // of games, of every two players
	Nodes   uint64        `yaml:"nodes"`   // a move in the games at fixed nodes; 0: none are played
	Time    time.Duration `yaml:"time"`    // a move in the games at fixed time; 0: none are played
	Ladder  int           `yaml:"ladder"`  // pairs of each net against each opponent of the strength ladder; 0: none
	Rungs   string        `yaml:"rungs"`   // file of these opponents, as ladder takes it; empty: the program's own
	Puzzles uint64        `yaml:"puzzles"` // nodes for each of the program's puzzles, of a variant that has some; 0: none are given
	Seed    uint64        `yaml:"seed"`    // of openings
	Book    string        `yaml:"book"`    // file of openings, default or none
}

// CompareSorts are the columns that a table can be sorted by.
var CompareSorts = []string{
	"elo", "time", "ladder", "puzzles", "loss", "scores", "results", "winner",
	"inputs", "dead", "active", "moved", "parameters", "file", "evaluations", "speed", "training", "name",
}

// Bounds of a comparison.
const (
	maxRows  = 40 // with anchors a match has at most 64 players
	maxSeeds = 32
	maxPairs = 100_000
)

// rowKeys are the settings of learn that a comparison decides itself.
var rowKeys = map[string]string{
	"schema": "a comparison has one, at its top", "seed": "use seed and seeds of the comparison",
	"data": "use data of the comparison", "variant": "use variant of the comparison",
	"workers": "use --jobs",
}

// UnmarshalYAML takes the name and the budget out of a row's settings.
func (r *CompareRow) UnmarshalYAML(unmarshal func(any) error) error {
	var values map[string]any
	if err := unmarshal(&values); err != nil {
		return err
	}
	name, isText := values["name"].(string)
	if !isText {
		return fmt.Errorf("a row's name: found %v, expected a text", values["name"])
	}
	r.Name, r.Settings = name, values
	if budget, found := values["budget"]; found {
		text, err := yaml.Marshal(budget)
		if _, isMap := budget.(map[string]any); err != nil || !isMap {
			return fmt.Errorf("row %s: budget: found %v, expected samples or time, such as {time: 10m}", name, budget)
		}
		r.Budget = new(CompareBudget)
		if err := checkValues(reflect.TypeFor[CompareBudget](), "row "+name+": budget", budget); err != nil {
			return err
		}
		if err := yaml.UnmarshalWithOptions(text, r.Budget, yaml.Strict()); err != nil {
			return err
		}
	}
	delete(values, "name")
	delete(values, "budget")
	return nil
}

// MarshalYAML gives what UnmarshalYAML reads.
func (r CompareRow) MarshalYAML() (any, error) {
	values := yaml.MapSlice{{Key: "name", Value: r.Name}}
	if r.Budget != nil {
		values = append(values, yaml.MapItem{Key: "budget", Value: *r.Budget})
	}
	for _, key := range slices.Sorted(maps.Keys(r.Settings)) {
		values = append(values, yaml.MapItem{Key: key, Value: r.Settings[key]})
	}
	return values, nil
}

// ParseCompare reads a comparison from the YAML text of the file called name. Unknown
// keys are errors, like all others wrapping ErrInvalid. It may lack data, which a
// command can give.
func ParseCompare(text []byte, name string) (Compare, error) {
	c := Compare{
		Variant: "crazyhouse", Seed: 1, Seeds: 3, Sort: CompareSorts[0],
		Games: CompareGames{Pairs: 100, Nodes: 400, Puzzles: 400, Seed: 1},
	}
	err := unmarshalStrictly(text, &c)
	if err == nil {
		err = c.Validate()
	}
	if err != nil {
		return Compare{}, fmt.Errorf("%w: %s: %w", ErrInvalid, name, err)
	}
	return c, nil
}

// Validate reports everything that is wrong with a comparison but for its data.
func (c *Compare) Validate() error {
	wrong := check.Of(ErrInvalid)
	check.Within(wrong, "schema", c.Schema, Schema, Schema)
	check.OneOf(wrong, "variant", c.Variant, "crazyhouse", "chess")
	check.OneOf(wrong, "sort", c.Sort, CompareSorts...)
	check.Within(wrong, "seeds", c.Seeds, 1, maxSeeds)
	check.Within(wrong, "rows", len(c.Rows), 1, maxRows)
	check.Within(wrong, "anchors", len(c.Anchors), 0, maxAnchors)
	check.Within(wrong, "games.pairs", c.Games.Pairs, 1, maxPairs)
	check.Within(wrong, "games.ladder", c.Games.Ladder, 0, maxPairs)
	wrong.That(c.Games.Time >= 0, "games.time", c.Games.Time, "0 or more")
	wrong.That(len(c.Rows) == 0 || c.Games.Nodes+uint64(c.Games.Time)+uint64(c.Games.Ladder) > 0, "games", "no limits", "nodes, time or ladder")
	c.Budget.validate(wrong, "budget")
	names := map[string]bool{}
	for i, r := range c.Rows {
		c.BudgetOf(i).validate(wrong, fmt.Sprintf("rows[%d].budget", i))
		wrong.That(goodName(r.Name), fmt.Sprintf("rows[%d].name", i), fmt.Sprintf("%q", r.Name), "1 to 40 characters without control characters, commas, quotes and |")
		wrong.That(!names[r.Name], fmt.Sprintf("rows[%d].name", i), r.Name, "another name than those before")
		names[r.Name] = true
	}
	for i, a := range c.Anchors {
		key := fmt.Sprintf("anchors[%d]", i)
		wrong.That(goodName(a.Name), key+".name", fmt.Sprintf("%q", a.Name), "1 to 40 characters without control characters, commas, quotes and |")
		wrong.That(!names[a.Name], key+".name", a.Name, "another name than those of rows and anchors before")
		wrong.That(a.Player.Search != "", key+".player", "nothing", "a player")
		wrong.That(a.Player.Name == "", key+".player", a.Player, "a player without a name")
		if a.Elo != nil {
			wrong.That(math.Abs(*a.Elo) <= 1e4, key+".elo", *a.Elo, "a rating within ±10000")
		}
		names[a.Name] = true
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	seen := map[string]int{}
	features := make([]string, len(c.Rows))
	for i, r := range c.Rows {
		l, err := c.Learn(i)
		if err != nil {
			return err
		}
		features[i] = l.Features
		is := fmt.Sprintf("%s %+v", l.Canonical().YAML(), c.BudgetOf(i))
		if before, ok := seen[is]; ok {
			name := c.Rows[before].Name
			if features[before] != l.Features {
				return fmt.Errorf("%w: rows %s and %s: found features %s and %s, the same set in two spellings, and no other difference, expected different settings: delete one of the rows",
					ErrInvalid, name, r.Name, features[before], l.Features)
			}
			return fmt.Errorf("%w: rows %s and %s: found the same settings, expected different ones", ErrInvalid, name, r.Name)
		}
		seen[is] = i
	}
	for i := range c.Rows {
		if err := c.checkInit(i); err != nil {
			return err
		}
	}
	if len(c.Rows)+len(c.Anchors) == 1 && c.Games.Nodes+uint64(c.Games.Time) > 0 {
		return fmt.Errorf("%w: rows: found one row and no anchors, expected somebody to play against", ErrInvalid)
	}
	return nil
}

// checkInit refuses a row that begins from none of the others, from one of another kind, or
// in the end from itself.
func (c *Compare) checkInit(row int) error {
	l, err := c.Learn(row)
	if err != nil {
		return err
	}
	for at, steps := row, 0; ; steps++ {
		next, given, err := c.InitRow(at)
		if err != nil || !given {
			return err
		}
		of, err := c.Learn(next)
		if err != nil {
			return err
		}
		if of.Kind != l.Kind || steps > len(c.Rows) {
			return fmt.Errorf("%w: row %s: init: found %s, expected a row of kind %s that does not begin from this one", ErrInvalid, c.Rows[row].Name, c.Rows[next].Name, l.Kind)
		}
		at = next
	}
}

// InitRow returns the row that the nets of a row begin from; given is false if they begin
// from none.
func (c *Compare) InitRow(row int) (from int, given bool, err error) {
	l, err := c.Learn(row)
	if err != nil {
		return 0, false, err
	}
	name, given := strings.CutPrefix(l.Init, RowPrefix)
	if !given {
		return 0, false, nil
	}
	from = slices.IndexFunc(c.Rows, func(r CompareRow) bool { return r.Name == name })
	if from < 0 {
		return 0, false, fmt.Errorf("%w: row %s: init: found %s, expected the name of another row after %s", ErrInvalid, c.Rows[row].Name, name, RowPrefix)
	}
	return from, true, nil
}

func goodName(name string) bool {
	return name != "" && len([]rune(name)) <= 40 && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune("\"',|`", r) })
}

// BudgetOf returns the budget of a row's nets: its own, or that of the comparison.
func (c *Compare) BudgetOf(row int) CompareBudget {
	if own := c.Rows[row].Budget; own != nil {
		return *own
	}
	return c.Budget
}

// Learn returns the settings of training of a row, with the first seed: those of its
// preset, of Train and its own, each over the ones before. They have the comparison's
// data and variant.
func (c *Compare) Learn(row int) (Learn, error) {
	own := c.Rows[row].Settings
	preset := learnPresets.base
	for _, values := range []map[string]any{c.Train, own} {
		if name, ok := values["preset"]; ok {
			preset = fmt.Sprint(name)
		}
	}
	l, err := LearnPreset(preset)
	if err != nil {
		return Learn{}, err
	}
	for _, layer := range []struct {
		where  string
		values map[string]any
		budget CompareBudget // a row's own takes the place of epochs that all rows have
	}{{"train", c.Train, c.Budget}, {"row " + c.Rows[row].Name, own, c.BudgetOf(row)}} {
		if err := l.lay(layer.values, layer.where); err != nil {
			return Learn{}, err
		}
		if _, given := layer.values["epochs"]; given && layer.budget != (CompareBudget{}) {
			return Learn{}, fmt.Errorf("%w: %s: found epochs beside budget, expected one of them", ErrInvalid, layer.where)
		}
	}
	l.Preset, l.Variant, l.Seed, l.Data = preset, c.Variant, c.Seed, c.Data
	return l, l.Validate()
}

// Canonical returns valid settings with the features in the spelling that all others of the same
// set stand for.
func (l Learn) Canonical() Learn {
	if l.Kind == NNUE {
		if a, err := l.Architecture(l.Variant); err == nil {
			l.Features = a.Features
		}
	}
	return l
}

// lay gives settings the decoded values under their names.
func (l *Learn) lay(values map[string]any, where string) error {
	if err := checkKeys(l, values, where); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if instead, refused := rowKeys[key]; refused {
			return fmt.Errorf("%w: %s: found %s, expected settings of the net and its training: %s", ErrInvalid, where, key, instead)
		}
		to, _ := field(l, key)
		if err := assign(to, key, values[key]); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	return nil
}

// YAML returns the comparison as a file that ParseCompare reads back.
func (c Compare) YAML() []byte { return toYAML(c) }

//go:embed compare/*.yaml
var compareFiles embed.FS

var comparePresets = library{files: compareFiles, dir: "compare"}

// ComparePresets lists the names that ComparePreset knows, sorted.
func ComparePresets() []string { return comparePresets.names() }

// ComparePreset returns the named comparison. It has no data.
func ComparePreset(name string) (Compare, error) {
	if err := comparePresets.known(name); err != nil {
		return Compare{}, err
	}
	text, err := compareFiles.ReadFile(path.Join(comparePresets.dir, name+".yaml"))
	if err != nil {
		return Compare{}, err
	}
	return ParseCompare(text, name+".yaml")
}
