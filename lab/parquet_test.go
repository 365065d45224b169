package lab

import (
	"bytes"
	"encoding/csv"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// The file has every row, every net and every pair of rows, with the figures of the results, and
// nothing where there are none.
func TestParquet(t *testing.T) {
	c := comparison(t, games(t, 1, 12)) // too few to hold any out
	c.Games.Puzzles = 0
	dir := t.TempDir()
	r, err := Run(t.Context(), c, options(dir))
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(r.drawings(), func(d drawing) bool { return d.file == "loss-elo.svg" }) {
		t.Error("found a figure of losses that were not measured")
	}
	lines, err := parquet.ReadFile[parquetLine](filepath.Join(dir, "results.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if want := r.parquetLines(); !reflect.DeepEqual(lines, want) {
		t.Fatalf("found %+v, expected %+v", lines, want)
	}
	kinds := map[string]int{}
	for i := range lines {
		l := &lines[i]
		kinds[l.Kind]++
		if l.Loss != nil || l.Puzzles != nil || l.EloLadder != nil {
			t.Errorf("%s of %s has figures that nothing gave", l.Kind, l.Row)
		}
		switch l.Kind {
		case "row":
			k := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Name == l.Row })
			if *l.EloNodes != r.Rows[k].Elo[AtNodes].Elo || *l.EloTimeHigh != r.Rows[k].Elo[AtTime].High || *l.Parameters != int64(r.Rows[k].Cost.Parameters) || *l.Epochs < 1 {
				t.Errorf("%s: found other figures than %+v", l.Row, r.Rows[k])
			}
		case "seed":
			k := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Name == l.Row })
			if *l.Cell != r.Rows[k].Cells[*l.Seed-1] || *l.EloNodes != r.Rows[k].Elo[AtNodes].Seeds[*l.Seed-1] {
				t.Errorf("%s, seed %d: found other figures than %+v", l.Row, *l.Seed, r.Rows[k])
			}
		case "pair":
			if l.Row == *l.Against || *l.Pairs != 4 || *l.Elo < *l.EloLow || *l.Elo > *l.EloHigh || *l.Stage != "nodes" && *l.Stage != "time" {
				t.Errorf("%s against %s: found %+v", l.Row, *l.Against, l)
			}
		}
	}
	if kinds["row"] != 2 || kinds["seed"] != 4 || kinds["pair"] != 2 {
		t.Errorf("found %v, expected 2 rows, 4 nets and a pair in each of two stages", kinds)
	}
}

// Columns of both files with one name hold one figure; the CSV's that the other lacks are few.
func TestParquetNames(t *testing.T) {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[parquetLine]()) {
		name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		names = append(names, name)
	}
	r := &Results{Stages: []StageResult{{Stage: AtNodes}}}
	var sheet bytes.Buffer
	if err := r.WriteCSV(&sheet); err != nil {
		t.Fatal(err)
	}
	head, err := csv.NewReader(&sheet).Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range head {
		if !slices.Contains(names, name) && name != "seeds" && !strings.HasSuffix(name, "_sd") { // seeds have lines of their own
			t.Errorf("results.parquet lacks %s", name)
		}
	}
}
