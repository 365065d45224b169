package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Progress says how far a run has come.
type Progress struct {
	Positions int64 // to train on, written by the run since its beginning
	Next      uint64
	// What follows counts from this call of Run on.
	Games   int64 // written
	Results [4]int64
	Counts  sample.Counts // of their plies
	Skipped int64         // drawn games left out
	Nodes   uint64        // searched in games written
	Written int64         // positions
	Elapsed time.Duration // since the first game began
}

// attempts is how often a game is tried with players that fail, each time with a
// new one.
const attempts = 3

// mostLone is how many searches for several best moves may find one at most before a
// player is taken for one that never finds more.
const mostLone = 20

// mostBarren is how many games in a row may have nothing to train on before a run is
// taken for one that does not end.
const mostBarren = 1000

// ahead is how many games for each one played at a time may wait for one that
// began before them.
const ahead = 16

// runner is a run in progress.
type runner struct {
	cfg  *Config
	run  string
	out  *output
	seen seen

	progress Progress
	began    time.Time
	barren   int // the last games of this call that had nothing to train on
}

// Run plays games until there are Count positions. If there are files of the same
// run it goes on where they end. When ctx ends, the games played so far are
// written and the error is that of ctx; calling Run again with the same settings
// then completes the run. Errors wrap ErrConfig, ErrOther, ErrDamaged, or come
// from player, opening or files.
func Run(ctx context.Context, cfg Config) (Progress, error) {
	if err := cfg.validate(); err != nil {
		return Progress{}, err
	}
	run, err := cfg.run()
	if err != nil {
		return Progress{}, err
	}
	r := &runner{cfg: &cfg, run: run, seen: newSeen(cfg.SeenMB)}
	if r.out, err = openOutput(&cfg, run, r.seen); err != nil {
		return Progress{}, err
	}
	r.note()
	r.began = time.Now()
	err = r.generate(ctx)
	err = errors.Join(err, r.out.save(), r.out.close())
	return r.now(), err
}

func (r *runner) now() Progress {
	r.progress.Positions, r.progress.Next = r.out.at.Positions, r.out.at.Next
	r.progress.Elapsed = time.Since(r.began)
	return r.progress
}

func (r *runner) note() {
	if at := &r.out.at; r.cfg.Note != nil && at.Next > 0 {
		r.cfg.Note(fmt.Sprintf("%s: found %d positions, goes on with game %d", fileName(r.out.path, at.File), at.Positions, at.Next))
	}
}

// complete reports whether there is enough.
func (r *runner) complete() bool { return r.out.at.Positions >= r.cfg.Count }

// generate has games played and writes them in their order.
func (r *runner) generate(ctx context.Context) error {
	if r.complete() {
		return nil
	}
	playing, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()

	threads := max(1, r.cfg.Threads)
	numbers := make(chan uint64)
	results := make(chan played, threads*ahead)
	room := make(chan struct{}, threads*ahead) // games begun and not yet written
	for range threads {
		workers.Go(func() {
			w := &worker{cfg: r.cfg, run: r.run}
			w.work(playing, numbers, results)
			w.leave()
		})
	}
	workers.Go(func() {
		for n := r.out.at.Next; ; n++ {
			select {
			case room <- struct{}{}:
			case <-playing.Done():
				return
			}
			select {
			case numbers <- n:
			case <-playing.Done():
				return
			}
		}
	})
	return r.collect(ctx, results, room)
}

// collect writes games as they come in, in their order.
func (r *runner) collect(ctx context.Context, results <-chan played, room <-chan struct{}) error {
	or := func(d, other time.Duration) time.Duration {
		if d <= 0 {
			return other
		}
		return d
	}
	save := time.NewTicker(or(r.cfg.SaveInterval, 10*time.Second))
	defer save.Stop()
	show := time.NewTicker(or(r.cfg.ProgressInterval, 10*time.Second))
	defer show.Stop()
	waiting := map[uint64]played{}
	next := r.out.at.Next
	for {
		select {
		case p := <-results:
			waiting[p.number] = p
		case <-save.C:
			if err := r.out.save(); err != nil {
				return err
			}
		case <-show.C:
			if r.cfg.Progress != nil {
				r.cfg.Progress(r.now())
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		for {
			p, ok := waiting[next]
			if !ok {
				break
			}
			delete(waiting, next)
			next++
			<-room
			if p.err != nil {
				return p.err
			}
			if err := r.add(&p); err != nil {
				return err
			}
			if r.complete() {
				return nil
			}
		}
	}
}

// add writes a game.
func (r *runner) add(p *played) error {
	if p.game.Outcome == chess.Draw && r.cfg.SkipDraws {
		r.progress.Skipped++
		return r.checkKept(p.number, 0)
	}
	p.counts.Move(r.seen.mark(p.game), sample.Kept, sample.Duplicate)
	kept := int64(p.counts.Kept)
	if err := r.out.add(p.number, p.game, kept); err != nil {
		return err
	}
	r.progress.Games++
	r.progress.Results[p.game.Outcome]++
	r.progress.Counts.Add(&p.counts)
	r.progress.Nodes += p.nodes
	r.progress.Written += kept
	return r.checkKept(p.number, kept)
}

// checkKept takes note of how many positions of a game there are to train on. Games that
// are all the same would follow one another for ever.
func (r *runner) checkKept(number uint64, kept int64) error {
	if kept > 0 {
		r.barren = 0
		return nil
	}
	if r.barren++; r.barren < mostBarren {
		return nil
	}
	return fmt.Errorf("%w: found nothing new to train on in %d games in a row, up to game %d, expected games that differ: "+
		"let there be random moves, openings or a range of depths, or leave less out", ErrConfig, r.barren, number)
}

// work plays the games of the numbers it is given. It ends with ctx or after a
// game that could not be played.
func (w *worker) work(ctx context.Context, numbers <-chan uint64, results chan<- played) {
	for {
		var p played
		select {
		case p.number = <-numbers:
		case <-ctx.Done():
			return
		}
		c, err := w.try(ctx, p.number)
		if ctx.Err() != nil {
			return
		}
		if p.err = err; err == nil {
			p.game, p.counts, p.nodes = c.Game, c.counts, w.nodes
		}
		results <- p // has room for all games begun
		if err != nil {
			return
		}
	}
}

// try plays a game. If the player fails it is replaced, a few times.
func (w *worker) try(ctx context.Context, number uint64) (c *contest, err error) {
	for range attempts {
		if w.player == nil {
			var player game.Player
			if player, err = w.cfg.New(); err != nil {
				return nil, fmt.Errorf("player: %w", err)
			}
			w.player = player
		}
		c, err = w.play(ctx, number)
		if err == nil || ctx.Err() != nil || errors.Is(err, game.ErrOpening) || errors.Is(err, ErrConfig) {
			return c, err
		}
		w.leave()
	}
	return nil, fmt.Errorf("%d times: %w", attempts, err)
}

// leave closes the player. How it ends does not matter.
func (w *worker) leave() {
	if c, ok := w.player.(io.Closer); ok {
		_ = c.Close()
	}
	w.player = nil
}
