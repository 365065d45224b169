package plycode

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// addPolicies gives some plies what a tree search might make of the moves: of
// few or all of them, flat or steep, or of none.
func addPolicies(start chess.Position, plies []Ply, rng *rand.Rand) {
	pos := start
	for i := range plies {
		var legal chess.MoveList
		pos.Legal(&legal)
		r := search.Result{Visits: []search.MoveVisits{{Move: plies[i].Move, Visits: 1}}, Surprise: rng.ExpFloat64()}
		if rng.IntN(4) > 0 {
			share := rng.Float64() * 2 / float64(legal.N)
			for j, k := range rng.Perm(legal.N)[:1+rng.IntN(legal.N)] {
				r.Policy = append(r.Policy, search.MoveProb{Move: legal.Moves[k], Prob: float32(share)})
				if j%2 == 0 {
					share *= rng.Float64()
				}
			}
		}
		if rng.IntN(6) > 0 {
			plies[i].Policy = search.NewPolicy(&r)
		}
		if plies[i].made() == chess.NoMove || !pos.IsLegal(plies[i].made()) {
			break
		}
		pos.Make(plies[i].made())
	}
}

func encodePolicies(t testing.TB, start *chess.Position, plies []Ply, limit int) []byte {
	t.Helper()
	var e Encoder
	e.ResetPolicies(nil, start, 3, limit)
	for i := range plies {
		if err := e.Add(&plies[i]); err != nil {
			t.Fatalf("ply %d %+v: %v", i, plies[i], err)
		}
	}
	return e.Bytes()
}

func decodePolicies(b []byte, start *chess.Position, n int) ([]Ply, error) {
	var d Decoder
	d.ResetPolicies(b, start)
	plies := make([]Ply, n)
	for i := range plies {
		if err := d.Next(&plies[i]); err != nil {
			return plies[:i], err
		}
	}
	return plies, d.End()
}

func TestPoliciesRoundTrip(t *testing.T) {
	rng := newRand(21)
	for _, start := range starts(t) {
		for n := range 30 {
			plies := randomPlies(start, rng, n)
			addPolicies(start, plies, rng)
			b := encodePolicies(t, &start, plies, MaxPolicyBytes)
			got, err := decodePolicies(b, &start, len(plies))
			if err != nil {
				t.Fatalf("%s: %v", start.FEN(), err)
			}
			checkCut(t, got, plies)
			if again := encodePolicies(t, &start, got, MaxPolicyBytes); string(again) != string(b) {
				t.Fatalf("second encoding differs:\n%x\n%x", again, b)
			}
			for cut := 0; cut < len(b) && n < 12; cut++ {
				if _, err := decodePolicies(b[:cut], &start, len(plies)); !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrIllegal) {
					t.Fatalf("cut at %d of %d: %v", cut, len(b), err)
				}
			}
		}
	}
}

// checkCut compares plies read with those written: policies may have lost moves
// at their ends, if they have many.
func checkCut(t *testing.T, got, want []Ply) {
	t.Helper()
	for i := range want {
		w := want[i]
		if p := got[i].Policy; p != nil && w.Policy != nil && len(p.Moves) < len(w.Policy.Moves) && len(p.Moves) > 64 {
			w.Policy = &search.Policy{Moves: w.Policy.Moves[:len(p.Moves)], Surprise: w.Policy.Surprise}
		}
		if w.Policy != nil && len(w.Policy.Moves) == 0 {
			w.Policy = &search.Policy{} // whose surprise is not written
		}
		if !reflect.DeepEqual(got[i], w) {
			t.Fatalf("ply %d: got %+v %+v\nwant %+v %+v", i, got[i], got[i].Policy, w, w.Policy)
		}
	}
}

// TestPolicyLimit cuts a policy of many moves to every size: what is left is its
// beginning, as much as there is room for.
func TestPolicyLimit(t *testing.T) {
	start := starts(t)[7]
	var legal chess.MoveList
	start.Legal(&legal)
	if legal.N < 200 {
		t.Fatalf("%d moves, expected many", legal.N)
	}
	r := search.Result{}
	for i, m := range legal.Slice() {
		r.Policy = append(r.Policy, search.MoveProb{Move: m, Prob: 1 / float32(3+i)})
	}
	p := search.NewPolicy(&r)
	last := 0
	for limit := range MaxPolicyBytes + 10 {
		b := encodePolicies(t, &start, []Ply{{Move: legal.Moves[0], Policy: p}}, limit)
		got, err := decodePolicies(b, &start, 1)
		if err != nil {
			t.Fatal(err)
		}
		moves := got[0].Policy.Moves
		if !reflect.DeepEqual(moves, p.Moves[:len(moves)]) && len(moves) > 0 {
			t.Fatalf("limit %d: %d moves that are not the first", limit, len(moves))
		}
		if len(moves) < last || len(b) > min(limit, MaxPolicyBytes)+8 {
			t.Fatalf("limit %d: %d moves in %d bytes, %d with less", limit, len(moves), len(b), last)
		}
		last = len(moves)
	}
	if last < 120 || last == len(p.Moves) {
		t.Errorf("%d of %d moves in %d bytes", last, len(p.Moves), MaxPolicyBytes)
	}
}

func TestPolicyRefused(t *testing.T) {
	const e2 = chess.A1 + 12
	start := chess.Crazyhouse.Start()
	e4, d4 := chess.NewMove(e2, e2+16, chess.DoublePush), chess.NewMove(e2-1, e2+15, chess.DoublePush)
	for name, moves := range map[string][]search.MoveWeight{
		"weight 0":  {{Move: e4}},
		"rising":    {{Move: e4, Weight: 1}, {Move: d4, Weight: 2}},
		"twice":     {{Move: e4, Weight: 2}, {Move: e4, Weight: 1}},
		"disorder":  {{Move: max(e4, d4), Weight: 1}, {Move: min(e4, d4), Weight: 1}},
		"not legal": {{Move: chess.NewMove(e2, e2+24, chess.Normal), Weight: 1}},
	} {
		var e Encoder
		e.ResetPolicies(nil, &start, 0, MaxPolicyBytes)
		if err := e.Add(&Ply{Move: e4, Policy: &search.Policy{Moves: moves}}); !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrIllegal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var e Encoder
	e.Reset(nil, &start, 0)
	if err := e.Add(&Ply{Move: e4, Policy: &search.Policy{}}); !errors.Is(err, ErrMalformed) {
		t.Errorf("policy where there is none: %v", err)
	}
}

// FuzzPolicies reads any bytes as a series of policies. What it accepts is
// written alike.
func FuzzPolicies(f *testing.F) {
	rng := newRand(22)
	for i, start := range starts(f) {
		plies := randomPlies(start, rng, 6)
		addPolicies(start, plies, rng)
		f.Add(uint8(i), uint8(len(plies)), encodePolicies(f, &start, plies, MaxPolicyBytes))
	}
	positions := starts(f)
	f.Fuzz(func(t *testing.T, from, n uint8, b []byte) {
		start := positions[int(from)%len(positions)]
		plies, err := decodePolicies(b, &start, int(n%32))
		if err != nil {
			return
		}
		var e Encoder
		e.ResetPolicies(nil, &start, uint(b[0]>>4), MaxPolicyBytes)
		for i := range plies {
			if err := e.Add(&plies[i]); err != nil {
				t.Fatal(err)
			}
		}
		if string(e.Bytes()) != string(b) {
			t.Fatalf("%x\nis written %x", b, e.Bytes())
		}
	})
}
