package netstat

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// MobilityReport is what a Mobility tells of a variant.
type MobilityReport struct {
	Variant   string         `json:"variant"`
	Positions int            `json:"positions"`
	Cover     float64        `json:"cover"`
	Kinds     []MobilityKind `json:"kinds"`
}

// MobilityKind is what it tells of a kind of piece.
type MobilityKind struct {
	Kind     string          `json:"kind"`     // letter
	Values   []MobilityValue `json:"values"`   // those that occur
	Proposed int             `json:"proposed"` // largest value with a feature of its own
	Present  int             `json:"present"`  // the same in the block MC as it is
}

// MobilityValue is how often a kind had a mobility.
type MobilityValue struct {
	Value int     `json:"value"`
	Count int     `json:"count"` // of positions and sides
	Share float64 `json:"share"` // of all
}

// Report sums up what was counted, with the range of values of each kind that holds
// the share cover of those above 0.
func (m *Mobility) Report(v *chess.Variant, cover float64) MobilityReport {
	r := MobilityReport{Variant: v.Name, Positions: m.Positions, Cover: cover}
	for kind, counts := range &m.Count {
		t := chess.PieceType(kind)
		k := MobilityKind{Kind: t.String(), Proposed: m.Cover(t, cover), Present: features.MobilityTop(v, t)}
		for value, n := range &counts {
			if n > 0 {
				k.Values = append(k.Values, MobilityValue{value, n, float64(n) / float64(2*m.Positions)})
			}
		}
		r.Kinds = append(r.Kinds, k)
	}
	return r
}

// WriteText writes the report as a table.
func (r *MobilityReport) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "kind\tvalue\tcount\tshare\t")
	for _, k := range r.Kinds {
		for _, v := range k.Values {
			fmt.Fprintf(t, "%s\t%d\t%d\t%.6f\t\n", k.Kind, v.Value, v.Count, v.Share)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var kinds, proposed, present []string
	sum, was := 0, 0
	for _, k := range r.Kinds {
		kinds = append(kinds, k.Kind)
		proposed, present = append(proposed, fmt.Sprint(k.Proposed)), append(present, fmt.Sprint(k.Present))
		sum, was = sum+k.Proposed, was+k.Present
	}
	_, err := fmt.Fprintf(w, "\n%s, %d positions\nlargest value with a feature, %s: %s, %d a side, cover %g %% of the values above 0\nin the block MC today: %s, %d a side\n",
		r.Variant, r.Positions, strings.Join(kinds, " "), strings.Join(proposed, " "), sum, 100*r.Cover, strings.Join(present, " "), was)
	return err
}
