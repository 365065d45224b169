// Package gensfen is the command gensfen: it generates training data.
package gensfen

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/generate"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Commands returns the command.
func Commands() []*cobra.Command { return []*cobra.Command{newGensfenCommand()} }

// gensfenOptions are what generate_training_data of variant-nnue-tools and its
// predecessors call them. Scores are centipawns.
type gensfenOptions struct {
	variant, player string

	depth, minDepth, maxDepth int
	nodes                     uint64
	count                     uint64
	output, format            string
	evalLimit, evalDiffLimit  search.Score
	random                    generate.Random
	writeMinPly, writeMaxPly  int
	book                      string
	saveEvery                 uint64
	randomFileName            bool
	keepDraws                 bool
	drawsByScore              bool
	drawsByMaterial           bool
	skipCaptures              bool
	seed                      string
	threads, hashMB, seenMB   int
	progress, saveInterval    time.Duration
}

func newGensfenCommand() *cobra.Command {
	var o gensfenOptions
	c := &cobra.Command{
		Use:     "gensfen [OPTION VALUE ...]",
		Aliases: []string{"generate", "generate_training_data"},
		Short:   "Generate training data: games a player plays against itself",
		Long: `Play games with a few random moves in each and write them as training data, as
generate_training_data of variant-nnue-tools and the older gensfen do. Options
have the names they have there, with dashes or underscores, as flags or as bare
words (depth 8 loop 1000). Scores are in the unit of those tools, 208 to the
pawn, or in centipawns if cp follows: 3000, 1442cp.

A .chain file holds whole games, with every ply and marks on those to train on;
selfplay convert makes any other format of it. Not to be trained on are random
moves, early plies, positions in check, decided ones, those that are not quiet
(only our alpha-beta search tells which are), and those that came before. A .bin or
.plain file holds the positions to train on only; FILE.run says how far it is.

A run may be stopped at any moment: the same command goes on where the file ends,
without a game lost or doubled. A file depends on settings, seed and count alone,
not on --threads or interruptions, if the player is deterministic, as ours are
with one thread each and limits of nodes or depth. Without --seed one is drawn,
and read from the file when the run is resumed.

Unlike those tools, this one writes games to their end, so that a run may have a
few more positions than asked for; random moves are drops as often as moves in games;
a position whose move was random is not trained on; --nodes alone sets no depth,
and searches end at that number of nodes, not after the iteration.

` + player.Help + `

Exit codes: 0 complete, 1 failed, 2 wrong usage, 4 interrupted but to be
continued by the same command.`,
		Example: `  selfplay gensfen --player net.nnue --depth 8 --count 1000000 --output games.chain --threads 4
  selfplay gensfen --player net.nnue --nodes 5000 --random-multi-pv 4 --random-multi-pv-diff 100 --book default
  selfplay gensfen --player uci:fairy-stockfish,nodes=2000 --count 100000 --output teacher.chain
  selfplay generate depth 8 loop 100000 random_move_maxply 20 eval_limit 3000 output_file_name train.bin`,
		RunE: func(c *cobra.Command, words []string) error {
			if err := setWords(c.Flags(), words); err != nil {
				return fmt.Errorf("%w: %w (see %s --help)", cli.ErrUsage, err, c.CommandPath())
			}
			return gensfen(c, &o)
		},
	}
	o.addFlags(c.Flags())
	return c
}

