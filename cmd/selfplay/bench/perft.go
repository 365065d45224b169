package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/internal/median"
	"github.com/crazyhouse-rl/selfplay/uci"
)

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
		Args:    cli.NoArgs,
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
		return fmt.Errorf("%w: found --depth %d --rounds %d, expected 1 to 12 and 1 to 1000", cli.ErrUsage, o.depth, o.rounds)
	}
	p, err := cli.Position(chess.Crazyhouse, o.fen, false)
	if err != nil {
		return err
	}
	count := chess.Perft
	if o.count {
		count = chess.PerftCount
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var ours, theirs []float64
	for round := range o.rounds {
		start := cputime.Thread()
		nodes, err := chess.PerftContext(ctx, &p, o.depth, count)
		if err != nil {
			return err
		}
		ours = append(ours, float64(nodes)/(cputime.Thread()-start).Seconds()/1e6)
		line := fmt.Sprintf("round %d  ours %.1f Mnps", round+1, ours[round])
		if o.peer != "" {
			peerNodes, cpu, err := peerPerft(ctx, o.peer, p.FEN(), o.depth)
			if err != nil {
				return fmt.Errorf("peer %s: %w", o.peer, err)
			}
			if peerNodes != nodes {
				return fmt.Errorf("peer %s: found %d nodes, we count %d", o.peer, peerNodes, nodes)
			}
			theirs = append(theirs, float64(nodes)/cpu.Seconds()/1e6)
			line += fmt.Sprintf("  peer %.1f Mnps", theirs[round])
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "median ours %.1f Mnps\n", median.Of(ours))
	if o.peer != "" {
		fmt.Fprintf(w, "median peer %.1f Mnps\nratio %.2f\n", median.Of(theirs), median.Of(ours)/median.Of(theirs))
	}
	return nil
}

// peerPatience is how long a peer may take to start and to end.
const peerPatience = 10 * time.Second

// peerPerft runs one perft in a fresh process of the peer and returns its nodes
// and their CPU time.
func peerPerft(ctx context.Context, binary, fen string, depth int) (uint64, time.Duration, error) {
	p, err := uci.StartPeer(ctx, binary, peerPatience)
	if err != nil {
		return 0, 0, err
	}
	const answer = "Nodes searched:"
	line, cpu, err := p.Timed(fmt.Sprintf("setoption name UCI_Variant value crazyhouse\nposition fen %s\ngo perft %d", fen, depth), answer)
	if err != nil {
		return 0, 0, p.Abandon(err)
	}
	nodes, err := strconv.ParseUint(strings.TrimSpace(strings.TrimPrefix(line, answer)), 10, 64)
	if err != nil {
		return 0, 0, p.Abandon(fmt.Errorf("found %q, expected a number of nodes", line))
	}
	return nodes, cpu, p.Quit()
}
