package player

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/game/positions"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/uci"
)

// Uniform stands in place of a plane net's file for none at all.
const Uniform = "uniform"

// Runtime says which runtime runs a plane net.
type Runtime struct {
	Name    string // as package runtimes calls it; "" is its default
	Library string // of ONNX Runtime; "" leaves it to the system to find
}

// Options are those of the runtime for a net.
func (r Runtime) Options(threads int) runtimes.Options {
	return runtimes.Options{Name: r.Name, Threads: threads, Calibration: positions.Calibration, Library: r.Library}
}

// LoadPlanes reads a plane net for v.
func LoadPlanes(path string, v *chess.Variant, r Runtime) (uci.TreeNet, error) {
	file, err := runtimes.Read(path)
	if err != nil {
		return nil, err
	}
	if err := file.CheckVariant(v); err != nil {
		return nil, err
	}
	// What the runtime cannot run is an error now, not in a game.
	net, err := file.Open(r.Options(1))
	if err != nil {
		return nil, err
	}
	open := func(threads int) (mcts.Evaluator, error) { return file.Open(r.Options(threads)) }
	return open, net.Close()
}

// treePlayer plays by tree search with a net of its own.
type treePlayer struct {
	*mcts.Engine
	net *planes.Net // nil: none
}

// Close releases the net.
func (p *treePlayer) Close() error {
	if p.net == nil {
		return nil
	}
	return p.net.Close()
}

// treeKeys are the settings of a player by tree search.
var treeKeys = slices.Concat(ownKeys, []string{"batch", "cpuct", "fpu", "probe", "gumbel", "runtime", "library"})

// setTree takes a setting of treeKeys that other players do not have.
func (s *Spec) setTree(key, value string) (err error) {
	o := s.Tree
	switch key {
	case "runtime":
		s.Runtime.Name = value
		return runtimes.Check(value)
	case "library":
		s.Runtime.Library = value
	case "batch":
		o.Batch, err = parseRange(value, 1, mcts.MaxBatch)
	case "cpuct":
		o.CPuct, err = parseDecimal(value)
	case "fpu":
		o.FPU, err = parseDecimal(value)
	case "probe":
		o.MateProbe, err = parseRange(value, 0, 3)
	case "gumbel":
		o.Gumbel.Actions, err = parseRange(value, 0, 512)
	}
	if err != nil {
		return err
	}
	return o.Validate()
}

func parseDecimal(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("found %q, expected a decimal number", text)
	}
	return v, nil
}

// treeContestant fills in a player by tree search.
func (s *Spec) treeContestant(c *match.Contestant, v *chess.Variant, hashMB int) error {
	open := func(int) (mcts.Evaluator, error) { return mcts.Uniform{}, nil }
	c.Name, c.Net = "mcts "+Uniform, "mcts:"+Uniform
	if s.Program != Uniform {
		var err error
		if open, err = LoadPlanes(s.Program, v, s.Runtime); err != nil {
			return err
		}
		if c.Net, err = nets.HashFile(s.Program); err != nil {
			return err
		}
		c.Name = netName(s.Program)
	}
	o := *s.Tree
	if s.HashMB > 0 {
		hashMB = s.HashMB
	}
	o.MemoryMB = hashMB
	c.Threads = max(s.Threads, 1)
	c.Settings = fmt.Sprintf("mcts, hash %d MiB, batch %d, cpuct %v, fpu %v, probe %d, gumbel %d",
		o.MemoryMB, o.Batch, o.CPuct, o.FPU, o.MateProbe, o.Gumbel.Actions)
	if s.Runtime.Name != "" && s.Runtime.Name != runtimes.Native {
		c.Settings += ", runtime " + s.Runtime.Name
	}
	c.New = func() (game.Player, error) {
		e, err := open(c.Threads)
		if err != nil {
			return nil, err
		}
		engine, err := mcts.New(e, o)
		if err != nil {
			return nil, err
		}
		net, _ := e.(*planes.Net)
		return &treePlayer{engine, net}, nil
	}
	return nil
}
