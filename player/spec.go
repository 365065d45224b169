// Package player says who can play: it reads a player's text, as the command line
// writes it, and makes the player.
package player

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Help says how a player is written on the command line.
const Help = `A player is a net file, the word "builtin" for the program's own net, the word
"material", mcts:FILE for tree search with a plane net or mcts:uniform without one,
or uci:COMMAND for any UCI engine, with settings behind it, each after a comma:

  nodes=N depth=N movetime=50ms tc=60+0.6   limits of this player alone, in place
                                            of those of the flags; k and M are
                                            thousands and millions, tc is base
                                            and increment as [MIN:]SEC[+SEC]
  name=NAME                                 its name in results and games
  hash=MIB threads=N                        of a player of this program
  batch=N cpuct=X fpu=X probe=0|1|3 gumbel=N
                                            of tree search: positions a net is
                                            given at once, weight of priors, what
                                            untried moves are worth less, length
                                            of the mates looked for everywhere,
                                            moves considered at a Gumbel root
  runtime=native|int8|onnxgo|ort            what computes its net: our kernels, in
                                            float32 or with bytes, onnx-go, which
                                            is slow, or ONNX Runtime, only in
                                            programs built with -tags ort
  library=FILE                              of ONNX Runtime, if the system does not
                                            find it
  dir=DIR timeout=60s margin=5s             of an engine: where it runs, when it
                                            is given up if it says nothing and
                                            has no limit of time, and how long
                                            beyond one, or after "stop"
  OPTION=VALUE                              of an engine: any of its UCI options,
                                            in whatever case

Quotes, "" or '', hold together what has commas or spaces:

  best.nnue,nodes=800
  uci:fairy-stockfish,Hash=64,tc=10+0.1
  'uci:"/opt/my engine/sf" --quiet,EvalFile="a,b.nnue",Skill Level=5'`

// ErrUsage marks errors in a player's text, or in a name that stands for a net.
var ErrUsage = errors.New("wrong usage")

// Spec is a player as the command line writes it, taken apart.
type Spec struct {
	Engine  bool   // behind UCI
	Program string // the engine's command, or the net file, or "material"
	Args    []string

	Name    string // empty: not given
	Limits  search.Limits
	Limited bool // limits were given

	HashMB, Threads int // 0: not given; not of an engine

	Tree    *mcts.Options // nil: no tree search
	Runtime Runtime       // of its net

	Dir     string
	Timeout time.Duration     // 0: not given
	Margin  time.Duration     // 0: not given
	Options map[string]string // UCI options, by name as written
}

// Parse reads a player as Help describes it. Errors wrap ErrUsage.
func Parse(text string) (Spec, error) {
	s, err := parseSpec(text)
	if err != nil {
		return Spec{}, fmt.Errorf("%w: player %q: %w", ErrUsage, text, err)
	}
	return s, nil
}

func parseSpec(text string) (Spec, error) {
	var s Spec
	parts, err := splitQuoted(text, ',')
	if err != nil {
		return s, err
	}
	head := parts[0]
	if head, s.Engine = strings.CutPrefix(head, "uci:"); s.Engine {
		command, err := splitQuoted(strings.TrimSpace(head), ' ')
		if err != nil {
			return s, err
		}
		command = slices.DeleteFunc(command, func(w string) bool { return w == "" })
		for i, w := range command {
			command[i] = unquote(w)
		}
		if len(command) == 0 || command[0] == "" {
			return s, errors.New("found no command, expected uci:COMMAND")
		}
		s.Program, s.Args, s.Options = command[0], command[1:], map[string]string{}
	} else {
		if file, ok := strings.CutPrefix(head, "mcts:"); ok {
			o := mcts.DefaultOptions()
			head, s.Tree = file, &o
		}
		if s.Program = unquote(head); s.Program == "" {
			return s, errors.New(`found no name, expected a net file, "builtin", "material", mcts:FILE, mcts:uniform or uci:COMMAND`)
		}
	}
	seen := map[string]bool{}
	for _, part := range parts[1:] {
		key, value, ok := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), unquote(value)
		if !ok || key == "" {
			return s, fmt.Errorf("found %q, expected NAME=VALUE", part)
		}
		// Options of engines are the same in every case, settings are not.
		id := key
		if s.Engine && !slices.Contains(engineKeys, key) {
			id = "option " + strings.ToLower(key)
		}
		if seen[id] {
			return s, fmt.Errorf("found %s twice, expected it once", key)
		}
		seen[id] = true
		if err := s.set(key, value); err != nil {
			return s, err
		}
	}
	return s, nil
}

