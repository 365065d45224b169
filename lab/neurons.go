package lab

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
)

// drawnNeurons is how many neurons of the best row a report shows.
const drawnNeurons = 3

// drawNeurons draws neurons of the first net of the best row that is of kind nnue: those
// whose weights have the largest sum of squares, as they tell positions apart the most.
func (p *Plan) drawNeurons(r *Results) error {
	best := -1
	for i := range p.Rows {
		if p.Nets[i][0].Config.Kind == configs.NNUE && (best < 0 || eloOf(r, p.Rows[i].Name) > eloOf(r, p.Rows[best].Name)) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	net, err := nnue.ReadFile(p.netFile(&p.Nets[best][0]), p.variant)
	if err != nil {
		return err
	}
	drawer := netstat.NewDrawer(net, chess.NoSquare)
	left := ""
	if list := drawer.LeftOut(); len(list) > 0 {
		left = fmt.Sprintf(" Not drawn, as they have no place on a board: %v.", list)
	}
	for k, neuron := range largestNeurons(net, drawnNeurons) {
		f := drawer.Neuron(neuron)
		if len(f.Rows) == 0 { // nothing of its inputs is drawn
			return nil
		}
		f.Title = p.Rows[best].Name + ", " + f.Title
		r.neurons = append(r.neurons, drawing{fmt.Sprintf("neuron-%d.svg", k+1), fmt.Sprintf(
			"Weights of neuron %d of %s, which is the strongest row of kind nnue at %s (its net of seed %d; one net, no games); of its %d neurons it has the %slargest weights.%s",
			neuron, p.Rows[best].Name, r.first().Limits, p.Seed, net.Architecture().Width, []string{"", "second ", "third "}[k], left), f})
	}
	return nil
}

func eloOf(r *Results, name string) float64 {
	for i := range r.Rows {
		if r.Rows[i].Name == name {
			return r.Rows[i].Elo[r.first().Stage].Elo
		}
	}
	return 0
}

// largestNeurons returns the n outputs of the transformer whose weights have the largest sums
// of squares, that with the largest first.
func largestNeurons(net *nnue.Network, n int) []int {
	width := net.Architecture().Width
	sums, order := make([]int64, width), make([]int, width)
	for f := range net.Features().Size() {
		for i, w := range net.FTRow(f) {
			sums[i] += int64(w) * int64(w)
		}
	}
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
	return order[:min(n, width)]
}
