package uci

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

// settings are the values of the server's options.
type settings struct {
	hash     int // MiB
	threads  int
	multiPV  int
	overhead time.Duration
	variant  *chess.Variant
	chess960 bool

	net     *nnue.Network // nil: material
	netName string        // base name of its file, or builtIn

	tree       mcts.Options   // of a server that plays by tree search
	runtime    string         // of its net
	treeNet    TreeNet        // nil: none
	treeFile   string         // of treeNet
	netVariant *chess.Variant // of treeNet
}

const (
	defaultOverhead = 10 * time.Millisecond
	maxOverhead     = 10 * time.Second
	maxMultiPV      = 256
)

// builtIn names the net of Options in messages.
const builtIn = "built-in net"

// emptyValue is how UCI writes an empty string in an option.
const emptyValue = "<empty>"

// serverOption is one line of the answer to "uci" and what "setoption" does
// with it.
type serverOption struct {
	name     string
	describe func(*Options) string // what follows the name
	set      func(*server, string) error
}

// commonOptions are those of every server, in the order in which they are
// printed.
var commonOptions = []serverOption{
	{"Hash", func(o *Options) string { return spin(o.HashMB, 1, o.MaxHashMB) }, setHash},
	{"Threads", func(o *Options) string { return spin(o.Threads, 1, o.MaxThreads) }, setThreads},
	{"Clear Hash", func(*Options) string { return "type button" }, func(s *server, _ string) error {
		s.clear = true
		return nil
	}},
	{"Ponder", func(*Options) string { return "type check default false" }, func(_ *server, v string) error {
		_, err := parseCheck(v) // says what the GUI will do; nothing depends on it
		return err
	}},
	{"MultiPV", func(*Options) string { return spin(1, 1, maxMultiPV) }, func(s *server, v string) error {
		return setSpin(&s.multiPV, v, 1, maxMultiPV)
	}},
	{"Move Overhead", func(*Options) string {
		return spin(int(defaultOverhead.Milliseconds()), 0, int(maxOverhead.Milliseconds()))
	}, setOverhead},
	{"EvalFile", func(o *Options) string {
		if o.EvalFile == "" {
			return "type string default " + emptyValue
		}
		return "type string default " + o.EvalFile
	}, (*server).setEvalFile},
	{"UCI_Variant", describeVariants, setVariant},
	{"UCI_Chess960", func(*Options) string { return "type check default false" }, setChess960},
}

func spin(def, low, high int) string {
	return fmt.Sprintf("type spin default %d min %d max %d", def, low, high)
}

// variants are the games the server plays.
var variants = []*chess.Variant{chess.Chess, chess.Crazyhouse}

func describeVariants(o *Options) string {
	text := "type combo default " + o.Variant.Name
	for _, v := range variants {
		text += " var " + v.Name
	}
	return text
}

// setOption obeys "setoption name NAME [value VALUE]". Names are compared
// without regard to case; a value is taken as it stands, with its spaces.
func (s *server) setOption(line string) error {
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "setoption"))
	rest, ok := strings.CutPrefix(rest+" ", "name ")
	if !ok {
		return fmt.Errorf("setoption: found %q, expected name", strings.TrimSpace(rest))
	}
	name, value, _ := strings.Cut(rest, " value ")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	for _, o := range s.known {
		if strings.EqualFold(o.name, name) {
			if err := o.set(s, value); err != nil {
				return fmt.Errorf("option %s: %w", o.name, err)
			}
			return nil
		}
	}
	return fmt.Errorf("setoption: found %q, expected one of %s", name, optionNames(s.known))
}

func optionNames(options []serverOption) string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.name
	}
	return strings.Join(names, ", ")
}

func setSpin(dst *int, value string, low, high int) error {
	v, err := strconv.Atoi(value)
	if err != nil || v < low || v > high {
		return fmt.Errorf("found %q, expected a number from %d to %d", value, low, high)
	}
	*dst = v
	return nil
}

func parseCheck(value string) (bool, error) {
	switch strings.ToLower(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("found %q, expected true or false", value)
}

// setHash only notes the size: memory is taken when the engine is next used.
func setHash(s *server, value string) error {
	return setSpin(&s.hash, value, 1, s.opts.MaxHashMB)
}

func setThreads(s *server, value string) error {
	before := s.threads
	if err := setSpin(&s.threads, value, 1, s.opts.MaxThreads); err != nil {
		return err
	}
	if s.threads != before {
		s.drop()
	}
	return nil
}

func setOverhead(s *server, value string) error {
	ms := 0
	if err := setSpin(&ms, value, 0, int(maxOverhead.Milliseconds())); err != nil {
		return err
	}
	s.overhead = time.Duration(ms) * time.Millisecond
	return nil
}

// setVariant changes the game and sets up its initial position.
func setVariant(s *server, value string) error {
	v, err := chess.ParseVariant(value)
	if err != nil {
		return err
	}
	if v != s.variant {
		s.variant = v
		s.drop()
		s.line = chess.NewLine(s.start())
	}
	return nil
}

// setChess960 changes the castling notation, also of the position on the
// board.
func setChess960(s *server, value string) error {
	on, err := parseCheck(value)
	if err != nil {
		return err
	}
	s.chess960 = on
	start := *s.line.Start()
	start.SetChess960(on)
	line := chess.NewLine(start)
	for _, m := range s.line.Moves() {
		line.Push(m)
	}
	s.line = line
	return nil
}

// setEvalFile reads a net for the variant that is set. On an error the engine
// keeps the net it has.
func (s *server) setEvalFile(path string) error {
	if path == "" || path == emptyValue {
		s.net, s.netName = s.opts.Net, builtIn
		s.drop()
		return nil
	}
	net, err := nnue.ReadFileVariant(path, s.variant)
	if err != nil {
		return err
	}
	s.net, s.netName = net, filepath.Base(path)
	s.drop()
	return nil
}
