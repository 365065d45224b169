package server

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search/option"
	"github.com/crazyhouse-rl/selfplay/search/strength"
)

// settings are the values of the server's options.
type settings struct {
	player player.Spec // its search's options; Net is not used
	protocol
	variant *chess.Variant

	net     *player.Net
	netName string // base name of its file, or builtIn
	// evalFile is the last value of EvalFile.
	evalFile string
}

// protocol are the options of the protocol that are numbers or switches. The tags are
// those of package option.
type protocol struct {
	Ponder     bool `key:"ponder" uci:"Ponder"` // what the GUI will do; nothing depends on it
	MultiPV    int  `key:"multipv" uci:"MultiPV" range:"1..256"`
	OverheadMS int  `key:"overhead" uci:"Move Overhead" range:"0..10000"`
	Chess960   bool `key:"chess960" uci:"UCI_Chess960"`
	ShowWDL    bool `key:"wdl" uci:"UCI_ShowWDL"`

	// What weakens the engine. SkillSeed 0 is one that is drawn.
	LimitStrength bool   `key:"limit" uci:"UCI_LimitStrength"`
	Elo           int    `key:"elo" uci:"UCI_Elo" range:"-10000..10000"`
	Skill         int    `key:"skill" uci:"Skill Level" range:"0..20"`
	SkillSeed     uint64 `key:"seed" uci:"Skill Seed" range:"0..1000000000"`
}

func defaultProtocol() protocol {
	return protocol{MultiPV: 1, OverheadMS: 10, Elo: strength.MaxElo(), Skill: strength.FullSkill}
}

// strength returns how the engine is limited, false if it is not.
func (s *server) strength() (strength.Limit, bool) {
	switch {
	case s.LimitStrength:
		return strength.ForElo(s.Elo), true
	case s.Skill < strength.FullSkill:
		return strength.ForElo(strength.EloOf(s.Skill)), true
	}
	return strength.Limit{}, false
}

// seed returns what the choices of a limited engine follow from: Skill Seed, or one
// that was drawn for the game.
func (s *server) seed() uint64 {
	if s.SkillSeed != 0 {
		return s.SkillSeed
	}
	return splitmix.Hash(s.drawn ^ splitmix.Hash(s.games))
}

// builtIn names the net of Options in messages.
const builtIn = "built-in net"

// home is where the program comes from.
const home = "https://github.com/crazyhouse-rl/selfplay"

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
			o = o.Within(1, float64(most))
		}
		all = append(all, s.searchOption(o))
	}
	all = append(all, serverOption{"Clear Hash", "type button", func(string) error {
		s.clear = true
		return nil
	}})
	for _, o := range option.All(&s.protocol) {
		if o.Key == "elo" {
			o = o.Within(float64(strength.MinElo()), float64(strength.MaxElo()))
		}
		if o.Key != "chess960" {
			all = append(all, serverOption{o.UCI, o.Describe(), o.Set})
			continue
		}
		file := cmp.Or(s.opts.Player.Net, emptyValue)
		all = append(all,
			serverOption{"EvalFile", "type string default " + file, s.setEvalFile},
			serverOption{"UCI_Variant", describeVariants(s.opts.Variant), s.setVariant},
			serverOption{o.UCI, o.Describe(), func(value string) error { return s.setChess960(o, value) }})
	}
	all = append(all,
		serverOption{"Debug Log File", "type string default " + emptyValue, s.out.setDebugLog},
		serverOption{"UCI_EngineAbout", "type string default " + s.opts.fullName() + " by " + s.opts.Author + ", " + home,
			func(string) error { return nil }})
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

// setVariant changes the game and sets up its initial position.
func (s *server) setVariant(value string) error {
	v, err := chess.ParseVariant(value)
	if err != nil {
		return err
	}
	if v != s.variant {
		s.variant = v
		s.drop()
		s.line, s.rejected = chess.NewLine(s.start()), nil
		if s.netErr != nil { // it may have been for this variant
			_ = s.setEvalFile(s.evalFile) // isready tells
		}
	}
	return nil
}

// setChess960 changes the castling notation, also of the current position.
func (s *server) setChess960(o option.Option, value string) error {
	if err := o.Set(value); err != nil {
		return err
	}
	start := *s.line.Start()
	start.SetChess960(s.Chess960)
	line := chess.NewLine(start)
	for _, m := range s.line.Moves() {
		line.Push(m)
	}
	s.line = line
	return nil
}
