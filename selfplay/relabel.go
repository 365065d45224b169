package selfplay

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// maxRelabelDepth bounds the depth of searches that label positions anew.
const maxRelabelDepth = 6

// relabelDepth reads the setting train.relabel: the depth of the searches, 0 for
// quiescence; on is false if there are none.
func relabelDepth(text string) (depth int, on bool, err error) {
	switch text {
	case configs.RelabelOff:
		return 0, false, nil
	case configs.RelabelQuiescence:
		return 0, true, nil
	}
	digits, found := strings.CutPrefix(text, configs.RelabelDepth)
	depth, err = strconv.Atoi(digits)
	if !found || err != nil || depth < 1 || depth > maxRelabelDepth || strconv.Itoa(depth) != digits {
		return 0, false, fmt.Errorf("found %q, expected %s, %s or %s1 to %[4]s%d", text, configs.RelabelOff, configs.RelabelQuiescence, configs.RelabelDepth, maxRelabelDepth)
	}
	return depth, true, nil
}

// Sizes of a relabeller.
const (
	labelEntries = 1 << 20 // of 16 bytes
	labelBlock   = 64      // positions that a thread takes at a time
	labelHashMB  = 1       // of each thread
)

// relabeller gives the positions that are drawn the scores that the run's present net
// finds for them: a function of position, net and depth alone. Labels are kept until
// the net is another one, as far as there is room. A nil relabeller labels nothing.
type relabeller struct {
	depth   int     // 0: quiescence
	share   float64 // of the samples, which fromInside replaces
	threads int
	event   func(msg string, args ...any)
	cores   *cores
	present atomic.Pointer[net] // the net that the run plays with; nil: none yet

	mu      sync.Mutex // guards what follows
	of      *net       // whose labels are kept
	engines []searcher
	kept    []label
	found   []label // of the samples in hand
	made    uint64  // labels searched for with the net
}

// label is the score of a position.
type label struct {
	key   uint64 // labelKey of it
	score int16
	known bool
}

// labelKey tells positions apart for which searches may find different scores.
func labelKey(p *chess.Position) uint64 {
	return splitmix.Hash(p.Key() ^ uint64(p.HalfmoveClock()))
}

// newRelabeller returns the run's relabeller, nil if its settings want none.
func newRelabeller(r *Run) (*relabeller, error) {
	depth, on, err := relabelDepth(r.cfg.Train.Relabel)
	if err != nil || !on {
		return nil, err
	}
	return &relabeller{depth: depth, share: r.cfg.Train.InsideShare, threads: cmp.Or(r.cfg.Train.Workers, runtime.GOMAXPROCS(0)), event: r.event, cores: r.cores}, nil
}

// follow keeps the net that the current pointer names present until ctx ends.
func (x *relabeller) follow(ctx context.Context, r *Run) error {
	changes, err := r.bus.WatchPointer(ctx, r.currentKey())
	if err != nil {
		return unlessInterrupted(ctx, err)
	}
	for p := range changes {
		record, err := nets.ParseRecord(p.Value)
		if err == nil && record.Net == "" {
			x.present.Store(nil)
			continue
		}
		if now := x.present.Load(); err == nil && now != nil && now.ID == record.Net {
			continue // after a lost connection
		}
		var n *net
		if err == nil {
			n, err = r.loadNet(ctx, record.Net)
		}
		if err != nil {
			if ctx.Err() == nil {
				r.log.Warn("net could not be loaded, positions keep the labels of the one before", "error", err)
			}
			continue
		}
		x.present.Store(n)
	}
	return nil
}

// lock locks x with engines of the present net; false is that there is no net or no x.
func (x *relabeller) lock() bool {
	if x == nil {
		return false
	}
	n := x.present.Load()
	if n == nil {
		return false
	}
	x.mu.Lock()
	x.use(n)
	return true
}

// label gives samples that have a score the present net's.
func (x *relabeller) label(samples []sample.Sample) {
	if !x.lock() {
		return
	}
	defer x.mu.Unlock()
	if len(x.found) < len(samples) {
		x.found = make([]label, len(samples))
	}
	found := x.found[:len(samples)]
	var missing []int
	for i := range samples {
		if !samples[i].HasScore() {
			continue
		}
		key := labelKey(&samples[i].Pos)
		found[i] = x.kept[key%labelEntries]
		if !found[i].known || found[i].key != key {
			found[i] = label{key: key}
			missing = append(missing, i)
		}
	}
	if x.each(len(missing), func(s searcher, k int) {
		i := missing[k]
		found[i].score, found[i].known = labelOf(s.Engine, &samples[i].Pos, x.depth)
	}) != nil {
		return
	}
	x.made += uint64(len(missing))
	for i := range samples {
		if l := found[i]; samples[i].HasScore() && l.known {
			samples[i].Score = search.Score(l.score)
			x.kept[l.key%labelEntries] = l
		}
	}
}

// each calls do for 0 to n−1, on all threads once the cores are granted.
func (x *relabeller) each(n int, do func(s searcher, i int)) error {
	leave, err := x.cores.enter(context.Background(), labelling, x.threads)
	if err != nil {
		return err
	}
	defer leave()
	parallel.Do(x.threads, (n+labelBlock-1)/labelBlock, func(worker, block int) {
		for i := block * labelBlock; i < min(n, (block+1)*labelBlock); i++ {
			do(x.engines[worker], i)
		}
	})
	return nil
}

// use makes ready for labels of a net.
func (x *relabeller) use(n *net) {
	if x.of == n {
		return
	}
	x.event("positions are labelled anew", "generation", n.generation, "net", n.ID, "labels_before", x.made)
	x.of, x.made, x.kept, x.engines = n, 0, make([]label, labelEntries), nil
	for range x.threads {
		x.engines = append(x.engines, newSearcher(n))
	}
}

// labelOf returns the score of a position, by an engine that knows nothing of others.
// A position without legal moves has none.
func labelOf(e *ab.Engine, p *chess.Position, depth int) (score int16, known bool) {
	if !p.HasLegalMove() {
		return 0, false
	}
	line := chess.NewLine(*p)
	if depth == 0 {
		return int16(e.Quiesce(line)), true
	}
	_ = e.NewGame() // never fails
	r, err := e.Search(context.Background(), line, search.Limits{Depth: depth})
	return int16(max(-search.MateScore, min(search.MateScore, r.Score))), err == nil
}
