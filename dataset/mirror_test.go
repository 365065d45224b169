package dataset

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

func TestMirror(t *testing.T) {
	for _, tc := range []struct{ fen, want string }{
		{"6k1/5p~p1/8/8/3Pp3/8/8/1K5R[Qn] b - d3 3 9", "1k6/1pp~5/8/8/3pP3/8/8/R5K1[Qn] b - e3 3 9"},
		{"r3k2r/8/8/8/8/8/8/R3K2R[] w Kq - 0 1", ""},
	} {
		fen := strings.Replace(tc.fen, "5p~p1", "5q~p1", 1)
		want := strings.Replace(tc.want, "1pp~5", "1pq~5", 1)
		p, err := chess.ParseFEN(chess.Crazyhouse, fen)
		if err != nil {
			t.Fatal(err)
		}
		s := sample.Sample{Pos: p, Score: 5}
		if ok := mirror(&s); ok != (want != "") {
			t.Errorf("%s: mirrored: %v", fen, ok)
		} else if ok && s.Pos.FEN() != want {
			t.Errorf("%s: %s, want %s", fen, s.Pos.FEN(), want)
		}
		if want == "" {
			continue
		}
		mirrorsMoves(t, &p, &s.Pos)
		if mirror(&s); s.Pos.FEN() != p.FEN() || s.Pos.Key() != p.Key() {
			t.Errorf("%s: mirrored twice it is %s", fen, s.Pos.FEN())
		}
	}
	path, _ := chainFile(t, 20)
	s, plain := openSet(t, SetConfig{Mirror: 1}, fileInput(t, path)), openSet(t, SetConfig{}, fileInput(t, path))
	batch, unmirrored := make([]sample.Sample, s.Len()), make([]sample.Sample, s.Len())
	if err := errors.Join(s.Draw(rand.New(rand.NewPCG(1, 1)), batch), plain.Draw(rand.New(rand.NewPCG(1, 1)), unmirrored)); err != nil {
		t.Fatal(err)
	}
	still := uint64(0)
	for i := range batch {
		if batch[i].Pos.CastlingRooks() != 0 {
			still++
		} else if mirror(&unmirrored[i]); batch[i] != unmirrored[i] || !batch[i].Pos.IsLegal(batch[i].Move) {
			t.Fatalf("%s is not mirrored", batch[i].Pos.FEN())
		}
	}
	if still == 0 || still != s.Counts.Unmirrored {
		t.Errorf("%d not mirrored, counted %d, want some", still, s.Counts.Unmirrored)
	}
}

// mirrorsMoves wants the legal moves of a position to be those of its mirror image,
// mirrored, in samples' policies too.
func mirrorsMoves(t *testing.T, p, mirrored *chess.Position) {
	t.Helper()
	var moves, others chess.MoveList
	p.Legal(&moves)
	mirrored.Legal(&others)
	s := sample.Sample{Pos: *p, Policy: &sample.Policy{Surprise: 2}}
	for _, m := range moves.Moves[:moves.N] {
		s.Policy.Moves = append(s.Policy.Moves, sample.MoveWeight{Move: m, Weight: 3})
	}
	before := s.Policy
	mirror(&s)
	if moves.N != others.N || s.Policy == before || s.Policy.Surprise != 2 || before.Moves[0].Move != moves.Moves[0] {
		t.Errorf("%s: %d moves, mirrored %d", p.FEN(), moves.N, others.N)
	}
	for _, m := range s.Policy.Moves {
		if !mirrored.IsLegal(m.Move) || m.Weight != 3 {
			t.Errorf("%s: %s is not legal", mirrored.FEN(), mirrored.UCI(m.Move))
		}
	}
}
