package match

import (
	"fmt"
	"strings"
)

// Format says which players of a match meet.
type Format uint8

// The formats. With two players they are the same.
const (
	RoundRobin Format = iota // everyone meets everyone
	Gauntlet                 // the first players, the seeds, meet all others but not each other
)

var formatNames = [...]string{RoundRobin: "roundrobin", Gauntlet: "gauntlet"}

// String returns "roundrobin" or "gauntlet".
func (f Format) String() string { return formatNames[f] }

// ParseFormat reads what String writes.
func ParseFormat(text string) (Format, error) {
	for f, name := range formatNames {
		if text == name {
			return Format(f), nil
		}
	}
	return 0, fmt.Errorf("%w: format: found %q, expected one of %s", ErrConfig, text, strings.Join(formatNames[:], ", "))
}

// MaxPairs bounds the pairs of an encounter so that numbers of games cannot
// overflow.
const MaxPairs = 1 << 30

// formatText describes the format with its seeds.
func (c *Config) formatText() string {
	if c.Format == Gauntlet {
		return fmt.Sprintf("gauntlet of %d", max(1, c.Seeds))
	}
	return c.Format.String()
}

// encounters lists who meets whom, as indices of players: A, the lower one, and
// B. Its order is part of the schedule.
func (c *Config) encounters() [][2]int {
	seeds := len(c.Players)
	if c.Format == Gauntlet {
		seeds = max(1, c.Seeds)
	}
	var list [][2]int
	for a := range seeds {
		for b := a + 1; b < len(c.Players); b++ {
			if c.Format == Gauntlet && b < seeds {
				continue
			}
			list = append(list, [2]int{a, b})
		}
	}
	return list
}

// place says where in a match with a number of encounters a pair is played: in
// every round each encounter plays one pair, all of them the round's opening.
// So a match that is stopped has played as many pairs of one encounter as of
// another, but for the last round.
func place(number, encounters int) (round, encounter int) {
	return number / encounters, number % encounters
}
