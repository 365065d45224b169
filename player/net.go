package player

import (
	"fmt"
	"path/filepath"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
)

// Words that stand where a net file may.
const (
	Builtin  = "builtin"
	Material = "material"
)

// NewEvaluator returns a factory of evaluators over a net, and the net (nil for
// material).
func NewEvaluator(name string, v *chess.Variant) (func() ab.Evaluator, *nnue.Network, error) {
	if name == Material {
		return func() ab.Evaluator { return ab.NewMaterial() }, nil, nil
	}
	n, err := Net(name, v)
	if err != nil {
		return nil, nil, err
	}
	return func() ab.Evaluator { return nnue.NewAccumulator(n) }, n, nil
}

// Net returns the net of a file, or the program's own.
func Net(name string, v *chess.Variant) (*nnue.Network, error) {
	if filepath.Ext(name) == ".onnx" {
		return nil, fmt.Errorf("%w: found the plane net %s, expected an NNUE net: plane nets serve uci --search mcts, players mcts:FILE and net inspect", ErrUsage, name)
	}
	if name != Builtin {
		return nnue.ReadFileVariant(name, v)
	}
	if n := builtin.Net(v); n != nil {
		return n, nil
	}
	return nil, fmt.Errorf("%w: found no net for %s in the program, expected a file", ErrUsage, v.Name)
}
