package selfplay

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/player"
)

// CurveFile and CurveImage lie in the directory of a run and draw its curve.
const (
	CurveFile  = "curve.svg"
	CurveImage = "curve.png"
)

// Curve is how the nets of a run have improved, as its events tell.
type Curve struct {
	Offered []OfferedNet
	Judged  []JudgedNet
	Passed  []PassedNet
	Damaged int // lines that are not what was to be written

	damage  error                // of the first
	games   map[int]float64      // stored when a net was offered, by generation
	told    []JudgedNet          // every verdict, those that others have replaced and those that came again too
	reached map[string]PassedNet // of every net judged, by id: one that failed may be promoted
}

// OfferedNet is a net that the trainer has offered. Losses are means over games never
// trained on; Export says how far the integer net is from the float net, in raw units.
type OfferedNet struct {
	Time          time.Time `json:"time"`
	Generation    int       `json:"generation"`
	Net           string    `json:"net"` // id
	Step          uint64    `json:"step"`
	Games         float64   `json:"games"` // stored by then
	HeldOutLoss   float64   `json:"held_out_loss"`
	ScoreLoss     float64   `json:"score_loss"`
	ResultLoss    float64   `json:"result_loss"`
	SignAccuracy  float64   `json:"sign_accuracy"` // share of decisive positions whose sign the net has right
	ExportMeanRaw float64   `json:"export_mean_raw"`
	ExportMaxRaw  float64   `json:"export_max_raw"`
}

// JudgedNet is a net that the gate has played.
type JudgedNet struct {
	Time       time.Time `json:"time"`
	Generation int       `json:"candidate"`
	Net        string    `json:"net"`       // id
	Incumbent  string    `json:"incumbent"` // id, or what plays before the first net
	Passed     bool      `json:"passed"`
	Reason     string    `json:"reason"`
	Elo        string    `json:"elo"` // over the incumbent, as rating.Estimate prints it
	Games      int       `json:"games"`
}

// PassedNet is a net that the gate has let through.
type PassedNet struct {
	Time       time.Time
	Generation int
	Games      float64 // stored when the net was offered
	Elo        float64 // over the incumbent
	Margin     float64 // half of the 95 % interval of Elo, +Inf if the match says nothing of it
	Sum        float64 // of Elo and of the incumbent's sum: over what plays before the first net
	Error      float64 // half of the 95 % interval of Sum, of the matches whose margin is finite
	Matches    int     // that Sum is of
	NoError    int     // of these the ones whose margin is not finite
}

// Reached is the sum of Elo with its 95 % interval, such as "+120 ± 45 Elo".
func (p PassedNet) Reached() string { return eloWords(p.Sum, p.Error) + " Elo" }

// Event adds what a line of the run's events says. Lines that are damaged, or that a full disk
// has cut, are counted and left out. A net whose match has no finite Elo adds nothing to the
// sum.
func (c *Curve) Event(line []byte) {
	line, err := CheckEvent(line)
	if err != nil {
		if c.Damaged++; c.Damaged == 1 {
			c.damage = err
		}
		return
	}
	var e struct {
		Event string `json:"msg"`
	}
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch e.Event {
	case "net offered":
		var o OfferedNet
		if json.Unmarshal(line, &o) == nil {
			c.Offer(o)
		}
	case "gate":
		var j JudgedNet
		if json.Unmarshal(line, &j) == nil {
			c.Judge(j)
		}
	}
}

// Offer adds a net that was offered.
func (c *Curve) Offer(o OfferedNet) {
	if c.games == nil {
		c.games = map[int]float64{}
	}
	c.games[o.Generation] = o.Games
	c.Offered = append(c.Offered, o)
}

// Judge adds a verdict. One that comes again, since a referee was killed before it could note
// that a net was judged, counts once. One on the same net against another incumbent takes its
// place: the gate plays again when the current net was changed before a verdict took effect.
func (c *Curve) Judge(j JudgedNet) {
	c.told = append(c.told, j)
	if n := len(c.Judged); n > 0 && j.Net != "" && c.Judged[n-1].Net == j.Net {
		void := c.Judged[n-1]
		if void.Incumbent == j.Incumbent {
			return
		}
		c.Judged = c.Judged[: n-1 : n-1] // what is added copies it: others may have what was read
		if last := len(c.Passed) - 1; void.Passed {
			c.Passed = c.Passed[:last:last]
		}
	}
	c.Judged = append(c.Judged, j)
	p := c.measure(j)
	if j.Net != "" {
		if c.reached == nil {
			c.reached = map[string]PassedNet{}
		}
		c.reached[j.Net] = p
	}
	if j.Passed {
		c.Passed = append(c.Passed, p)
	}
}

