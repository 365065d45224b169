package selfplay

import (
	"encoding/hex"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/search"
)

// The services of the referee, by which gate workers get pairs and hand in what came
// of them.
const (
	gateNext   = "gate.next"
	gateResult = "gate.result"
)

const (
	maxGateWorker  = 128  // bytes of a worker's name
	maxGatePairs   = 64   // handed out at a time
	maxGatePlaying = 1024 // that a worker plays at a time
)

// gatePairID names a pair of a match.
type gatePairID struct {
	Match string `json:"match"` // key
	Pair  int    `json:"pair"`  // number
}

// gateNextRequest asks for pairs. It names those the worker is playing, and so renews
// its claim to them; what it does not name it has given up.
type gateNextRequest struct {
	Schema  int          `json:"schema"`
	Fence   uint64       `json:"fence"`  // the highest seen
	Worker  string       `json:"worker"` // instance
	Want    int          `json:"want"`   // more pairs
	Playing []gatePairID `json:"playing,omitempty"`
}

// What a referee may ask for: anybody can answer in its place. A loop's tables have the
// same bound.
const (
	maxAskAgainMS = 60_000
	maxHashMB     = 65536
)

// gateNextReply hands out pairs of one match.
type gateNextReply struct {
	Schema int          `json:"schema"`
	Fence  uint64       `json:"fence"` // of the referee
	Match  *gateMatch   `json:"match,omitempty"`
	Pairs  []gatePair   `json:"pairs,omitempty"`
	Stop   []gatePairID `json:"stop,omitempty"` // pairs the worker plays that are not needed any more
	// AskAgainMS is after how many milliseconds a worker that has nothing to do
	// asks again, 0 to maxAskAgainMS.
	AskAgainMS int `json:"ask_again_ms"`
}

// gateMatch is all that the pairs of a match have in common.
type gateMatch struct {
	Key       string `json:"key"`       // of the match, 16 hexadecimal digits
	Candidate string `json:"candidate"` // id of the net; player A
	Incumbent string `json:"incumbent"` // or "material" or "uniform" before the first; player B
	Nodes     uint64 `json:"nodes"`     // limit of every search
	HashMB    int    `json:"hash_mb"`   // MiB of a player
	// Settings are what else decides the players' moves, in words: a worker whose
	// players have others would measure something else.
	CandidateSettings string `json:"candidate_settings"`
	IncumbentSettings string `json:"incumbent_settings"`
	Seed              uint64 `json:"seed,string"` // of the games
	MaxPlies          int    `json:"max_plies"`
	WinScore          int    `json:"win_score"` // cp; adjudicates a win once both saw it for WinPlies
	WinPlies          int    `json:"win_plies"`
}

// gatePair is a pair to be played.
type gatePair struct {
	Number  int    `json:"pair"`
	Opening string `json:"opening"` // as match.OpeningText writes it
}

// gateResultRequest hands in a finished pair.
type gateResultRequest struct {
	Schema      int        `json:"schema"`
	Fence       uint64     `json:"fence"`
	Worker      string     `json:"worker"`
	Match       string     `json:"match"`  // key
	Record      match.Pair `json:"record"` // as in the log
	SearchingNS int64      `json:"searching_ns"`
}

// gateResultReply says what became of it.
type gateResultReply struct {
	Schema int    `json:"schema"`
	Fence  uint64 `json:"fence"`
	Taken  bool   `json:"taken"`         // it is in the log
	Why    string `json:"why,omitempty"` // if not
}

func checkWorker(name string) error {
	if name == "" || len(name) > maxGateWorker {
		return fmt.Errorf("a worker's name of %d bytes, expected 1 to %d", len(name), maxGateWorker)
	}
	return nil
}

func checkKey(key string) error {
	if b, err := hex.DecodeString(key); err != nil || len(b) != 8 {
		return fmt.Errorf("match %.40q, expected 16 hexadecimal digits", key)
	}
	return nil
}

func (m *gateNextRequest) check() error {
	if err := checkSchema(m.Schema); err != nil {
		return err
	}
	if err := checkWorker(m.Worker); err != nil {
		return err
	}
	if m.Want < 0 || len(m.Playing) > maxGatePlaying {
		return fmt.Errorf("%d pairs wanted and %d played, expected 0 or more and at most %d", m.Want, len(m.Playing), maxGatePlaying)
	}
	return nil
}

func (m *gateNextReply) check() error {
	if err := checkSchema(m.Schema); err != nil {
		return err
	}
	if m.AskAgainMS < 0 || m.AskAgainMS > maxAskAgainMS {
		return fmt.Errorf("to ask again after %d ms, expected 0 to %d", m.AskAgainMS, maxAskAgainMS)
	}
	if m.Match == nil {
		if len(m.Pairs) > 0 {
			return fmt.Errorf("%d pairs without a match", len(m.Pairs))
		}
		return nil
	}
	if len(m.Pairs) > maxGatePairs {
		return fmt.Errorf("%d pairs, expected at most %d", len(m.Pairs), maxGatePairs)
	}
	for _, p := range m.Pairs {
		if p.Number < 0 {
			return fmt.Errorf("pair %d, expected 0 or more", p.Number)
		}
	}
	return m.Match.check()
}

func (m *gateMatch) check() error {
	switch {
	case m.Candidate == "" || m.Incumbent == "":
		return fmt.Errorf("candidate %q and incumbent %q, expected two nets", m.Candidate, m.Incumbent)
	case m.Nodes == 0 || m.HashMB < 0 || m.HashMB > maxHashMB:
		return fmt.Errorf("%d nodes and %d MiB, expected limits", m.Nodes, m.HashMB)
	}
	return checkKey(m.Key)
}

func (m *gateResultRequest) check() error {
	if err := checkSchema(m.Schema); err != nil {
		return err
	}
	if err := checkWorker(m.Worker); err != nil {
		return err
	}
	if m.SearchingNS < 0 {
		return fmt.Errorf("%d ns of searching, expected 0 or more", m.SearchingNS)
	}
	return checkKey(m.Match)
}

func (m *gateResultReply) check() error { return checkSchema(m.Schema) }

// rules are those of the games.
func (m *gateMatch) rules() game.Config {
	return game.Config{MaxPlies: m.MaxPlies, WinScore: search.Score(m.WinScore), WinPlies: m.WinPlies}
}
