package sample

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// FilterHelp describes what ParseFilter reads.
const FilterHelp = "comma-separated: no-check, no-capture (nor promotion), no-draw, no-partial, no-illegal, no-duplicates, require-score, require-game, " +
	"min-ply=N, max-ply=N, max-score=CP (0: no limit), thin-ply=N, keep=SHARE, random-skip=X (for each kept)"

// ParseFilter reads a list such as "no-check,max-score=3000". The error wraps
// ErrFilter.
func ParseFilter(text string) (Filter, error) {
	var f Filter
	if text == "" {
		return f, nil
	}
	switches := map[string]*bool{
		"no-check": &f.SkipInCheck, "no-capture": &f.SkipCaptures, "no-draw": &f.SkipDraws, "no-partial": &f.SkipPartial,
		"no-illegal": &f.SkipIllegal, "no-duplicates": &f.SkipDuplicates, "require-score": &f.RequireScore, "require-game": &f.RequireGame,
	}
	numbers := map[string]*int{"min-ply": &f.MinPly, "max-ply": &f.MaxPly, "max-score": (*int)(&f.MaxScore), "thin-ply": &f.ThinPly}
	for word := range strings.SplitSeq(text, ",") {
		name, value, valued := strings.Cut(strings.TrimSpace(word), "=")
		var err error
		switch {
		case switches[name] != nil && !valued:
			*switches[name] = true
		case numbers[name] != nil && valued:
			const most = 1 << 20
			if *numbers[name], err = strconv.Atoi(value); err != nil || *numbers[name] < 0 || *numbers[name] > most {
				return f, fmt.Errorf("%w: %s: found %q, expected a number from 0 to %d", ErrFilter, name, value, most)
			}
		case name == "keep" && valued:
			if f.Keep, err = strconv.ParseFloat(value, 64); err != nil || !(f.Keep > 0 && f.Keep <= 1) {
				return f, fmt.Errorf("%w: keep: found %q, expected a share above 0, at most 1", ErrFilter, value)
			}
		case name == "random-skip" && valued:
			skip, err := strconv.ParseFloat(value, 64)
			if err != nil || !(skip >= 0 && skip <= math.MaxUint32) {
				return f, fmt.Errorf("%w: random-skip: found %q, expected a number from 0", ErrFilter, value)
			}
			f.Keep = KeepOf(skip)
		default:
			return f, fmt.Errorf("%w: found %q, expected %s", ErrFilter, word, FilterHelp)
		}
	}
	return f, nil
}

// KeepOf returns the Filter.Keep that leaves out skip samples for each kept.
func KeepOf(skip float64) float64 {
	if skip == 0 {
		return 0
	}
	return 1 / (1 + skip)
}
