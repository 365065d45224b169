package dataset

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/sampletest"
)

const (
	crazyhousePlain = "../sample/plain/testdata/crazyhouse.plain"
	crazyhouseBin   = "../sample/plain/testdata/crazyhouse.bin"
	crazyhouseView  = "../sample/plain/testdata/crazyhouse.bin-view.plain"
	wholeGames      = "../sample/chain/testdata/crazyhouse-games.plain"
	chessPlain      = "../sample/binpack/testdata/chess.plain"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func open(t testing.TB, name string, v *chess.Variant) *Source {
	t.Helper()
	f, err := FormatOf(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(name, f, v, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func readAll(t testing.TB, name string, v *chess.Variant) []sample.Sample {
	t.Helper()
	return sampletest.ReadAll(t, open(t, name, v))
}

// target describes the file called name in a directory of its own.
func target(t testing.TB, name string, src *Source) Target {
	t.Helper()
	f, err := FormatOf(name)
	if err != nil {
		t.Fatal(err)
	}
	return Target{Name: filepath.Join(t.TempDir(), name), Format: f, Variant: src.Variant, Unit: src.Unit()}
}

// convert converts the file called in and returns the name of the new one.
func convert(t testing.TB, in, out string, v *chess.Variant, c Conversion) (string, *Conversion) {
	t.Helper()
	src := open(t, in, v)
	to := target(t, out, src)
	if err := to.Create(func(s *Sink) error { return c.Run(context.Background(), src, s) }); err != nil {
		t.Fatal(err)
	}
	return to.Name, &c
}

func mustRead(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// writeGames writes n random games to a .chain file.
func writeGames(t testing.TB, n int) (name string, list []*game.Game) {
	t.Helper()
	rng := newRand(1)
	to := Target{Name: filepath.Join(t.TempDir(), "games.chain"), Variant: chess.Crazyhouse, Unit: sample.CentipawnUnit}
	err := to.Create(func(s *Sink) error {
		for i := range n {
			g := &game.Game{ID: fmt.Sprintf("game-%d", i), Variant: chess.Crazyhouse, Start: chess.Crazyhouse.Start(), Outcome: chess.Draw, Reason: game.PlyLimit}
			line := chess.NewLine(g.Start)
			for range 20 {
				if outcome, reason := line.Outcome(); outcome != chess.Ongoing {
					g.Outcome, g.Reason = outcome, reason
					break
				}
				m := game.RandomMove(line.Pos(), rng)
				g.Plies = append(g.Plies, game.Ply{Move: m, Score: 7, HasScore: true, Train: len(g.Plies) >= 4})
				line.Push(m)
			}
			record, err := game.Encode(nil, g)
			if err == nil {
				err = s.WriteGame(record)
			}
			if err != nil {
				return err
			}
			list = append(list, g)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return to.Name, list
}

// ids returns the ids of the games of a .chain file, sorted.
func ids(t testing.TB, name string) []string {
	t.Helper()
	src := open(t, name, nil)
	var list []string
	for {
		record, err := src.Game()
		if err == io.EOF {
			slices.Sort(list)
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		h, err := game.DecodeHeader(record)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, h.ID)
	}
}

// sorted returns samples in an order that their content gives.
func sorted(list []sample.Sample) []string {
	var out []string
	for i := range list {
		s := &list[i]
		out = append(out, fmt.Sprint(s.Pos.FEN(), s.Move, s.Score, s.Ply, s.Result, s.Partial))
	}
	slices.Sort(out)
	return out
}
