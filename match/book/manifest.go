package book

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Player says who searched, for the manifest.
type Player struct {
	Name     string `json:"name"`
	Net      string `json:"net,omitempty"`      // SHA-256 of the net file, in hexadecimal
	Settings string `json:"settings,omitempty"` // of the engine
	Limits   string `json:"limits"`             // of every search, in the words of UCI's go command
}

// WalkFacts are what walks depend on: the settings of an [Explorer] and who its
// players are. Written as JSON on one line it is the header of a [Journal].
type WalkFacts struct {
	Format      string       `json:"format"`
	Variant     string       `json:"variant"`
	Seed        uint64       `json:"seed"`
	Plies       [2]int       `json:"plies"` // from and to
	Walker      Player       `json:"walker"`
	MultiPV     int          `json:"multipv"`
	Temperature float64      `json:"temperature"`   // centipawns
	MaxLoss     search.Score `json:"max_loss"`      // centipawns
	Bonus       search.Score `json:"capture_bonus"` // centipawns
	MaxScore    search.Score `json:"max_score"`     // centipawns
	Judge       Player       `json:"judge"`
}

// walkFormat names the way walks are made; another way gets another name, so
// that no journal is gone on with that other walks began.
const walkFormat = "selfplay book walks 1"

// Facts returns the facts of walks made by s with the players given, whose
// limits are filled in.
func (s *Settings) Facts(walker, judge Player) WalkFacts {
	walker.Limits, judge.Limits = game.LimitsText(s.Moves), game.LimitsText(s.Judge)
	return WalkFacts{
		Format: walkFormat, Variant: s.Variant.Name, Seed: s.Seed, Plies: [2]int{s.MinPlies, s.MaxPlies},
		Walker: walker, MultiPV: s.Moves.MultiPV, Temperature: s.Temperature, MaxLoss: s.MaxLoss, Bonus: s.CaptureBonus, MaxScore: s.MaxScore,
		Judge: judge,
	}
}

// Header returns the facts as the header of a [Journal].
func (f WalkFacts) Header() (string, error) {
	b, err := json.Marshal(f)
	return string(b), err
}

// Manifest says how a book came about and what is in it.
type Manifest struct {
	SHA256      string          `json:"sha256"` // of the book's text, unpacked
	Positions   int             `json:"positions"`
	Build       string          `json:"build"` // version of the program that made it
	Walks       WalkFacts       `json:"walks"`
	Band        [2]search.Score `json:"band"` // centipawns from White's side, from and to
	Oversample  float64         `json:"oversample"`
	Census      Census          `json:"census"`
	Strata      []Stratum       `json:"strata"`
	Expectation []WhiteScore    `json:"expectation,omitempty"` // measured by games
}

// Encode returns the manifest as indented JSON.
func (m *Manifest) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	err := enc.Encode(m)
	return b.Bytes(), err
}

// ParseManifest reads what Encode writes. Errors wrap [ErrBad].
func ParseManifest(text []byte) (*Manifest, error) {
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%w: manifest: %w", ErrBad, err)
	}
	return m, nil
}
