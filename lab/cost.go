package lab

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game/positions"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Cost is what a representation takes, counted and not timed.
type Cost struct {
	Inputs     int     `json:"inputs"`              // dead ones left out
	Dead       int     `json:"dead_inputs"`         // never active in a legal game
	Mean       float64 `json:"active_mean"`         // rows of a perspective, over costPositions
	Most       int     `json:"active_most"`         // in one of these positions
	Changed    float64 `json:"rows_changed_a_move"` // of a perspective: rows added and removed, or all where they are collected anew
	Parameters int     `json:"parameters"`
	Bytes      int64   `json:"file_bytes"`
}

// costPositions is how many positions of games rows are counted in.
const costPositions = 2000

// costOf counts what a row's net takes. Of plane nets there are no rows: every input is
// read every time.
func (p *Plan) costOf(ctx context.Context, n *Net) (Cost, error) {
	path := p.netFile(n)
	info, err := os.Stat(path)
	if err != nil {
		return Cost{}, err
	}
	c := Cost{Bytes: info.Size()}
	if n.Config.Kind == configs.Planes {
		report, err := arch.InspectFile(path)
		c.Inputs, c.Parameters = planeInputs, report.Trained
		return c, err
	}
	net, err := nnue.ReadFile(path, p.variant)
	if err != nil {
		return c, err
	}
	for _, r := range netstat.Ranges(net) {
		c.Parameters += r.Count
	}
	set := net.Features()
	c.Inputs, c.Dead = inputsOf(set)
	return c, c.countRows(ctx, set, p.variant)
}

// planeInputs is how many inputs a plane net has.
const planeInputs = planes.Channels * 64

// inputsOf returns how many inputs of a set are ever active, and how many are not.
func inputsOf(set features.Set) (inputs, dead int) {
	dead = len(features.Dead(set))
	return set.Size() - dead, dead
}

// countRows counts the rows of the positions of games, and those that change from one
// position to the next.
func (c *Cost) countRows(ctx context.Context, set features.Set, v *chess.Variant) error {
	list, err := positions.First(positions.SelfPlay(ctx, v, 1), costPositions)
	if err != nil {
		return err
	}
	var active, added, removed []int32
	var sum, changed, moves int
	for i := range list {
		for _, side := range []chess.Color{chess.White, chess.Black} {
			active = set.Active(&list[i], side, active[:0])
			sum, c.Most = sum+len(active), max(c.Most, len(active))
			if i == 0 || ply(&list[i]) != ply(&list[i-1])+1 { // another game
				continue
			}
			moves++
			if set.Anchor(&list[i-1], side) != set.Anchor(&list[i], side) {
				changed += len(active)
				continue
			}
			added, removed = set.Difference(&list[i-1], &list[i], side, added[:0], removed[:0])
			changed += len(added) + len(removed)
		}
	}
	c.Mean, c.Changed = float64(sum)/float64(2*len(list)), float64(changed)/float64(max(moves, 1))
	return nil
}

func ply(p *chess.Position) int { return 2*p.FullmoveNumber() + int(p.SideToMove()) }

// Speed is how fast a net is, measured once on one machine.
type Speed struct {
	Nodes       float64 `json:"nodes_per_second"`       // of search, a second of CPU time
	Evaluations float64 `json:"evaluations_per_second"` // of an NNUE net along moves; 0: not measured
	// Relative is Nodes over what material had in the same minutes.
	Relative float64 `json:"nodes_of_material"`
}

// Measuring: rounds of all players in turn, the median of which counts. A round is short,
// some 13 ms of an NNUE net, so that all are disturbed alike, and five of them were too
// few: their medians had a standard deviation of 4 to 11 %, those of 41 have one of 1 to 2 %.
const (
	speedRounds    = 41
	speedPositions = 8
	speedApart     = 23   // positions of a game from one to the next
	speedNodes     = 3000 // a position and alpha-beta; of tree search a tenth
)

