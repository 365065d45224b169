package puzzles

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// source reads games of files for the command. A position without a game is a game
// without plies.
type source struct {
	variant *chess.Variant
	stderr  io.Writer
}

// texts are the names of files that are no training data.
var texts = []string{".pgn", ".epd", ".fen"}

func isText(name string) bool {
	return slices.Contains(texts, filepath.Ext(strings.TrimSuffix(name, ".gz")))
}

// names checks the names of the files, before any is read, and finds the files in
// directories.
func (s *source) names(args []string) ([]string, error) {
	var names []string
	for _, arg := range args {
		if isText(arg) {
			if _, err := os.Stat(arg); err != nil {
				return nil, err
			}
			names = append(names, arg)
			continue
		}
		files, err := dataset.Files([]string{arg})
		if errors.Is(err, dataset.ErrName) {
			err = fmt.Errorf("%w: %w, or %s", cli.ErrUsage, err, strings.Join(texts, ", "))
		}
		if err != nil {
			return nil, err
		}
		names = append(names, files...)
	}
	return names, nil
}

// games returns the games of files, those of one after those of the other.
func (s *source) games(ctx context.Context, names []string) iter.Seq2[*game.Game, error] {
	return func(yield func(*game.Game, error) bool) {
		for _, name := range names {
			more := true
			emit := func(g *game.Game) bool { more = yield(g, nil); return more }
			var err error
			switch ext := filepath.Ext(strings.TrimSuffix(name, ".gz")); {
			case !isText(name):
				err = s.data(ctx, name, emit)
			case ext == ".pgn":
				err = s.pgn(ctx, name, emit)
			default:
				err = s.lines(ctx, name, emit)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

// data reads training data: whole games where there are any, else positions.
func (s *source) data(ctx context.Context, name string, emit func(*game.Game) bool) error {
	format, err := dataset.FormatOf(name)
	if err != nil {
		return err
	}
	src, err := dataset.Open(name, format, s.variant, nil)
	if err != nil {
		return err
	}
	defer src.Close()
	var sm sample.Sample
	for number := 1; ctx.Err() == nil; number++ {
		record, err := src.Game()
		var g *game.Game
		switch {
		case err != nil:
		case record != nil:
			if g, err = game.Decode(record); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		default:
			if err = src.Read(&sm); err == nil {
				g = &game.Game{Variant: sm.Pos.Variant(), Start: sm.Pos}
			}
		}
		if errors.Is(err, io.EOF) {
			for _, damage := range src.Damage() {
				fmt.Fprintln(s.stderr, damage)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if more, err := s.give(g, name, number, emit); err != nil || !more {
			return err
		}
	}
	return ctx.Err()
}

// give emits a game of the variant, which gets an id if it has none that an EPD can
// hold.
func (s *source) give(g *game.Game, name string, number int, emit func(*game.Game) bool) (more bool, err error) {
	if g.Variant != s.variant {
		return false, fmt.Errorf("%s: %w: found %s, expected %s", name, dataset.ErrVariant, g.Variant.Name, s.variant.Name)
	}
	if g.ID == "" || strings.ContainsAny(g.ID, "\"\t\r\n") {
		g.ID = fmt.Sprintf("%s:%d", filepath.Base(strings.ReplaceAll(name, `"`, "")), number)
	}
	return emit(g), nil
}

// pgn reads the games of a PGN file. Games that cannot be read are left out and said.
func (s *source) pgn(ctx context.Context, name string, emit func(*game.Game) bool) error {
	return open(name, func(r io.Reader) error {
		reader := game.NewPGNReader(r)
		for ctx.Err() == nil {
			record, err := reader.Next()
			if err == io.EOF {
				return nil
			}
			var g *game.Game
			if err == nil {
				g, err = record.Game()
			}
			var bad *game.PGNError
			if errors.As(err, &bad) {
				fmt.Fprintf(s.stderr, "%s: left out: %v\n", name, err)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if more, err := s.give(g, name, record.Line, emit); err != nil || !more {
				return err
			}
		}
		return ctx.Err()
	})
}

// lines reads positions, a FEN or EPD a line.
func (s *source) lines(ctx context.Context, name string, emit func(*game.Game) bool) error {
	return open(name, func(r io.Reader) error {
		lines := bufio.NewScanner(r)
		for number := 1; ctx.Err() == nil && lines.Scan(); number++ {
			text := strings.TrimSpace(lines.Text())
			if text == "" || text[0] == '#' {
				continue
			}
			p, _, err := chess.ParseEPD(s.variant, text)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", name, number, err)
			}
			if more, err := s.give(&game.Game{Variant: s.variant, Start: p}, name, number, emit); err != nil || !more {
				return err
			}
		}
		if err := lines.Err(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return ctx.Err()
	})
}

// open reads a file, through gzip if it is packed.
func open(name string, read func(io.Reader) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	buffered := bufio.NewReader(f)
	if head, _ := buffered.Peek(2); !bytes.Equal(head, []byte("\x1f\x8b")) {
		return read(buffered)
	}
	z, err := gzip.NewReader(buffered)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return read(z)
}
