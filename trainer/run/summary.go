package run

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
	"github.com/crazyhouse-rl/selfplay/trainer/planesfit"
)

// Summary is what came of a run.
type Summary struct {
	Architecture string  `json:"architecture"`
	PSQTStart    string  `json:"psqt_start,omitempty"` // first values of the PSQT weights; empty for planes, without PSQT and for a net that began as a file
	Positions    uint64  `json:"positions"`            // to train on
	Steps        uint64  `json:"steps"`
	Samples      uint64  `json:"samples"`
	Epochs       float64 `json:"epochs"`
	Seconds      float64 `json:"seconds"`
	ScoreScale   float64 `json:"score_scale"` // raw units
	ScoreOffset  float64 `json:"score_offset"`
	Lambda       float64 `json:"lambda"`    // of the losses
	BestStep     uint64  `json:"best_step"` // the net's, if newbob chose it

	HeldOut trainer.Loss         `json:"held_out"`
	Newest  trainer.Loss         `json:"newest"`
	Export  trainer.ExportReport `json:"export"`
	Check   netstat.Difference   `json:"check"` // of the net's file with the model, on positions held out
	NetFile string               `json:"net"`
	NetSize int64                `json:"net_bytes"`
	Values  []Value              `json:"values"` // of a few fixed positions

	Builds []string `json:"builds,omitempty"` // versions of the program that trained the net, in their order
}

// Value is what net and model say of a position, for the side to move.
type Value struct {
	FEN   string  `json:"fen"`
	Net   float64 `json:"net_centipawns"`
	Model float64 `json:"model_centipawns"`
	Win   float64 `json:"win"` // the net's win probability, 0 to 1
}

// fixed are positions whose values a run ends with: the beginning, a pawn and a
// queen more, a queen in hand, an attack with pieces in hand, a mate in one.
func fixed(v *chess.Variant) []string {
	if v != chess.Crazyhouse {
		return []string{
			"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
			"rnbqkbnr/pppp1ppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
			"rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
			"6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
		}
	}
	return []string{
		"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1",
		"rnbqkbnr/pppp1ppp/8/8/8/8/PPPPPPPP/RNBQKBNR[P] w KQkq - 0 1",
		"rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[Q] w KQkq - 0 1",
		"rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[Q] b KQkq - 0 1",
		"r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1[NNpp] w - - 0 8",
		"r4rk1/ppp2p1p/3p2pB/8/8/3P4/PPP2PPP/R4RK1[QNNbbpnq] w - - 0 20",
	}
}

// export writes the present net.
func (r *runner) export() error {
	facts, err := r.trainer.Export(r.path(r.netName()))
	if err != nil {
		return err
	}
	if !r.cfg.KeepNets {
		return nil
	}
	data, err := os.ReadFile(r.path(r.netName()))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.path(netsDir), 0o755); err != nil {
		return err
	}
	return durable.WriteFile(r.path(netsDir, fmt.Sprintf("step-%012d%s", facts.Step, filepath.Ext(r.netName()))), data)
}

// finish exports the net once more, measures it, and writes the summary.
func (r *runner) finish() (Summary, error) {
	scores := ScoresOf(r.model)
	s := Summary{
		Architecture: r.Architecture(), Positions: r.source.size, Steps: r.trainer.Steps(), Samples: r.trainer.Samples(),
		Epochs: float64(r.trainer.Samples()) / float64(r.source.size), Seconds: r.seconds(),
		ScoreScale: scores.Scale, ScoreOffset: scores.Offset, Lambda: r.measureLambda, BestStep: r.state.BestStep, NetFile: r.path(r.netName()), Builds: r.state.Builds,
	}
	facts, err := r.trainer.Export(s.NetFile)
	if err != nil {
		return s, err
	}
	s.Export = facts.Export
	if s.HeldOut, err = r.trainer.Validate(r.measureLambda); err != nil {
		return s, err
	}
	if s.Newest, err = r.model.Loss(r.source.newest, r.measureLambda); err != nil {
		return s, err
	}
	info, err := os.Stat(s.NetFile)
	if err != nil {
		return s, err
	}
	s.NetSize = info.Size()
	if err := r.judgeNet(&s); err != nil {
		return s, err
	}
	if err := r.draw(); err != nil {
		return s, err
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return s, err
	}
	return s, durable.WriteSummed(r.path(summaryFile), append(text, '\n'))
}

