package gensfen

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// gensfenAliases are names that options have had in other versions of those tools.
var gensfenAliases = map[string]string{
	"loop":             "count",
	"output-file-name": "output", "output-file": "output",
	"sfen-format": "data-format",
	"mindepth":    "min-depth", "maxdepth": "max-depth", "depth2": "max-depth",
	"random-move-minply": "random-move-min-ply", "random-move-maxply": "random-move-max-ply",
	"write-minply": "write-min-ply", "write-maxply": "write-max-ply",
	"write-out-draw-game-in-training-data-generation":  "keep-draws",
	"use-draw-in-training-data-generation":             "keep-draws",
	"detect-draw-by-consecutive-low-score":             "adjudicate-draws-by-score",
	"use-game-draw-adjudication":                       "adjudicate-draws-by-score",
	"detect-draw-by-insufficient-mating-material":      "adjudicate-draws-by-insufficient-material",
	"adjudicate-draws-by-insufficient-mating-material": "adjudicate-draws-by-insufficient-material",
}

// gensfenName gives an option the name it has here.
func gensfenName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ReplaceAll(name, "_", "-")
	if here, ok := gensfenAliases[name]; ok {
		name = here
	}
	return pflag.NormalizedName(name)
}

// setWords sets flags by bare words, a name and its value each, and by flags that
// follow them.
func setWords(f *pflag.FlagSet, list []string) error {
	for len(list) > 0 {
		name, value, valued := strings.Cut(strings.TrimPrefix(list[0], "--"), "=")
		list = list[1:]
		flag := f.Lookup(name)
		if flag == nil {
			return fmt.Errorf("found %q, the nearest option is %s", name, words.Nearest(strings.ReplaceAll(name, "_", "-"), optionNames(f)))
		}
		switch {
		case valued:
		case flag.NoOptDefVal != "" && (len(list) == 0 || !isOnOff(list[0])):
			value = flag.NoOptDefVal
		case len(list) == 0:
			return fmt.Errorf("found %s at the end, expected a value behind it", name)
		default:
			value, list = list[0], list[1:]
		}
		if err := f.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

func optionNames(f *pflag.FlagSet) (names []string) {
	f.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	for alias := range gensfenAliases {
		names = append(names, alias)
	}
	slices.Sort(names)
	return names
}

func isOnOff(text string) bool {
	_, err := strconv.ParseBool(text)
	return err == nil
}

// onOff is a switch that takes a value, as in "keep_draws 1".
type onOff bool

func (v *onOff) String() string {
	if *v {
		return "1"
	}
	return "0"
}

// Type names the value in the help.
func (*onOff) Type() string { return "0|1" }

// Set takes 0 or 1, or a word for them.
func (v *onOff) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("found %q, expected 0 or 1", text)
	}
	*v = onOff(on)
	return nil
}

// countValue is a number that may be large: 8000000000, 8e9, 100k or 2M.
type countValue uint64

func (v *countValue) String() string { return strconv.FormatUint(uint64(*v), 10) }

// Type names the value in the help.
func (*countValue) Type() string { return "number" }

// Set takes the number.
func (v *countValue) Set(text string) error {
	const most = 1e15
	if n, err := player.ParseCount(text); err == nil {
		*v = countValue(n)
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= most) || x != math.Trunc(x) {
		return fmt.Errorf("found %q, expected a number such as 50000, 8e9, 100k or 2M", text)
	}
	*v = countValue(x)
	return nil
}

// scoreValue is a score, in centipawns, that is written in the unit of
// Fairy-Stockfish or, followed by cp, in centipawns.
type scoreValue search.Score

// addScore adds an option for a score, whose default is in the unit of
// Fairy-Stockfish.
func addScore(f *pflag.FlagSet, s *search.Score, name string, value search.Score, usage string) {
	*s = fromInternal(value)
	f.Var((*scoreValue)(s), name, usage)
	f.Lookup(name).DefValue = strconv.Itoa(int(value))
}

// fromInternal converts a score from the unit of Fairy-Stockfish.
func fromInternal(n search.Score) search.Score {
	return sample.Convert(n, sample.InternalUnit, sample.CentipawnUnit)
}

func (v *scoreValue) String() string { return strconv.Itoa(int(*v)) + "cp" }

// Type names the value in the help.
func (*scoreValue) Type() string { return "score" }

// Set takes the score.
func (v *scoreValue) Set(text string) error {
	digits, centipawns := strings.CutSuffix(text, "cp")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > int(search.MateScore) {
		return fmt.Errorf("found %q, expected a score from 0 to %d, 208 being a pawn, or in centipawns, such as 150cp", text, int(search.MateScore))
	}
	if *v = scoreValue(n); !centipawns {
		*v = scoreValue(fromInternal(search.Score(n)))
	}
	return nil
}
