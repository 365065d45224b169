package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/native"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/uci"
)

// uniformNet stands in place of a plane net's file for none at all.
const uniformNet = "uniform"

// errVariant says that a net is for another game.
var errVariant = errors.New("net of another variant")

// loadPlanes reads a plane net for v, to be run by the kernels of this program.
func loadPlanes(path string, v *chess.Variant) (uci.TreeNet, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	model, err := onnx.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	meta, err := planes.ReadMeta(model)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if meta.Variant != v.Name {
		return nil, fmt.Errorf("%s: %w: found %s, expected %s", path, errVariant, meta.Variant, v)
	}
	open := func(threads int) (mcts.Evaluator, error) {
		runtime, err := native.New(model, native.Options{Threads: threads})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		net, err := planes.NewNet(runtime, meta)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), runtime.Close())
		}
		return net, nil
	}
	// What the kernels cannot compute is to be said now, not in a game.
	net, err := open(1)
	if err != nil {
		return nil, err
	}
	return open, net.(*planes.Net).Close()
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
var treeKeys = slices.Concat(ownKeys, []string{"batch", "cpuct", "fpu", "probe", "gumbel"})

// setTree takes a setting of treeKeys that other players do not have.
func setTree(o *mcts.Options, key, value string) (err error) {
	switch key {
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
func (s *playerSpec) treeContestant(c *match.Contestant, v *chess.Variant, hashMB int) error {
	open := func(int) (mcts.Evaluator, error) { return mcts.Uniform{}, nil }
	c.Name, c.Net = "mcts "+uniformNet, "mcts:"+uniformNet
	if s.program != uniformNet {
		var err error
		if open, err = loadPlanes(s.program, v); err != nil {
			return err
		}
		if c.Net, err = nets.HashFile(s.program); err != nil {
			return err
		}
		c.Name = netName(s.program)
	}
	o := *s.tree
	if s.hashMB > 0 {
		hashMB = s.hashMB
	}
	o.MemoryMB = hashMB
	c.Threads = max(s.threads, 1)
	c.Settings = fmt.Sprintf("mcts, hash %d MiB, batch %d, cpuct %v, fpu %v, probe %d, gumbel %d",
		o.MemoryMB, o.Batch, o.CPuct, o.FPU, o.MateProbe, o.Gumbel.Actions)
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
