package player

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/search/option"
)

// Help says how a player is written on the command line.
const Help = `A player is a net file, the directory of a run or of learn for its newest net, the
word "builtin" for the program's own net, the word "material", mcts:uniform for tree
search without a net, or another program's engine: uci:COMMAND if it speaks UCI,
xboard:COMMAND if it speaks CECP, the protocol of XBoard and WinBoard. Settings
follow, each after a comma. NNUE nets play by alpha-beta search, plane nets by tree
search, for which mcts:FILE says so too.

  nodes=N depth=N movetime=50ms tc=60+0.6   limits of this player alone, in place
                                            of those of the flags; k and M are
                                            thousands and millions, tc is base
                                            and increment as [MIN:]SEC[+SEC]
  name=NAME                                 its name in results and games
  hash=MIB threads=N                        of a player of this program
  elo=N seed=N                              of the same: a rating below its full
                                            strength on the ladder's scale, and
                                            the seed of its choices of moves
  RULE=true|false NUMBER=N                  of alpha-beta search: a rule or a number
                                            of it, such as singular=false or
                                            aspiration=60; tune --list lists them
  batch=N cpuct=X fpu=X probe=0|1|3 gumbel=N
                                            of tree search: positions evaluated
                                            in a batch, weight of priors, first
                                            play urgency reduction, plies of
                                            checks searched for mate at every new
                                            node, moves considered at a Gumbel
                                            root; also cpuct_base,
                                            policy_temperature, reuse, lcb,
                                            q_veto, gumbel_visit and gumbel_scale
  runtime=native|int8|onnxgo|ort            what computes its net: our kernels, in
                                            float32 or with bytes, onnx-go, or
                                            ONNX Runtime, the last only in
                                            programs built with -tags ort
  library=FILE                              of runtime=ort: ONNX Runtime's library,
                                            if the system does not find it
  dir=DIR timeout=60s margin=5s             of an engine: where it runs, how long
                                            it may take to answer where no limit
                                            of time applies, and by how much it
                                            may exceed one, or take after "stop"
  OPTION=VALUE                              of an engine: any of its options, in
                                            whatever case; with xboard: memory=MIB
                                            and cores=N too, if it knows them; with
                                            uci: UCI_Chess960=true to play from
                                            openings of Chess960

With xboard: nodes needs an engine with the feature nps, and movetime whole seconds.

Text with commas or spaces needs quotes, "" or '', but for the path of a file or
directory that exists:

  best.nnue,nodes=800
  sweep/features=All + Hand,width=64/net.nnue
  uci:fairy-stockfish,Hash=64,tc=10+0.1
  xboard:sjeng,movetime=1s
  'uci:"/opt/my engine/sf" --quiet,EvalFile="a,b.nnue",Skill Level=5'`

// Parse reads a player as Help describes it. Errors wrap ErrUsage.
func Parse(text string) (Spec, error) {
	var s Spec
	if err := s.parse(text); err != nil {
		return Spec{}, fmt.Errorf("%w: player %q: %w", ErrUsage, text, err)
	}
	return s, nil
}

func (s *Spec) parse(text string) error {
	search, who, settings, err := cutHead(text)
	if err != nil {
		return err
	}
	s.Search = search
	switch {
	case search.Foreign():
		err = s.setCommand(who)
	case who == "":
		err = errors.New(`found no name, expected a net file, a directory, "builtin", "material", mcts:FILE, mcts:uniform, uci:COMMAND or xboard:COMMAND`)
	default:
		s.setNet(who)
	}
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, part := range settings {
		key, value, ok := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), unquote(value)
		if !ok || key == "" {
			return fmt.Errorf("found %q, expected NAME=VALUE", part)
		}
		if err := s.setOnce(seen, key, value); err != nil {
			return err
		}
	}
	return s.Runtime.check()
}

// setOnce takes a setting that is not among those seen, and puts it there.
func (s *Spec) setOnce(seen map[string]bool, key, value string) error {
	id := s.identity(key)
	if seen[id] {
		return fmt.Errorf("found %s twice, expected it once", key)
	}
	seen[id] = true
	return s.set(key, value)
}

// identity is the same for all the ways to write a key. Options of engines are the
// same in every case, settings are not.
func (s *Spec) identity(key string) string {
	if s.Search.Foreign() && !slices.Contains(engineKeys, key) {
		return "option " + strings.ToLower(key)
	}
	if o, ok := option.Find(s.Settings(), key); ok {
		return o.Key
	}
	return key
}

