package puzzles

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/lab/puzzles"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

type runOptions struct {
	variant           string
	nodes             []string
	time              time.Duration
	hash, concurrency int
	json              bool
}

func newRunCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run PLAYER [FILE]",
		Short: "Measure how many puzzles a player solves",
		Long: `Ask a player for its move in every puzzle of a file, or of the program's own 1,000,
and print how many it solves: altogether, by grade, by kind, and of those whose best
move is a drop, with 95 % intervals (Wilson). A puzzle is solved by its one best move
alone. Nothing is kept from one puzzle to the next.

With several --nodes every puzzle is searched with each. Grade 1 to 4 of the program's
own puzzles says that the net and the search that they were mined with needed 100, 1,000,
10,000 or 100,000 nodes; later ones need more for some and fewer for others.

FILE is EPD, also packed by gzip: bm is one move in SAN or UCI, dm the moves to mate,
acn the nodes that the grade goes by. mine writes such files.

` + player.Help + `

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.`,
		Example: `  selfplay puzzles run builtin --nodes 100,1k,10k
  selfplay puzzles run runs/crazyhouse-laptop --json
  selfplay puzzles run uci:fairy-stockfish puzzles.epd --time 100ms --concurrency 1`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("%w: found %d arguments, expected PLAYER and perhaps FILE (see %s --help)", cli.ErrUsage, len(args), c.CommandPath())
			}
			if c.Flags().Changed("nodes") && c.Flags().Changed("time") {
				return fmt.Errorf("%w: found --nodes with --time, expected one of them", cli.ErrUsage)
			}
			if c.Flags().Changed("time") && o.time <= 0 {
				return fmt.Errorf("%w: found --time %v, expected a time above 0", cli.ErrUsage, o.time)
			}
			return run(c.Context(), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr(), args, &o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.StringSliceVar(&o.nodes, "nodes", []string{"1000"}, "nodes of the searches, one or several numbers; k and M are thousands\nand millions")
	f.DurationVar(&o.time, "time", 0, "time of a search in place of nodes, such as 100ms")
	f.IntVar(&o.hash, "hash", 4, "transposition table, or tree, of each player of this program, MiB")
	f.IntVar(&o.concurrency, "concurrency", runtime.NumCPU(), "puzzles searched at the same time")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// limits returns those of the searches.
func (o *runOptions) limits() ([]search.Limits, error) {
	if o.hash < 1 || o.concurrency < 1 || o.time < 0 {
		return nil, fmt.Errorf("%w: found --hash %d --concurrency %d --time %v, expected 1 or more, 1 or more, 0 or more", cli.ErrUsage, o.hash, o.concurrency, o.time)
	}
	if o.time > 0 {
		return []search.Limits{{MoveTime: o.time}}, nil
	}
	if len(o.nodes) == 0 {
		return nil, fmt.Errorf("%w: --nodes: found no number, expected one or more", cli.ErrUsage)
	}
	list := make([]search.Limits, len(o.nodes))
	for i, text := range o.nodes {
		n, err := player.ParseCount(text)
		if err != nil {
			return nil, fmt.Errorf("%w: --nodes: %w", cli.ErrUsage, err)
		}
		list[i].Nodes = n
	}
	return list, nil
}

func run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, args []string, o *runOptions) error {
	limits, err := o.limits()
	if err != nil {
		return err
	}
	v, err := cli.Variant(o.variant)
	if err != nil {
		return err
	}
	set, err := readSet(stdin, v, args[1:])
	if err != nil {
		return err
	}
	m, err := cli.LoadPlayer(ctx, stderr, args[0], v, player.Defaults{HashMB: o.hash})
	if err != nil {
		return err
	}
	if err := cli.AtATime("concurrency", o.concurrency, m); err != nil {
		return err
	}
	shown := time.Now()
	result, err := puzzles.Run(ctx, m, set, puzzles.RunOptions{Limits: limits, Concurrency: o.concurrency, Progress: func(done, of int) {
		if now := time.Now(); now.Sub(shown) > 10*time.Second {
			shown = now
			fmt.Fprintf(stderr, "%d searches of %d\n", done, of)
		}
	}})
	if err != nil {
		return err
	}
	return cli.WriteReport(stdout, o.json, result, result.WriteText)
}

// readSet reads the puzzles of the file that is named, - for standard input, or those
// of the program.
func readSet(stdin io.Reader, v *chess.Variant, names []string) ([]puzzles.Puzzle, error) {
	if len(names) == 0 {
		return puzzles.Default(v)
	}
	in := stdin
	if names[0] != "-" {
		f, err := os.Open(names[0])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	set, err := puzzles.Read(in, v)
	if err != nil {
		err = fmt.Errorf("%s: %w", names[0], err)
	}
	return set, err
}
