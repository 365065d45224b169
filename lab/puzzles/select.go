package puzzles

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// class is a share of a set.
type class struct {
	percent int
	of      func(*Puzzle) bool
}

// mix is how a set is made up.
var mix = []class{
	{30, func(p *Puzzle) bool { return p.Mate == 1 || p.Mate == 2 }},
	{40, func(p *Puzzle) bool { return p.Mate > 2 }},
	{15, func(p *Puzzle) bool { return p.Mate == 0 && p.Best.IsDrop() }},
	{15, func(p *Puzzle) bool { return p.Mate == 0 && !p.Best.IsDrop() }},
}

// stratum is what is chosen from evenly within a class.
type stratum struct{ mate, grade int }

// Select chooses count puzzles of a list, all of them if count is 0 or there are no
// more: 30 % mates in one or two moves, 40 % longer mates, 15 % wins by a drop and
// 15 % by a move. Each of these is as even over grades and lengths of mates as the
// list allows, and what one lacks the others give. Of two puzzles of one position the
// first counts. The result depends on list, count and seed alone; mates come first,
// shorter before longer, each by grade and then in the order of the list.
func Select(list []Puzzle, count int, seed uint64) []Puzzle {
	rng := rand.New(rand.NewPCG(seed, 0))
	order := distinct(list)
	if count == 0 || count > len(order) {
		count = len(order)
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	var chosen []int
	for _, c := range mix {
		var own []int
		order, own = divide(order, func(i int) bool { return c.of(&list[i]) })
		taken, left := takeEvenly(list, own, count*c.percent/100)
		chosen, order = append(chosen, taken...), append(order, left...)
	}
	taken, _ := takeEvenly(list, order, count-len(chosen))
	chosen = append(chosen, taken...)
	slices.SortFunc(chosen, func(a, b int) int {
		p, q := &list[a], &list[b]
		return cmp.Or(compareMates(p.Mate, q.Mate), cmp.Compare(p.Grade(), q.Grade()), cmp.Compare(a, b))
	})
	set := make([]Puzzle, len(chosen))
	for i, k := range chosen {
		set[i] = list[k]
	}
	return set
}

// compareMates orders shorter mates before longer ones, and what is none last.
func compareMates(a, b int) int {
	if (a == 0) != (b == 0) {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// distinct returns the indices of the puzzles whose position did not come before.
func distinct(list []Puzzle) []int {
	seen := make(map[uint64]bool, len(list))
	var first []int
	for i := range list {
		if key := list[i].Position.Key(); !seen[key] {
			seen[key] = true
			first = append(first, i)
		}
	}
	return first
}

// divide returns the indices that are not in and those that are, in their order.
func divide(all []int, in func(int) bool) (out, own []int) {
	for _, i := range all {
		if in(i) {
			own = append(own, i)
		} else {
			out = append(out, i)
		}
	}
	return out, own
}

// takeEvenly takes up to count of the indices, one of each stratum in turn as long as
// it has any, and returns what is left too.
func takeEvenly(list []Puzzle, from []int, count int) (taken, left []int) {
	strata := make(map[stratum][]int)
	var names []stratum
	for _, i := range from {
		s := stratum{list[i].Mate, list[i].Grade()}
		if strata[s] == nil {
			names = append(names, s)
		}
		strata[s] = append(strata[s], i)
	}
	slices.SortFunc(names, func(a, b stratum) int { return cmp.Or(cmp.Compare(b.grade, a.grade), cmp.Compare(b.mate, a.mate)) })
	for count > 0 {
		before := count
		for _, s := range names {
			if rest := strata[s]; len(rest) > 0 && count > 0 {
				taken, strata[s] = append(taken, rest[0]), rest[1:]
				count--
			}
		}
		if count == before {
			break
		}
	}
	for _, s := range names {
		left = append(left, strata[s]...)
	}
	return taken, left
}

// Contents counts a set by kind and grade, a line for each kind.
func Contents(list []Puzzle) []string {
	a := count("", list, make([]bool, len(list)))
	lines := make([]string, len(a.Kinds))
	for i, kind := range a.Kinds {
		lines[i] = fmt.Sprintf("%14s %5d", kind.Name, kind.Of)
		for _, grade := range a.Grades {
			n := 0
			for k := range list {
				if list[k].Kind() == kind.Name && list[k].gradeName() == grade.Name {
					n++
				}
			}
			lines[i] += fmt.Sprintf("  %s: %d", grade.Name, n)
		}
	}
	return lines
}
