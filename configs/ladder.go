package configs

import (
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/crazyhouse-rl/selfplay/player"
)

// Ladder is a set of opponents of known strength that nets are rated against.
type Ladder struct {
	Schema  int      `yaml:"schema"`  // format version, Schema
	Variant string   `yaml:"variant"` // crazyhouse or chess
	Games   int      `yaml:"games"`   // of a net against each anchor, an even number
	Seed    uint64   `yaml:"seed"`    // of the openings
	Nodes   uint64   `yaml:"nodes"`   // search nodes a move of the nets that are rated
	Anchors []Anchor `yaml:"anchors"`
}

// Anchor is an opponent of a ladder.
type Anchor struct {
	Name   string      `yaml:"name"`
	Player player.Spec `yaml:"player"` // text or a mapping, with limits but no name
	Elo    float64     `yaml:"elo"`    // its rating, logistic
	SD     float64     `yaml:"sd"`     // how sure that is: its standard deviation; 0 fixes it
}

// ladderFile is the name of the ladder among the embedded files, which are
// presets but for this one.
const ladderFile = "ladder.yaml"

//go:embed ladder.yaml
var ladder []byte

// maxAnchors leaves room for nets in a match of at most 64 players.
const maxAnchors = 32

// DefaultLadder returns the ladder that is part of the program.
func DefaultLadder() Ladder {
	l, err := ParseLadder(ladder, ladderFile)
	if err != nil { // checked by a test
		panic(err)
	}
	return l
}

// ParseLadder reads a ladder from the YAML text of the file called name. Unknown
// keys are errors, like all others wrapping ErrInvalid.
func ParseLadder(text []byte, name string) (Ladder, error) {
	var l Ladder
	if err := unmarshal(text, &l, yaml.Strict()); err != nil {
		return Ladder{}, fmt.Errorf("%w: %s: %w", ErrInvalid, name, err)
	}
	if err := l.validate(); err != nil {
		return Ladder{}, fmt.Errorf("%w: %s: %w", ErrInvalid, name, err)
	}
	return l, nil
}

func (l *Ladder) validate() error {
	wrong := func(key string, found any, expected string) error {
		return fmt.Errorf("%s: found %v, expected %s", key, found, expected)
	}
	switch {
	case l.Schema != Schema:
		return wrong("schema", l.Schema, fmt.Sprint(Schema))
	case l.Variant != "crazyhouse" && l.Variant != "chess":
		return wrong("variant", l.Variant, "crazyhouse or chess")
	case l.Games < 2 || l.Games%2 != 0:
		return wrong("games", l.Games, "an even number: every opening is played with both colours")
	case l.Nodes == 0:
		return wrong("nodes", l.Nodes, "a positive number")
	case len(l.Anchors) == 0 || len(l.Anchors) > maxAnchors:
		return wrong("anchors", len(l.Anchors), fmt.Sprintf("1 to %d", maxAnchors))
	}
	seen := make(map[string]bool)
	for i, a := range l.Anchors {
		key := fmt.Sprintf("anchors[%d]", i)
		switch {
		case a.Name == "" || strings.ContainsAny(a.Name, `"',`):
			return wrong(key+".name", fmt.Sprintf("%q", a.Name), "a name without quotes and commas")
		case seen[a.Name]:
			return wrong(key+".name", a.Name, "another name than those before")
		case a.Player.Search == "":
			return wrong(key+".player", "nothing", "a player")
		case a.Player.Name != "":
			return wrong(key+".player", a.Player, "a player without a name")
		case math.IsNaN(a.Elo) || math.Abs(a.Elo) > 1e4:
			return wrong(key+".elo", a.Elo, "a rating within ±10000")
		case !(a.SD >= 0 && a.SD <= 1e4):
			return wrong(key+".sd", a.SD, "0 to 10000")
		}
		seen[a.Name] = true
	}
	return nil
}
