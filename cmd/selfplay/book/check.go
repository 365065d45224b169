package book

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

type bookCheckOptions struct {
	variant     string
	plies       int
	player      string
	nodes       uint64
	games       int
	seed        uint64
	hashMB      int
	concurrency int
	record      bool
}

func newBookCheckCommand() *cobra.Command {
	var o bookCheckOptions
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say what is in a book and measure what White scores from it",
		Long: `Read a book, by default the program's own, and print what is in it. With a
manifest, FILE.json, exit 1 if the book is not the one it was written for.

With --games, play that number of games of --player against itself, each from
another opening, so at most as many as the book has different ones, and print what White scores;
--record adds that to the manifest.

` + player.Help,
		Example: `  selfplay book check
  selfplay book check book.epd --player net.nnue --nodes 400 --games 2000 --record`,
		Args: func(c *cobra.Command, args []string) error {
			return cli.ExactArgs(min(len(args), 1))(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return usage(checkBook(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), name, o))
		},
	}
	f := c.Flags()
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.IntVar(&o.plies, "plies", 0, "plies of each game of a PGN book, at most; 0: all")
	f.IntVar(&o.games, "games", 0, "games to play, at most as many as different openings; 0: none")
	f.StringVar(&o.player, "player", "material", "player of these games, against itself")
	f.Uint64Var(&o.nodes, "nodes", 400, "nodes a move, of a player without limits of its own")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the choice of openings")
	f.IntVar(&o.hashMB, "hash", 1, "transposition table of our own players, MiB")
	f.IntVar(&o.concurrency, "concurrency", runtime.NumCPU(), "games played at the same time")
	f.BoolVar(&o.record, "record", false, "add what White scored to the manifest")
	return c
}

func checkBook(ctx context.Context, w, stderr io.Writer, name string, o bookCheckOptions) error {
	v, err := cli.Variant(o.variant)
	if err != nil {
		return err
	}
	if o.plies < 0 {
		return fmt.Errorf("%w: --plies: found %d, expected 0 or more", cli.ErrUsage, o.plies)
	}
	if o.record && (book.IsDefault(name) || o.games == 0) {
		return fmt.Errorf("%w: --record needs --games and FILE: the manifest of the program's own book cannot be written", cli.ErrUsage)
	}
	b, err := book.Open(name, v, book.Options{Plies: o.plies})
	if err != nil {
		return err
	}
	facts, err := book.Inspect(b)
	if err != nil {
		return err
	}
	fmt.Fprint(w, facts)
	m, err := bookManifest(name, v)
	if err != nil {
		return err
	}
	if m != nil {
		if m.SHA256 != b.SHA256 || m.Positions != len(b.Entries) {
			return fmt.Errorf("%s.json: found %d positions with SHA-256 %s, expected %d with %s", name, m.Positions, m.SHA256, len(b.Entries), b.SHA256)
		}
		fmt.Fprintf(w, "manifest: agrees; seed %d, walker %s, judge %s\n", m.Walks.Seed, m.Walks.Walker.Name, m.Walks.Judge.Name)
		for _, s := range m.Expectation {
			fmt.Fprintln(w, s)
		}
	}
	if o.games == 0 {
		return nil
	}
	if o.record && m == nil {
		return fmt.Errorf("--record: %s.json: found no manifest, expected the one that selfplay book wrote: %w", name, fs.ErrNotExist)
	}
	score, err := o.measure(ctx, stderr, b)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, score)
	if !o.record {
		return nil
	}
	m.Expectation = append(m.Expectation, score)
	text, err := m.Encode()
	if err != nil {
		return err
	}
	return durable.WriteFile(name+".json", text)
}

// bookManifest returns the manifest of a book, nil if it has none.
func bookManifest(name string, v *chess.Variant) (*book.Manifest, error) {
	if book.IsDefault(name) {
		_, m, err := book.Default(v)
		return m, err
	}
	return readManifest(name)
}

// readManifest returns the manifest beside a book, nil if there is none.
func readManifest(name string) (*book.Manifest, error) {
	text, err := os.ReadFile(name + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := book.ParseManifest(text)
	if err != nil {
		return nil, fmt.Errorf("%s.json: %w", name, err)
	}
	return m, nil
}

// measure plays games from the book.
func (o *bookCheckOptions) measure(ctx context.Context, stderr io.Writer, b *book.Book) (book.WhiteScore, error) {
	maker, err := cli.LoadPlayer(ctx, stderr, o.player, b.Variant, player.Defaults{Limits: search.Limits{Nodes: o.nodes}, HashMB: o.hashMB})
	if err != nil {
		return book.WhiteScore{}, err
	}
	if err := cli.AtATime("concurrency", o.concurrency, maker); err != nil {
		return book.WhiteScore{}, err
	}
	who, err := bookPlayer(maker)
	if err != nil {
		return book.WhiteScore{}, err
	}
	who.Limits = game.LimitsText(maker.Limits)
	m := book.Measurement{
		NewPlayer: maker.New,
		Game: game.Config{
			Limits: game.Both(maker.Limits), TimeMargin: time.Second,
			MaxPlies: 400, WinScore: 2500, WinPlies: 6,
		},
		Games: o.games, Seed: o.seed, Concurrency: o.concurrency,
	}
	score, err := m.Run(ctx, b)
	score.Player = who
	return score, err
}