// before returns what is known of the incumbent of a match: nothing of what plays before the
// first net. One that was never judged is taken for the last net that passed.
func (c *Curve) before(incumbent string) PassedNet {
	if incumbent == player.Material || incumbent == player.Uniform {
		return PassedNet{}
	}
	if p, ok := c.reached[incumbent]; ok || len(c.Passed) == 0 {
		return p
	}
	return c.Passed[len(c.Passed)-1]
}

// mostElo is how much stronger a match can say that a net is; more is not true, and sums of it
// would have no end.
const mostElo = 1e5

// measure returns a net with what its match says of it.
func (c *Curve) measure(j JudgedNet) PassedNet {
	value, margin, _ := strings.Cut(j.Elo, " +/- ")
	p := PassedNet{Time: j.Time, Generation: j.Generation, Games: c.games[j.Generation], Margin: math.Inf(1)}
	if v, err := strconv.ParseFloat(value, 64); err == nil && math.Abs(v) <= mostElo {
		p.Elo = v
		if m, err := strconv.ParseFloat(margin, 64); err == nil && m >= 0 && m <= mostElo {
			p.Margin = m
		}
	}
	before := c.before(j.Incumbent)
	p.Sum, p.Error, p.Matches, p.NoError = before.Sum+p.Elo, before.Error, before.Matches+1, before.NoError
	if math.IsInf(p.Margin, 0) {
		p.NoError++
	} else {
		p.Error = math.Hypot(before.Error, p.Margin)
	}
	return p
}

// Figure draws the curve, from the first player, with its 95 % interval; it has no rows as
// long as there are not two nets.
func (c *Curve) Figure() *figure.Figure {
	f := &figure.Figure{}
	if len(c.Passed) > 1 {
		x, y, low, high := []float64{0}, []float64{0}, []float64{0}, []float64{0}
		for _, p := range c.Passed {
			x, y = append(x, p.Games), append(y, p.Sum)
			low, high = append(low, p.Sum-p.Error), append(high, p.Sum+p.Error)
		}
		f.Rows = append(f.Rows, []figure.Panel{&figure.Lines{
			Title: "strength, by the gate's matches, with the 95 % interval", XLabel: "games stored", YLabel: "sum of Elo over the first player",
			Curves: []figure.Curve{{X: x, Y: y, Low: low, High: high}},
		}})
	}
	var x, y []float64
	for _, o := range c.Offered {
		if o.HeldOutLoss > 0 { // else nobody measured it
			x, y = append(x, o.Games), append(y, o.HeldOutLoss)
		}
	}
	if len(x) > 1 {
		f.Rows = append(f.Rows, []figure.Panel{&figure.Lines{
			Title: "loss of the nets offered, on games not trained on", XLabel: "games stored", YLabel: "loss",
			Curves: []figure.Curve{{X: x, Y: y}},
		}})
	}
	return f
}

// curveFile follows the curve of a run in its events.
type curveFile struct {
	mu     sync.Mutex
	events EventFile
	curve  Curve
}

// read returns the curve up to the newest event. What it holds is not changed later.
func (c *curveFile) read() (Curve, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.events.Read(func() { c.curve = Curve{} }, c.curve.Event)
	return c.curve, err
}

// curveOf reads the events of a run's directory.
func curveOf(dir string) (Curve, error) {
	c := curveFile{events: EventFile{Path: filepath.Join(dir, eventsFile)}}
	return c.read()
}

// readCurve reads what is new in the events of the run's directory.
func (r *Run) readCurve() (Curve, error) {
	c, err := r.curve.read()
	if err != nil {
		return c, err
	}
	r.status.update(func(s *Status) { s.Curve = c.Passed })
	return c, nil
}

// showCurve draws the run's curve into its directory, as soon as there are two nets. The run
// goes on without the drawing.
func (r *Run) showCurve() {
	if err := r.drawCurve(); err != nil {
		r.log.Warn("the curve of the run is not drawn", "error", err)
	}
}

func (r *Run) drawCurve() error {
	c, err := r.readCurve()
	if err != nil {
		return err
	}
	f := c.Figure()
	if len(f.Rows) == 0 {
		return nil
	}
	f.Title = "run " + r.identity.Name
	return errors.Join(f.Save(r.path(CurveFile)), f.Save(r.path(CurveImage)))
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
