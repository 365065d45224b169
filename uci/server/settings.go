package server

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search/option"
)

// settings are the values of the server's options.
type settings struct {
	player   player.Spec // its search's options; Net is not used
	multiPV  int
	overhead time.Duration
	variant  *chess.Variant
	chess960 bool

	net     *player.Net
	netName string // base name of its file, or builtIn
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
	describe string // what follows the name
	set      func(value string) error
}

// options returns the server's options in the order in which they are printed: the
// resources of its search, those of the protocol, and the others of the search.
func (s *server) options() []serverOption {
	all := make([]serverOption, 0, 24)
	for _, o := range option.All(&s.player.Resources) {
		if most := map[string]int{"hash": s.opts.MaxHashMB, "threads": s.opts.MaxThreads}[o.Key]; most > 0 {
			o = o.AtMost(float64(most))
		}
		all = append(all, s.searchOption(o))
	}
	file := cmp.Or(s.opts.Player.Net, emptyValue)
	all = append(all,
		serverOption{"Clear Hash", "type button", func(string) error {
			s.clear = true
			return nil
		}},
		serverOption{"Ponder", "type check default false", func(v string) error {
			_, err := parseCheck(v) // says what the GUI will do; nothing depends on it
			return err
		}},
		serverOption{"MultiPV", spin(1, 1, maxMultiPV), func(v string) error { return setSpin(&s.multiPV, v, 1, maxMultiPV) }},
		serverOption{"Move Overhead", spin(int(defaultOverhead.Milliseconds()), 0, int(maxOverhead.Milliseconds())), s.setOverhead},
		serverOption{"EvalFile", "type string default " + file, s.setEvalFile},
		serverOption{"UCI_Variant", describeVariants(s.opts.Variant), s.setVariant},
		serverOption{"UCI_Chess960", "type check default false", s.setChess960},
	)
	if s.player.Search != player.TreeSearch {
		return all
	}
	all = append(all, serverOption{"Runtime", describeRuntimes(s.player.Runtime.Name), s.setRuntime})
	for _, o := range option.All(&s.player.Tree) {
		if o.UCI != "" {
			all = append(all, s.searchOption(o))
		}
	}
	return all
}

// searchOption is an option of the search. The size of the table can be changed
// while an engine uses it, all else takes a new one.
func (s *server) searchOption(o option.Option) serverOption {
	return serverOption{o.UCI, o.Describe(), func(value string) error {
		before := o.String()
		if err := o.Set(value); err != nil {
			return err
		}
		if o.Key != "hash" && o.String() != before {
			s.drop()
		}
		return nil
	}}
}

func spin(def, low, high int) string {
	return fmt.Sprintf("type spin default %d min %d max %d", def, low, high)
}

// variants are the games the server plays.
var variants = []*chess.Variant{chess.Chess, chess.Crazyhouse}

func describeVariants(first *chess.Variant) string {
	text := "type combo default " + first.Name
	for _, v := range variants {
		text += " var " + v.Name
	}
	return text
}

func describeRuntimes(first string) string {
	return "type combo default " + first + " var " + strings.Join(runtimes.Names(), " var ")
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
			if err := o.set(value); err != nil {
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
		return fmt.Errorf("found %q, expected a whole number from %d to %d", value, low, high)
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

func (s *server) setOverhead(value string) error {
	ms := 0
	if err := setSpin(&ms, value, 0, int(maxOverhead.Milliseconds())); err != nil {
		return err
	}
	s.overhead = time.Duration(ms) * time.Millisecond
	return nil
}

// setVariant changes the game and sets up its initial position.
func (s *server) setVariant(value string) error {
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

// setChess960 changes the castling notation, also of the current position.
func (s *server) setChess960(value string) error {
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
