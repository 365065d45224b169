package run

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
)

// greedyGames writes games, without scores, whose players take the most valuable
// man they can, which is what is trained on, or else move at random.
func greedyGames(t testing.TB, games int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(9, 1))
	var data bytes.Buffer
	w, err := chain.NewWriter(&data, chess.Crazyhouse, sample.CentipawnUnit)
	if err != nil {
		t.Fatal(err)
	}
	for i := range games {
		g := &game.Game{ID: fmt.Sprintf("game %d", i), Variant: chess.Crazyhouse, Start: chess.Crazyhouse.Start(), Build: "test"}
		pos := g.Start
		var moves chess.MoveList
		for range 40 {
			moves.N = 0
			if pos.Legal(&moves); moves.N == 0 {
				break
			}
			m := moves.Moves[rng.IntN(moves.N)]
			for _, other := range moves.Slice() {
				if pos.IsCapture(other) && (!pos.IsCapture(m) || pos.PieceAt(other.To()).Type() > pos.PieceAt(m.To()).Type()) {
					m = other
				}
			}
			g.Plies = append(g.Plies, game.Ply{Move: m, Train: pos.IsCapture(m)})
			pos.Make(m)
		}
		g.Outcome, g.Reason = chess.Draw, game.AdjudicatedDraw
		g.Adjudged = g.Outcome
		if !pos.HasLegalMove() {
			continue
		}
		if err := w.WriteGame(g); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "games.chain")
	if err := errors.Join(w.Close(), os.WriteFile(path, data.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

// pqrSettings are those of a short run on triples.
func pqrSettings(t testing.TB, data string) configs.Learn {
	l := settings(t, data)
	l.Loss, l.RequireScore, l.LR = "pqr", false, "0.01"
	return l
}

func TestPQR(t *testing.T) {
	cfg := pqrSettings(t, greedyGames(t, 150))
	cfg.Epochs, cfg.PSQTStart = 8, "zero" // the games' moves are captures, which material ranks at once
	dir := t.TempDir()
	var out bytes.Buffer
	s, err := Run(t.Context(), cfg, Options{Dir: dir, Out: &out, Progress: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	entries, _ := logOf(t, dir)
	first, last := entries[0].HeldOut, s.HeldOut
	if first.Triples == 0 || first.Ranked > 0.75 || last.Ranked < 0.8 || last.Rank > 0.8*first.Rank || last.Triples > last.Positions {
		t.Errorf("began at %+v, ended at %+v", first, last)
	}
	var text strings.Builder
	if err := s.Print(&text); err != nil || !strings.Contains(text.String(), "ranks the move played first in") {
		t.Errorf("printed %q, error %v", text.String(), err)
	}

	// The next run begins where this one ended.
	again := cfg
	again.Init, again.Epochs = dir, 1
	next := t.TempDir()
	if _, err := Run(t.Context(), again, quiet(next)); err != nil {
		t.Fatal(err)
	}
	if entries, _ := logOf(t, next); entries[0].HeldOut.Ranked != last.Ranked {
		t.Errorf("begins at %g, want %g", entries[0].HeldOut.Ranked, last.Ranked)
	}
}

func TestPQRRefuses(t *testing.T) {
	for want, change := range map[string]func(*configs.Learn){
		"expected whole games": func(l *configs.Learn) { l.Data = []string{"a.chain", "b.bin"} },
		"v.plain":              func(l *configs.Learn) { l.Validation = "v.plain" },
		"mirror":               func(l *configs.Learn) { l.Mirror = 50 },
		"pqr_pair: found 1000": func(l *configs.Learn) { l.PQRPair = 1000 },
	} {
		cfg := pqrSettings(t, "a.chain")
		change(&cfg)
		if err := Check(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, lacks %q", err, want)
		}
	}
	// Samples in a .chain file are no games.
	if _, err := Run(t.Context(), pqrSettings(t, dataFile(t, "a.chain", samples(5))), quiet(t.TempDir())); err == nil || !strings.Contains(err.Error(), "of no whole game") {
		t.Errorf("chains of samples: error %v", err)
	}
}

// A run of an older build, whose file lacks some settings, goes on.
func TestSettingsOfOlderBuilds(t *testing.T) {
	cfg := settings(t, dataFile(t, "a.chain", samples(20)))
	dir := t.TempDir()
	if _, err := Run(t.Context(), cfg, quiet(dir)); err != nil {
		t.Fatal(err)
	}
	var old strings.Builder
	for line := range strings.Lines(string(read(t, dir, configFile))) {
		if !strings.HasPrefix(line, "pqr_") {
			old.WriteString(line)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, configFile), []byte(old.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), cfg, quiet(dir)); err != nil {
		t.Error(err)
	}
}