// measureSpeeds measures players of this program, in turn so that what else the machine
// does disturbs all alike. The first is the one that Relative refers to.
func measureSpeeds(ctx context.Context, makers []*player.Maker, v *chess.Variant) ([]Speed, error) {
	all, err := positions.First(positions.SelfPlay(ctx, v, 2), speedPositions*speedApart)
	if err != nil {
		return nil, err
	}
	var list []chess.Position
	for i := 0; i < len(all); i += speedApart {
		list = append(list, all[i])
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	nodes := make([][]float64, len(makers))
	values := make([][]float64, len(makers))
	for range speedRounds {
		for i, m := range makers {
			n, err := searchSpeed(ctx, m, list)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			nodes[i] = append(nodes[i], n)
			if m.Spec.Search == player.AlphaBeta {
				net, err := player.ReadNet(m.Spec.Net, v)
				if err != nil {
					return nil, err
				}
				values[i] = append(values[i], evaluationSpeed(net.Evaluator(), list))
			}
		}
	}
	speeds := make([]Speed, len(makers))
	for i := range makers {
		speeds[i] = Speed{Nodes: median(nodes[i]), Evaluations: median(values[i])}
		speeds[i].Relative = speeds[i].Nodes / speeds[0].Nodes
	}
	return speeds, nil
}

// searchSpeed returns the nodes a second of CPU time of one player.
func searchSpeed(ctx context.Context, m *player.Maker, list []chess.Position) (speed float64, err error) {
	p, err := m.Open()
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := p.Close(); err == nil {
			err = e
		}
	}()
	limit := uint64(speedNodes)
	if m.Spec.Search == player.TreeSearch {
		limit /= 10
	}
	var nodes uint64
	var spent time.Duration
	for i := range list {
		if err := p.NewGame(); err != nil {
			return 0, err
		}
		before := spentBy(m)
		r, err := p.Search(ctx, chess.NewLine(list[i]), search.Limits{Nodes: limit})
		if err = cmp.Or(err, ctx.Err()); err != nil { // a search that was broken off is no error
			return 0, err
		}
		spent += spentBy(m) - before
		nodes += r.Nodes
	}
	return float64(nodes) / max(spent.Seconds(), 1e-9), nil
}

// spentBy is the CPU time that counts for a player: alpha-beta search with one thread runs in
// this one, tree search has goroutines of its own.
func spentBy(m *player.Maker) time.Duration {
	if m.Spec.Search == player.AlphaBeta {
		return cputime.Thread()
	}
	return cputime.Process(os.Getpid())
}

// evaluationSpeed returns the evaluations a second of CPU time, each after a move made.
func evaluationSpeed(e ab.Evaluator, list []chess.Position) float64 {
	count, before := 0, cputime.Thread()
	for i := range list {
		from := &list[i]
		var moves chess.MoveList
		from.Legal(&moves)
		e.Reset(from)
		e.Evaluate(from)
		for _, move := range moves.Slice() {
			to := *from
			e.Push(from, move)
			to.Make(move)
			e.Evaluate(&to)
			e.Pop()
			count++
		}
	}
	return float64(count) / max((cputime.Thread()-before).Seconds(), 1e-9)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}

// speeds returns what is known of the speeds of players, by key, and measures the others
// together with material, so that a speed measured later, on a busier machine, stands in
// the same relation to it.
func (p *Plan) speeds(ctx context.Context, players []Player, o Options) (map[string]Speed, error) {
	known := map[string]Speed{}
	var missing []string
	reference, err := p.material(ctx)
	if err != nil {
		return nil, err
	}
	makers := []*player.Maker{reference}
	for _, pl := range players {
		if pl.Maker != nil && pl.Maker.Spec.Search.Foreign() {
			continue
		}
		var s Speed
		found, err := readCell(p.cell("speed", pl.Key+".json"), &s)
		if err != nil {
			return nil, err
		}
		if known[pl.Key] = s; !found {
			m, err := p.load(ctx, &pl)
			if err != nil {
				return nil, err
			}
			missing, makers = append(missing, pl.Key), append(makers, m)
		}
	}
	var first Speed
	hasFirst, err := readCell(p.cell("speed", "material.json"), &first)
	if err != nil || len(missing) == 0 && hasFirst {
		known[materialKey] = first
		return known, err
	}
	measured, err := o.measure()(ctx, makers, p.variant)
	if err != nil {
		return nil, err
	}
	if !hasFirst {
		first = measured[0]
		if err := writeCell(p.cell("speed", "material.json"), first); err != nil {
			return nil, err
		}
	}
	known[materialKey] = first
	for i, key := range missing {
		known[key] = measured[i+1]
		if err := writeCell(p.cell("speed", key+".json"), known[key]); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// materialKey is what the speed of material is known by.
const materialKey = "material"

func (p *Plan) material(ctx context.Context) (*player.Maker, error) {
	return player.Spec{Search: player.AlphaBeta, Net: player.Material}.Load(ctx, p.variant, player.Defaults{Limits: search.Limits{Nodes: 1}, HashMB: hashMB})
}

// nodesIn is how many nodes a player searches in a time on the machine that material's
// speed was first measured on, at least 1.
func nodesIn(t time.Duration, s, material Speed) uint64 {
	return uint64(max(1, math.Round(t.Seconds()*s.Relative*material.Nodes)))
}
