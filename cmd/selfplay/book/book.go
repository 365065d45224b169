// Package book is the command book: it makes books of openings and checks them.
package book

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Commands returns the command.
func Commands() []*cobra.Command { return []*cobra.Command{newBookCommand()} }

type bookOptions struct {
	variant     string
	out         string
	journal     string
	count       int
	seed        uint64
	plies       string
	player      string
	nodes       uint64
	multiPV     int
	temperature float64
	maxLoss     int
	bonus       int
	maxScore    int
	judge       string
	judgeNodes  uint64
	band        string
	scores      int
	hands       []int
	oversample  float64
	maxWalks    int
	hashMB      int
	concurrency int
}

func newBookCommand() *cobra.Command {
	var o bookOptions
	c := &cobra.Command{
		Use:   "book --out FILE",
		Short: "Make a book of openings by walks that a player finds plausible",
		Long: `Make a book: walk from the start position, each ply drawn from the moves that
--player finds best, have --judge score where walks end, and keep --count of the
positions: none twice, all within the band of scores, and as evenly spread over
strata of score, pieces in hand and side to move as can be.

FILE is EPD, packed if its name ends in .gz; FILE.json says how it was made. A
FILE that is there is written over only if it is a book of the same walks. The
walks are kept in FILE.walks (--walks): the same command goes on from there
after a kill, and with another band, count or strata it makes another book of
the same walks. The book depends on the settings and the seed alone, not on
--concurrency or on how often it was interrupted. For that limits are nodes or
depth, and UCI engines are given Threads=1.

Scores are in the judge's scale. "selfplay book check --games" measures what White
scores from a book, which the band decides.

Exit codes: 0 done, 1 failed, 2 wrong usage, 4 interrupted but to be continued by
the same command.

` + player.Help,
		Example: `  selfplay book --out book.epd --player net.nnue --nodes 400
  selfplay book --out book.epd.gz --player net.nnue --judge uci:fairy-stockfish,Hash=1,Threads=1 --band -60..140`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usage(makeBook(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), o, c.Root().Version))
		},
	}
	f := c.Flags()
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.StringVar(&o.out, "out", "", "book to write (required)")
	f.StringVar(&o.journal, "walks", "", "journal of the walks; default FILE.walks")
	f.IntVar(&o.count, "count", 5000, "positions of the book")
	f.Uint64Var(&o.seed, "seed", 1, "seed of walks and of the book's order")
	f.StringVar(&o.plies, "plies", "8-26", "length of walks, from and to")
	f.StringVar(&o.player, "player", "material", "player that chooses the moves of walks")
	f.Uint64Var(&o.nodes, "nodes", 200, "nodes of the walker's search at each ply")
	f.IntVar(&o.multiPV, "multipv", 8, "best moves that a ply is drawn from, by a player that reports as many lines")
	f.Float64Var(&o.temperature, "temperature", 30, "a move that is worse by this, centipawns, is drawn 1/e times as often")
	f.IntVar(&o.maxLoss, "max-loss", 100, "how much worse than the best a move drawn may be, centipawns")
	f.IntVar(&o.bonus, "capture-bonus", 60, "captures are drawn as if they were better by this, centipawns, which fills the hands")
	f.IntVar(&o.maxScore, "max-score", 400, "a walk is given up when the walker sees a side ahead by more centipawns")
	f.StringVar(&o.judge, "judge", "", "player that scores the ends of walks; default --player")
	f.Uint64Var(&o.judgeNodes, "judge-nodes", 3000, "nodes of the judge's search")
	f.StringVar(&o.band, "band", "0..220", "scores of positions, centipawns from White's side, from and to")
	f.IntVar(&o.scores, "score-strata", 5, "strata of equal width that the band is cut into")
	f.IntSliceVar(&o.hands, "hand-strata", []int{0, 1, 2, 4}, "least number of pieces in both hands of each stratum")
	f.Float64Var(&o.oversample, "oversample", 1.5, "positions found for each one kept, so that strata come out even")
	f.IntVar(&o.maxWalks, "max-walks", 0, "walks at most; 0: 50 for each position found")
	f.IntVar(&o.hashMB, "hash", 1, "transposition table of our own players, MiB")
	f.IntVar(&o.concurrency, "concurrency", runtime.NumCPU(), "walks made at the same time")
	c.AddCommand(newBookCheckCommand())
	return c
}

