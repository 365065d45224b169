package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// Plan is a comparison whose data are known: every net to train and every player to meet.
type Plan struct {
	configs.Compare // with rows and anchors by name: their order does not matter
	Dir             string
	Nets            [][]Net  // by row, then seed
	Unmeasured      []bool   // by row: its budget is of time, and the trainer's speed is not measured; keys and epochs are of a guess
	Anchors         []Player // in the order of Compare.Anchors

	variant  *chess.Variant
	ladder   configs.Ladder // zero without games against it
	rungs    []Player       // its opponents
	openings match.Openings
	puzzles  puzzleSet
	games    map[string]dataset.Extent // of replay buffers, by directory
	hashes   map[string]string         // of files read so far
	sizes    map[string]uint64         // of data read so far, by the key of their cell
}

// Net is a net to train.
type Net struct {
	Key    string // of its cell
	Config configs.Learn
}

// Names in the directory of a comparison.
const (
	planFile = "plan.yaml"
	dataFile = "data.json"
	cellsDir = "cells"
)

// keyOf identifies what a value says: 16 hexadecimal digits.
func keyOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("lab: %v", err)) // texts and numbers only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// cell is the path of a cell.
func (p *Plan) cell(kind, name string) string { return filepath.Join(p.Dir, cellsDir, kind, name) }

