package selfplay

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/internal/figure"
)

// CurveFile lies in the directory of a run and draws its curve.
const CurveFile = "curve.svg"

const maxEventLine = 1 << 20

// Curve is how the nets of a run have improved, as its events tell.
type Curve struct {
	Offered []OfferedNet
	Passed  []PassedNet
}

// OfferedNet is a net that the trainer has offered.
type OfferedNet struct {
	Generation  int     `json:"generation"`
	Games       float64 `json:"games"` // stored by then
	HeldOutLoss float64 `json:"held_out_loss"`
}

// PassedNet is a net that the gate has let through.
type PassedNet struct {
	Generation int
	Games      float64 // stored when the net was offered
	Elo        float64 // over the net before
	Margin     float64 // half of the 95 % interval of Elo, +Inf if the match says nothing of it
	Sum        float64 // of Elo since the first net
}

// ReadCurve reads a run's events. Lines that are no events, as a full disk may leave,
// or longer than a MiB are left out; a net whose match has no finite Elo adds nothing to the sum.
func ReadCurve(events io.Reader) (c Curve, err error) {
	games := map[int]float64{} // by generation
	lines := bufio.NewReaderSize(events, maxEventLine)
	for {
		line, long, err := lines.ReadLine()
		for part := long; part && err == nil; {
			_, part, err = lines.ReadLine()
		}
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		var e struct {
			Event string `json:"msg"`
			OfferedNet
			Candidate int    `json:"candidate"`
			Passed    bool   `json:"passed"`
			Elo       string `json:"elo"`
		}
		if long || json.Unmarshal(line, &e) != nil {
			continue
		}
		switch {
		case e.Event == "net offered":
			games[e.Generation] = e.Games
			c.Offered = append(c.Offered, e.OfferedNet)
		case e.Event == "gate" && e.Passed:
			c.add(e.Candidate, games[e.Candidate], e.Elo)
		}
	}
}

// add appends a net that passed with an estimate as rating.Estimate prints it.
func (c *Curve) add(generation int, games float64, elo string) {
	value, margin, _ := strings.Cut(elo, " +/- ")
	p := PassedNet{Generation: generation, Games: games, Margin: math.Inf(1)}
	if v, err := strconv.ParseFloat(value, 64); err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
		p.Elo = v
		if m, err := strconv.ParseFloat(margin, 64); err == nil && m >= 0 {
			p.Margin = m
		}
	}
	p.Sum = p.Elo
	if n := len(c.Passed); n > 0 {
		p.Sum += c.Passed[n-1].Sum
	}
	c.Passed = append(c.Passed, p)
}

// sums are the nets' Elo over what played before the first net.
func (c *Curve) sums() []float64 {
	sums := make([]float64, len(c.Passed))
	for i, p := range c.Passed {
		sums[i] = p.Sum
	}
	return sums
}

// Figure draws the curve; it has no rows as long as there are not two nets.
func (c *Curve) Figure() *figure.Figure {
	f := &figure.Figure{}
	if len(c.Passed) > 1 {
		var x, y []float64
		for _, p := range c.Passed {
			x, y = append(x, p.Games), append(y, p.Sum)
		}
		f.Rows = append(f.Rows, []figure.Panel{&figure.Lines{
			Title: "strength, by the gate's matches", XLabel: "games stored", YLabel: "sum of Elo over the net before",
			Curves: []figure.Curve{{X: x, Y: y}},
		}})
	}
	if len(c.Offered) > 1 {
		var x, y []float64
		for _, o := range c.Offered {
			if o.HeldOutLoss > 0 {
				x, y = append(x, o.Games), append(y, o.HeldOutLoss)
			}
		}
		f.Rows = append(f.Rows, []figure.Panel{&figure.Lines{
			Title: "loss of the nets offered, on games not trained on", XLabel: "games stored", YLabel: "loss",
			Curves: []figure.Curve{{X: x, Y: y}},
		}})
	}
	return f
}

// readCurve reads the events of the run's directory.
func (r *Run) readCurve() (c Curve, err error) {
	f, err := os.Open(r.path(eventsFile))
	if err != nil {
		return c, err
	}
	defer f.Close()
	if c, err = ReadCurve(f); err != nil {
		err = fmt.Errorf("%s: %w", eventsFile, err)
	}
	r.status.update(func(s *Status) { s.Curve = c.sums() })
	return c, err
}

// showCurve draws the run's curve into its directory, as soon as there are two nets.
func (r *Run) showCurve() error {
	c, err := r.readCurve()
	if err != nil {
		return err
	}
	f := c.Figure()
	if len(f.Rows) == 0 {
		return nil
	}
	f.Title = "run " + r.identity.Name
	return f.Save(r.path(CurveFile))
}

// sparkline draws values as one line of at most width characters, from the least at
// the bottom to the greatest at the top. Of more values than that it shows some, the
// last among them.
func sparkline(values []float64, width int) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	n := min(len(values), width)
	if n <= 0 {
		return ""
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	line := make([]rune, n)
	for i := range line {
		v, share := values[(i+1)*len(values)/n-1], 0.0
		if high > low {
			share = (v - low) / (high - low)
		}
		line[i] = bars[int(math.Round(share*float64(len(bars)-1)))]
	}
	return string(line)
}
