package server

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/uci"
)

// job is work that goes on while commands are read: a search, perft or bench.
type job struct {
	cancel context.CancelFunc
	ending chan struct{} // closed before the last line is written
	done   chan struct{} // closed after it

	// ponderhit says that the move pondered about was played; nil unless the
	// job ponders and has neither been hit nor stopped.
	ponderhit func()
}

// begin starts work as the current job, after the last one has ended. What
// work returns are the last lines of its answer.
func (s *server) begin(j *job, work func(ctx context.Context) []byte) {
	s.finish()
	ctx, cancel := context.WithCancel(s.ctx)
	j.cancel, j.ending, j.done = cancel, make(chan struct{}), make(chan struct{})
	s.job = j
	go func() {
		defer close(j.done)
		defer cancel()
		last := work(ctx)
		close(j.ending)
		s.out.write(last)
	}()
}

// busy reports whether a job is running. One whose last line has been written
// is not, however soon after it the next command comes.
func (s *server) busy() bool {
	if s.job == nil {
		return false
	}
	select {
	case <-s.job.ending:
		<-s.job.done
		return false
	default:
		return true
	}
}

// stop asks the job to end, and does not wait for it.
func (s *server) stop() {
	if s.job != nil {
		s.job.ponderhit = nil
		s.job.cancel()
	}
}

// finish ends the job and waits until it has printed its answer.
func (s *server) finish() {
	s.stop()
	if s.job != nil {
		<-s.job.done
	}
}

// ponderhit tells a pondering search that its move was played.
func (s *server) ponderhit() {
	if s.job != nil && s.job.ponderhit != nil {
		s.job.ponderhit()
		s.job.ponderhit = nil
	}
}

// drop takes the engine out of use. The job may still be using it.
func (s *server) drop() {
	if s.engine != nil {
		s.retired = append(s.retired, s.engine)
	}
	s.engine = nil
}

// release closes the engines that are out of use. No search may be running.
func (s *server) release() {
	for _, e := range s.retired {
		_ = e.Close() // it has nothing left to lose
	}
	s.retired = nil
}

// ready brings the engine up to date with the settings and returns it. No
// search may be running.
func (s *server) ready() (player.Own, error) {
	s.release()
	hash := s.player.Resources.HashMB
	if s.engine == nil {
		n, _ := s.evaluation()
		e, err := s.player.Open(n, hash)
		if err != nil {
			return nil, err
		}
		s.engine, s.tableMB, s.newGame, s.clear = e, hash, false, false
	}
	if s.tableMB != hash {
		s.engine.Resize(hash)
		s.tableMB, s.clear = hash, false
	}
	if s.newGame {
		if err := s.engine.NewGame(); err != nil {
			s.out.comment("new game: %v", err)
		}
		s.newGame, s.clear = false, false
	}
	if s.clear {
		s.engine.Clear()
		s.clear = false
	}
	return s.engine, nil
}

// faultyTime is how long a search lasts whose limits do not bound it.
const faultyTime = 100 * time.Millisecond

// goCommand obeys "go …".
func (s *server) goCommand(fields []string) {
	s.finish() // a GUI that did not wait for its bestmove has it now
	line := s.line
	g := uci.ParseGo(fields, line.Pos())
	for _, err := range g.Faults {
		s.out.comment("%v", err)
	}
	if g.Perft > 0 {
		s.beginPerft(g.Perft)
		return
	}
	lim := g.Limits
	if g.Unbounded {
		lim.Infinite, lim.MoveTime = false, faultyTime
	}
	lim.MultiPV, lim.Overhead = s.MultiPV, time.Duration(s.OverheadMS)*time.Millisecond
	e, err := s.refusal(&g)
	switch {
	case err != nil:
		s.out.comment("no move: %v", err)
		s.beginWithout(lim, "", "bestmove 0000\n")
	case !line.Pos().HasLegalMove():
		score := "cp 0"
		if line.Pos().InCheck() {
			score = "mate 0"
		}
		s.beginWithout(lim, "info depth 0 score "+score, noBestmove)
	default:
		s.beginSearch(e, line, lim)
	}
}

// refusal returns the engine that is to answer a command "go", or why none may.
func (s *server) refusal(g *uci.GoCommand) (player.Own, error) {
	switch err := s.missing(); {
	case s.rejected != nil:
		return nil, s.rejected
	case err != nil:
		return nil, err
	case g.NoSearchMoves:
		return nil, errors.New("go searchmoves: none of the moves is legal")
	}
	return s.ready()
}

// beginSearch has the engine answer.
func (s *server) beginSearch(e player.Own, line *chess.Line, lim search.Limits) {
	if s.announce {
		s.tellNet()
		s.announce = false
	}
	j := &job{}
	if lim.Ponder {
		j.ponderhit = e.Ponderhit
	}
	e = s.weakened(e)
	t := teller{out: s.out, pos: line.Pos()}
	if s.ShowWDL {
		t.wdl = s.player.Search.WDL
	}
	s.begin(j, func(ctx context.Context) []byte { return t.answer(ctx, e, line, lim) })
}

// weakened is the engine at the strength that is set.
func (s *server) weakened(e player.Own) player.Own {
	if limit, ok := s.strength(); ok {
		return player.Weaken(e, limit, s.seed())
	}
	return e
}

