package dataset

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Measures of the histograms.
const (
	setScoreBin = 200  // centipawns
	setScoreEnd = 3000 // scores beyond stand in the outermost bins
	lengthBin   = 20   // plies
	maxHand     = 32
)

// SetStats describes the positions that the filters keep, and the games whose positions
// they were asked about.
type SetStats struct {
	Positions uint64 `json:"positions"`
	Games     uint64 `json:"games"`
	// Result counts the positions whose side to move lost, drew and won.
	Result [3]uint64 `json:"result"`
	// NoResult counts positions without a result, which Result leaves out.
	NoResult uint64 `json:"no_result,omitempty"`
	// Buckets counts positions by layer stack.
	Buckets []uint64 `json:"buckets,omitempty"`
	// Hand counts positions by the pieces in both hands together.
	Hand []uint64 `json:"hand"`
	// Scores counts positions by score for the side to move: bin i holds those
	// from −3000 + 200·i centipawns, the first and the last also what is
	// beyond, mates included.
	Scores []uint64 `json:"scores"`
	// NoScore counts positions without a score, which Scores leaves out.
	NoScore uint64 `json:"no_score,omitempty"`
	// Lengths counts games by plies: bin i those from 20·i. Of samples without
	// games the plies are those that the file has.
	Lengths []uint64 `json:"lengths"`
}

// gatherer makes the statistics.
type gatherer struct {
	s      SetStats
	bucket func(*chess.Position) int
	plies  int // of the present game, so far
	length int // of the present game, if known
}

func newGatherer(bucket func(*chess.Position) int) *gatherer {
	return &gatherer{bucket: bucket, s: SetStats{
		Hand: make([]uint64, maxHand+1), Scores: make([]uint64, 2*setScoreEnd/setScoreBin),
	}}
}

// game begins another game.
func (g *gatherer) game(e *entry) {
	g.endGame()
	g.s.Games++
	g.length, g.plies = e.length, 0
}

func (g *gatherer) endGame() {
	if g.s.Games == 0 {
		return
	}
	length := max(g.length, g.plies)
	count(&g.s.Lengths, length/lengthBin)
}

// count adds 1 to a counter of a list that grows as needed.
func count(list *[]uint64, i int) {
	for len(*list) <= i {
		*list = append(*list, 0)
	}
	(*list)[i]++
}

func (g *gatherer) position(s *sample.Sample) {
	g.s.Positions++
	if s.NoResult {
		g.s.NoResult++
	} else {
		g.s.Result[s.Result+1]++
	}
	if g.bucket != nil {
		count(&g.s.Buckets, g.bucket(&s.Pos))
	}
	g.s.Hand[min(maxHand, s.Pos.Hand(chess.White).Total()+s.Pos.Hand(chess.Black).Total())]++
	if !s.HasScore() {
		g.s.NoScore++
		return
	}
	score := max(int(s.Score), -setScoreEnd)
	g.s.Scores[min((score+setScoreEnd)/setScoreBin, len(g.s.Scores)-1)]++
}

func (g *gatherer) finish() SetStats {
	g.endGame()
	return g.s
}

// Print writes counts and statistics as text.
func (s *Set) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	c := &s.Counts
	line := func(what string, n uint64) {
		fmt.Fprintf(t, "%s\t%d\t%.1f %%\t\n", what, n, 100*float64(n)/float64(max(c.Samples, 1)))
	}
	some := func(what string, n uint64) {
		if n > 0 {
			line(what, n)
		}
	}
	line("games", c.Games)
	line("positions read", c.Samples)
	some("records that cannot be read", c.Unreadable)
	for why, n := range c.LeftOut {
		line("left out: "+why.Samples(), n)
	}
	line("kept", c.Kept)
	some("without a score", s.Stats.NoScore)
	some("without a result", s.Stats.NoResult)
	some("never mirrored: rights to castle", c.Unmirrored)
	line("to train on", s.n)
	if s.cfg.Split {
		line("measured: held-out games", uint64(len(s.heldOut)))
	}
	line("measured: newest games", uint64(len(s.newest)))
	if err := errors.Join(t.Flush(), c.PrintDamage(w)); err != nil {
		return err
	}
	st := &s.Stats
	lines := []string{
		"result for the side to move: " + shares([]string{"lost", "drawn", "won"}, st.Result[:]),
		"pieces in hand: " + ranges(st.Hand, 0, 1),
		"score, centipawns: " + ranges(st.Scores, -setScoreEnd, setScoreBin),
		"length of games, plies: " + ranges(st.Lengths, 0, lengthBin),
	}
	if st.Buckets != nil {
		lines = append(lines, "layer stack: "+ranges(st.Buckets, 0, 1))
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// shares names counts with their share of the sum, those of a thousandth and more.
func shares(names []string, counts []uint64) string {
	var sum uint64
	for _, n := range counts {
		sum += n
	}
	var words []string
	for i, n := range counts {
		if 1000*n >= sum && n > 0 {
			words = append(words, fmt.Sprintf("%s %.1f %%", names[i], 100*float64(n)/float64(sum)))
		}
	}
	return strings.Join(words, ", ")
}

// ranges names the bins of a histogram by where they begin.
func ranges(counts []uint64, low, width int) string {
	names := make([]string, len(counts))
	for i := range names {
		names[i] = fmt.Sprint(low + i*width)
		if width > 1 {
			names[i] += "…"
		}
	}
	return shares(names, counts)
}

// Draw draws the histograms.
func (s *SetStats) Draw(title string) *figure.Figure {
	panel := func(title, x string, counts []uint64, low, width float64) figure.Panel {
		h := &figure.Histogram{Title: title, XLabel: x, YLabel: "share", Low: low, Width: width}
		var sum uint64
		for _, n := range counts {
			sum += n
		}
		for _, n := range counts {
			h.Heights = append(h.Heights, float64(n)/float64(max(sum, 1)))
		}
		return h
	}
	first := []figure.Panel{
		panel("result", "−1 lost, 0 drawn, 1 won, by the side to move", s.Result[:], -1.5, 1),
		panel("score", "centipawns", s.Scores, -setScoreEnd, setScoreBin),
	}
	second := []figure.Panel{
		panel("hands", "pieces in both hands", s.Hand, -0.5, 1),
		panel("games", "plies", s.Lengths, 0, lengthBin),
	}
	f := &figure.Figure{Title: title, Rows: [][]figure.Panel{first, second}}
	if s.Buckets != nil {
		f.Rows = append(f.Rows, []figure.Panel{panel("layer stack", "stack", s.Buckets, -0.5, 1)})
	}
	return f
}
