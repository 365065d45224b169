package rating

import (
	"fmt"
	"strings"
)

// UnconnectedError says which players cannot be compared. It wraps
// [ErrUnconnected].
type UnconnectedError struct {
	// Groups are the players within which ratings compare. Of two groups that
	// met, the one that took all points stands first.
	Groups [][]string
	// Apart says that there are groups no chain of games leads between. It is
	// false if only points are missing: some group won every game it had with
	// the others, so nothing limits how much stronger it is.
	Apart bool
}

// Error names the groups, as many as a reader can take in.
func (e *UnconnectedError) Error() string {
	const most = 6
	why := "one won every game against the next"
	if e.Apart {
		why = "no games lead from one to another"
	}
	var groups []string
	for _, g := range e.Groups[:min(len(e.Groups), most)] {
		text := strings.Join(g[:min(len(g), most)], ", ")
		if len(g) > most {
			text += fmt.Sprintf(" and %d more", len(g)-most)
		}
		groups = append(groups, "{"+text+"}")
	}
	if n := len(e.Groups) - most; n > 0 {
		groups = append(groups, fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("%v: found %d groups, expected one: %s: %s", ErrUnconnected, len(e.Groups), why, strings.Join(groups, ", "))
}

// Unwrap returns ErrUnconnected.
func (e *UnconnectedError) Unwrap() error { return ErrUnconnected }

// connected returns an UnconnectedError unless all ratings are finite: from
// every player to every other there must be a chain in which each took points
// from the next (Ford 1957). Players with an anchor are tied to each other.
func (m *model) connected() error {
	ties := make([][]int, m.players) // to those one took points from
	mutual := make([][]int, m.players)
	link := func(from, to int) {
		ties[from] = append(ties[from], to)
		mutual[from], mutual[to] = append(mutual[from], to), append(mutual[to], from)
	}
	for _, e := range m.edges {
		if e.points > 0 {
			link(e.white, e.black)
		}
		if e.points < e.games {
			link(e.black, e.white)
		}
	}
	for i := 1; i < len(m.anchors); i++ {
		a, b := m.anchors[i-1].Player, m.anchors[i].Player
		link(a, b)
		link(b, a)
	}
	groups := components(ties)
	if len(groups) <= 1 {
		return nil
	}
	err := &UnconnectedError{Apart: len(components(mutual)) > 1}
	for _, g := range groups {
		var names []string
		for _, player := range g {
			names = append(names, m.names[player])
		}
		err.Groups = append(err.Groups, names)
	}
	return err
}

// components returns the strongly connected components of a directed graph, a
// component before those its edges lead to, each in ascending order. It is the
// algorithm of Kosaraju, with stacks of its own for graphs of any depth.
func components(next [][]int) [][]int {
	order := finished(next)
	back := make([][]int, len(next))
	for from, list := range next {
		for _, to := range list {
			back[to] = append(back[to], from)
		}
	}
	group := make([]int, len(next)) // 1 and up; 0 is not yet known
	groups := 0
	for i := len(order) - 1; i >= 0; i-- {
		if group[order[i]] != 0 {
			continue
		}
		groups++
		group[order[i]] = groups
		for stack := []int{order[i]}; len(stack) > 0; {
			node := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, to := range back[node] {
				if group[to] == 0 {
					group[to] = groups
					stack = append(stack, to)
				}
			}
		}
	}
	list := make([][]int, groups)
	for node, g := range group {
		list[g-1] = append(list[g-1], node)
	}
	return list
}

// finished returns the nodes in the order a depth-first search leaves them.
func finished(next [][]int) []int {
	var order []int
	used := make([]int, len(next)) // edges followed so far
	seen := make([]bool, len(next))
	for start := range next {
		if seen[start] {
			continue
		}
		seen[start] = true
		for stack := []int{start}; len(stack) > 0; {
			node := stack[len(stack)-1]
			if used[node] == len(next[node]) {
				order = append(order, node)
				stack = stack[:len(stack)-1]
				continue
			}
			to := next[node][used[node]]
			used[node]++
			if !seen[to] {
				seen[to] = true
				stack = append(stack, to)
			}
		}
	}
	return order
}
