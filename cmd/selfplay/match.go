package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/search"
)

type matchOptions struct {
	variant     string
	games       int
	nodes       uint64
	depth       int
	moveTime    time.Duration
	hashMB      int
	concurrency int
	seed        uint64
	book        string
	openingMin  int
	openingMax  int
	maxPlies    int
	winScore    int
	winPlies    int
	sprt        bool
	elo0, elo1  float64
	alpha, beta float64
	log         string
	pgn         string
	json        bool
}

func newMatchCommand() *cobra.Command {
	var o matchOptions
	c := &cobra.Command{
		Use:   "match A B",
		Short: "Play a match of opening pairs and print Elo with its error",
		Long: `Play every opening with both colours and print the result of A against B: Elo
and normalised Elo with 95 % intervals, the five pair counts, and with --sprt
the sequential test's verdict. With --log a killed match goes on where it was
when the same command is run again.

` + playersHelp,
		Example: `  selfplay match new.nnue old.nnue --games 400 --nodes 400
  selfplay match new.nnue material --games 1000 --nodes 400 --sprt --elo0 0 --elo1 20
  selfplay match new.nnue uci:fairy-stockfish,Hash=16 --games 100 --movetime 50ms --pgn games.pgn`,
		Args: exactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return playMatch(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), args[0], args[1], o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.IntVar(&o.games, "games", 400, "games at most, an even number")
	f.Uint64Var(&o.nodes, "nodes", 0, "nodes a move; 400 if no other limit is given")
	f.IntVar(&o.depth, "depth", 0, "depth of each search, plies")
	f.DurationVar(&o.moveTime, "movetime", 0, "time a move, e.g. 50ms")
	f.IntVar(&o.hashMB, "hash", 4, "transposition table of our own players, MiB")
	f.IntVar(&o.concurrency, "concurrency", runtime.NumCPU(), "pairs played at the same time")
	f.Uint64Var(&o.seed, "seed", 1, "seed of openings")
	f.StringVar(&o.book, "book", "", "EPD or FEN lines to begin from; default random openings")
	f.IntVar(&o.openingMin, "opening-min", 4, "random plies of an opening, at least")
	f.IntVar(&o.openingMax, "opening-max", 9, "and at most")
	f.IntVar(&o.maxPlies, "max-plies", 400, "a longer game is a draw")
	f.IntVar(&o.winScore, "win-score", 2500, "adjudicate when both players agree on this score, centipawns; 0: never")
	f.IntVar(&o.winPlies, "win-plies", 6, "for so many plies")
	f.BoolVar(&o.sprt, "sprt", false, "stop when a sequential test of --elo0 against --elo1 decides")
	f.Float64Var(&o.elo0, "elo0", 0, "logistic Elo of H0")
	f.Float64Var(&o.elo1, "elo1", 20, "logistic Elo of H1")
	f.Float64Var(&o.alpha, "alpha", 0.05, "error rate of accepting H1 under H0")
	f.Float64Var(&o.beta, "beta", 0.05, "error rate of accepting H0 under H1")
	f.StringVar(&o.log, "log", "", "game log; makes the match resumable")
	f.StringVar(&o.pgn, "pgn", "", "append the games to this file")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	return c
}

func (o *matchOptions) config(ctx context.Context, a, b string) (match.Config, error) {
	var cfg match.Config
	v, err := chess.ParseVariant(o.variant)
	if err != nil {
		return cfg, fmt.Errorf("%w: --variant: %w", errUsage, err)
	}
	if o.games < 2 || o.games%2 != 0 {
		return cfg, fmt.Errorf("%w: --games: found %d, expected an even number: every opening is played with both colours", errUsage, o.games)
	}
	limits := search.Limits{Nodes: o.nodes, Depth: o.depth, MoveTime: o.moveTime}
	if o.nodes == 0 && o.depth == 0 && o.moveTime == 0 {
		limits.Nodes = 400
	}
	cfg = match.Config{
		Variant:     v,
		Openings:    match.RandomOpenings(v, o.seed, o.openingMin, o.openingMax),
		Pairs:       o.games / 2,
		Concurrency: o.concurrency,
		Seed:        o.seed,
		Game:        game.Config{MaxPlies: o.maxPlies, WinScore: search.Score(o.winScore), WinPlies: o.winPlies},
		Log:         o.log,
		Build:       build(),
	}
	if o.sprt {
		cfg.SPRT = &rating.SPRT{Elo0: o.elo0, Elo1: o.elo1, Alpha: o.alpha, Beta: o.beta}
	}
	if o.book != "" {
		f, err := os.Open(o.book)
		if err != nil {
			return cfg, fmt.Errorf("--book: %w", err)
		}
		defer f.Close()
		if cfg.Openings, err = match.BookOpenings(v, f, o.seed); err != nil {
			return cfg, fmt.Errorf("%s: %w", o.book, err)
		}
	}
	if cfg.A, err = contestant(ctx, a, v, limits, o.hashMB); err != nil {
		return cfg, err
	}
	if cfg.B, err = contestant(ctx, b, v, limits, o.hashMB); err != nil {
		return cfg, err
	}
	if cfg.A.Name == cfg.B.Name {
		cfg.A.Name += " (A)"
		cfg.B.Name += " (B)"
	}
	return cfg, nil
}

func playMatch(ctx context.Context, stdout, stderr io.Writer, a, b string, o matchOptions) error {
	cfg, err := o.config(ctx, a, b)
	if err != nil {
		return err
	}
	if o.pgn != "" {
		f, err := os.OpenFile(o.pgn, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return fmt.Errorf("--pgn: %w", err)
		}
		defer f.Close()
		cfg.PGN = f
	}
	shown := time.Now()
	cfg.OnPair = func(_ match.Pair, _ [2]*game.Game, r match.Result) {
		if now := time.Now(); now.Sub(shown) > 10*time.Second {
			shown = now
			fmt.Fprintf(stderr, "%d of %d games, Elo %v\n", r.Games.Games(), o.games, r.Elo)
		}
	}
	result, err := match.Run(ctx, cfg)
	if err != nil && result.Games.Games() == 0 {
		return err // there is nothing to print
	}
	if o.json {
		if encodeErr := json.NewEncoder(stdout).Encode(result); encodeErr != nil {
			return errors.Join(err, encodeErr)
		}
	} else {
		fmt.Fprint(stdout, result)
	}
	if errors.Is(err, context.Canceled) && o.log != "" {
		fmt.Fprintln(stderr, "interrupted; the same command goes on from the log")
	}
	return err
}
