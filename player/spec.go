// Package player says who can play: this program's searches with any net, and any
// engine that speaks UCI or CECP. A Spec describes a player; it is read from text, as command lines
// have it, or from YAML. Load reads what the player needs, once, and the Maker it
// gives opens any number of equal players.
package player

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/search/option"
	"github.com/crazyhouse-rl/selfplay/search/strength"
)

// ErrUsage marks errors in a player's description, or in a name that stands for a
// net.
var ErrUsage = errors.New("wrong usage")

// Search is how a player finds its moves.
type Search string

// The searches.
const (
	AlphaBeta  Search = "ab"     // package ab, with an NNUE net or by material
	TreeSearch Search = "mcts"   // package mcts, with a plane net or without one
	Engine     Search = "uci"    // another program's, by UCI
	XBoard     Search = "xboard" // another program's, by CECP, the protocol of XBoard
)

// Foreign reports whether the search is another program's.
func (s Search) Foreign() bool { return s == Engine || s == XBoard }

// Words that stand where a net's file may.
const (
	Builtin  = builtin.Name // the program's own NNUE net
	Material = "material"   // counting material, without a net
	Uniform  = "uniform"    // tree search without a net: all moves are alike
)

// Spec describes a player. The zero values of the fields but Search, Net and Command
// mean that nothing is said.
type Spec struct {
	Search Search

	// Net is a file, a directory as nets.Find takes it, or one of the words
	// above; empty for an engine.
	Net string
	// Command is a foreign engine's program and its arguments.
	Command []string

	Name   string        // in results and games; else one is made of what it is
	Limits search.Limits // of every search, in place of the match's

	Resources Resources
	// Elo is the rating of a player of this program below its full strength, nil
	// of others, Seed what its choices follow from; see package strength.
	Elo  *int
	Seed uint64
	// Tree are the options of a TreeSearch, but for MemoryMB, which is
	// Resources.HashMB.
	Tree    mcts.Options
	Runtime Runtime // of a TreeSearch's net
	// Params change parameters of an AlphaBeta search, by the keys of ab.Params.
	Params map[string]string

	// Of a foreign engine: where it runs, how long it may be silent where no limit of
	// time says so, how long it may go beyond such a limit, and its options by
	// their names as written.
	Dir             string
	Timeout, Margin time.Duration
	Options         map[string]string
}

// Resources are what a search of this program may use; 0 stands for a default. The
// tags are those of package option.
type Resources struct {
	HashMB  int `yaml:"hash" uci:"Hash" range:"1..65536" usage:"size of the transposition table, or of the tree, MiB"`
	Threads int `yaml:"threads" uci:"Threads" range:"1..512" usage:"threads of a search, each of a tree search with a copy of its net"`
}

// Runtime says what computes a plane net.
type Runtime struct {
	Name    string // as package runtimes has it; "" is its default
	Library string // of ONNX Runtime; "" leaves it to the system to find
}

// check refuses a library that nothing would load.
func (r Runtime) check() error {
	if r.Library != "" && r.Name != runtimes.ORT {
		return fmt.Errorf("library: found %q without runtime %s, expected both", r.Library, runtimes.ORT)
	}
	return nil
}

// HasLimits reports whether the player has limits of its own.
func (s *Spec) HasLimits() bool {
	l := &s.Limits
	return l.Nodes > 0 || l.Depth > 0 || l.MoveTime > 0 || l.Time != [2]time.Duration{} || l.Inc != [2]time.Duration{}
}

// Settings returns the options of the player's search, bound to s. A foreign engine has
// none here: its program knows them.
func (s *Spec) Settings() []option.Option {
	switch s.Search {
	case AlphaBeta:
		return option.All(&s.Resources)
	case TreeSearch:
		return slices.Concat(option.All(&s.Resources), slices.DeleteFunc(option.All(&s.Tree), func(o option.Option) bool { return o.Random }))
	}
	return nil
}

