package netstat

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

const (
	pairPlanes = 2 * kinds // kinds of pieces times sides
	// stripColumns and stripMost are the columns of a table of features that
	// have no place on a board, and the most that are drawn.
	stripColumns = 32
	stripMost    = 1024
)

var (
	kindNames  = [kinds]string{"pawn", "knight", "bishop", "rook", "queen", "king"}
	sideNames  = [2]string{"own", "enemy"}
	handLabels = []string{"P", "N", "B", "R", "Q"}
	stepLabels = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"}
	// planeLabels are planes of pieces as sets number them: own pawn, enemy pawn,
	// own knight and so on, the enemy's in lower case.
	planeLabels = []string{"P", "p", "N", "n", "B", "b", "R", "r", "Q", "q", "K", "k"}
)

// Drawer draws what the neurons of a network's transformer look for.
type Drawer struct {
	net   *nnue.Network
	king  chess.Square
	parts []drawnPart
	left  []string
}

// drawnPart is a summand of the feature set and how it is drawn.
type drawnPart struct {
	features.Part
	atlas *atlas         // nil: draw features by number
	dead  map[int32]bool // of those, by number within the part
}

// NewDrawer returns a drawer. Features that depend on the own king's square are
// drawn with it on king, or as the mean over all squares if that is
// chess.NoSquare.
func NewDrawer(n *nnue.Network, king chess.Square) *Drawer {
	d := &Drawer{net: n, king: king}
	for _, part := range features.Parts(n.Features()) {
		a := newAtlas(part.Set, n.Variant(), king)
		switch {
		case a.single(part.Set, king):
			d.parts = append(d.parts, drawnPart{part, a, nil})
		case part.Set.Size() <= stripMost || isPairs(part.Set):
			d.parts = append(d.parts, drawnPart{part, nil, deadOf(part.Set)})
		default:
			d.left = append(d.left, part.Set.String())
		}
	}
	return d
}

// LeftOut returns the summands of the feature set that are not drawn: they have
// no place on a board and too many features for a table.
func (d *Drawer) LeftOut() []string { return d.left }

func isPairs(s features.Set) bool { return s.String() == "PH" || s.String() == "PV" }

// Neuron draws the weights of one neuron of the transformer, 1.0 being the whole
// range of its output.
func (d *Drawer) Neuron(neuron int) *figure.Figure {
	f := &figure.Figure{
		Title: fmt.Sprintf("neuron %d, bias %.2f", neuron, float64(d.net.FTBias[neuron])/nnue.ActivationScale),
		Unit:  "weight",
	}
	if d.net.Features().Anchors() > 1 {
		if d.king == chess.NoSquare {
			f.Title += ", mean over the squares of the own king"
		} else {
			f.Title += fmt.Sprintf(", own king on %v", d.king)
		}
	}
	for _, part := range d.parts {
		weight := func(feature int) float64 {
			if part.dead[int32(feature)] {
				return math.NaN()
			}
			return float64(d.net.FTRow(part.First + feature)[neuron]) / nnue.ActivationScale
		}
		prefix := ""
		if len(d.parts)+len(d.left) > 1 {
			prefix = part.Set.String() + ": "
		}
		switch {
		case part.atlas != nil:
			f.Rows = append(f.Rows, pictureRows(prefix, part.atlas.picture(weight))...)
		case isPairs(part.Set):
			f.Rows = append(f.Rows, pairRows(prefix, part.Set, weight)...)
		case part.Set.String() == "MB":
			f.Rows = append(f.Rows, planeRows(prefix, weight)...)
		default:
			f.Rows = append(f.Rows, []figure.Panel{strip(part.Set, weight)})
		}
	}
	return f
}

// pictureRows draws boards, a row for each side, and hands below.
func pictureRows(prefix string, p *picture) (rows [][]figure.Panel) {
	var hands []figure.Panel
	for side := range p.Pieces {
		var row []figure.Panel
		for kind := range p.Pieces[side] {
			if squares := &p.Pieces[side][kind]; anyNumber(squares[:]) {
				row = append(row, figure.Board(prefix+sideNames[side]+" "+kindNames[kind], squares))
			}
		}
		if row != nil {
			rows = append(rows, row)
		}
		var steps []float64
		for kind := range p.Hands[side] {
			steps = append(steps, p.Hands[side][kind][:]...)
		}
		if anyNumber(steps) {
			hands = append(hands, &figure.Heat{
				Title: prefix + sideNames[side] + " hand", Columns: handSteps, Values: steps,
				XLabels: stepLabels, YLabels: handLabels,
			})
		}
	}
	if hands != nil {
		rows = append(rows, hands)
	}
	return rows
}

