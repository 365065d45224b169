package planes_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes"
)

// TestPolicyMap compares labels and cells with the table of all of them.
func TestPolicyMap(t *testing.T) {
	data, err := os.ReadFile("testdata/policy-map.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(data)), "\n")[1:]
	if len(rows) != planes.Labels {
		t.Fatalf("found %d rows, expected %d", len(rows), planes.Labels)
	}
	seen := map[int]bool{}
	for i, row := range rows {
		f := strings.Split(row, "\t") // index, uci, uci_black, class, plane, square, flat
		cell := planes.LabelCell(i)
		got := []string{strconv.Itoa(i), planes.Label(i), swapRanks(planes.Label(i)), f[3], strconv.Itoa(cell / 64), strconv.Itoa(cell % 64), strconv.Itoa(cell)}
		if strings.Join(got, "\t") != strings.TrimRight(row, "\r") {
			t.Errorf("label %d: found %q, expected %q", i, got, row)
		}
		if seen[cell] {
			t.Errorf("label %d (%s) shares cell %d with another", i, planes.Label(i), cell)
		}
		seen[cell] = true
		if back := planes.CellLabel(cell); back != i {
			t.Errorf("cell %d: found label %d, expected %d", cell, back, i)
		}
	}
	for cell := range planes.PolicySize {
		if !seen[cell] && planes.CellLabel(cell) != -1 {
			t.Errorf("cell %d: found label %d, expected none", cell, planes.CellLabel(cell))
		}
	}
}

// swapRanks writes a move in UCI as the other side plays it.
func swapRanks(uci string) string {
	return strings.Map(func(r rune) rune {
		if r >= '1' && r <= '8' {
			return '1' + '8' - r
		}
		return r
	}, uci)
}

// TestCellOfLegalMoves: every legal move has the cell of the label that is its UCI
// form as White would write it, and no two share one.
func TestCellOfLegalMoves(t *testing.T) {
	labels := map[string]int{}
	for i := range planes.Labels {
		labels[planes.Label(i)] = i
	}
	castlings, promotions, drops := 0, 0, 0
	eachRandom(t, 4, 120, func(l *chess.Line) {
		p := l.Pos()
		var moves chess.MoveList
		p.Legal(&moves)
		seen := map[int]chess.Move{}
		for _, m := range moves.Slice() {
			cell := planes.Cell(p, m)
			uci := p.UCI(m)
			if other, ok := seen[cell]; ok {
				t.Fatalf("%s: %s and %s share cell %d", p.FEN(), p.UCI(other), uci, cell)
			}
			seen[cell] = m
			if p.SideToMove() == chess.Black {
				uci = swapRanks(uci)
			}
			if i, ok := labels[uci]; !ok || planes.LabelCell(i) != cell {
				t.Fatalf("%s: %s: found cell %d, expected that of label %q", p.FEN(), p.UCI(m), cell, uci)
			}
			if m.IsCastle() {
				castlings++
			}
			if m.IsPromotion() {
				promotions++
			}
			if m.IsDrop() {
				drops++
			}
		}
	})
	if castlings == 0 || promotions == 0 || drops == 0 {
		t.Errorf("found %d castlings, %d promotions, %d drops, expected some of each", castlings, promotions, drops)
	}
}

// TestCellMirror: a move and its mirror image in the mirrored position share a cell.
func TestCellMirror(t *testing.T) {
	eachRandom(t, 3, 80, func(l *chess.Line) {
		p := l.Pos()
		q := mirror(t, p)
		var moves chess.MoveList
		p.Legal(&moves)
		for _, m := range moves.Slice() {
			image := mustMove(t, &q, swapRanks(p.UCI(m)))
			if a, b := planes.Cell(p, m), planes.Cell(&q, image); a != b {
				t.Fatalf("%s: %s: found cell %d, expected %d, that of %s mirrored", p.FEN(), p.UCI(m), a, b, q.UCI(image))
			}
		}
	})
}

func TestCellExamples(t *testing.T) {
	for _, tc := range []struct {
		fen, move string
		want      int
	}{
		{"4k3/8/8/8/8/8/8/R3K3[] w - - 0 1", "a1b1", 896},
		{"4k3/8/8/8/8/8/8/4K1N1[] w - - 0 1", "g1f3", 4038},
		{"4k1n1/8/8/8/8/8/8/4K3[] b - - 0 1", "g8f6", 4038},
		{"4k3/8/8/8/8/8/8/R3K2R[] w KQ - 0 1", "e1g1", 964},
		{"4k3/8/8/8/8/8/8/R3K2R[] w KQ - 0 1", "e1c1", 2756},
		{"r3k2r/8/8/8/8/8/8/4K3[] b kq - 0 1", "e8g8", 964},
		{"8/4P2k/8/8/8/8/8/4K3[] w - - 0 1", "e7e8q", 4788},
		{"7k/8/8/8/8/8/8/4K3[P] w - - 0 1", "P@a2", 4872},
		{"4k3/8/8/8/8/8/8/4K3[Q] w - - 0 1", "Q@h8", 5183},
	} {
		p := playLine(t, chess.Crazyhouse, tc.fen).Pos()
		if got := planes.Cell(p, mustMove(t, p, tc.move)); got != tc.want {
			t.Errorf("%s %s: found cell %d, expected %d", tc.fen, tc.move, got, tc.want)
		}
	}
	p := playLine(t, chess.Crazyhouse, "4k3/8/8/8/8/8/8/R3K2R[] w KQ - 0 1").Pos()
	p.SetChess960(true)
	m := mustMove(t, p, "e1h1")
	if got := planes.Cell(p, m); got != (14+2)*64+4 {
		t.Errorf("e1h1 in Chess960: found cell %d, expected %d", got, (14+2)*64+4)
	}
}

func BenchmarkCell(b *testing.B) {
	p := *fixtures(b)[30].line(b).Pos()
	var moves chess.MoveList
	p.Legal(&moves)
	sum := 0
	for b.Loop() {
		for _, m := range moves.Slice() {
			sum += planes.Cell(&p, m)
		}
	}
	b.ReportMetric(float64(moves.N), "moves")
	_ = sum
}