func (o *gensfenOptions) addFlags(f *pflag.FlagSet) {
	f.SetNormalizeFunc(gensfenName)
	f.SetInterspersed(false) // what follows a bare word is for setWords
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.StringVar(&o.player, "player", "material", "player of both sides, as described above")
	f.IntVar(&o.depth, "depth", 3, "depth of searches, plies; not set if --nodes is and this is not")
	f.IntVar(&o.minDepth, "min-depth", 0, "least depth, drawn anew for every ply; 0: --depth")
	f.IntVar(&o.maxDepth, "max-depth", 0, "greatest depth; 0: --min-depth")
	f.Uint64Var(&o.nodes, "nodes", 0, "nodes of a search; 0: no limit")
	o.count = 8_000_000_000
	f.Var((*countValue)(&o.count), "count", "positions to train on, at least; also --loop")
	f.StringVar(&o.output, "output", "training_data", "file, to which the format's extension is added if it is missing;\nalso --output-file-name")
	f.StringVar(&o.format, "data-format", "", "chain, bin or plain; default by the extension, else chain")
	addScore(f, &o.evalLimit, "eval-limit", 3000, "four scores in a row beyond this end a game as won, in 80 % of games")
	addScore(f, &o.evalDiffLimit, "eval-diff-limit", 500, "greatest difference of static evaluation and quiescence search\nof a position to train on, where our alpha-beta search plays")
	f.IntVar(&o.random.MinPly, "random-move-min-ply", 1, "first ply of random moves, from 1; -1: all random moves at once,\nfrom the start")
	f.IntVar(&o.random.MaxPly, "random-move-max-ply", 24, "last ply of random moves")
	f.IntVar(&o.random.Count, "random-move-count", 5, "random moves of a game")
	f.IntVar(&o.random.KingMoves, "random-move-like-apery", 0, "N: one random move in N is the king's, then half of the replies are\nrandom; 0: never")
	f.IntVar(&o.random.MultiPV, "random-multi-pv", 0, "number of best moves that random moves are drawn from, by a player that\nreports as many lines; 0: all moves")
	addScore(f, &o.random.MultiPVDiff, "random-multi-pv-diff", 32000, "random moves are worse than the best by this at most, centipawns")
	f.IntVar(&o.random.MultiPVDepth, "random-multi-pv-depth", 0, "depth of the search that finds the moves of --random-multi-pv, at least --max-depth")
	f.IntVar(&o.writeMinPly, "write-min-ply", 16, "first ply to train on, from 0")
	f.IntVar(&o.writeMaxPly, "write-max-ply", 400, "plies after which a game is a draw")
	f.StringVar(&o.book, "book", "", `openings: an EPD, FEN or PGN file, or "default" for the program's own;
plies count from where they end`)
	f.Var((*countValue)(&o.saveEvery), "save-every", "positions after which another file, NAME_1 and so on, begins; 0: never")
	f.Var((*onOff)(&o.randomFileName), "random-file-name", "add random digits to the file's name, 0 or 1; to go on with the file,\ngive that name as --output instead")
	o.keepDraws, o.drawsByScore, o.drawsByMaterial = true, true, true
	f.Var((*onOff)(&o.keepDraws), "keep-draws", "write drawn games, 0 or 1")
	f.Var((*onOff)(&o.drawsByScore), "adjudicate-draws-by-score", "from ply 80 on eight scores of 0 in a row are a draw, 0 or 1")
	f.Var((*onOff)(&o.drawsByMaterial), "adjudicate-draws-by-insufficient-material", "1: as the rules of chess have it; crazyhouse has no such draws")
	f.BoolVar(&o.skipCaptures, "smart-fen-skipping", false, "do not train on positions whose best move captures or promotes")
	f.StringVar(&o.seed, "seed", "", "number or text; default random, or that of the file to go on with")
	f.IntVar(&o.threads, "threads", 1, "games played at a time")
	f.IntVar(&o.hashMB, "hash", 16, "transposition table of each player of our own, MiB")
	f.IntVar(&o.seenMB, "seen", 64, "table of positions that came before, MiB, 8 bytes each; 0: none")
	f.DurationVar(&o.progress, "progress", 10*time.Second, "time between lines of progress")
	f.DurationVar(&o.saveInterval, "save-interval", 10*time.Second, "time between savings, which a kill may cost")
	f.Bool("set-recommended-uci-options", false, "nothing to set, for commands that have it")
}

// gensfen generates what the options say.
func gensfen(c *cobra.Command, o *gensfenOptions) error {
	stderr := c.ErrOrStderr()
	if o.progress < 0 || o.saveInterval < 0 {
		return fmt.Errorf("%w: found --progress %v --save-interval %v, expected 0 or more of each", cli.ErrUsage, o.progress, o.saveInterval)
	}
	cfg, err := o.config(c.Context(), c.Flags(), c.Root().Version, stderr)
	if err != nil {
		return err
	}
	printer := newPrinter(o, os.Args, &cfg, stderr)
	cfg.Note, cfg.Progress, cfg.ProgressInterval = printer.note, printer.progress, o.progress
	cfg.SaveInterval = o.saveInterval
	done, err := generate.Run(c.Context(), cfg)
	return printer.end(c.OutOrStdout(), &done, c.Context().Err() == context.Canceled, err)
}