// Keys of settings, those that every player has first. The others of this program's
// searches are those of Spec.Settings.
var (
	limitKeys  = []string{"nodes", "depth", "movetime", "tc"}
	commonKeys = slices.Concat(limitKeys, []string{"name"})
	ownKeys    = []string{"elo", "seed"}        // of this program's searches
	netKeys    = []string{"runtime", "library"} // of a TreeSearch
	engineKeys = slices.Concat(commonKeys, []string{"dir", "timeout", "margin"})
)

func (s *Spec) keys() []string {
	keys := slices.Concat(commonKeys, option.Keys(s.Settings()), ownKeys)
	if s.Search == TreeSearch {
		keys = append(keys, netKeys...)
	}
	return keys
}

// set takes one setting.
func (s *Spec) set(key, value string) error {
	var err error
	switch {
	case slices.Contains(commonKeys, key):
		err = s.setCommon(key, value)
	case s.Search.Foreign():
		err = s.setEngine(key, value)
	case slices.Contains(ownKeys, key):
		err = s.setStrength(key, value)
	case s.Search == TreeSearch && key == "runtime":
		s.Runtime.Name, err = value, runtimes.Check(value)
	case s.Search == TreeSearch && key == "library":
		s.Runtime.Library = value
	case s.Search == AlphaBeta && isParam(key):
		err = s.setParam(key, value)
	default:
		o, found := option.Find(s.Settings(), key)
		if !found {
			keys := s.keys()
			return fmt.Errorf("found setting %q, the nearest is %s; expected one of %s", key, words.Nearest(key, keys), strings.Join(keys, ", "))
		}
		err = o.Set(value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func isParam(key string) bool {
	_, found := option.Find(option.All(&ab.Params{}), key)
	return found
}

func (s *Spec) setParam(key, value string) error {
	o, _ := option.Find(option.All(&ab.Params{}), key)
	if err := o.Set(value); err != nil {
		return err
	}
	if s.Params == nil {
		s.Params = map[string]string{}
	}
	s.Params[key] = o.String()
	return nil
}

func (s *Spec) setCommon(key, value string) (err error) {
	switch key {
	case "nodes":
		s.Limits.Nodes, err = ParseCount(value)
	case "depth":
		s.Limits.Depth, err = parseRange(value, 1, search.MaxPly)
	case "movetime":
		s.Limits.MoveTime, err = parseSpan(value)
	case "tc":
		var base, inc time.Duration
		base, inc, err = ParseTimeControl(value)
		s.Limits.Time, s.Limits.Inc = [2]time.Duration{base, base}, [2]time.Duration{inc, inc}
	case "name":
		if s.Name = value; value == "" {
			err = errors.New("found nothing, expected a name")
		}
	}
	return err
}

func (s *Spec) setStrength(key, value string) (err error) {
	if key == "seed" {
		if s.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			err = fmt.Errorf("found %q, expected a whole number from 0", value)
		}
		return err
	}
	elo, err := parseRange(value, strength.MinElo(), strength.MaxElo())
	s.Elo = &elo
	return err
}

func (s *Spec) setEngine(key, value string) (err error) {
	switch key {
	case "dir":
		s.Dir = value
	case "timeout":
		s.Timeout, err = parseSpan(value)
	case "margin":
		s.Margin, err = parseSpan(value)
	default:
		if strings.ContainsAny(key, `"',=`) {
			return errors.New("found a quote, comma or equals sign in the name of an option, expected none")
		}
		if s.Options == nil {
			s.Options = map[string]string{}
		}
		s.Options[key] = value
	}
	return err
}

// setNet says which net plays. The search follows from its kind unless it is given.
// A directory is looked into only for that.
func (s *Spec) setNet(path string) {
	s.Net = path
	if s.Search == "" {
		s.Search = AlphaBeta
		if path == Uniform || isPlanes(path) {
			s.Search = TreeSearch
		}
	}
	if s.Search == TreeSearch {
		s.Tree = mcts.DefaultOptions()
	}
}

// isPlanes reports whether a file, or the net of a directory, is one of planes.
func isPlanes(path string) bool {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		found, err := nets.Find(path)
		return err == nil && nets.KindOf(found.Path) == nets.KindPlanes
	}
	return nets.KindOf(path) == nets.KindPlanes
}