// beginWithout answers a search without searching. Its bestmove too is kept until the
// GUI may expect one.
func (s *server) beginWithout(lim search.Limits, info, bestmove string) {
	hit := make(chan struct{})
	j := &job{}
	if lim.Ponder {
		j.ponderhit = func() { close(hit) }
	}
	if info != "" {
		s.out.printf("%s", info)
	}
	s.begin(j, func(ctx context.Context) []byte {
		switch {
		case lim.Infinite:
			<-ctx.Done()
		case lim.Ponder:
			select {
			case <-ctx.Done():
			case <-hit:
			}
		}
		return []byte(bestmove)
	})
}

const noBestmove = "bestmove (none)\n"

// teller prints what a search finds.
type teller struct {
	out  *output
	pos  *chess.Position               // the root
	wdl  func(search.Score) search.WDL // nil: not shown
	best chess.Move                    // that of the last line printed first
}

func (t *teller) tell(i search.Info) {
	if i.MultiPV <= 1 && len(i.PV) > 0 {
		t.best = i.PV[0]
	}
	if t.wdl != nil {
		i.WDL = t.wdl(i.Score)
	}
	t.out.write(append(uci.AppendInfo(nil, t.pos, &i), '\n'))
}

// answer searches and returns the bestmove. The engine itself holds back the
// result of an infinite or pondering search.
func (t *teller) answer(ctx context.Context, e player.Own, line *chess.Line, lim search.Limits) []byte {
	e.Report(t.tell)
	res, err := e.Search(ctx, line, lim)
	if err != nil {
		t.out.comment("search: %v", err)
		return []byte(noBestmove)
	}
	// The limit came before the end of the first iteration, or a limited player
	// has drawn another move than the best.
	if t.best != res.Move {
		lines := res.Lines
		if len(lines) == 0 {
			lines = []search.RootLine{{Score: res.Score, Bound: res.Bound, PV: res.PV}}
		}
		for i, l := range lines { // all, or a move would stand in two of them
			t.tell(search.Info{Depth: res.Depth, SelDepth: res.SelDepth, MultiPV: i + 1, Score: l.Score, Bound: l.Bound, Nodes: res.Nodes, Elapsed: res.Elapsed, PV: l.PV})
		}
	}
	text := uci.AppendMoves([]byte("bestmove"), t.pos, []chess.Move{res.Move})
	if res.Ponder != chess.NoMove {
		after := *t.pos
		after.Make(res.Move)
		text = after.AppendUCI(append(text, " ponder "...), res.Ponder)
	}
	return append(text, '\n')
}

// perft obeys "perft N".
func (s *server) perft(fields []string) {
	if depth, ok := s.depth("perft", fields, 0); ok {
		s.beginPerft(depth)
	}
}

func (s *server) beginPerft(depth int) {
	p := s.line.Pos()
	s.begin(&job{}, func(ctx context.Context) []byte { return perft(ctx, s.out, p, depth) })
}

// depth reads the argument of a command, or takes the default if that is not 0.
func (s *server) depth(command string, fields []string, def int) (depth int, ok bool) {
	text := ""
	if len(fields) > 0 {
		text = fields[0]
	} else if def > 0 {
		return def, true
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 || v > search.MaxPly {
		s.out.comment("%s: found %q, expected a depth from 1 to %d", command, text, search.MaxPly)
		return 0, false
	}
	return v, true
}

// perftLeaf is the depth at which counting is handed to package chess; what
// lies above it can be interrupted.
const perftLeaf = 3

// perft prints the number of leaves below each move of p, and returns the
// lines that say their sum.
func perft(ctx context.Context, out *output, p *chess.Position, depth int) []byte {
	began := time.Now()
	var moves chess.MoveList
	p.Legal(&moves)
	var total uint64
	for _, m := range moves.Slice() {
		child := *p
		child.Make(m)
		n := perftCount(ctx, &child, depth-1)
		if ctx.Err() != nil {
			return nil
		}
		total += n
		out.printf("%s: %d", p.UCI(m), n)
	}
	took := time.Since(began)
	return fmt.Appendf(nil, "\nNodes searched: %d\ninfo string perft took %d ms, %d nodes per second\n",
		total, took.Milliseconds(), uci.PerSecond(total, took))
}

// perftCount counts the leaves depth plies below p; the count means nothing
// once ctx has ended.
func perftCount(ctx context.Context, p *chess.Position, depth int) uint64 {
	if depth <= perftLeaf {
		return chess.PerftCount(p, depth)
	}
	var moves chess.MoveList
	p.Legal(&moves)
	var total uint64
	for _, m := range moves.Slice() {
		if ctx.Err() != nil {
			return 0
		}
		child := *p
		child.Make(m)
		total += perftCount(ctx, &child, depth-1)
	}
	return total
}

// bench searches the engine's fixed positions, without a net whatever EvalFile is,
// and prints how many nodes that took: the engine's signature. Of tree search the
// depth is the binary logarithm of the playouts.
func (s *server) bench(fields []string) {
	def, run := ab.BenchDepth, func(ctx context.Context, depth int) (uint64, error) {
		return ab.Bench(ctx, player.NoNet(player.AlphaBeta).Evaluator, depth)
	}
	if s.player.Search == player.TreeSearch {
		def, run = mcts.BenchDepth, mcts.Bench
	}
	depth, ok := s.depth("bench", fields, def)
	if !ok {
		return
	}
	s.begin(&job{}, func(ctx context.Context) []byte {
		began := time.Now()
		nodes, err := run(ctx, depth)
		if err != nil {
			s.out.comment("bench: %v", err)
			return nil
		}
		return fmt.Appendf(nil, "%d nodes %d nps\n", nodes, uci.PerSecond(nodes, time.Since(began)))
	})
}
