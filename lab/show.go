package lab

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/configs"
)

// Fact is something that is equal among the rows of a comparison, or is not.
type Fact struct {
	What    string `json:"what"`
	Equal   bool   `json:"equal"`
	Detail  string `json:"detail"`
	Matters bool   `json:"matters"` // if it is not equal, the comparison is of that too
}

// sampleKeys are the settings that decide which positions are learned from, and in which
// order.
var sampleKeys = []string{
	"weights", "batch", "epochs", "min_ply", "thin_ply", "max_score", "require_score", "skip_in_check", "skip_captures", "quiet_leaf", "skip_draws",
	"skip_duplicates", "random_skip", "mirror", "held_out", "newest", "memory_mb", "validation", "loss", "newbob_decay", "newbob_trials",
}

// netKeys are the settings of the net.
var netKeys = []string{
	"kind", "features", "width", "l2", "l3", "stacks", "buckets", "psqt", "activation", "planes", "blocks", "channels", "factorise", "psqt_start",
}

// Facts says what is equal among the rows.
func (p *Plan) Facts() []Fact {
	all := make([]configs.Learn, len(p.Nets))
	for i := range p.Nets {
		all[i] = p.Nets[i][0].Config
	}
	var net, samples, training []string
	for _, key := range configs.Varied(all) {
		switch {
		case key == "preset":
		case slices.Contains(netKeys, key):
			net = append(net, key)
		case slices.Contains(sampleKeys, key):
			samples = append(samples, key)
		default:
			training = append(training, key)
		}
	}
	inputs := map[string]bool{}
	for i := range all {
		of := expression(&all[i])
		if all[i].Kind == configs.Planes { // whose nets have the same, whatever their shape
			of = configs.Planes
		}
		inputs[of] = true
	}
	nodes := "none played"
	if p.Games.Nodes > 0 {
		nodes = fmt.Sprintf("%d a move for every net", p.Games.Nodes)
	}
	time := "none played"
	if p.Games.Time > 0 {
		time = fmt.Sprintf("%v a move for every net, as the nodes that it searches in it undisturbed", p.Games.Time)
	}
	puzzled := "none given"
	if n := len(p.puzzles.list); n > 0 {
		puzzled = fmt.Sprintf("%d of the program's, %d nodes each", n, p.Games.Puzzles)
	}
	return []Fact{
		{"data", true, strings.Join(p.Data, ", "), true},
		p.samplesFact(samples),
		{"settings of training", len(training) == 0, differing(training), true},
		{"seeds", true, fmt.Sprintf("%d nets of each row, seeds %d to %d", p.Seeds, p.Seed, p.Seed+uint64(p.Seeds)-1), true},
		{"inputs", len(inputs) == 1, fmt.Sprintf("%d different ones", len(inputs)), false},
		{"nets", len(net) == 0, differing(net) + "; parameters stand with each row", false},
		p.timeFact(),
		{"nodes of search", true, nodes, true},
		{"time of search", true, time, true},
		{"openings", true, p.openings.ID, true},
		{"puzzles", true, puzzled, true},
	}
}

// differing says in which settings rows differ.
func differing(list []string) string {
	if len(list) == 0 {
		return "the same settings"
	}
	return "differing in " + strings.Join(list, ", ")
}

// Show prints what is equal among the rows and what is not, and how the games are arranged.
func (p *Plan) Show(w io.Writer) error {
	for _, f := range p.Facts() {
		mark := "equal"
		if !f.Equal {
			mark = "differs"
		}
		fmt.Fprintf(w, "%-8s %-24s %s\n", mark, f.What, f.Detail)
	}
	fmt.Fprintln(w)
	for i, row := range p.Nets {
		fmt.Fprintf(w, "%s: %s\n", p.Rows[i].Name, expression(&row[0].Config))
		text, err := row[0].Config.Text(p.Variant)
		if err != nil {
			return err
		}
		size, err := sizeText(&row[0].Config)
		if err != nil {
			return err
		}
		nets := "nets " + strings.Join(keysOf(row), " ")
		if p.Unmeasured[i] {
			nets = "nets are known when the trainer's speed is measured, at the beginning"
		}
		fmt.Fprintf(w, "  %s\n  %s\n  %s; %s\n", text, size, p.budgetText(i), nets)
	}
	_, err := fmt.Fprint(w, arrangement)
	return err
}

// sizeText says how many inputs and parameters a net has.
func sizeText(l *configs.Learn) (string, error) {
	params, _, err := weigh(l)
	if err != nil || l.Kind == configs.Planes {
		return fmt.Sprintf("%d inputs, %d parameters", planeInputs, params), err
	}
	_, set, err := architecture(l)
	if err != nil {
		return "", err
	}
	inputs, dead := inputsOf(set)
	return fmt.Sprintf("%d inputs and %d dead ones, %d parameters", inputs, dead, params), nil
}

// arrangement says who meets whom.
const arrangement = `
Net s of a row plays net s of every other row and every anchor, both colours of the same
openings. Nets with one seed have learned from the same positions in the same order, so
that what this decides for all of them does not look like a difference of rows.
`

func keysOf(row []Net) []string {
	var keys []string
	for i := range row {
		keys = append(keys, row[i].Key)
	}
	return keys
}
