package game

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game/plycode"
	"github.com/crazyhouse-rl/selfplay/search"
)

// withPolicies gives the plies of g that may be trained on policies such as a
// search of 32 playouts makes: a few moves share most of it. Some searches were
// too cheap.
func withPolicies(g *Game, rng *rand.Rand) *Game {
	pos := g.Start
	for i := range g.Plies {
		if ply := &g.Plies[i]; ply.Train || i == len(g.Plies)-1 {
			var legal chess.MoveList
			pos.Legal(&legal)
			r := search.Result{Visits: []search.MoveVisits{{Move: ply.Move, Visits: 1}}, Surprise: rng.ExpFloat64() / 2}
			left := 1.0
			for _, k := range rng.Perm(legal.N)[:min(legal.N, rng.IntN(24))] {
				r.Policy = append(r.Policy, search.MoveProb{Move: legal.Moves[k], Prob: float32(left / 3)})
				left -= left / 3
			}
			ply.Policy = search.NewPolicy(&r)
		}
		pos.Make(g.Plies[i].Move)
	}
	return g
}

func TestPoliciesRoundTrip(t *testing.T) {
	rng := newRand(31)
	for _, start := range starts(t) {
		for n := 1; n < 200; n += 13 {
			g := withPolicies(randomGame(start, rng, n), rng)
			if len(g.Plies) == 0 {
				continue
			}
			b := mustEncode(t, g)
			got, err := Decode(b)
			if err != nil {
				t.Fatalf("%s: %v", start.FEN(), err)
			}
			if b[offVersion] != versionPolicies || !reflect.DeepEqual(got, g) {
				t.Fatalf("version %d: got %+v\nwant %+v", b[offVersion], got, g)
			}
			h, plies, err := Split(b)
			if err != nil || !h.Policies {
				t.Fatalf("header %+v, %v", h, err)
			}
			if joined, err := Join(nil, &h, plies); err != nil || !bytes.Equal(joined, b) {
				t.Fatalf("joined to %x (%v), expected %x", joined, err, b)
			}
		}
	}
}

// TestPliesWithoutPolicies: a game without policies has the record it had before
// there were any, and no other.
func TestPliesWithoutPolicies(t *testing.T) {
	g := randomGame(chess.Crazyhouse.Start(), newRand(32), 60)
	b := mustEncode(t, g)
	if b[offVersion] != versionPlain {
		t.Fatalf("version %d, expected %d", b[offVersion], versionPlain)
	}
	_, next, err := readHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	order, err := scoreOrder(g.Plies)
	if err != nil {
		t.Fatal(err)
	}
	var e plycode.Encoder
	e.ResetPolicies(bytes.Clone(b[:next]), &g.Start, order, plycode.MaxPolicyBytes)
	for _, p := range g.Plies {
		if err := e.Add(&plycode.Ply{Move: p.Move, Score: p.Score, HasScore: p.HasScore, Train: p.Train}); err != nil {
			t.Fatal(err)
		}
	}
	other := e.Bytes()
	other[offVersion] = versionPolicies
	if _, err := Decode(reseal(other)); !errors.Is(err, ErrMalformed) {
		t.Errorf("version %d without policies: %v", versionPolicies, err)
	}
}

// TestPoliciesOfLongGame: where policies would make a record too large, they
// lose their lightest moves, all of them if need be, and the rest of the game is
// kept.
func TestPoliciesOfLongGame(t *testing.T) {
	start := mustFEN(t, chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[QRRBBNNPPPPPPPPqrrbbnnpppppppp] w - - 12 40")
	g := randomGame(start, newRand(33), 0)
	line := chess.NewLine(start)
	rng := newRand(34)
	for len(g.Plies) < MaxGamePlies {
		var legal chess.MoveList
		line.Pos().Legal(&legal)
		moves := slices.DeleteFunc(slices.Clone(legal.Slice()), chess.Move.IsDrop)
		m := moves[rng.IntN(len(moves))]
		line.Push(m)
		if outcome, _ := line.Outcome(); outcome != chess.Ongoing {
			line.Pop()
			continue
		}
		r := search.Result{}
		for _, m := range legal.Slice() {
			r.Policy = append(r.Policy, search.MoveProb{Move: m, Prob: 1 / float32(legal.N)})
		}
		g.Plies = append(g.Plies, Ply{Move: m, HasScore: true, Train: true, Policy: search.NewPolicy(&r)})
		plies := len(g.Plies)
		if plies != 200 && plies != 1000 && plies != MaxGamePlies {
			continue
		}
		b := mustEncode(t, g)
		got, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		if p := got.Plies[0].Policy; p != nil {
			kept = len(p.Moves)
		}
		t.Logf("%d plies: %d bytes, %d of %d moves", plies, len(b), kept, len(g.Plies[0].Policy.Moves))
		if wide := plies == 200; wide != (kept > 100) || kept == len(g.Plies[0].Policy.Moves) {
			t.Errorf("%d plies keep %d moves", plies, kept)
		}
		if again := mustEncode(t, got); !bytes.Equal(again, b) {
			t.Errorf("%d plies: second record differs", plies)
		}
		for i := range got.Plies {
			if p := got.Plies[i].Policy; p != nil && !reflect.DeepEqual(p.Moves, g.Plies[i].Policy.Moves[:len(p.Moves)]) {
				t.Fatalf("ply %d: not the first moves", i)
			}
			got.Plies[i].Policy = g.Plies[i].Policy
		}
		if !reflect.DeepEqual(got.Plies, g.Plies) {
			t.Errorf("%d plies: not the same but for policies", plies)
		}
	}
}

// TestPlayKeepsPolicies: what a tree search says of the moves comes into the
// game, and opening moves have nothing.
func TestPlayKeepsPolicies(t *testing.T) {
	start := chess.Crazyhouse.Start()
	answer := func(_ context.Context, ply int) (search.Result, error, bool) {
		r := search.Result{Move: chess.NewMove(chess.A1+12, chess.A1+28, chess.DoublePush)}
		if ply != 1 {
			return r, nil, false
		}
		r.Move = chess.NewMove(chess.A1+52, chess.A1+36, chess.DoublePush)
		r.Policy = []search.MoveProb{{Move: r.Move, Prob: 1}}
		return r, nil, true
	}
	p := &fakePlayer{at: answer}
	opening := Opening{Start: start, Moves: []chess.Move{chess.NewMove(chess.A1+12, chess.A1+28, chess.DoublePush)}}
	g, err := Play(t.Context(), p, p, opening, Config{MaxPlies: 3}, newRand(1))
	if err != nil {
		t.Fatal(err)
	}
	want := &search.Policy{Moves: []search.MoveWeight{{Move: g.Plies[1].Move, Weight: search.PolicyShares}}}
	if g.Plies[0].Policy != nil || !reflect.DeepEqual(g.Plies[1].Policy, want) || g.Plies[2].Policy != nil {
		t.Errorf("policies %v, %v and %v, expected the second to be %v", g.Plies[0].Policy, g.Plies[1].Policy, g.Plies[2].Policy, want)
	}
}