// usage says of settings that they are the command line's.
func usage(err error) error {
	if errors.Is(err, book.ErrSettings) {
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	return err
}

// explorer makes what explores, the facts of its walks and the makers of its players.
func (o *bookOptions) explorer(ctx context.Context, stderr io.Writer) (*book.Explorer, book.WalkFacts, []*player.Maker, error) {
	v, err := cli.Variant(o.variant)
	if err != nil {
		return nil, book.WalkFacts{}, nil, err
	}
	minPlies, maxPlies, err := parseFromTo(o.plies, "-")
	if err != nil {
		return nil, book.WalkFacts{}, nil, fmt.Errorf("%w: --plies: %w", cli.ErrUsage, err)
	}
	walker, err := cli.LoadPlayer(ctx, stderr, o.player, v, player.Defaults{Limits: search.Limits{Nodes: o.nodes}, HashMB: o.hashMB})
	if err != nil {
		return nil, book.WalkFacts{}, nil, err
	}
	e := &book.Explorer{
		Settings: book.Settings{
			Variant: v, Seed: o.seed, MinPlies: minPlies, MaxPlies: maxPlies,
			Moves: walker.Limits, Temperature: o.temperature,
			MaxLoss: search.Score(o.maxLoss), CaptureBonus: search.Score(o.bonus), MaxScore: search.Score(o.maxScore),
			Judge: search.Limits{Nodes: o.judgeNodes},
		},
		NewWalker: walker.New, Concurrency: o.concurrency,
	}
	e.Settings.Moves.MultiPV = o.multiPV
	judge, makers := walker, []*player.Maker{walker}
	if o.judge != "" {
		if judge, err = cli.LoadPlayer(ctx, stderr, o.judge, v, player.Defaults{Limits: e.Settings.Judge, HashMB: o.hashMB}); err != nil {
			return nil, book.WalkFacts{}, nil, err
		}
		e.NewJudge, e.Settings.Judge = judge.New, judge.Limits
		makers = append(makers, judge)
	}
	if err := e.Settings.Validate(); err != nil {
		return nil, book.WalkFacts{}, nil, err
	}
	first, err := bookPlayer(walker)
	if err != nil {
		return nil, book.WalkFacts{}, nil, err
	}
	second, err := bookPlayer(judge)
	return e, e.Settings.Facts(first, second), makers, err
}

// bookPlayer describes a player for a book's manifest. A UCI engine is started for
// its name, which includes its version.
func bookPlayer(m *player.Maker) (book.Player, error) {
	p := book.Player{Name: m.Name, Settings: m.Settings}
	if len(m.Net) == hex.EncodedLen(sha256.Size) {
		p.Net = m.Net
	}
	opened, err := m.Open()
	if err != nil {
		return p, fmt.Errorf("player %s: %w", m.Name, err)
	}
	if named, ok := opened.(interface{ Name() string }); ok {
		p.Name = named.Name()
	}
	return p, opened.Close()
}

func (o *bookOptions) selection() (book.Selection, error) {
	lo, hi, err := parseFromTo(o.band, "..")
	if err != nil {
		return book.Selection{}, fmt.Errorf("%w: --band: %w", cli.ErrUsage, err)
	}
	return book.Selection{
		Count: o.count, Lo: search.Score(lo), Hi: search.Score(hi), Scores: o.scores, Hands: o.hands,
		Oversample: o.oversample, MaxWalks: o.maxWalks,
	}, nil
}

// parseFromTo reads two numbers with a separator between them.
func parseFromTo(text, separator string) (from, to int, err error) {
	first, second, ok := strings.Cut(text, separator)
	if from, err = strconv.Atoi(first); err == nil && ok {
		to, err = strconv.Atoi(second)
	}
	if !ok || err != nil {
		return 0, 0, fmt.Errorf("found %q, expected FROM%sTO", text, separator)
	}
	return from, to, nil
}

func makeBook(ctx context.Context, stdout, stderr io.Writer, o bookOptions, build string) (err error) {
	if o.out == "" {
		return fmt.Errorf("%w: --out is required (see selfplay book --help)", cli.ErrUsage)
	}
	selection, err := o.selection()
	if err != nil {
		return err
	}
	explorer, facts, makers, err := o.explorer(ctx, stderr)
	if err != nil {
		return err
	}
	if err := cli.AtATime("concurrency", o.concurrency, makers...); err != nil {
		return err
	}
	if o.journal == "" {
		o.journal = o.out + ".walks"
	}
	if err := o.mayWrite(facts); err != nil {
		return err
	}
	selector, err := book.NewSelector(selection, o.seed)
	if err != nil {
		return err
	}
	if err := o.explore(ctx, stderr, explorer, facts, selector); err != nil {
		return err
	}
	walks, strata, err := selector.Select()
	if err != nil {
		return err
	}
	text := book.EPD(walks)
	sum := sha256.Sum256(text)
	m := book.Manifest{
		SHA256: hex.EncodeToString(sum[:]), Positions: len(walks), Build: build, Walks: facts,
		Band: [2]search.Score{selection.Lo, selection.Hi}, Oversample: selection.Oversample,
		Census: selector.Census, Strata: strata,
	}
	manifest, err := m.Encode()
	if err != nil {
		return err
	}
	if err := o.mayWrite(facts); err != nil { // another process may have been faster
		return err
	}
	// The manifest first: a book without one is not written over, so a kill between the two
	// would keep the same command from ending.
	if err := durable.WriteFile(o.out+".json", manifest); err != nil {
		return err
	}
	if err := writeBook(o.out, text); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %d positions of %d found in %d walks, SHA-256 %s\n", o.out, m.Positions, m.Census.Found, m.Census.Walks, m.SHA256)
	return nil
}

// explore makes walks, those of the journal first, until the selector has enough.
func (o *bookOptions) explore(ctx context.Context, stderr io.Writer, e *book.Explorer, facts book.WalkFacts, s *book.Selector) (err error) {
	header, err := facts.Header()
	if err != nil {
		return err
	}
	j, err := book.OpenJournal(o.journal, e.Settings.Variant, header)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	shown := time.Now()
	err = j.Run(ctx, e, func(w book.Walk) (bool, error) {
		if now := time.Now(); now.Sub(shown) > 10*time.Second {
			shown = now
			fmt.Fprintf(stderr, "%d walks, %d positions of %d\n", s.Census.Walks, s.Census.Found, int(float64(o.count)*o.oversample))
		}
		return s.Add(w)
	})
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: the same command goes on from %s", cli.ErrResumable, o.journal)
	}
	return err
}

// mayWrite refuses to write over files that are not a book of the same walks and its manifest.
func (o *bookOptions) mayWrite(facts book.WalkFacts) error {
	there := false
	for _, name := range []string{o.out, o.out + ".json"} {
		if cli.SameFile(name, o.journal) {
			return fmt.Errorf("%w: --walks: found %s, which --out writes, expected another file", cli.ErrUsage, o.journal)
		}
		info, err := os.Stat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		there = there || err == nil && info.Mode().IsRegular()
	}
	if !there {
		return nil
	}
	m, err := readManifest(o.out)
	if err == nil && m != nil {
		was, _ := m.Walks.Header()
		is, _ := facts.Header()
		if was == is {
			return nil
		}
	}
	return fmt.Errorf("%w: --out: found %s or %[2]s.json, of which the second does not call the first a book of these walks, expected one, or a name that is not in use: choose another, or remove them", cli.ErrUsage, o.out)
}

// writeBook writes a book's text, packed if the name says so.
func writeBook(path string, text []byte) error {
	if !strings.HasSuffix(path, ".gz") {
		return durable.WriteFile(path, text)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return durable.WriteFile(path, packed.Bytes())
}
