package match

import "github.com/crazyhouse-rl/selfplay/player"

// NewContestant returns a player that has been loaded as one of a match.
func NewContestant(m *player.Maker) Contestant {
	return Contestant{
		Name: m.Name, New: m.New, Fresh: m.Fresh, Limits: m.Limits,
		Threads: m.Threads, Net: m.Net, Settings: m.Settings,
	}
}