func anyNumber(values []float64) bool {
	for _, v := range values {
		if !math.IsNaN(v) {
			return true
		}
	}
	return false
}

// planeRows draws a feature for every kind, side and square as boards.
func planeRows(prefix string, weight func(int) float64) [][]figure.Panel {
	rows := make([][]figure.Panel, 2)
	for plane := range pairPlanes {
		squares := new([64]float64)
		for s := range squares {
			squares[s] = weight(64*plane + s)
		}
		title := prefix + sideNames[plane%2] + " " + kindNames[plane/2]
		rows[plane%2] = append(rows[plane%2], figure.Board(title, squares))
	}
	return rows
}

// pairRows draws pairs of neighbours on a line: one table for each of the eight
// lines, the first of the pair from left to right, the second upwards.
func pairRows(prefix string, set features.Set, weight func(int) float64) [][]figure.Panel {
	const lines, perRow = 8, 4
	rows := make([][]figure.Panel, lines/perRow)
	for line := range lines {
		h := &figure.Heat{
			Title: fmt.Sprintf("%srank %d", prefix, line+1), Columns: pairPlanes,
			XLabels: planeLabels, YLabels: planeLabels,
		}
		if set.String() == "PV" {
			h.Title = prefix + "file " + string(rune('a'+line))
		}
		for second := range pairPlanes {
			for first := range pairPlanes {
				h.Values = append(h.Values, weight((line*pairPlanes+first)*pairPlanes+second))
			}
		}
		rows[line/perRow] = append(rows[line/perRow], h)
	}
	return rows
}

// strip draws features by number, from the top left.
func strip(set features.Set, weight func(int) float64) *figure.Heat {
	size := set.Size()
	columns := min(size, stripColumns)
	h := &figure.Heat{Title: fmt.Sprintf("%s: features 0 to %d", set, size-1), Columns: columns}
	lines := (size + columns - 1) / columns
	for line := lines - 1; line >= 0; line-- { // a heat map begins at the bottom
		h.YLabels = append(h.YLabels, fmt.Sprint(line*columns))
		for f := line * columns; f < (line+1)*columns; f++ {
			v := math.NaN()
			if f < size {
				v = weight(f)
			}
			h.Values = append(h.Values, v)
		}
	}
	return h
}

// Draw draws a histogram for every kind: the shares of each mobility among the
// positive ones, with a mark where share of them lie below.
func (m *Mobility) Draw(title string, share float64) *figure.Figure {
	const perRow = 3
	f := &figure.Figure{Title: title}
	for kind, name := range kindNames {
		k := chess.PieceType(kind)
		sum := m.positive(k)
		h := &figure.Histogram{
			Title: name, XLabel: "squares", YLabel: "share where above 0",
			Low: 0.5, Width: 1, Heights: make([]float64, max(m.largest(k), 1)),
		}
		for i := range h.Heights {
			h.Heights[i] = float64(m.Count[kind][i+1]) / float64(max(sum, 1))
		}
		if sum > 0 {
			h.Marks = []float64{float64(m.Cover(k, share)) + 0.5}
		}
		if kind%perRow == 0 {
			f.Rows = append(f.Rows, nil)
		}
		row := &f.Rows[len(f.Rows)-1]
		*row = append(*row, h)
	}
	return f
}

// Save draws neurons, each into a file of its own in dir, which is made if it is not
// there, in a format of package figure. After each it calls wrote with the file's
// path, and ends with its error.
func (d *Drawer) Save(dir, format string, neurons []int, wrote func(path string) error) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, i := range neurons {
		path := filepath.Join(dir, fmt.Sprintf("neuron-%04d.%s", i, format))
		if err := d.Neuron(i).Save(path); err != nil {
			return err
		}
		if err := wrote(path); err != nil {
			return err
		}
	}
	return nil
}
