package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

func newBenchCommand() *cobra.Command {
	var depth int
	var net string
	c := &cobra.Command{
		Use:   "bench",
		Short: "Search fixed positions; the node count is the engine's signature",
		Example: `  selfplay bench
  selfplay bench --net crazyhouse.nnue
  selfplay bench perft --peer fairy-stockfish`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return benchSearch(c.Context(), c.OutOrStdout(), net, depth)
		},
	}
	c.Flags().IntVar(&depth, "depth", ab.BenchDepth, "plies")
	c.Flags().StringVar(&net, "net", "", "net file; default material")
	c.AddCommand(newBenchPerftCommand())
	return c
}

func benchSearch(ctx context.Context, w io.Writer, net string, depth int) error {
	evaluator, _, err := newEvaluator(net, chess.Crazyhouse)
	if err != nil {
		return err
	}
	start := time.Now()
	nodes, err := ab.Bench(ctx, evaluator, depth)
	if err != nil {
		return err
	}
	elapsed := time.Since(start)
	fmt.Fprintf(w, "depth %d\ntime  %s\nnps   %.0f\nnodes %d\n", depth, elapsed.Round(time.Millisecond), float64(nodes)/elapsed.Seconds(), nodes)
	return nil
}

// newEvaluator returns a factory of evaluators over the net file, or of
// material ones if path is empty or "material", and the net (nil for material).
func newEvaluator(path string, v *chess.Variant) (func() ab.Evaluator, *nnue.Network, error) {
	if path == "" || path == "material" {
		return func() ab.Evaluator { return ab.NewMaterial() }, nil, nil
	}
	n, err := nnue.ReadFileVariant(path, v)
	if err != nil {
		return nil, nil, err
	}
	return func() ab.Evaluator { return nnue.NewAccumulator(n) }, n, nil
}

type benchPerftOptions struct {
	peer   string
	fen    string
	depth  int
	rounds int
	count  bool
}

func newBenchPerftCommand() *cobra.Command {
	var o benchPerftOptions
	c := &cobra.Command{
		Use:   "perft --peer BINARY",
		Short: "Compare the move generator's speed with a UCI engine's in one run",
		Long: `Count the crazyhouse move tree with this program and with a UCI engine that
knows "go perft", in turn, one thread each, and print the median speeds in
million nodes a second of CPU time. Both generate the moves of the last ply and
count the list. The last line is "ratio X": our speed divided by the peer's.`,
		Example: "  selfplay bench perft --peer fairy-stockfish --depth 6",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return benchPerft(c.Context(), c.OutOrStdout(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.peer, "peer", "", "the peer's binary; without it only our speed is printed")
	f.StringVar(&o.fen, "fen", "", "position; default the start position")
	f.IntVar(&o.depth, "depth", 6, "plies")
	f.IntVar(&o.rounds, "rounds", 3, "times each is measured")
	f.BoolVar(&o.count, "count", false, "let us count the last ply without generating it")
	return c
}

func benchPerft(ctx context.Context, w io.Writer, o benchPerftOptions) error {
	if o.depth < 1 || o.depth > 12 || o.rounds < 1 || o.rounds > 1000 {
		return fmt.Errorf("%w: found --depth %d --rounds %d, expected 1 to 12 and 1 to 1000", errUsage, o.depth, o.rounds)
	}
	p, err := position(chess.Crazyhouse, o.fen, false)
	if err != nil {
		return err
	}
	count := perftFunc(chess.Perft)
	if o.count {
		count = chess.PerftCount
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var ours, theirs []float64
	for round := range o.rounds {
		start := threadCPU()
		nodes, err := perftNodes(ctx, &p, o.depth, count)
		if err != nil {
			return err
		}
		ours = append(ours, float64(nodes)/(threadCPU()-start).Seconds()/1e6)
		fmt.Fprintf(w, "round %d  ours %.1f Mnps", round+1, ours[round])
		if o.peer != "" {
			peerNodes, cpu, err := peerPerft(ctx, o.peer, p.FEN(), o.depth, 10*time.Second)
			if err != nil {
				return fmt.Errorf("peer %s: %w", o.peer, err)
			}
			if peerNodes != nodes {
				return fmt.Errorf("peer %s: found %d nodes, we count %d", o.peer, peerNodes, nodes)
			}
			theirs = append(theirs, float64(nodes)/cpu.Seconds()/1e6)
			fmt.Fprintf(w, "  peer %.1f Mnps", theirs[round])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "median ours %.1f Mnps\n", median(ours))
	if o.peer != "" {
		fmt.Fprintf(w, "median peer %.1f Mnps\nratio %.2f\n", median(theirs), median(ours)/median(theirs))
	}
	return nil
}

// peerPerft runs one perft in a fresh process of the peer and returns its
// nodes and the CPU time of the whole process, start included. The peer has
// patience's time to answer "uci" and to end after "quit"; its perft may take
// as long as it needs.
func peerPerft(ctx context.Context, binary, fen string, depth int, patience time.Duration) (uint64, time.Duration, error) {
	ctx, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	cmd := exec.CommandContext(ctx, binary)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	// A killed peer may leave children that hold its output open.
	defer context.AfterFunc(ctx, func() { out.Close() })()
	within := func(what string) *time.Timer {
		return time.AfterFunc(patience, func() { kill(fmt.Errorf("found no %s within %s", what, patience)) })
	}

	nodes, err := askPerft(in, bufio.NewScanner(out), fen, depth, within("answer uciok to uci"))
	if err == nil {
		end := within("end after quit")
		_, _ = io.WriteString(in, "quit\n") // a peer that has gone already is reported by Wait
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		err = cmd.Wait()
		end.Stop()
	} else {
		kill(err)
		_ = cmd.Wait() // killed; why is in err
	}
	if ctx.Err() != nil {
		return 0, 0, context.Cause(ctx)
	}
	return nodes, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

// askPerft asks a UCI engine for one perft and returns its nodes. It stops the
// timer when the engine has said uciok.
func askPerft(in io.Writer, out *bufio.Scanner, fen string, depth int, greeting *time.Timer) (uint64, error) {
	defer greeting.Stop()
	_, _ = io.WriteString(in, "uci\n") // a peer that does not read does not answer either
	if !scanTo(out, "uciok") {
		return 0, errors.New("found the end of its output, expected uciok")
	}
	greeting.Stop()
	fmt.Fprintf(in, "setoption name UCI_Variant value crazyhouse\nposition fen %s\ngo perft %d\n", fen, depth)
	const answer = "Nodes searched:"
	if !scanTo(out, answer) {
		return 0, fmt.Errorf("found the end of its output, expected %q", answer)
	}
	text := strings.TrimSpace(strings.TrimPrefix(out.Text(), answer))
	nodes, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("found %q, expected a number of nodes", out.Text())
	}
	return nodes, nil
}

// scanTo reads up to the next line that begins with prefix; false if there is
// none.
func scanTo(lines *bufio.Scanner, prefix string) bool {
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), prefix) {
			return true
		}
	}
	return false
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
