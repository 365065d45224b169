package figure

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// textAt returns where a text of an SVG file begins, in points from the left.
func textAt(t *testing.T, svg, text string) float64 {
	t.Helper()
	found := regexp.MustCompile(`<text x="([-0-9.]+)"[^>]*>` + regexp.QuoteMeta(text) + `<`).FindStringSubmatch(strings.ReplaceAll(svg, "\n", " "))
	if found == nil {
		t.Fatalf("the drawing lacks %q", text)
	}
	x, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func drawn(t *testing.T, p Panel) string {
	t.Helper()
	text, err := os.ReadFile(save(t, &Figure{Title: "many", Rows: [][]Panel{{p}}}, "a.svg"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Names beside a plot stand right of everything in it, however long they are; more curves than
// there are colours differ in their shapes or dashes.
func TestLegendBeside(t *testing.T) {
	l := &Lines{LegendBeside: true}
	looks := map[string]bool{}
	for i := range 20 {
		l.Curves = append(l.Curves, Curve{Name: strings.Repeat("n", i) + fmt.Sprint("name", i), X: []float64{1, 2}, Y: []float64{1, float64(i)}})
		with := lookOf(i)
		looks[fmt.Sprintf("%v %T %v", with.colour, with.shape, with.dashes)] = true
	}
	text := drawn(t, l)
	for _, c := range l.Curves {
		if x := textAt(t, text, c.Name); x < float64(linesWidth) {
			t.Errorf("%s begins at %g, expected beside the plot, which ends at %g", c.Name, x, float64(linesWidth))
		}
	}
	if len(looks) != 20 {
		t.Errorf("found %d looks of 20 curves, expected different ones", len(looks))
	}
}

func TestHeatNumbers(t *testing.T) {
	h := &Heat{Columns: 2, Values: []float64{-50, 12.4, -0.3, 31}, XLabels: []string{"a", "b"}, YLabels: []string{"a long name of a row", "other"}, Numbers: true}
	text := drawn(t, h)
	for _, want := range []string{">-50<", ">12<", ">0<", ">31<", ">a long name of a row<"} {
		if !strings.Contains(text, want) {
			t.Errorf("the drawing lacks %s", want)
		}
	}
	if strings.Contains(text, ">-0<") {
		t.Error("found a negative zero")
	}
	if x := textAt(t, text, "a long name of a row"); x < 0 {
		t.Errorf("a row's name begins at %g, outside the drawing", x)
	}
}

// Long numbers along an axis are half as many, so that they do not run into each other.
func TestLongTicks(t *testing.T) {
	if short, long := len(roundTicks(0, 11, 0)), len(roundTicks(0.05456, 0.05467, 0)); short < 10 || long > 7 {
		t.Errorf("found %d short and %d long numbers, expected about a dozen and at most 7", short, long)
	}
}
