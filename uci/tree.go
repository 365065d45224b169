package uci

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Tree makes [Serve] play by tree search instead of alpha-beta.
type Tree struct {
	// Options are the defaults of the search. Those that make it random stay as
	// they are; the others are options of the server, MemoryMB by the name Hash.
	Options mcts.Options

	// Load reads the net of the option EvalFile, which has to be one for
	// variant v, to be computed by a runtime. Without it, or a file, all moves
	// are alike to the search.
	Load func(path string, v *chess.Variant, runtime string) (TreeNet, error)

	// Runtimes are the values that the option Runtime offers, none for no such
	// option, and Runtime is its default, one of them.
	Runtimes []string
	Runtime  string
	// CheckRuntime reports why nets cannot be computed by the runtime of a name.
	CheckRuntime func(name string) error
}

// TreeNet makes evaluators of a net that may use so many threads at once. They
// are closed after use if they are io.Closers.
type TreeNet func(threads int) (mcts.Evaluator, error)

// errNoLoader says that the server was given nothing to read nets with.
var errNoLoader = errors.New("this engine reads no nets")

// treeOptions are the options of a server that plays by tree search, in the order
// in which they are printed.
func treeOptions(t *Tree) []serverOption {
	all := make([]serverOption, 0, 24)
	for _, o := range commonOptions {
		if o.name == "EvalFile" {
			o.set = (*server).setTreeFile
		}
		all = append(all, o)
	}
	if len(t.Runtimes) > 0 {
		all = append(all, serverOption{"Runtime", describeRuntimes, (*server).setRuntime})
	}
	return append(all,
		serverOption{"Batch Size",
			func(o *Options) string { return spin(o.Tree.Options.Batch, 1, mcts.MaxBatch) },
			func(s *server, v string) error {
				return s.setTree(func(o *mcts.Options) error { return setSpin(&o.Batch, v, 1, mcts.MaxBatch) })
			}},
		decimal("CPuct", func(o *mcts.Options) *float64 { return &o.CPuct }),
		decimal("CPuct Base", func(o *mcts.Options) *float64 { return &o.CPuctBase }),
		decimal("FPU Reduction", func(o *mcts.Options) *float64 { return &o.FPU }),
		decimal("Policy Temperature", func(o *mcts.Options) *float64 { return &o.PolicyTemperature }),
		serverOption{"Mate Probe",
			func(o *Options) string {
				return fmt.Sprintf("type combo default %d var 0 var 1 var 3", o.Tree.Options.MateProbe)
			},
			func(s *server, v string) error {
				return s.setTree(func(o *mcts.Options) error { return setSpin(&o.MateProbe, v, 0, 3) })
			}},
		serverOption{"Reuse Tree",
			func(o *Options) string { return fmt.Sprintf("type check default %t", o.Tree.Options.Reuse) },
			func(s *server, v string) error {
				return s.setTree(func(o *mcts.Options) (err error) {
					o.Reuse, err = parseCheck(v)
					return err
				})
			}},
		decimal("LCB", func(o *mcts.Options) *float64 { return &o.LCB }),
		decimal("Q Veto", func(o *mcts.Options) *float64 { return &o.QVeto }),
		serverOption{"Gumbel Actions",
			func(o *Options) string { return spin(o.Tree.Options.Gumbel.Actions, 0, 512) },
			func(s *server, v string) error {
				return s.setTree(func(o *mcts.Options) error { return setSpin(&o.Gumbel.Actions, v, 0, 512) })
			}},
	)
}

// decimal is an option of the search whose value is a decimal number, for which
// UCI has no type but string.
func decimal(name string, field func(*mcts.Options) *float64) serverOption {
	return serverOption{name,
		func(o *Options) string {
			return "type string default " + strconv.FormatFloat(*field(&o.Tree.Options), 'f', -1, 64)
		},
		func(s *server, text string) error {
			return s.setTree(func(o *mcts.Options) error {
				v, err := strconv.ParseFloat(text, 64)
				if err != nil {
					return fmt.Errorf("found %q, expected a decimal number", text)
				}
				*field(o) = v
				return nil
			})
		}}
}

