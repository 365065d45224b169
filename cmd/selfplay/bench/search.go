package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/internal/median"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/uci"
)

// speedPositions are the start position and three middlegames with full hands.
var speedPositions = []struct{ name, fen string }{
	{"startpos", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"},
	{"M1", "rn2kb1r/4n3/pN2p3/3pB1p1/q2P4/K1P1PPP1/PP1n2PP/R4R2[BPPqbp] w - - 0 20"},
	{"M2", "2r1kb1r/ppqpp2p/3pPp2/1B6/N1P5/P5Pb/2PBPP1P/R2QK2R[Pnnn] w KQk - 0 20"},
	{"M3", "r4rk1/ppp2ppp/3b2qn/1P1p4/3P1P2/4P1BP/P1P1B2P/R1BQ1RK1[NNnp] w - - 0 20"},
}

type benchSearchOptions struct {
	net, peer, peerNet string
	nodes              uint64
	hashMB, rounds     int
}

func newBenchSearchCommand() *cobra.Command {
	var o benchSearchOptions
	c := &cobra.Command{
		Use:   "search --net FILE [--peer BINARY]",
		Short: "Compare the search's speed with a UCI engine's in one run, with the same net",
		Long: `Search four crazyhouse positions to a number of nodes with this program and with
a UCI engine, in turn, one thread each, from an empty table, and print the
median speeds in thousand nodes a second of CPU time. Loading the net does not
count. The last line is "ratio X": the geometric mean over the positions of our
speed divided by the peer's.

Fairy-Stockfish takes a net only if its file's name begins with crazyhouse, and
evaluates by hand without one; --peer-net none asks for that.`,
		Example: `  selfplay bench search --net crazyhouse.nnue
  selfplay bench search --net crazyhouse.nnue --peer fairy-stockfish`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return benchSearch(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.net, "net", player.Material, netHelp)
	f.StringVar(&o.peer, "peer", "", "the peer's binary; without it only our speed is printed")
	f.StringVar(&o.peerNet, "peer-net", "", "net file for the peer, or none; default --net if that is a file")
	f.Uint64Var(&o.nodes, "nodes", 1_000_000, "nodes to search in each position")
	f.IntVar(&o.hashMB, "hash", 64, "size of the table in MiB, for both")
	f.IntVar(&o.rounds, "rounds", 3, "times each is measured")
	return c
}

func benchSearch(ctx context.Context, w, stderr io.Writer, o benchSearchOptions) error {
	if o.nodes < 1000 || o.rounds < 1 || o.rounds > 1000 || o.hashMB < 1 || o.hashMB > 1<<16 {
		return fmt.Errorf("%w: found --nodes %d --rounds %d --hash %d, expected at least 1000, 1 to 1000 and 1 to 65536",
			cli.ErrUsage, o.nodes, o.rounds, o.hashMB)
	}
	if o.peerNet == "" {
		o.peerNet = o.net
		if o.net == player.Builtin || o.net == player.Material {
			o.peerNet = "none"
		}
	}
	if name := filepath.Base(o.peerNet); o.peer != "" && o.peerNet != "none" && !strings.HasPrefix(name, "crazyhouse") {
		return fmt.Errorf("%w: found a peer's net named %s, expected a name that begins with crazyhouse, or --peer-net none", cli.ErrUsage, name)
	}
	n, err := alphaBetaNet(stderr, o.net)
	if err != nil {
		return err
	}
	engine := ab.New(n.Evaluator, ab.Options{HashMB: o.hashMB})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ours, theirs := make([][]float64, len(speedPositions)), make([][]float64, len(speedPositions))
	for range o.rounds {
		for i, pos := range speedPositions {
			speed, err := ourSpeed(ctx, engine, pos.fen, o.nodes)
			if err != nil {
				return err
			}
			ours[i] = append(ours[i], speed)
			if o.peer == "" {
				continue
			}
			if speed, err = peerSpeed(ctx, o, pos.fen); err != nil {
				return fmt.Errorf("peer %s: %w", o.peer, err)
			}
			theirs[i] = append(theirs[i], speed)
		}
	}
	product := 1.0
	for i, pos := range speedPositions {
		fmt.Fprintf(w, "%-8s  ours %.0f knps", pos.name, median.Of(ours[i])/1e3)
		if o.peer != "" {
			ratio := median.Of(ours[i]) / median.Of(theirs[i])
			product *= ratio
			fmt.Fprintf(w, "  peer %.0f knps  ratio %.2f", median.Of(theirs[i])/1e3, ratio)
		}
		fmt.Fprintln(w)
	}
	if o.peer != "" {
		fmt.Fprintf(w, "ratio %.2f\n", math.Pow(product, 1/float64(len(speedPositions))))
	}
	return nil
}

// ourSpeed searches a position with an emptied table and returns nodes a second.
func ourSpeed(ctx context.Context, e *ab.Engine, fen string, nodes uint64) (float64, error) {
	p, err := chess.ParseFEN(chess.Crazyhouse, fen)
	if err != nil {
		return 0, err
	}
	e.Clear()
	start := cputime.Thread()
	r, err := e.Search(ctx, chess.NewLine(p), search.Limits{Nodes: nodes})
	if err != nil {
		return 0, err
	}
	return perSecond(r.Nodes, cputime.Thread()-start), ctx.Err()
}

// peerSpeed is ourSpeed for a fresh process of the peer.
func peerSpeed(ctx context.Context, o benchSearchOptions, fen string) (float64, error) {
	p, err := uci.StartPeer(ctx, o.peer, peerPatience)
	if err != nil {
		return 0, err
	}
	net := "setoption name Use NNUE value false"
	if o.peerNet != "none" {
		path, err := filepath.Abs(o.peerNet)
		if err != nil {
			return 0, p.Abandon(err)
		}
		net = "setoption name Use NNUE value true\nsetoption name EvalFile value " + path
	}
	setup := fmt.Sprintf("setoption name Hash value %d\nsetoption name UCI_Variant value crazyhouse\n%s\nposition fen %s\ngo nodes 1", o.hashMB, net, fen)
	if _, err := p.Ask(setup, "bestmove"); err != nil { // loads the net
		return 0, p.Abandon(err)
	}
	if _, err := p.Ask("ucinewgame\nisready", "readyok"); err != nil {
		return 0, p.Abandon(err)
	}
	line, cpu, err := p.Timed(fmt.Sprintf("position fen %s\ngo nodes %d", fen, o.nodes), "bestmove")
	if err != nil {
		return 0, p.Abandon(err)
	}
	if strings.HasPrefix(line, "bestmove (none)") {
		return 0, p.Abandon(fmt.Errorf("found %q, expected a move", line))
	}
	return perSecond(o.nodes, cpu), p.Quit()
}

func perSecond(nodes uint64, took time.Duration) float64 { return float64(nodes) / took.Seconds() }
