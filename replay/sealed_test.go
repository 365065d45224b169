package replay

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Sealed games are stored with their seals, and are otherwise like others.
func TestSealedGames(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	games := actorGames(t, 0, 60, "a", "b")
	sealed := make([][]byte, len(games))
	for i, g := range games {
		sealed[i] = game.Seal(g, key)
	}
	dir, o := t.TempDir(), testOptions()
	o.Run = "run"
	b, plain := openBuffer(t, dir, o), openBuffer(t, t.TempDir(), o)
	appendGames(t, plain, games)
	if rep := appendGames(t, b, sealed); rep.Stored != 60 {
		t.Fatalf("%+v", rep)
	}
	if rep := appendGames(t, b, games); rep.Duplicate != 60 {
		t.Errorf("the same without seals: %+v", rep)
	}
	crash(t, b)
	b = openBuffer(t, dir, o)
	same := func() {
		t.Helper()
		x, y := make([]sample.Sample, 200), make([]sample.Sample, 200)
		if err := errors.Join(b.Draw(newRand(1), Drawing{PerGame: 2}, x), plain.Draw(newRand(1), Drawing{PerGame: 2, Filter: sample.Filter{}}, y)); err != nil || !reflect.DeepEqual(x, y) {
			t.Errorf("other samples are drawn, error %v", err)
		}
	}
	same()
	c, err := b.ReadFrom(Cursor{}, MinChunk)
	if err != nil || !reflect.DeepEqual(c.Games, sealed) {
		t.Errorf("%d games are read, error %v, expected all with their seals", len(c.Games), err)
	}
	i := 0
	_, err = VisitGames(dir, func(g *game.Game) bool {
		if !bytes.Equal(encode(t, g), games[i]) {
			t.Errorf("game %d is another", i)
		}
		i++
		return true
	}, nil)
	if r := audit(t, dir); err != nil || i != 60 || r.Wrong() || r.Games != 60 {
		t.Errorf("%d games visited, error %v, audit %+v", i, err, r)
	}
	if err := errors.Join(b.Exclude("a", "why"), plain.Exclude("a", "why")); err != nil {
		t.Fatal(err)
	}
	same()
}

// A game that is too long with its seal is refused: no segment could hold it.
func TestTooLongWithSeal(t *testing.T) {
	start, err := chess.ParseFEN(chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[QRRBBNNPPPPPPPPqrrbbnnpppppppp] w - - 12 40")
	if err != nil {
		t.Fatal(err)
	}
	g := &game.Game{ID: "long", Variant: chess.Crazyhouse, Start: start, Outcome: chess.Draw, Reason: game.PlyLimit}
	line, rng := chess.NewLine(start), newRand(1)
	var record []byte
	for len(record) < maxRecord-255 { // kings walk about, with policies of hundreds of drops
		var list chess.MoveList
		line.Pos().Legal(&list)
		all := slices.Clone(list.Slice())
		moves := slices.DeleteFunc(list.Slice(), chess.Move.IsDrop)
		next := moves[rng.IntN(len(moves))]
		line.Push(next)
		if outcome, _ := line.Outcome(); outcome != chess.Ongoing {
			line.Pop()
			continue
		}
		policy := new(search.Policy)
		for i, m := range all {
			policy.Moves = append(policy.Moves, search.MoveWeight{Move: m, Weight: uint16(1000 - i)})
		}
		g.Plies = append(g.Plies, game.Ply{Move: next, Policy: policy, Train: true})
		if len(g.Plies) > 100 {
			record = encode(t, g)
		}
	}
	g.Build = strings.Repeat("x", maxRecord-50-len(record))
	b := openBuffer(t, t.TempDir(), testOptions())
	record = encode(t, g)
	sealed := game.Seal(record, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if len(record) > maxRecord || len(sealed) <= maxRecord {
		t.Fatalf("%d bytes, %d with the seal", len(record), len(sealed))
	}
	rep := appendGames(t, b, [][]byte{sealed})
	if len(rep.Rejected) != 1 || !errors.Is(rep.Rejected[0].Err, game.ErrTooLarge) || b.Known([]string{"long"})[0] != Refused {
		t.Errorf("%+v", rep)
	}
	if rep := appendGames(t, b, [][]byte{record}); rep.Stored != 1 || b.Known([]string{"long"})[0] != Stored {
		t.Errorf("without the seal: %+v", rep)
	}
}
