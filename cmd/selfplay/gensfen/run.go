package gensfen

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/generate"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// config makes the run of the options. What they do not say is written to stderr.
func (o *gensfenOptions) config(ctx context.Context, f *pflag.FlagSet, build string, stderr io.Writer) (cfg generate.Config, err error) {
	v, err := cli.Variant(o.variant)
	if err != nil {
		return cfg, err
	}
	if v == chess.Chess && !o.drawsByMaterial {
		return cfg, fmt.Errorf("%w: --adjudicate-draws-by-insufficient-material: found 0, expected 1: such games are over by the rules of chess", cli.ErrUsage)
	}
	cfg = generate.Config{
		Settings: generate.Settings{
			Variant: v, EvalLimit: o.evalLimit, EvalDiffLimit: o.evalDiffLimit, DrawByScore: o.drawsByScore, Random: o.random,
			WriteMinPly: o.writeMinPly, WriteMaxPly: o.writeMaxPly,
			SkipDraws: !o.keepDraws, SkipCaptures: o.skipCaptures, SeenMB: o.seenMB,
		},
		Count: int64(o.count), SaveEvery: int64(o.saveEvery), Threads: o.threads, Build: build,
	}
	if cfg.Output, cfg.Format, err = o.file(); err != nil {
		return cfg, err
	}
	if cfg.Seed, err = o.seedNumber(cfg.Output, cfg.Format, stderr); err != nil {
		return cfg, err
	}
	if err := o.setOpenings(&cfg); err != nil {
		return cfg, err
	}
	return cfg, o.setPlayer(ctx, f, &cfg, stderr)
}

// setPlayer settles who plays and how it searches.
func (o *gensfenOptions) setPlayer(ctx context.Context, f *pflag.FlagSet, cfg *generate.Config, stderr io.Writer) error {
	limits := search.Limits{Nodes: o.nodes}
	if o.nodes == 0 || f.Changed("depth") {
		limits.Depth = o.depth
	}
	self, err := cli.LoadPlayer(ctx, stderr, o.player, cfg.Variant, player.Defaults{Limits: limits, HashMB: o.hashMB})
	if err != nil {
		return err
	}
	if err := cli.AtATime("threads", o.threads, self); err != nil {
		return err
	}
	cfg.New, cfg.Net, cfg.Player, cfg.Limits = self.New, self.Net, self.Settings, self.Limits
	cfg.MinDepth, cfg.MaxDepth = self.Limits.Depth, self.Limits.Depth
	cfg.Limits.Depth = 0
	if o.maxDepth > 0 && o.maxDepth < o.minDepth {
		return fmt.Errorf("%w: found --min-depth %d and --max-depth %d, expected a maximum that is not below the minimum", cli.ErrUsage, o.minDepth, o.maxDepth)
	}
	for _, name := range []string{"nodes", "depth", "min-depth", "max-depth"} {
		if self.Spec.HasLimits() && f.Changed(name) {
			return fmt.Errorf("%w: found --%s and limits in --player %s, expected one of them", cli.ErrUsage, name, o.player)
		}
	}
	if !self.Spec.HasLimits() {
		if o.minDepth > 0 {
			cfg.MinDepth = o.minDepth
			cfg.MaxDepth = o.minDepth
		}
		if o.maxDepth > 0 {
			cfg.MaxDepth = max(o.maxDepth, cfg.MinDepth)
			cfg.MinDepth = max(cfg.MinDepth, 1)
		}
	}
	if cfg.MaxDepth > 0 {
		cfg.Random.MultiPVDepth = max(cfg.Random.MultiPVDepth, cfg.MaxDepth)
	}
	if self.Spec.Search == player.XBoard && o.random.MultiPV > 1 && o.random.Count > 0 {
		return fmt.Errorf("%w: --random-multi-pv: found %d with an engine of CECP, which reports one line, expected 0 or another player", cli.ErrUsage, o.random.MultiPV)
	}
	if self.Spec.Search != player.AlphaBeta { // the only one that is a search.Quieter
		fmt.Fprintf(stderr, "%s does not tell how quiet positions are: --eval-diff-limit is not applied, consider --smart-fen-skipping\n", self.Name)
	}
	return nil
}

// setOpenings settles where games begin.
func (o *gensfenOptions) setOpenings(cfg *generate.Config) error {
	if o.book == "" || o.book == "none" {
		return nil
	}
	b, err := book.Open(o.book, cfg.Variant, book.Options{})
	if err != nil {
		return err
	}
	openings := match.FromBook(b, cfg.Seed)
	cfg.Openings = openings.ID
	cfg.Opening = func(number uint64) (game.Opening, error) {
		return openings.Opening(int(number % uint64(len(b.Entries))))
	}
	return nil
}

