package arch

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// Report is what an ONNX file is.
type Report struct {
	ID           string            `json:"id"`                     // SHA-256 of the file
	Architecture string            `json:"architecture,omitempty"` // of nets of this package alone
	Trained      int               `json:"trained,omitempty"`      // parameters, likewise
	MACs         int               `json:"macs,omitempty"`         // a position, likewise
	Numbers      int               `json:"numbers"`                // in initializers
	Producer     string            `json:"producer"`
	IRVersion    int64             `json:"ir_version"`
	Opset        int64             `json:"opset"`
	Inputs       []ValueReport     `json:"inputs"`
	Outputs      []ValueReport     `json:"outputs"`
	Operators    map[string]int    `json:"operators"` // how many nodes of each
	Metadata     map[string]string `json:"metadata"`
}

// ValueReport is an input or an output.
type ValueReport struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape string `json:"shape"` // "batch×34×8×8"
}

// InspectFile reports on an ONNX file, whether it is a net of this package or not.
func InspectFile(path string) (r Report, err error) {
	m, err := onnx.ReadFile(path)
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	if r.ID, err = nets.HashFile(path); err != nil {
		return r, err
	}
	if a, _, _, err := Read(m); err == nil {
		r.Architecture, r.Trained, r.MACs = a.String(), a.Count(), a.MACs()
	}
	for i := range m.Graph.Initializers {
		r.Numbers += m.Graph.Initializers[i].Len()
	}
	r.Producer, r.IRVersion, r.Opset = strings.TrimSpace(m.Producer+" "+m.ProducerVersion), m.IRVersion, m.Opset()
	r.Inputs, r.Outputs = reportValues(m.Graph.Inputs), reportValues(m.Graph.Outputs)
	r.Operators, r.Metadata = make(map[string]int), make(map[string]string)
	for i := range m.Graph.Nodes {
		r.Operators[m.Graph.Nodes[i].Op]++
	}
	for _, p := range m.Metadata {
		r.Metadata[p.Key] = p.Value
	}
	return r, nil
}

func reportValues(values []onnx.Value) []ValueReport {
	list := make([]ValueReport, 0, len(values))
	for _, v := range values {
		var dims []string
		for _, d := range v.Shape {
			switch {
			case d.Size != onnx.Any:
				dims = append(dims, fmt.Sprint(d.Size))
			case d.Name != "":
				dims = append(dims, d.Name)
			default:
				dims = append(dims, "?")
			}
		}
		list = append(list, ValueReport{v.Name, v.Type.String(), strings.Join(dims, "×")})
	}
	return list
}

// WriteText writes the report as text.
func (r *Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "id\t%s\nformat\tONNX, IR version %d, operator set %d, by %q\n", r.ID, r.IRVersion, r.Opset, r.Producer)
	if r.Architecture != "" {
		fmt.Fprintf(t, "architecture\t%s\ncost\t%d trained parameters, %d multiplications with additions a position\n", r.Architecture, r.Trained, r.MACs)
	}
	fmt.Fprintf(t, "numbers\t%d\n", r.Numbers)
	for _, v := range r.Inputs {
		fmt.Fprintf(t, "input\t%s %s %s\n", words.Printable(v.Name), v.Type, words.Printable(v.Shape))
	}
	for _, v := range r.Outputs {
		fmt.Fprintf(t, "output\t%s %s %s\n", words.Printable(v.Name), v.Type, words.Printable(v.Shape))
	}
	var operators []string
	for _, op := range slices.Sorted(maps.Keys(r.Operators)) {
		operators = append(operators, fmt.Sprintf("%s %d", words.Printable(op), r.Operators[op]))
	}
	fmt.Fprintf(t, "operators\t%s\n", strings.Join(operators, ", "))
	for _, key := range slices.Sorted(maps.Keys(r.Metadata)) {
		fmt.Fprintf(t, "metadata\t%s = %q\n", words.Printable(key), r.Metadata[key])
	}
	return t.Flush()
}
