package configs

import (
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/player"
)

// Ladder is a set of opponents of known strength that nets are rated against.
type Ladder struct {
	Schema  int      `yaml:"schema"`  // format version, Schema
	Variant string   `yaml:"variant"` // crazyhouse or chess
	Games   int      `yaml:"games"`   // of a net against each anchor at least, an even number
	Margin  float64  `yaml:"margin"`  // half of the 95 % interval, Elo, that more games are played for; 0: no more
	Most    int      `yaml:"most"`    // games of one net at most, an even number; only with a margin
	Seed    uint64   `yaml:"seed"`    // of the openings
	Nodes   uint64   `yaml:"nodes"`   // search nodes a move of the nets that are rated
	Anchors []Anchor `yaml:"anchors"`
	// Gain is Fairy-Stockfish, which plays with a net of its own architecture against
	// itself without one; it has limits but no name. Without it that is not measured.
	Gain *player.Spec `yaml:"gain"`
}

// Anchor is an opponent of a ladder.
type Anchor struct {
	Name   string      `yaml:"name"`
	Player player.Spec `yaml:"player"` // text or a mapping, with limits but no name
	Elo    float64     `yaml:"elo"`    // its rating, logistic
	SD     float64     `yaml:"sd"`     // how sure that is: its standard deviation; 0 fixes it
	Engine string      `yaml:"engine"` // how the engine's name for itself begins; empty: any. The rating is that program's alone
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
	if err := unmarshalStrictly(text, &l); err != nil {
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
	case !(l.Margin >= 0 && l.Margin <= 1e4):
		return wrong("margin", l.Margin, "0 to 10000 Elo")
	case l.Margin == 0 && l.Most != 0:
		return wrong("most", l.Most, "nothing, as there is no margin")
	case l.Margin > 0 && (l.Most < l.Games*len(l.Anchors) || l.Most%2 != 0):
		return wrong("most", l.Most, fmt.Sprintf("an even number from %d, the games against all opponents", l.Games*len(l.Anchors)))
	case l.Nodes == 0:
		return wrong("nodes", l.Nodes, "a positive number")
	case l.Gain != nil && (l.Gain.Search != player.Engine || l.Gain.Name != "" || !l.Gain.HasLimits()):
		return wrong("gain", l.Gain, "a UCI engine with limits and without a name")
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
		case a.Engine != "" && !a.Player.Search.Foreign():
			return wrong(key+".engine", a.Engine, "nothing: the player is this program's own")
		case math.IsNaN(a.Elo) || math.Abs(a.Elo) > 1e4:
			return wrong(key+".elo", a.Elo, "a rating within ±10000")
		case !(a.SD == 0 || a.SD >= rating.MinAnchorSD && a.SD <= rating.MaxAnchorSD):
			return wrong(key+".sd", a.SD, fmt.Sprintf("0, or %g to %g", rating.MinAnchorSD, rating.MaxAnchorSD))
		}
		seen[a.Name] = true
	}
	return nil
}