// setTree changes the options of the search, if the change leaves them valid.
func (s *server) setTree(change func(*mcts.Options) error) error {
	o := s.tree
	if err := change(&o); err != nil {
		return err
	}
	if err := o.Validate(); err != nil {
		return err
	}
	s.tree = o
	s.drop()
	return nil
}

func describeRuntimes(o *Options) string {
	text := "type combo default " + o.Tree.Runtime
	for _, r := range o.Tree.Runtimes {
		text += " var " + r
	}
	return text
}

// setRuntime reads the net again, for another runtime. On an error the engine
// keeps the net and the runtime it has.
func (s *server) setRuntime(name string) error {
	if err := s.opts.Tree.CheckRuntime(name); err != nil {
		return err
	}
	if s.treeNet != nil {
		net, err := s.opts.Tree.Load(s.treeFile, s.netVariant, name)
		if err != nil {
			return err
		}
		s.treeNet = net
	}
	s.runtime = name
	s.drop()
	return nil
}

// setTreeFile reads a net for the variant that is set. On an error the engine
// keeps the net it has.
func (s *server) setTreeFile(path string) error {
	if path == "" || path == emptyValue {
		s.treeNet, s.treeFile, s.netVariant, s.netName = nil, "", nil, ""
		s.drop()
		return nil
	}
	if s.opts.Tree.Load == nil {
		return errNoLoader
	}
	net, err := s.opts.Tree.Load(path, s.variant, s.runtime)
	if err != nil {
		return err
	}
	s.treeNet, s.treeFile, s.netVariant, s.netName = net, path, s.variant, filepath.Base(path)
	s.drop()
	return nil
}

// treeEvaluator returns what evaluates positions of the variant that is set, and
// its name: the net, unless it was made for another variant.
func (s *server) treeEvaluator() (mcts.Evaluator, string, error) {
	switch {
	case s.treeNet == nil:
		return mcts.Uniform{}, "none, all moves are alike", nil
	case s.netVariant != s.variant:
		return mcts.Uniform{}, fmt.Sprintf("none, as the net is for %s and not for %s", s.netVariant, s.variant), nil
	}
	e, err := s.treeNet(s.threads)
	name := s.netName
	if s.runtime != s.opts.Tree.Runtime {
		name += " by " + s.runtime
	}
	return e, name, err
}

// newTree makes an engine that plays by tree search.
func (s *server) newTree() (player, error) {
	eval, name, err := s.treeEvaluator()
	if err != nil {
		return player{}, err
	}
	o := s.tree
	o.MemoryMB = s.hash
	e, err := mcts.New(eval, o)
	if err != nil {
		closeEvaluator(eval)
		return player{}, err
	}
	s.out.comment("evaluation: %s", name)
	return player{engine: e, onInfo: &e.OnInfo, close: func() { closeEvaluator(eval) }}, nil
}

func closeEvaluator(e mcts.Evaluator) {
	if c, ok := e.(io.Closer); ok {
		_ = c.Close() // it has nothing left to lose
	}
}

// evaluateTree obeys "eval": what the net says about the position.
func (s *server) evaluateTree() {
	eval, name, err := s.treeEvaluator()
	if err != nil {
		s.out.comment("eval: %v", err)
		return
	}
	defer closeEvaluator(eval)
	var moves chess.MoveList
	pos := search.Current(s.line)
	pos.Legal(&moves)
	if moves.N == 0 {
		s.out.comment("eval: no legal moves")
		return
	}
	leaves := []search.Leaf{{Pos: &pos, Repetitions: s.line.Repetitions(), Moves: moves.Slice()}}
	if err := eval.Evaluate(s.ctx, leaves); err != nil {
		s.out.comment("eval: %v", err)
		return
	}
	var b strings.Builder
	l := &leaves[0]
	fmt.Fprintf(&b, "evaluation by %s, from the side to move's point of view (%s)\n", name, pos.SideToMove())
	fmt.Fprintf(&b, "value %+.4f  draw %.4f  plies left %.0f\n", l.Value, l.Draw, l.PliesLeft)
	for i, m := range l.Moves {
		fmt.Fprintf(&b, "%-6s %.4f\n", pos.UCI(m), l.Priors[i])
	}
	fmt.Fprintf(&b, "centipawns %d\n", mcts.Score(float64(l.Value)))
	s.out.write([]byte(b.String()))
}