// judgeNet compares the net's file with the model.
func (r *runner) judgeNet(s *Summary) error {
	if m, ok := r.model.(*planesfit.Model); ok {
		var err error
		s.Values, err = r.planesValues(m)
		return err
	}
	m, _ := nnueOf(r.model)
	s.PSQTStart = string(m.PSQTStart())
	net, err := nnue.ReadFile(s.NetFile, r.Variant)
	if err != nil {
		return err
	}
	if s.Check, err = r.check(m, net); err != nil {
		return err
	}
	s.Values, err = r.values(func(p *chess.Position) (Value, error) {
		raw := float64(net.Evaluate(p).Raw)
		return Value{Net: raw / search.RawPerCentipawn, Model: m.Evaluate(p) / search.RawPerCentipawn, Win: logistic.Sigmoid(raw / r.cfg.NetScale)}, nil
	})
	return err
}

// mostChecked is how many positions net and model are compared on at most.
const mostChecked = 50_000

// check compares the net as written with the model, on positions that were not
// trained on.
func (r *runner) check(m *nnuefit.Model, net *nnue.Network) (netstat.Difference, error) {
	held := r.source.HeldOut(make([]sample.Sample, min(r.cfg.HeldOut, mostChecked)))
	var positions []chess.Position
	for _, list := range [][]sample.Sample{held, r.source.newest} {
		for i := range list[:min(len(list), mostChecked-len(positions))] {
			positions = append(positions, list[i].Pos)
		}
	}
	if len(positions) == 0 {
		return netstat.Difference{}, nil
	}
	acc, integer := nnue.NewAccumulator(net), make([]float64, len(positions))
	for i := range positions {
		acc.Reset(&positions[i])
		integer[i] = float64(acc.Raw(&positions[i]))
	}
	return netstat.Compare(positions, m.Values(positions), integer, r.cfg.NetScale)
}

// values evaluates the fixed positions by of, which need not fill in the FEN.
func (r *runner) values(of func(p *chess.Position) (Value, error)) ([]Value, error) {
	var values []Value
	for _, fen := range fixed(r.Variant) {
		pos, err := chess.ParseFEN(r.Variant, fen)
		if err != nil {
			return nil, err
		}
		v, err := of(&pos)
		if err != nil {
			return nil, err
		}
		v.FEN = fen
		values = append(values, v)
	}
	return values, nil
}

// Print writes the summary as text.
func (s *Summary) Print(w io.Writer) error {
	fmt.Fprintf(w, "%d steps, %.2f epochs, %d positions in %.0f s, %.0f a second\n",
		s.Steps, s.Epochs, s.Samples, s.Seconds, float64(s.Samples)/max(s.Seconds, 1e-3))
	for _, m := range []struct {
		name string
		loss *trainer.Loss
	}{{"held out", &s.HeldOut}, {"newest games", &s.Newest}} {
		if m.loss.Positions > 0 {
			fmt.Fprintf(w, "%s: loss %.6f, of scores %.6f, of results %s", m.name, m.loss.Mean, m.loss.Score, ofResults(m.loss))
			if m.loss.Decided > 0 {
				fmt.Fprintf(w, "; names the winner of %.2f %% of %d decided positions", 100*m.loss.SignAccuracy, m.loss.Decided)
			}
			fmt.Fprintln(w)
		}
		if m.loss.Moves > 0 {
			fmt.Fprintf(w, "%s: names the move of %.2f %% of %d positions, at a loss of %.6f\n",
				m.name, 100*m.loss.MoveAccuracy, m.loss.Moves, m.loss.Policy)
		}
		if m.loss.Triples > 0 {
			fmt.Fprintf(w, "%s: ranks the move played first in %.2f %% of %d triples, at a loss of %.6f\n",
				m.name, 100*m.loss.Ranked, m.loss.Triples, m.loss.Rank)
		}
	}
	fmt.Fprintf(w, "%s: %d bytes\n", s.NetFile, s.NetSize)
	if c := &s.Check; c.Positions > 0 {
		verdict := "within"
		if c.P999 > netstat.NearUnits {
			verdict = "beyond"
		}
		fmt.Fprintf(w, "integer net less model on %d positions, raw units: mean %+.2f, deviation %.2f, 99.9 %% within %.1f, %s the bound of %d; %.2f %% of positions within it; win probability %.5f apart in the mean, at most %.5f\n",
			c.Positions, c.Mean, c.Deviation, c.P999, verdict, netstat.NearUnits, 100*c.Near, c.MeanWin, c.MaxWin)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "net, centipawns\tmodel\twins\tposition")
	for _, v := range s.Values {
		fmt.Fprintf(t, "%+.0f\t%+.1f\t%.1f %%\t%s\n", v.Net, v.Model, 100*v.Win, v.FEN)
	}
	return t.Flush()
}
