package match

import (
	"fmt"
	"strings"

	"github.com/crazyhouse-rl/selfplay/player"
)

// NewContestant returns a player that has been loaded as one of a match.
func NewContestant(m *player.Maker) Contestant {
	return Contestant{
		Name: m.Name, New: m.New, Fresh: m.Fresh, Limits: m.Limits,
		Threads: m.Threads, Net: m.Net, Settings: m.Settings,
	}
}

// CheckEngine starts another program's engine that has been loaded, and returns an error if it
// does not start or if its name for itself does not begin as expected.
func CheckEngine(m *player.Maker, expected string) error {
	p, err := m.Open()
	if err != nil {
		return err
	}
	defer p.Close()
	if named, ok := p.(interface{ Name() string }); ok && !strings.HasPrefix(named.Name(), expected) {
		return fmt.Errorf("%s: found %s, expected %s, whose rating this is", m.Spec.Command[0], named.Name(), expected)
	}
	return nil
}