// NewPlan reads what a comparison is about: the digest of its data, its openings, its
// anchors. Of replay buffers that data.json in dir knows it takes the games of then. It
// writes nothing unless write is set. Progress lines go to o. Errors wrap configs.ErrInvalid,
// or are those of the packages that read data, openings and players.
func NewPlan(ctx context.Context, c configs.Compare, o Options, write bool) (*Plan, error) {
	if err := check(&c); err != nil {
		return nil, err
	}
	c.Rows, c.Anchors = slices.Clone(c.Rows), slices.Clone(c.Anchors)
	slices.SortFunc(c.Rows, func(a, b configs.CompareRow) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(c.Anchors, func(a, b configs.Opponent) int { return strings.Compare(a.Name, b.Name) })
	p := &Plan{Compare: c, Dir: o.Dir, Unmeasured: make([]bool, len(c.Rows)), games: map[string]dataset.Extent{}, hashes: map[string]string{}, sizes: map[string]uint64{}}
	var err error
	if p.variant, err = chess.ParseVariant(c.Variant); err != nil {
		return nil, err
	}
	if p.openings, err = openings(p.variant, &c.Games); err != nil {
		return nil, err
	}
	if err := p.readPuzzles(); err != nil {
		return nil, err
	}
	if p.Anchors, err = anchors(ctx, c.Anchors, p.variant, c.Games.Nodes); err != nil {
		return nil, err
	}
	if c.Games.Ladder > 0 {
		if err := p.readLadder(ctx); err != nil {
			return nil, fmt.Errorf("games.ladder: %w", err)
		}
	}
	if err := p.checkOpenings(); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(p.Dir, dataFile))
	if err == nil {
		if err := json.Unmarshal(text, &p.games); err != nil {
			return nil, fmt.Errorf("%s: %w", dataFile, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if write {
		if err := os.MkdirAll(p.Dir, 0o755); err != nil {
			return nil, err
		}
		for _, kind := range []string{"train", "size", "speed", "rate", "games", "puzzles"} {
			if err := os.MkdirAll(p.cell(kind, ""), 0o755); err != nil {
				return nil, err
			}
		}
	}
	p.Nets = make([][]Net, len(c.Rows))
	for _, row := range slices.Concat(p.waves()...) {
		if p.Nets[row], err = p.row(ctx, row, o, write); err != nil {
			return nil, fmt.Errorf("row %s: %w", c.Rows[row].Name, err)
		}
	}
	if !write {
		return p, nil
	}
	games, err := json.MarshalIndent(p.games, "", "  ")
	if err != nil {
		return nil, err
	}
	return p, errors.Join(
		durable.WriteFile(filepath.Join(p.Dir, dataFile), append(games, '\n')),
		durable.WriteFile(filepath.Join(p.Dir, planFile), c.YAML()))
}

// check refuses what can be known to be wrong without reading anything.
func check(c *configs.Compare) error {
	if len(c.Data) == 0 {
		return fmt.Errorf("%w: data: found none, expected files, directories or replay:DIR", configs.ErrInvalid)
	}
	return c.Validate()
}

// waves lists the rows so that each comes in a later group than the one that it begins from.
func (p *Plan) waves() [][]int {
	var waves [][]int
	for row := range p.Rows {
		depth := 0
		for from, given, _ := p.InitRow(row); given; from, given, _ = p.InitRow(from) { // checked: it ends
			depth++
		}
		for len(waves) <= depth {
			waves = append(waves, nil)
		}
		waves[depth] = append(waves[depth], row)
	}
	return waves
}

// row makes the nets of a row. Those of the row that it begins from must be there.
func (p *Plan) row(ctx context.Context, row int, o Options, write bool) ([]Net, error) {
	cfg, err := p.Learn(row)
	if err != nil {
		return nil, err
	}
	if cfg, err = run.Expand(cfg); err != nil {
		return nil, err
	}
	if err := run.Check(cfg); err != nil {
		return nil, err
	}
	typed := cfg.Features
	cfg = cfg.Canonical()
	from, fromRow, err := p.InitRow(row)
	if err != nil {
		return nil, err
	}
	if fromRow { // whose nets have no files yet
		cfg.Init = ""
	}
	if cfg.Init != "" { // a directory is its net of now
		if cfg.Init, err = run.InitFile(cfg.Init); err != nil {
			return nil, err
		}
	}
	samples := p.BudgetOf(row).Samples
	if p.BudgetOf(row).Time > 0 {
		if samples, err = p.samplesIn(ctx, row, cfg, typed, o, write); err != nil {
			return nil, err
		}
	}
	if samples > 0 {
		size, err := p.size(ctx, cfg, o, write)
		if err != nil {
			return nil, err
		}
		cfg.Epochs = float64(samples) / float64(max(size, 1))
	}
	nets := make([]Net, p.Seeds)
	for s := range nets {
		nets[s].Config = cfg
		nets[s].Config.Seed = p.Seed + uint64(s)
		if fromRow {
			base := p.Nets[from][s].Key
			nets[s].Config.Init = p.cell("train", base)
			p.hashes[nets[s].Config.Init] = "net " + base
		}
		if nets[s].Key, err = p.keyThere("train", "", nets[s].Config, typed); err != nil {
			return nil, err
		}
	}
	return nets, nil
}

// trainKey identifies what training by settings gives: the digests of what they name stand
// in place of the names.
func (p *Plan) trainKey(cfg configs.Learn) (string, error) {
	digests := make([]string, len(cfg.Data))
	for i, name := range cfg.Data {
		var err error
		if digests[i], err = p.digest(name); err != nil {
			return "", err
		}
	}
	cfg.Data, cfg.Workers, cfg.Preset = digests, 0, ""
	for _, name := range []*string{&cfg.Validation, &cfg.Init} {
		if *name == "" {
			continue
		}
		var err error
		if *name, err = p.digest(*name); err != nil {
			return "", err
		}
	}
	return keyOf(string(cfg.YAML())), nil
}

// keyThere is trainKey, or where an earlier build, to which another spelling was another set, made
// the cell by the spelling of features that was typed, the key of that.
func (p *Plan) keyThere(kind, ext string, cfg configs.Learn, typed string) (string, error) {
	key, err := p.trainKey(cfg)
	if err != nil || cfg.Features == typed {
		return key, err
	}
	cfg.Features = typed
	before, err := p.trainKey(cfg)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(p.cell(kind, before+ext)); err == nil {
		return before, nil
	}
	return key, nil
}

// digest identifies what a file holds, the games of a replay buffer, or the program's own net.
func (p *Plan) digest(name string) (string, error) {
	if known, ok := p.hashes[name]; ok {
		return known, nil
	}
	var digest string
	var err error
	switch dir, isBuffer := strings.CutPrefix(name, dataset.BufferPrefix); {
	case isBuffer:
		games, known := p.games[dir]
		if !known {
			if games, err = p.movedFrom(dir); err != nil {
				return "", err
			}
		}
		if digest, games, err = bufferDigest(dir, games); err == nil {
			p.games[dir] = games
		}
	case name == builtin.Name: // that of its file
		if digest = builtin.ID(p.variant) + ".nnue"; builtin.Net(p.variant) == nil {
			err = fmt.Errorf("init: %w: found %s, expected a file: the program has no net for %s", trainer.ErrConfig, name, p.variant.Name)
		}
	default:
		digest, err = fileDigest(name)
	}
	if err != nil {
		return "", err
	}
	p.hashes[name] = digest
	return digest, nil
}

// fileDigest is the SHA-256 of a file's bytes and its extension, which says how they are
// read.
func fileDigest(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := f.WriteTo(sum); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)) + filepath.Ext(name), nil
}

// bufferDigest identifies games of a replay buffer by their ids; with the zero extent those
// that are there now, whose extent it returns.
func bufferDigest(dir string, want dataset.Extent) (string, dataset.Extent, error) {
	var found dataset.Extent
	sum := sha256.New()
	_, err := replay.VisitGames(dir, func(g *game.Game) bool {
		if found.Games == 0 {
			found.First = g.ID
		}
		found.Games++
		fmt.Fprintln(sum, g.ID)
		return found.Games != want.Games
	}, nil)
	if err == nil && want.Games > 0 && found != want {
		err = fmt.Errorf("%w: %s: found %d games from %q on, expected %d from %q on: old games were deleted; compare on a copy, in another directory",
			dataset.ErrChanged, dir, found.Games, found.First, want.Games, want.First)
	}
	return "games " + hex.EncodeToString(sum.Sum(nil)), found, err
}

// movedFrom returns the extent that a replay buffer had for the comparison where it was before:
// in a directory that is gone, and began with the same game. It is zero if there was none.
func (p *Plan) movedFrom(dir string) (dataset.Extent, error) {
	first := ""
	_, err := replay.VisitGames(dir, func(g *game.Game) bool {
		first = g.ID
		return false
	}, nil)
	for _, before := range slices.Sorted(maps.Keys(p.games)) {
		if _, gone := os.Stat(before); errors.Is(gone, fs.ErrNotExist) && p.games[before].First == first {
			return p.games[before], err
		}
	}
	return dataset.Extent{}, err
}

// size returns the number of positions to train on, from its cell if it is there.
func (p *Plan) size(ctx context.Context, cfg configs.Learn, o Options, write bool) (uint64, error) {
	base, err := configs.LearnPreset("small")
	if err != nil {
		return 0, err
	}
	base.Kind = cfg.Kind
	of := cfg
	of.Epochs, of.Init = 1, ""
	of.Net = base.Net // the net does not decide which positions there are
	key, err := p.trainKey(of)
	if err != nil {
		return 0, err
	}
	if size, ok := p.sizes[key]; ok {
		return size, nil
	}
	path := p.cell("size", key+".json")
	var cell struct {
		Positions uint64 `json:"positions"`
	}
	if known, err := readCell(path, &cell); err != nil || known {
		return cell.Positions, err
	}
	if cell.Positions, err = run.Size(ctx, cfg, p.games, o.Progress); err != nil {
		return 0, err
	}
	if p.sizes[key] = cell.Positions; !write {
		return cell.Positions, nil
	}
	return cell.Positions, writeCell(path, cell)
}

// readCell reads a cell of JSON, and reports false if there is none.
func readCell(path string, to any) (bool, error) {
	err := durable.ReadObject(path, "delete the file to have it made again", to)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func writeCell(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteSummed(path, append(text, '\n'))
}

// openings are those of the games.
func openings(v *chess.Variant, g *configs.CompareGames) (match.Openings, error) {
	if g.Book == "none" || g.Book == "" && !book.HasDefault(v) {
		return match.RandomOpenings(v, g.Seed, randomMin, randomMax), nil
	}
	b, err := book.Open(g.Book, v, book.Options{})
	if err != nil {
		return match.Openings{}, err
	}
	return match.FromBook(b, g.Seed), nil
}

// checkOpenings refuses more pairs than there are openings: from an opening again the players
// would play the same games, which would count as if they told something new.
func (p *Plan) checkOpenings() error {
	for _, stage := range p.Stages() {
		n, key := p.openings.Distinct, "games.pairs"
		if stage == Ladder {
			key = "games.ladder"
		}
		if found := p.pairs(stage); n > 0 && found > n {
			return fmt.Errorf("%w: %s: found %d, expected at most %d, one for each different opening of the book: from an opening again players play the same games; ask for fewer, or name a larger book, or none, in games.book", configs.ErrInvalid, key, found, n)
		}
	}
	return nil
}

// Random plies of an opening without a book, as the command match has them.
const (
	randomMin = 4
	randomMax = 9
)

// trained returns what came of a net's training, and false if it is not over.
func (p *Plan) trained(n *Net) (run.Summary, bool, error) {
	var s run.Summary
	ok, err := readCell(p.cell("train", filepath.Join(n.Key, "summary.json")), &s)
	return s, ok, err
}

// netFile is the path of a net's file.
func (p *Plan) netFile(n *Net) string {
	return p.cell("train", filepath.Join(n.Key, run.NetName(n.Config.Kind)))
}
