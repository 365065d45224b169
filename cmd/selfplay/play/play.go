// Package play is the command play: a person's game against any player, on the
// terminal.
package play

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search/strength"
)

// Commands returns the command.
func Commands() []*cobra.Command { return []*cobra.Command{newPlayCommand()} }

// usualTime is that of a player's search without limits.
const usualTime = time.Second

type playOptions struct {
	elo     int
	color   string
	variant string
	fen     string
	save    string
	name    string
	seed    uint64
	hash    int
	flip    bool
	limits  cli.SearchLimits
}

// commandsHelp is what the command help answers in a game.
const commandsHelp = `a move in SAN or UCI: Nf3, exd5, O-O, N@h3 or g1f3, e4d5, e1g1
takeback   take back your last move and the answer to it
hint       the move that a search at full strength would play
moves      all legal moves
flip       turn the board
board      draw the board again, with the FEN
save FILE  write the game so far to a file, as PGN
resign     lose the game
quit       end without a result`

func newPlayCommand() *cobra.Command {
	var o playOptions
	c := &cobra.Command{
		Use:   "play [PLAYER]",
		Short: "Play a game on the terminal against any player",
		Long: `Play against the program's own net, or any player as match takes it: a net file, a
directory, material, mcts:FILE, uci:COMMAND or xboard:COMMAND, with settings after
commas. --elo limits a player of this program to a rating on the scale of selfplay
ladder, where material with 400 nodes a move was 0 when the scale was measured.

At your turn type

` + "  " + strings.ReplaceAll(commandsHelp, "\n", "\n  ") + `

Commands may come from a pipe; the end of the input is quit. The same seed, and
limits of nodes or depth, give the same answers to the same moves.

Exit codes: 0 done, 1 the player failed, 2 wrong usage, 130 interrupted.`,
		Example: `  selfplay play
  selfplay play --elo 0 --color black --save game.pgn
  selfplay play material --nodes 400
  selfplay play uci:fairy-stockfish --time 500ms
  printf 'e4\nhint\nquit\n' | selfplay play --nodes 10000`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.ExactArgs(1)(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			text := player.Builtin
			if len(args) == 1 {
				text = args[0]
			}
			limited := c.Flags().Changed("elo")
			return play(c.Context(), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr(), text, limited, c.Root().Version, o)
		},
	}
	f := c.Flags()
	f.IntVar(&o.elo, "elo", 0, fmt.Sprintf("rating of the player, %d to %d; default its full strength", strength.MinElo(), strength.MaxElo()))
	f.StringVar(&o.color, "color", "white", "your side: white, black or random")
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.StringVar(&o.fen, "fen", "", "position to begin from; default the start position")
	f.StringVar(&o.save, "save", "", "write the game to this file as PGN when it ends")
	f.StringVar(&o.name, "name", "human", "your name in the PGN")
	f.Uint64Var(&o.seed, "seed", 0, "seed of --color random and of the player's choices with --elo; 0: a random one")
	f.IntVar(&o.hash, "hash", 64, "the player's transposition table, or tree, MiB")
	f.BoolVar(&o.flip, "flip", false, "draw the board with your opponent below")
	o.limits.AddFlags(f, usualTime)
	return c
}

func play(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, text string, limited bool, build string, o playOptions) error {
	if o.hash < 1 {
		return fmt.Errorf("%w: found --hash %d, expected 1 or more", cli.ErrUsage, o.hash)
	}
	for o.seed == 0 {
		o.seed = rand.Uint64()
	}
	if err := cli.CheckFolder("--save", o.save); err != nil {
		return err
	}
	v, err := cli.Variant(o.variant)
	if err != nil {
		return err
	}
	color, err := parseColor(o.color, o.seed)
	if err != nil {
		return err
	}
	start, err := cli.Position(v, o.fen, false)
	if err != nil {
		return fmt.Errorf("%w: --fen: %w", cli.ErrUsage, err)
	}
	lim, err := o.limits.Limits()
	if err != nil {
		return err
	}
	full, err := player.Parse(text)
	if err != nil {
		return err
	}
	opponent := full
	if full.Elo = nil; limited {
		if full.Search.Foreign() {
			return fmt.Errorf("%w: found --elo with the engine %s, expected a player of this program; engines have options", cli.ErrUsage, text)
		}
		if err := strength.Check(o.elo); err != nil {
			return fmt.Errorf("%w: --elo: %w", cli.ErrUsage, err)
		}
		opponent.Elo = &o.elo
	}
	if opponent.Elo != nil && opponent.Seed == 0 {
		opponent.Seed = o.seed
	}
	d := player.Defaults{Limits: lim, HashMB: o.hash}
	m, err := opponent.Load(ctx, v, d)
	if err != nil {
		return err
	}
	cli.ShowOrigin(stderr, m.Origin)
	hints, err := full.Load(ctx, v, d)
	if err != nil {
		return err
	}
	if opponent.Elo != nil && opponent.Name == "" {
		m.Name += fmt.Sprintf(" elo %d", *opponent.Elo)
	}
	t := newDialogue(start, color, m, hints, stdout)
	t.name, t.build, t.save, t.flipped = o.name, build, o.save, (color == chess.Black) != o.flip
	return t.run(ctx, stdin)
}

func parseColor(text string, seed uint64) (chess.Color, error) {
	switch text {
	case "white":
		return chess.White, nil
	case "black":
		return chess.Black, nil
	case "random":
		return chess.Color(rand.New(rand.NewPCG(seed, 0)).IntN(2)), nil
	}
	return 0, fmt.Errorf("%w: found --color %q, expected white, black or random", cli.ErrUsage, text)
}
