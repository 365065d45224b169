package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/lab/puzzles"
	"github.com/crazyhouse-rl/selfplay/search"
)

// puzzleSet is what every net is asked besides its games.
type puzzleSet struct {
	id   string // of their text
	list []puzzles.Puzzle
}

// readPuzzles reads the program's puzzles if nets are to be given any and the variant has
// some.
func (p *Plan) readPuzzles() error {
	if p.Games.Puzzles == 0 || !puzzles.HasDefault(p.variant) {
		return nil
	}
	list, err := puzzles.Default(p.variant)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(puzzles.EPD(list))
	p.puzzles = puzzleSet{hex.EncodeToString(sum[:8]), list}
	return nil
}

// puzzleCell is which puzzles a net has solved.
type puzzleCell struct {
	Solved string `json:"solved"` // a digit for each, 1 if the answer was its best move
	Build  string `json:"build,omitempty"`
}

// puzzleKey identifies everything that a net's answers follow from.
func (p *Plan) puzzleKey(n *Net) string {
	return keyOf([]string{p.Variant, p.puzzles.id, n.Key, fmt.Sprint(p.Games.Puzzles, hashMB)})
}

// solved reads which puzzles a net has solved, and false if it has not been asked.
func (p *Plan) solved(n *Net) ([]bool, bool, error) {
	path := p.cell("puzzles", p.puzzleKey(n)+".json")
	var cell puzzleCell
	if known, err := readCell(path, &cell); err != nil || !known {
		return nil, false, err
	}
	if len(cell.Solved) != len(p.puzzles.list) {
		return nil, false, fmt.Errorf("%s: found %d answers, expected %d; delete the file to have it made again", path, len(cell.Solved), len(p.puzzles.list))
	}
	solved := make([]bool, len(cell.Solved))
	for i := range solved {
		solved[i] = cell.Solved[i] == '1'
	}
	return solved, true, nil
}

// solve gives the puzzles to the nets that have not had them, nets at the same time.
func (p *Plan) solve(ctx context.Context, speeds map[string]Speed, o Options, t *tracker) error {
	if p.puzzles.list == nil {
		return nil
	}
	var missing []Player
	var keys []string
	var prices []float64 // seconds
	total := 0.0
	for row := range p.Nets {
		price := p.solvingTime(max(speeds[p.Nets[row][0].Key].Nodes, 1))
		for s := range p.Nets[row] {
			if _, done, err := p.solved(&p.Nets[row][s]); err != nil {
				return err
			} else if !done {
				missing, keys = append(missing, p.netPlayer(row, s)), append(keys, p.puzzleKey(&p.Nets[row][s]))
				prices, total = append(prices, price), total+price
			}
		}
	}
	t.begin(workPuzzles, total)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.jobs())
	for i := range missing {
		group.Go(func() error {
			maker, err := p.load(ctx, &missing[i])
			if err != nil {
				return err
			}
			result, err := puzzles.Run(ctx, maker, p.puzzles.list, puzzles.RunOptions{
				Limits:   []search.Limits{{Nodes: p.Games.Puzzles}},
				Progress: func(_, of int) { t.add(prices[i]/float64(of), nil) },
			})
			if err != nil {
				return fmt.Errorf("puzzles, %s: %w", missing[i].Name, err)
			}
			cell := puzzleCell{Build: o.Build}
			for _, yes := range result.Accuracy[0].Solved {
				digit := "0"
				if yes {
					digit = "1"
				}
				cell.Solved += digit
			}
			if err := writeCell(p.cell("puzzles", keys[i]+".json"), cell); err != nil {
				return err
			}
			t.add(0, func(at *Progress) { at.Puzzled++ })
			t.made()
			return nil
		})
	}
	return group.Wait()
}

// puzzleCommand gives a net the puzzles again.
func (p *Plan) puzzleCommand(row, s int) string {
	pl := p.netPlayer(row, s)
	return words.Shell("selfplay", "puzzles", "run", fmt.Sprintf("%s,hash=%d", pl.text, hashMB), "--nodes", fmt.Sprint(p.Games.Puzzles))
}

// Solved is how many of the puzzles a row's nets solve.
type Solved struct {
	Puzzles int       `json:"puzzles"`
	Nodes   uint64    `json:"nodes"`   // each
	Share   float64   `json:"share"`   // mean over seeds, 0 to 1
	Low     float64   `json:"low"`     // ends of the 95 % interval, of other puzzles and nets of the kind
	High    float64   `json:"high"`    //
	Seeds   []float64 `json:"by_seed"` // shares
}

// puzzleResults reads the answers of all nets and sets those of rows.
func (p *Plan) puzzleResults(rows []Row) error {
	if p.puzzles.list == nil {
		return nil
	}
	all := make([][][]bool, len(p.Nets)) // by row, seed and puzzle
	for i := range p.Nets {
		for s := range p.Nets[i] {
			solved, done, err := p.solved(&p.Nets[i][s])
			if err == nil && !done {
				err = fmt.Errorf("row %s: net %s has not had the puzzles", p.Rows[i].Name, p.Nets[i][s].Key)
			}
			if err != nil {
				return err
			}
			all[i] = append(all[i], solved)
		}
	}
	for i, s := range solvedOf(all) {
		s.Nodes = p.Games.Puzzles
		rows[i].Puzzles = &s
		for k := range p.Nets[i] {
			rows[i].PuzzleCommands = append(rows[i].PuzzleCommands, p.puzzleCommand(i, k))
		}
	}
	return nil
}

// solvedOf pools the answers of rows' nets, by row, seed and puzzle. As with ratings the error
// has two parts: that of puzzles is the spread, over puzzles, of the share of nets that solve
// one; that of seeds is the spread between nets of a row beyond what different answers to the
// same puzzles explain, taken as equal for all rows.
func solvedOf(all [][][]bool) []Solved {
	list := make([]Solved, len(all))
	ofPuzzles := make([]float64, len(all)) // variance of a row's share
	var between, within float64            // variances of a net's share, means over rows
	for i, nets := range all {
		n := len(nets[0])
		list[i].Puzzles = n
		means := make([]float64, n)
		for _, solved := range nets {
			all := 0
			for k, yes := range solved {
				if yes {
					all++
					means[k] += 1 / float64(len(nets))
				}
			}
			list[i].Seeds = append(list[i].Seeds, float64(all)/float64(n))
		}
		list[i].Share = mean(list[i].Seeds)
		sd := deviation(means)
		nets, likely := float64(len(nets)), (list[i].Share*float64(n)+1)/float64(n+2)
		ofPuzzles[i] = max(sd*sd, likely*(1-likely)/nets) / float64(n) // the latter where all or none are solved
		if nets > 1 {
			sd := deviation(list[i].Seeds)
			between += sd * sd / float64(len(all))
			for _, m := range means { // m(1-m)·nets/(nets-1): variance of an answer to this puzzle over nets
				within += m * (1 - m) * nets / (nets - 1) / float64(n) / float64(n) / float64(len(all))
			}
		}
	}
	seeds := len(all[0])
	apart := newBetweenSeeds(between, within, float64(len(all)*(seeds-1)))
	for i := range list {
		e := apart.spread(ofPuzzles[i], 1/float64(seeds))
		reach := e.quantile(1-(1-confidence)/2) * e.sd()
		list[i].Low, list[i].High = max(list[i].Share-reach, 0), min(list[i].Share+reach, 1)
	}
	return list
}
