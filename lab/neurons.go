package lab

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
)

// drawnNeurons is how many neurons of the best row a report shows.
const drawnNeurons = 3

// drawNeurons draws neurons of a net: those whose weights have the largest sum of squares, as
// they tell positions apart the most. what says whose they are.
func drawNeurons(r *Results, net *nnue.Network, what, name string) {
	drawer := netstat.NewDrawer(net, chess.NoSquare)
	left := ""
	if list := drawer.LeftOut(); len(list) > 0 {
		left = fmt.Sprintf(" Not drawn, as they have no place on a board: %v.", list)
	}
	for k, neuron := range largestNeurons(net, drawnNeurons) {
		f := drawer.Neuron(neuron)
		if len(f.Rows) == 0 { // nothing of its inputs is drawn
			return
		}
		f.Title = name + ", " + f.Title
		r.drawn = append(r.drawn, drawing{fmt.Sprintf("neuron-%d.svg", k+1), fmt.Sprintf(
			"Weights of neuron %d of %s; of its %d neurons it has the %slargest weights.%s",
			neuron, what, net.Architecture().Width, []string{"", "second ", "third "}[k], left), f})
	}
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
