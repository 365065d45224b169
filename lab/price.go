package lab

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// Price is what a comparison is going to take, apart from what is there.
type Price struct {
	Nets, NetsThere         int
	Meetings, MeetingsThere int // of the stages whose games are known; see Unknown
	Samples                 uint64
	Games                   int
	Puzzles, PuzzlesThere   int           // nets that have them
	Training, Playing       time.Duration // of one core
	Solving                 time.Duration // of puzzles
	Disk                    int64         // bytes
	Jobs                    int           // at the same time
	// Unknown says that games at fixed time may be there: their limits follow from speeds
	// that are not measured yet.
	Unknown bool

	pairs, pairsThere int                     // of games
	stages            map[Stage]time.Duration // Playing, by stage
	nodes             []float64               // a second of search, by row
	nets              map[string]float64      // seconds of training that are missing, by key
}

// What a price assumes. Training and search of one core of a 2.5 GHz Xeon: docs/performance.md.
const (
	trainedWidths = 40e6 // positions a second × width of an NNUE net
	trainedMACs   = 43e9 // multiply-adds a second of a plane net's training, forward and back
	nnueNodes     = 1e6
	planeMACs     = 50e9 // of a plane net's search, a second
	pliesOfGame   = 90
	logOfPair     = 400 // bytes
	bytesOfParam  = 36  // net, and two checkpoints with the optimiser's state
)

// Price estimates the work that is missing. It reads the data, whose size it needs.
func (p *Plan) Price(ctx context.Context, o Options) (Price, error) { return p.price(ctx, o, false) }

// price is Price, which writes the size of the data down if it may.
func (p *Plan) price(ctx context.Context, o Options, write bool) (Price, error) {
	r := Price{Jobs: o.jobs(), stages: map[Stage]time.Duration{}, nets: map[string]float64{}}
	nodes := make([]float64, len(p.Rows))
	r.nodes = nodes
	for i, row := range p.Nets {
		size, err := p.size(ctx, row[0].Config, o, write)
		if err != nil {
			return r, err
		}
		params, macs, err := weigh(&row[0].Config)
		if err != nil {
			return r, err
		}
		rate, err := guessedRate(&row[0].Config)
		if err != nil {
			return r, err
		}
		if nodes[i] = nnueNodes; macs > 0 {
			nodes[i] = planeMACs / float64(macs)
		}
		for s := range row {
			sum, done, err := p.trained(&row[s])
			if err != nil {
				return r, err
			}
			if r.Nets++; done {
				r.NetsThere++
				rate = max(float64(sum.Samples)/max(sum.Seconds, 1e-3), 1)
				continue
			}
			samples := row[s].Config.Epochs * float64(size)
			r.Samples += uint64(samples)
			took := seconds(samples / rate)
			if budget := p.BudgetOf(i).Time; budget > 0 {
				took = budget
			}
			r.Training += took
			r.nets[row[s].Key] = took.Seconds()
			r.Disk += int64(params) * bytesOfParam
		}
		var speed Speed
		if known, err := readCell(p.cell("speed", row[0].Key+".json"), &speed); err != nil {
			return r, err
		} else if known {
			nodes[i] = speed.Nodes
		} else {
			r.Unknown = r.Unknown || p.Games.Time > 0
		}
	}
	for i, row := range p.Nets {
		for s := range row {
			if p.puzzles.list == nil {
				break
			}
			_, done, err := p.solved(&row[s])
			if err != nil {
				return r, err
			}
			if r.Puzzles++; done {
				r.PuzzlesThere++
				continue
			}
			r.Solving += seconds(p.solvingTime(nodes[i]))
		}
	}
	return r, p.priceGames(&r)
}

// priceGames adds the games.
func (p *Plan) priceGames(r *Price) error {
	for _, stage := range p.Stages() {
		var speeds map[string]Speed
		if stage == AtTime {
			speeds = map[string]Speed{}
			for _, pl := range append(p.timed(), Player{Key: materialKey}) {
				var s Speed
				if _, err := readCell(p.cell("speed", pl.Key+".json"), &s); err != nil {
					return err
				}
				speeds[pl.Key] = s
			}
		}
		meetings := p.Meetings(stage, speeds)
		for i := range meetings {
			m := &meetings[i]
			_, _, found, err := p.log(m)
			if err != nil {
				return err
			}
			r.pairs, r.pairsThere = r.pairs+m.Pairs, r.pairsThere+found
			r.Meetings++
			missing := m.Pairs - found
			if missing == 0 {
				r.MeetingsThere++
				continue
			}
			took := seconds(float64(missing) * p.pairTime(m, r.nodes))
			r.Games += 2 * missing
			r.Playing, r.stages[stage] = r.Playing+took, r.stages[stage]+took
			r.Disk += int64(missing) * logOfPair
		}
	}
	return nil
}

