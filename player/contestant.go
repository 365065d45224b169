package player

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/uci"
)

// Contestants makes players of their texts on the command line. Those of the
// same name are told apart by their limits, or else by a number.
func Contestants(ctx context.Context, texts []string, v *chess.Variant, limits search.Limits, hashMB int) ([]match.Contestant, error) {
	all := make([]match.Contestant, len(texts))
	count := map[string]int{}
	for i, text := range texts {
		var err error
		if all[i], err = NewContestant(ctx, text, v, limits, hashMB); err != nil {
			return nil, err
		}
		count[all[i].Name]++
	}
	used := map[string]bool{}
	for i := range all {
		c := &all[i]
		if count[c.Name] > 1 {
			c.Name += " " + game.LimitsText(c.Limits)
		}
		name := c.Name
		for n := 2; used[c.Name]; n++ {
			c.Name = fmt.Sprintf("%s (%d)", name, n)
		}
		used[c.Name] = true
	}
	return all, nil
}

// NewContestant makes a player of its text on the command line. The limits and the
// size of the table are for players that have none of their own.
func NewContestant(ctx context.Context, text string, v *chess.Variant, limits search.Limits, hashMB int) (match.Contestant, error) {
	s, err := Parse(text)
	if err != nil {
		return match.Contestant{}, err
	}
	if s.Limited {
		limits = s.Limits
	}
	c := match.Contestant{Limits: limits}
	if s.Engine {
		s.engineContestant(ctx, &c, v)
	} else if err := s.ownContestant(&c, v, hashMB); err != nil {
		return c, err
	}
	if s.Name != "" {
		c.Name = s.Name
	}
	return c, nil
}

// ownContestant fills in a player of this program.
func (s *Spec) ownContestant(c *match.Contestant, v *chess.Variant, hashMB int) error {
	if s.Tree != nil {
		return s.treeContestant(c, v, hashMB)
	}
	evaluator, network, err := NewEvaluator(s.Program, v)
	if err != nil {
		return err
	}
	c.Name, c.Net = s.Program, s.Program
	switch {
	case s.Program == Builtin:
		c.Net = builtin.ID(v)
	case network != nil:
		if c.Net, err = nets.HashFile(s.Program); err != nil {
			return err
		}
		c.Name = netName(s.Program)
	}
	options := ab.Options{HashMB: hashMB, Threads: max(s.Threads, 1)}
	if s.HashMB > 0 {
		options.HashMB = s.HashMB
	}
	c.Threads = options.Threads
	c.Settings = fmt.Sprintf("hash %d MiB", options.HashMB)
	if options.Threads > 1 {
		c.Settings += fmt.Sprintf(", %d threads", options.Threads)
	}
	c.New = func() (game.Player, error) { return ab.New(evaluator, options), nil }
	return nil
}

// netName returns what a net file is called in results: its name without its
// ending, cut to 32 bytes.
func netName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return name[:min(len(name), 32)]
}

// engineContestant fills in a UCI engine. Its id is its command with the
// options, as there is no telling which program or net that is.
func (s *Spec) engineContestant(ctx context.Context, c *match.Contestant, v *chess.Variant) {
	cfg := uci.ClientConfig{
		Command: s.Program, Args: s.Args, Dir: s.Dir, Variant: v, Options: s.Options,
		StartTimeout: s.Timeout, ReadyTimeout: s.Timeout, SearchTimeout: s.Timeout, MoveMargin: s.Margin,
	}
	words := []string{strings.Join(append([]string{s.Program}, s.Args...), " ")}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		words = append(words, name+"="+s.Options[name])
	}
	c.Name, c.Settings = filepath.Base(s.Program), strings.Join(words, ",")
	c.Net = "uci:" + c.Settings
	for name, value := range s.Options {
		if n, err := strconv.Atoi(value); err == nil && strings.EqualFold(name, "Threads") {
			c.Threads = n
		}
	}
	c.New = func() (game.Player, error) { return uci.Start(ctx, cfg) }
	// Not every engine forgets all at ucinewgame. Where limits let games be
	// repeated, that must not stand in the way.
	c.Fresh = c.Limits.MoveTime == 0 && !c.Limits.Clock(chess.White)
}
