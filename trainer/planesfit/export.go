package planesfit

import (
	"fmt"
	"io"
	"math"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/native"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// Export writes the averaged net as an ONNX file and compares what planes/native
// makes of that file with the model, on the positions of check. Raw values of the
// report are expected results, −1 to 1; they have no NetScale.
func (m *Model) Export(w io.Writer, check []sample.Sample) (trainer.ExportReport, error) {
	fail := func(err error) (trainer.ExportReport, error) {
		return trainer.ExportReport{}, fmt.Errorf("export net: %w", err)
	}
	model, err := m.net.arch.Model(m.net.params.with(m.averaged()), planes.NewMeta(m.variant))
	if err != nil {
		return fail(err)
	}
	file, err := onnx.Encode(model)
	if err != nil {
		return fail(err)
	}
	report, err := m.compare(file, check)
	if err != nil {
		return fail(err)
	}
	if _, err := w.Write(file); err != nil {
		return fail(err)
	}
	return report, nil
}

// compare runs a net file on the positions of check and reports how far its values
// lie from the model's.
func (m *Model) compare(file []byte, check []sample.Sample) (trainer.ExportReport, error) {
	report := trainer.ExportReport{Positions: len(check), ScoreScale: m.cfg.ScoreScale}
	model, err := onnx.Decode(file)
	if err != nil {
		return report, err
	}
	runtime, err := native.New(model, native.Options{Threads: m.cfg.Workers})
	if err != nil {
		return report, err
	}
	defer runtime.Close()
	values := m.Values(check)
	const batch = 64
	planesOf := make([]float32, batch*planes.Size)
	var out planes.Output
	for first := 0; first < len(check); first += batch {
		n := min(batch, len(check)-first)
		for i := range n {
			s := &check[first+i]
			planes.Encode(planesOf[i*planes.Size:], &s.Pos, int(s.Repetitions))
		}
		if err := runtime.Run(planesOf[:n*planes.Size], n, &out); err != nil {
			return report, err
		}
		for i := range n {
			d := math.Abs(float64(out.Value[i]) - values[first+i])
			report.MeanRaw += d
			report.MaxRaw = max(report.MaxRaw, d)
		}
	}
	report.MeanRaw /= float64(max(1, len(check)))
	report.MeanWin, report.MaxWin = report.MeanRaw/2, report.MaxRaw/2
	return report, nil
}

// result returns the expected result of position i, −1 to 1, before loss.
func (h *heads) result(n *net, i int) float64 {
	if n.wdl == nil {
		return math.Tanh(float64(h.value[i]))
	}
	z := h.wdl[3*i : 3*i+3]
	loss, draw, win := math.Exp(float64(z[0]-z[2])), math.Exp(float64(z[1]-z[2])), 1.0
	return (win - loss) / (loss + draw + win)
}