// The settings of players, those of both kinds first.
var (
	commonKeys = []string{"nodes", "depth", "movetime", "tc", "name"}
	ownKeys    = slices.Concat(commonKeys, []string{"hash", "threads"})
	engineKeys = slices.Concat(commonKeys, []string{"dir", "timeout", "margin"})
)

// set takes one setting.
func (s *Spec) set(key, value string) (err error) {
	keys := ownKeys
	switch {
	case s.Engine:
		keys = engineKeys
	case s.Tree != nil:
		keys = treeKeys
	}
	if !slices.Contains(keys, key) {
		if s.Engine {
			s.Options[key] = value
			return nil
		}
		return fmt.Errorf("found setting %q, the nearest is %s; expected one of %s", key, words.Nearest(key, keys), strings.Join(keys, ", "))
	}
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
	case "hash":
		s.HashMB, err = parseRange(value, 1, 1<<20)
	case "threads":
		s.Threads, err = parseRange(value, 1, 1<<10)
	case "dir":
		s.Dir = value
	case "timeout":
		s.Timeout, err = parseSpan(value)
	case "margin":
		s.Margin, err = parseSpan(value)
	default:
		err = s.setTree(key, value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	s.Limited = s.Limited || slices.Contains(commonKeys[:4], key)
	return nil
}

// splitQuoted cuts text at every sep that does not stand in quotes. The quotes
// stay.
func splitQuoted(text string, sep rune) ([]string, error) {
	var quote rune
	var parts []string
	begin := 0
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == sep:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("found a quote %c that does not end", quote)
	}
	return append(parts, text[begin:]), nil
}

// unquote removes space around text and the quotes in it: one kind may stand
// inside the other.
func unquote(text string) string {
	var quote rune
	return strings.Map(func(r rune) rune {
		switch {
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
			return -1
		case r == quote:
			quote = 0
			return -1
		}
		return r
	}, strings.TrimSpace(text))
}

// ParseCount reads a positive number, of thousands with a k behind it, of
// millions with an M.
func ParseCount(text string) (uint64, error) {
	digits, scale := text, uint64(1)
	if rest, ok := strings.CutSuffix(text, "k"); ok {
		digits, scale = rest, 1e3
	} else if rest, ok := strings.CutSuffix(text, "M"); ok {
		digits, scale = rest, 1e6
	}
	const most = 1e15
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n == 0 || n > most/scale {
		return 0, fmt.Errorf("found %q, expected a number such as 400 or 10k", text)
	}
	return n * scale, nil
}

// parseRange reads a whole number from lo to hi.
func parseRange(text string, lo, hi int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("found %q, expected a whole number from %d to %d", text, lo, hi)
	}
	return n, nil
}

// maxSpan bounds every time a player may be given.
const maxSpan = 24 * time.Hour

// parseSpan reads a time with its unit, at least a millisecond.
func parseSpan(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond || d > maxSpan {
		return 0, fmt.Errorf("found %q, expected a time with its unit such as 50ms", text)
	}
	return d, nil
}

// ParseTimeControl reads base time and increment, [MIN:]SEC[+SEC].
func ParseTimeControl(text string) (base, inc time.Duration, err error) {
	bad := func() (time.Duration, time.Duration, error) {
		return 0, 0, fmt.Errorf("found %q, expected [MIN:]SEC[+SEC] such as 10+0.1 or 1:30", text)
	}
	if strings.Contains(text, "/") {
		return 0, 0, fmt.Errorf("found %q, expected one time for the whole game: moves to a control are not supported", text)
	}
	main, extra, hasInc := strings.Cut(text, "+")
	minutes, secs, hasMinutes := strings.Cut(main, ":")
	if !hasMinutes {
		minutes, secs = "0", main
	}
	m, ok1 := parseSeconds(minutes)
	s, ok2 := parseSeconds(secs)
	i, ok3 := parseSeconds(extra)
	if !ok1 || !ok2 || hasInc && !ok3 {
		return bad()
	}
	base, inc = 60*m+s, i
	if base+inc < time.Millisecond || base > maxSpan || inc > maxSpan {
		return bad()
	}
	return base, inc, nil
}

// parseSeconds reads a decimal number of seconds, to the millisecond.
func parseSeconds(text string) (time.Duration, bool) {
	if text == "" || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f > maxSpan.Seconds() {
		return 0, false
	}
	return time.Duration(f*1000+0.5) * time.Millisecond, true
}
