package cli

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/search"
)

// SearchLimits are the flags --nodes, --time and --depth of one search.
type SearchLimits struct {
	nodes uint64
	time  time.Duration
	depth int
	def   time.Duration
}

// AddFlags adds them; without any of them a search has the time def.
func (l *SearchLimits) AddFlags(f *pflag.FlagSet, def time.Duration) {
	l.def = def
	f.Uint64Var(&l.nodes, "nodes", 0, "nodes of a search, at most")
	f.DurationVar(&l.time, "time", 0, fmt.Sprintf("time of a search, at most, such as 500ms; %v if no limit is given", def))
	f.IntVar(&l.depth, "depth", 0, "depth of a search, plies, at most")
}

// Limits checks the flags.
func (l *SearchLimits) Limits() (search.Limits, error) {
	if l.depth < 0 || l.depth > search.MaxPly || l.time < 0 {
		return search.Limits{}, fmt.Errorf("%w: found --depth %d --time %v, expected 0 to %d and 0 or more", ErrUsage, l.depth, l.time, search.MaxPly)
	}
	lim := search.Limits{Nodes: l.nodes, MoveTime: l.time, Depth: l.depth}
	if l.nodes == 0 && l.time == 0 && l.depth == 0 {
		lim.MoveTime = l.def
	}
	return lim, nil
}