// setCommand takes an engine's command line.
func (s *Spec) setCommand(text string) error {
	command, err := splitQuoted(strings.TrimSpace(text), ' ')
	if err != nil {
		return err
	}
	command = slices.DeleteFunc(command, func(w string) bool { return w == "" })
	for i, w := range command {
		command[i] = unquote(w)
	}
	if len(command) == 0 || command[0] == "" {
		return fmt.Errorf("found no command, expected %s:COMMAND", s.Search)
	}
	s.Command = command
	return nil
}

// prefixes are the searches that a player's text asks for by "SEARCH:".
var prefixes = []Search{Engine, XBoard, TreeSearch}

// cutHead parts a text into the search it asks for by its prefix, if it does, who
// plays, and the settings. The longest beginning of the text that is a file or
// directory is taken whole, commas and all. Of a foreign engine the command keeps
// its quotes.
func cutHead(text string) (s Search, who string, settings []string, err error) {
	rest := text
	for _, search := range prefixes {
		if after, ok := strings.CutPrefix(text, string(search)+":"); ok {
			s, rest = search, after
		}
	}
	if !s.Foreign() {
		if path, after, ok := existing(rest); ok {
			if after != "" {
				settings, err = splitQuoted(after, ',')
			}
			return s, path, settings, err
		}
	}
	parts, err := splitQuoted(rest, ',')
	if err != nil {
		return s, "", nil, err
	}
	if who = parts[0]; !s.Foreign() {
		who = unquote(who)
	}
	return s, who, parts[1:], nil
}

// existing cuts text after the longest beginning with a comma in it that names a
// file or directory.
func existing(text string) (path, settings string, ok bool) {
	for end := len(text); end > 0; end = strings.LastIndexByte(text[:end], ',') {
		path := strings.TrimSpace(text[:end])
		if !strings.Contains(path, ",") {
			break
		}
		if _, err := os.Stat(path); err == nil {
			return path, strings.TrimPrefix(text[end:], ","), true
		}
	}
	return "", "", false
}

// String returns the player as Parse reads it: Parse(s.String()) is s for any s that
// Parse gave.
func (s Spec) String() string {
	var parts []string
	switch {
	case s.Search.Foreign():
		command := make([]string, len(s.Command))
		for i, w := range s.Command {
			command[i] = quote(w, " ,")
		}
		parts = append(parts, string(s.Search)+":"+strings.Join(command, " "))
	case s.Search == TreeSearch:
		parts = append(parts, "mcts:"+quote(s.Net, ","))
	case slices.ContainsFunc(prefixes, func(p Search) bool { return strings.HasPrefix(s.Net, string(p)+":") }):
		parts = append(parts, quote(s.Net, ":"))
	default:
		parts = append(parts, quote(s.Net, ","))
	}
	for _, p := range s.pairs() {
		parts = append(parts, p.key+"="+quote(p.value, ","))
	}
	return strings.Join(parts, ",")
}

// pair is a setting as text.
type pair struct{ key, value string }

// pairs returns the settings that were given, or that differ from the defaults.
func (s *Spec) pairs() []pair {
	var all []pair
	add := func(given bool, key, value string) {
		if given {
			all = append(all, pair{key, value})
		}
	}
	l := &s.Limits
	add(l.Nodes > 0, "nodes", fmt.Sprint(l.Nodes))
	add(l.Depth > 0, "depth", fmt.Sprint(l.Depth))
	add(l.MoveTime > 0, "movetime", l.MoveTime.String())
	if l.Time[0] > 0 || l.Inc[0] > 0 {
		add(true, "tc", seconds(l.Time[0])+"+"+seconds(l.Inc[0]))
	}
	add(s.Name != "", "name", s.Name)
	if s.Search.Foreign() {
		add(s.Dir != "", "dir", s.Dir)
		add(s.Timeout > 0, "timeout", s.Timeout.String())
		add(s.Margin > 0, "margin", s.Margin.String())
		for _, name := range slices.Sorted(maps.Keys(s.Options)) {
			add(true, name, s.Options[name])
		}
		return all
	}
	for _, o := range s.changed() {
		add(true, o.Key, o.String())
	}
	if s.Elo != nil {
		add(true, "elo", strconv.Itoa(*s.Elo))
	}
	add(s.Seed > 0, "seed", strconv.FormatUint(s.Seed, 10))
	for _, key := range slices.Sorted(maps.Keys(s.Params)) {
		add(true, key, s.Params[key])
	}
	add(s.Runtime.Name != "", "runtime", s.Runtime.Name)
	add(s.Runtime.Library != "", "library", s.Runtime.Library)
	return all
}

// changed returns the settings that are not what they are by default.
func (s *Spec) changed() []option.Option {
	usual := Spec{Search: s.Search, Tree: mcts.DefaultOptions()}
	defaults := usual.Settings()
	var all []option.Option
	for i, o := range s.Settings() {
		if o.String() != defaults[i].String() {
			all = append(all, o)
		}
	}
	return all
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
