//go:build !race

// What is held here the race detector makes slow and does not see.

package ab

import (
	"flag"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/golden"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/search/option"
)

var update = flag.Bool("update", false, "rewrite golden files")

// goldenSet are searches of some bench positions by one set of rules.
type goldenSet struct {
	name, prefix string // the prefix of its switches
	settings     map[string]string
	depths       []int // of the searches of goldenPositions
}

// goldenSets: early iterations alone, and the program's own search, most of which is late
// ones. Numbers of rules that are off are such that these searches come to use them.
var goldenSets = []goldenSet{
	{"early", "", map[string]string{"late_from": "255", "long_from": "255", "verify_depth": "4"}, []int{6, 6, 6}},
	{"late", "late_", map[string]string{"late_verify_depth": "4"}, []int{8, 9, 9}},
}

// goldenPositions are indexes in benchPositions; the last one is of chess.
var goldenPositions = []int{1, 4, 10}

// goldenMost bounds the nodes of a search, as some need very many without a rule.
const goldenMost = 40_000

// nodes returns the nodes of each search of the set, with a switch flipped unless that is "".
func (s *goldenSet) nodes(t *testing.T, flipped string) string {
	t.Helper()
	var nodes []string
	for i, n := range goldenPositions {
		b := benchPositions[n]
		settings := maps.Clone(s.settings)
		if flipped != "" {
			p := DefaultParams(b.variant)
			o, _ := option.Find(option.All(&p), flipped)
			settings[flipped] = strconv.FormatBool(o.String() == "false")
		}
		e := New(newMaterial, Options{HashMB: 1, Params: settings})
		r := mustSearch(t, e, chess.NewLine(mustFEN(t, b.variant, b.fen)), search.Limits{Depth: s.depths[i], Nodes: goldenMost})
		nodes = append(nodes, strconv.FormatUint(r.Nodes, 10))
	}
	return strings.Join(nodes, " ")
}

// TestNodesOfEachSwitch: the nodes of some searches by default and with each switch flipped
// are those of the golden file, so that no technique breaks unnoticed. They are the same on
// every machine. A switch that changes none of them stands there as one without effect.
func TestNodesOfEachSwitch(t *testing.T) {
	const path = "testdata/nodes.txt"
	var b strings.Builder
	for _, s := range goldenSets {
		base := s.nodes(t, "")
		fmt.Fprintf(&b, "%s iterations: %s\n", s.name, base)
		for _, o := range option.All(&Rules{}) {
			nodes := s.nodes(t, s.prefix+o.Key)
			if nodes == base {
				nodes = "no effect"
			}
			fmt.Fprintf(&b, "%s%s flipped: %s\n", s.prefix, o.Key, nodes)
		}
	}
	if *update {
		golden.Write(t, path, []byte(b.String()))
	}
	if found := b.String(); found != string(golden.Read(t, path)) {
		t.Errorf("found\n%sexpected the golden file; if the search was meant to change, go test ./ab -run %s -update, and look what has no effect now", found, t.Name())
	}
}
