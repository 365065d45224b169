package run

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/trainer"
)

// The names of the curves of the loss stand beside the plot, where they cover no curve.
func TestLossLegendBeside(t *testing.T) {
	j := &journal{}
	for i := range 4 {
		loss := 0.3 - 0.05*float64(i)
		j.entries = append(j.entries, Entry{Epoch: float64(i), Loss: loss, HeldOut: &trainer.Loss{Positions: 9, Mean: loss}, Newest: &trainer.Loss{Positions: 9, Mean: loss}})
	}
	path := filepath.Join(t.TempDir(), "loss.svg")
	if err := j.draw(path, "a run"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]float64{} // where texts begin, in points from the left
	for _, found := range regexp.MustCompile(`<text x="([-0-9.]+)"[^>]*>([^<]*)<`).FindAllStringSubmatch(strings.ReplaceAll(string(data), "\n", " "), -1) {
		if at[found[2]], err = strconv.ParseFloat(found[1], 64); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"training", "held out", "newest games"} {
		if x, end := at[name], at["3"]; end == 0 || x <= end {
			t.Errorf("%s begins at %g, expected right of the last epoch, which is at %g", name, x, end)
		}
	}
}