// pairTime is how many seconds of one core a pair of games of a meeting takes, by the nodes a
// second of the rows. A node of an anchor is taken to last as long as one of the row.
func (p *Plan) pairTime(m *Meeting, nodes []float64) float64 {
	sum := 0.0 // of a move of either
	for side, l := range m.Limits {
		speed := nodes[m.A]
		if side == 1 && m.B < len(nodes) {
			speed = nodes[m.B]
		}
		switch {
		case l.MoveTime > 0:
			sum += l.MoveTime.Seconds()
		case m.Stage == AtTime:
			sum += p.Games.Time.Seconds()
		default:
			sum += float64(l.Nodes) / speed
		}
	}
	return pliesOfGame * sum
}

// solvingTime is how many seconds of one core the puzzles take a net, by its nodes a second.
func (p *Plan) solvingTime(nodes float64) float64 {
	return float64(p.Games.Puzzles) * float64(len(p.puzzles.list)) / nodes
}

// guessedRate is from how many positions a net learns in a second of one core, unmeasured.
func guessedRate(l *configs.Learn) (float64, error) {
	_, macs, err := weigh(l)
	if macs > 0 {
		return trainedMACs / (3 * float64(macs)), err
	}
	return trainedWidths / float64(max(l.Width, 1)), err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// weigh returns the parameters of the net that settings ask for, and of a plane net its
// multiply-adds.
func weigh(l *configs.Learn) (params, macs int, err error) {
	if l.Kind == configs.Planes {
		shape, err := l.Shape()
		if err != nil {
			return 0, 0, err
		}
		return shape.Count(), shape.MACs(), nil
	}
	a, set, err := architecture(l)
	if err != nil {
		return 0, 0, err
	}
	return a.Parameters(set.Size()), 0, nil
}

// architecture is that of an NNUE net, with its inputs.
func architecture(l *configs.Learn) (nnue.Architecture, features.Set, error) {
	a, err := l.Architecture(l.Variant)
	if err != nil {
		return a, nil, err
	}
	set, err := a.Set()
	return a, set, err
}

// coreHours writes a time of one core, with two digits if it is short.
func coreHours(d time.Duration) string {
	if d >= time.Hour {
		return fmt.Sprintf("%.2f core-hours", d.Hours())
	}
	return fmt.Sprintf("%.2g core-hours", d.Hours())
}

// clock is how long it all takes by the clock: nets that are trained share all cores, whatever the
// jobs, and of games and puzzles each job has a core, as long as there are some.
func (r *Price) clock(cores int) time.Duration {
	return r.Training/time.Duration(cores) + (r.Playing+r.Solving)/time.Duration(min(r.Jobs, cores))
}

// WriteText prints the price.
func (r *Price) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "nets\t%d, of them %d there\n", r.Nets, r.NetsThere)
	fmt.Fprintf(t, "training\t%d samples, %s\n", r.Samples, coreHours(r.Training))
	fmt.Fprintf(t, "meetings\t%d, of them %d there\n", r.Meetings, r.MeetingsThere)
	fmt.Fprintf(t, "playing\t%d games, %s\n", r.Games, coreHours(r.Playing))
	if r.Puzzles > 0 {
		fmt.Fprintf(t, "puzzles\t%d nets, of them %d there, %s\n", r.Puzzles, r.PuzzlesThere, coreHours(r.Solving))
	}
	all := r.Training + r.Playing + r.Solving
	fmt.Fprintf(t, "in all\t%s, about %v with --jobs %d\n", coreHours(all), r.clock(runtime.GOMAXPROCS(0)).Round(time.Second), r.Jobs)
	fmt.Fprintf(t, "disk\t%.1f MB\n", float64(r.Disk)/1e6)
	if err := t.Flush(); err != nil {
		return err
	}
	note := "An estimate: speeds are those of one core of a 2.5 GHz Xeon where nothing here has been measured yet."
	if r.Unknown {
		note += " Games at fixed time are counted as missing until speeds are measured."
	}
	_, err := fmt.Fprintln(w, note)
	return err
}