// file settles the name of the file and its format.
func (o *gensfenOptions) file() (string, dataset.Format, error) {
	name := o.output
	ext := filepath.Ext(name)
	format, err := generate.ParseFormat(strings.TrimPrefix(ext, "."))
	switch {
	case o.format != "":
		if format, err = generate.ParseFormat(o.format); err != nil {
			return "", 0, fmt.Errorf("%w: --data-format: %w; selfplay convert makes other formats of .chain", cli.ErrUsage, err)
		}
	case err != nil:
		format = dataset.Chain
	}
	name = strings.TrimSuffix(name, "."+format.String())
	if o.randomFileName {
		name += fmt.Sprintf("_%016x%016x", rand.Uint64(), rand.Uint64())
	}
	return name + "." + format.String(), format, nil
}

// seedNumber settles the seed.
func (o *gensfenOptions) seedNumber(path string, f dataset.Format, stderr io.Writer) (uint64, error) {
	if n, err := strconv.ParseUint(o.seed, 10, 64); err == nil {
		return n, nil
	}
	if o.seed != "" {
		sum := sha256.Sum256([]byte(o.seed))
		return binary.LittleEndian.Uint64(sum[:]), nil
	}
	seed, found, err := generate.FindSeed(path, f)
	if !found {
		seed = rand.Uint64()
	}
	fmt.Fprintf(stderr, "%s: seed %d\n", path, seed)
	return seed, err
}

// gensfenPrinter prints how a run goes.
type gensfenPrinter struct {
	cfg    *generate.Config
	resume []string // the command that goes on with it
	stderr io.Writer
}

// newPrinter returns the printer of a run that the words of a command ask for.
func newPrinter(o *gensfenOptions, command []string, cfg *generate.Config, stderr io.Writer) *gensfenPrinter {
	p := &gensfenPrinter{cfg: cfg, resume: command, stderr: stderr}
	if o.randomFileName {
		p.resume = named(command, cfg.Output)
	}
	return p
}

// named returns a command with the name that a file has got in place of the wish for a
// random one, which would be another at every call.
func named(command []string, file string) []string {
	var list []string
	for i := 0; i < len(command); i++ {
		name, _, valued := strings.Cut(strings.TrimPrefix(command[i], "--"), "=")
		if gensfenName(nil, name) != "random-file-name" {
			list = append(list, command[i])
		} else if !valued {
			i++ // its value
		}
	}
	return append(list, "--output", file) // the last one counts
}

func (p *gensfenPrinter) note(line string) { fmt.Fprintln(p.stderr, line) }

func (p *gensfenPrinter) progress(at generate.Progress) {
	fmt.Fprintln(p.stderr, progressLine(p.cfg.Count, &at))
}

// progressLine says how far a run is that is complete with count positions.
func progressLine(count int64, at *generate.Progress) string {
	rate := float64(at.Written) / at.Elapsed.Seconds()
	line := fmt.Sprintf("%d games, %d positions of %d, %.0f positions/s", at.Next, at.Positions, count, rate)
	if left := float64(count-at.Positions) / rate; left > 0 && left < math.MaxInt32 {
		line += fmt.Sprintf(", ETA %v", time.Duration(left+0.5)*time.Second)
	}
	return line
}

// end prints the summary and returns the error of the command.
func (p *gensfenPrinter) end(stdout io.Writer, at *generate.Progress, interrupted bool, err error) error {
	if errors.Is(err, generate.ErrConfig) || errors.Is(err, generate.ErrOther) {
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	if at.Games > 0 {
		fmt.Fprintln(stdout, summaryText(p.cfg.Output, at))
	}
	switch {
	case interrupted:
		fmt.Fprintln(p.stderr, "resume with:", cli.CommandLine(p.resume[1:]...))
		return fmt.Errorf("%w after %d positions", cli.ErrResumable, at.Positions)
	case err == nil && at.Games == 0:
		fmt.Fprintf(stdout, "%s: complete, %d positions\n", p.cfg.Output, at.Positions)
	}
	return err
}

// summaryText says what was written.
func summaryText(name string, at *generate.Progress) string {
	seconds := at.Elapsed.Seconds()
	plies := at.Counts.Samples
	lines := []string{fmt.Sprintf("%s: %d positions; now %d of %d plies in %d games in %.1f s: %.0f positions/s, %.0f plies/s, %.0f nodes a search",
		name, at.Positions, at.Written, plies, at.Games, seconds, float64(at.Written)/seconds, float64(plies)/seconds,
		float64(at.Nodes)/float64(max(1, plies-at.Counts.Untrained)))}
	var left []string
	for why, n := range at.Counts.LeftOut {
		word := why.String()
		if why == sample.Early { // the only bound of plies there is
			word = "early"
		}
		left = append(left, fmt.Sprintf("%s %d", word, n))
	}
	results := fmt.Sprintf("white won %d, black %d, drawn %d", at.Results[chess.WhiteWins], at.Results[chess.BlackWins], at.Results[chess.Draw])
	if at.Skipped > 0 {
		results += fmt.Sprintf(", %d drawn games left out", at.Skipped)
	}
	return strings.Join(append(lines, results+"; plies not to train on: "+strings.Join(left, ", ")), "\n")
}
