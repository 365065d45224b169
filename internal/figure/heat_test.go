package figure

import (
	"os"
	"strings"
	"testing"
)

func TestHeatGrid(t *testing.T) {
	var board [64]float64
	board[8] = 1
	h := Board("en passant", &board)
	count := func() int {
		text, err := os.ReadFile(save(t, &Figure{Rows: [][]Panel{{h}}}, "a.svg"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "#D0D0D0")
	}
	if n := count(); n != 0 {
		t.Errorf("found %d grid lines, expected none", n)
	}
	h.Grid = true
	if n := count(); n != 18 {
		t.Errorf("found %d grid lines, expected 18, 9 each way", n)
	}
}
