package player

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game/positions"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
)

// Net is what a player of this program evaluates positions by, ready for any number
// of players at the same time. Without NNUE and Planes it is material, or uniform.
type Net struct {
	ID     string // SHA-256 of the file, or what stands in its place
	Name   string // short, for results
	Origin string // which net of a directory it is; empty for files and words

	NNUE   *nnue.Network
	Planes *runtimes.File
}

// ReadNet reads a net for a variant: a file of either kind, a directory as nets.Find
// takes it, or one of the words Builtin, Material and Uniform.
func ReadNet(path string, v *chess.Variant) (*Net, error) {
	switch path {
	case Material:
		return &Net{ID: Material, Name: Material}, nil
	case Uniform:
		return &Net{ID: "mcts:" + Uniform, Name: "mcts " + Uniform}, nil
	case Builtin:
		n := builtin.Net(v)
		if n == nil {
			return nil, fmt.Errorf("%w: found no net for %s in the program, expected a file", ErrUsage, v.Name)
		}
		return &Net{ID: builtin.ID(v), Name: Builtin, NNUE: n}, nil
	}
	found, err := nets.Find(path)
	if err != nil {
		return nil, err
	}
	n := &Net{Name: found.Name, Origin: found.Origin}
	if nets.KindOf(found.Path) == nets.KindPlanes {
		if n.Planes, err = runtimes.Read(found.Path); err == nil {
			err = n.Planes.CheckVariant(v)
		}
	} else {
		n.NNUE, err = nnue.ReadFile(found.Path, v)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: expected a net's file, the directory of a run or of learn, or %s or %s", err, Builtin, Material)
	}
	if err != nil {
		return nil, err
	}
	n.ID, err = nets.HashFile(found.Path)
	return n, err
}

// ForNet returns the player of a net, given as ReadNet takes it, by the search of its kind.
func ForNet(path string) Spec {
	var s Spec
	s.setNet(path)
	return s
}

// ReadNNUE is ReadNet for commands that look into an NNUE net, of the program or of
// a file or directory.
func ReadNNUE(path string, v *chess.Variant) (*Net, error) {
	if isPlanes(path) {
		return nil, fmt.Errorf("%w: found the plane net %s, expected an NNUE net: plane nets serve uci --search mcts, players mcts:FILE and net inspect", ErrUsage, path)
	}
	n, err := ReadNet(path, v)
	if err == nil && n.NNUE == nil {
		err = fmt.Errorf("%w: found %s, expected an NNUE net", ErrUsage, path)
	}
	return n, err
}

// NoNet returns what a search evaluates positions by without a net.
func NoNet(s Search) *Net {
	if s == TreeSearch {
		return &Net{ID: Uniform, Name: Uniform}
	}
	return &Net{ID: Material, Name: Material}
}

// Variant returns the variant that the net is for, nil without a net.
func (n *Net) Variant() *chess.Variant {
	switch {
	case n.NNUE != nil:
		return n.NNUE.Variant()
	case n.Planes != nil:
		return n.Planes.Variant
	}
	return nil
}

// Evaluator returns a new evaluator for alpha-beta search: the net's accumulator, or
// material without one.
func (n *Net) Evaluator() ab.Evaluator {
	if n.NNUE == nil {
		return ab.NewMaterial()
	}
	return nnue.NewAccumulator(n.NNUE)
}

// TreeEvaluator evaluates positions for tree search until it is closed.
type TreeEvaluator interface {
	mcts.Evaluator
	io.Closer
}

// uniform gives all moves the same prior and holds nothing.
type uniform struct{ mcts.Uniform }

func (uniform) Close() error { return nil }

// OpenPlanes returns an evaluator for tree search with a number of threads: the plane
// net, or uniform priors without one.
func (n *Net) OpenPlanes(r Runtime, threads int) (TreeEvaluator, error) {
	if n.Planes == nil {
		return uniform{}, nil
	}
	return n.Planes.Open(r.Options(threads))
}

// Options returns what opens a plane net by the runtime.
func (r Runtime) Options(threads int) runtimes.Options {
	return runtimes.Options{Name: r.Name, Threads: threads, Calibration: positions.Calibration, Library: r.Library}
}
