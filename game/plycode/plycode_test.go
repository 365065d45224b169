package plycode

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// starts are start positions of both variants, with castling of Chess960, full
// hands, promoted pieces, checks, and captures en passant to choose from.
func starts(t testing.TB) []chess.Position {
	t.Helper()
	list := []chess.Position{chess.Crazyhouse.Start(), chess.Chess.Start()}
	for _, fen := range []string{
		"bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN[] w GEge - 0 1",
		"1r2k2r/8/8/8/8/8/8/R3K2R[QRBNPqrbnp] w HAhb - 3 9",
		"r1bQ~1rk1/ppp2pp1/5n1p/8/3q~4/2N2N2/PPP2PPP/R3R1K1[BPnp] w - - 1 25",
		"rnb1qbnr/PPPPPPPP/8/7k/K7/8/pppppppp/RNB1QBNR[] w - - 0 1",
		"4k3/8/8/3pPpP1/8/8/8/4K2Q[] w - f6 0 1",
		"4k3/8/8/8/8/8/8/4K3[QRRBBNNPPPPPPPPqrrbbnnpppppppp] w - - 12 40",
	} {
		p, err := chess.ParseFEN(chess.Crazyhouse, fen)
		if err != nil {
			p, err = chess.ParseFEN960(chess.Crazyhouse, fen)
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// randomPlies makes up to n plies of every sort from start.
func randomPlies(start chess.Position, rng *rand.Rand, n int) []Ply {
	pos := start
	var plies []Ply
	has, train, score := rng.IntN(2) == 0, rng.IntN(2) == 0, search.Score(0)
	for len(plies) < n {
		var legal chess.MoveList
		pos.Legal(&legal)
		if legal.N == 0 {
			break
		}
		if rng.IntN(8) == 0 {
			has, train = rng.IntN(2) == 0, rng.IntN(2) == 0
		}
		p := Ply{Move: legal.Moves[rng.IntN(legal.N)], HasScore: has, Train: train}
		if has {
			score = min(max(-score+search.Score(rng.NormFloat64()*100), minScore), maxScore)
			if rng.IntN(30) == 0 {
				score = search.Score(rng.IntN(1<<16)) + minScore
			}
			p.Score = score
		}
		switch rng.IntN(10) {
		case 0:
			if p.Other = legal.Moves[rng.IntN(legal.N)]; p.Other == p.Move {
				p.Other = chess.NoMove
			}
		case 1:
			p.Partial, p.Other = true, legal.Moves[rng.IntN(legal.N)]
		case 2:
			p.Move, p.Other = chess.Move(rng.IntN(1<<16)), legal.Moves[rng.IntN(legal.N)]
			if p.Other == p.Move {
				p.Other = chess.NoMove
			}
		}
		plies = append(plies, p)
		pos.Make(p.made())
	}
	if rng.IntN(4) == 0 && len(plies) > 0 {
		plies[len(plies)-1].Partial, plies[len(plies)-1].Other = true, chess.NoMove
	}
	return plies
}

func encode(t testing.TB, start *chess.Position, plies []Ply) []byte {
	t.Helper()
	var s Scores
	for i := range plies {
		if plies[i].HasScore {
			s.Add(plies[i].Score)
		}
	}
	var e Encoder
	e.Reset(nil, start, s.Order())
	for i := range plies {
		if err := e.Add(&plies[i]); err != nil {
			t.Fatalf("ply %d %+v: %v", i, plies[i], err)
		}
	}
	return e.Bytes()
}

func decode(b []byte, start *chess.Position, n int) ([]Ply, error) {
	var d Decoder
	d.Reset(b, start)
	plies := make([]Ply, n)
	for i := range plies {
		if err := d.Next(&plies[i]); err != nil {
			return plies[:i], err
		}
	}
	return plies, d.End()
}

func TestRoundTrip(t *testing.T) {
	rng := newRand(1)
	for _, start := range starts(t) {
		for n := range 40 {
			plies := randomPlies(start, rng, n*n/4)
			b := encode(t, &start, plies)
			got, err := decode(b, &start, len(plies))
			if err != nil || !slices.Equal(got, plies) {
				t.Fatalf("%s: %v\n got %v\nwant %v", start.FEN(), err, got, plies)
			}
			for cut := 0; cut < len(b) && n < 20; cut++ {
				if _, err := decode(b[:cut], &start, len(plies)); !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrIllegal) {
					t.Fatalf("cut at %d of %d: %v", cut, len(b), err)
				}
			}
		}
	}
}

// TestEveryMove codes every legal move of many positions alone.
func TestEveryMove(t *testing.T) {
	rng := newRand(2)
	kinds := make(map[chess.MoveKind]int)
	for _, pos := range starts(t) {
		for range 120 {
			var legal chess.MoveList
			pos.Legal(&legal)
			if legal.N == 0 {
				break
			}
			for _, m := range legal.Slice() {
				var w bitWriter
				writeMove(&w, &pos, m)
				r := bitReader{b: w.b}
				if got, ok := readMove(&r, &pos); !ok || got != m || !r.padded() {
					t.Fatalf("%s in %s comes back as %s, %v", pos.UCI(m), pos.FEN(), pos.UCI(got), ok)
				}
				kinds[m.Kind()]++
			}
			pos.Make(legal.Moves[rng.IntN(legal.N)])
		}
	}
	for kind := chess.Normal; kind <= chess.DropQueen; kind++ {
		if kinds[kind] == 0 {
			t.Errorf("no move of kind %d", kind)
		}
	}
}

// TestAddRefuses goes through plies that cannot be coded.
func TestAddRefuses(t *testing.T) {
	start := chess.Crazyhouse.Start()
	move := func(uci string) chess.Move {
		m, err := start.ParseUCI(uci)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	e4 := move("e2e4")
	illegal := chess.NewMove(chess.A1, chess.H8, chess.Normal)
	for name, tc := range map[string]struct {
		plies []Ply
		want  error
	}{
		"high score":          {[]Ply{{Move: e4, HasScore: true, Score: maxScore + 1}}, ErrMalformed},
		"low score":           {[]Ply{{Move: e4, HasScore: true, Score: minScore - 1}}, ErrMalformed},
		"score but none":      {[]Ply{{Move: e4, Score: 1}}, ErrMalformed},
		"other move the same": {[]Ply{{Move: e4, Other: e4}}, ErrIllegal},
		"other move illegal":  {[]Ply{{Move: e4, Other: illegal}}, ErrIllegal},
		"after an illegal":    {[]Ply{{Move: illegal}, {Move: e4}}, ErrIllegal},
		"after a partial one": {[]Ply{{Move: e4, Partial: true}, {Move: e4}}, ErrIllegal},
	} {
		var e Encoder
		e.Reset(nil, &start, 3)
		var err error
		for i := range tc.plies {
			if err != nil {
				t.Fatalf("%s: ply %d: %v", name, i-1, err)
			}
			err = e.Add(&tc.plies[i])
		}
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOneCode: what the Encoder does not write, the Decoder refuses.
func TestOneCode(t *testing.T) {
	start := chess.Crazyhouse.Start()
	e4 := chess.NewMove(12, 28, chess.DoublePush)
	for name, write := range map[string]func(*bitWriter){
		"flags once more":    func(w *bitWriter) { w.write(1<<4|stickyFlags, 5); writeMove(w, &start, e4); w.golomb(0, 0) },
		"raw but legal":      func(w *bitWriter) { w.write(1<<4|flagRaw, 5); w.write(uint32(e4)<<1, 17) },
		"other but same":     func(w *bitWriter) { w.write(1<<4|flagOther, 5); writeMove(w, &start, e4); writeMove(w, &start, e4) },
		"piece without move": func(w *bitWriter) { w.write(0, 1); w.choice(0, 16); w.golomb(0, 0) },
		"score too high":     func(w *bitWriter) { w.write(0, 1); writeMove(w, &start, e4); w.golomb(1<<16, 0) },
	} {
		w := bitWriter{}
		w.write(0, 4)
		write(&w)
		if _, err := decode(w.b, &start, 1); !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrIllegal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// encodeV1 is the encoder of version 1, for legal moves.
func encodeV1(start chess.Position, plies []Ply, order uint) []byte {
	var w bitWriter
	w.write(uint32(order), 4)
	flags, last := uint32(3), search.Score(0)
	for _, p := range plies {
		if f := bit(p.HasScore)*2 | bit(p.Train); f == flags {
			w.write(0, 1)
		} else {
			w.write(1<<2|f, 3)
			flags = f
		}
		var legal chess.MoveList
		start.Legal(&legal)
		slices.Sort(legal.Slice())
		width := uint(0)
		for 1<<width < legal.N {
			width++
		}
		w.write(uint32(slices.Index(legal.Slice(), p.Move)), width)
		if p.HasScore {
			w.golomb(zigzag(int32(p.Score+last)), order)
			last = p.Score
		}
		start.Make(p.Move)
	}
	return w.b
}

func TestVersion1(t *testing.T) {
	rng := newRand(3)
	for _, start := range starts(t) {
		for range 10 {
			plies := randomPlies(start, rng, 60)
			pos := start
			for i := range plies {
				plies[i].Partial, plies[i].Other = false, chess.NoMove
				if !pos.IsLegal(plies[i].Move) {
					plies = plies[:i]
					break
				}
				pos.Make(plies[i].Move)
			}
			b := encodeV1(start, plies, 5)
			var d DecoderV1
			d.Reset(b, &start)
			for i := range plies {
				var got Ply
				if err := d.Next(&got); err != nil || got != plies[i] {
					t.Fatalf("ply %d: %v\n got %+v\nwant %+v", i, err, got, plies[i])
				}
			}
			if err := d.End(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestNoAllocation holds the coders to it.
func TestNoAllocation(t *testing.T) {
	start := chess.Crazyhouse.Start()
	plies := randomPlies(start, newRand(4), 200)
	buf := make([]byte, 0, 4096)
	var e Encoder
	var d Decoder
	var got Ply
	if n := testing.AllocsPerRun(10, func() {
		e.Reset(buf, &start, 6)
		for i := range plies {
			if err := e.Add(&plies[i]); err != nil {
				t.Fatal(err)
			}
		}
		d.Reset(e.Bytes(), &start)
		for range plies {
			if err := d.Next(&got); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// FuzzDecode gives the decoders any bytes; what the present one accepts the
// Encoder writes.
func FuzzDecode(f *testing.F) {
	rng := newRand(5)
	list := starts(f)
	for i := range list {
		plies := randomPlies(list[i], rng, 12)
		f.Add(encode(f, &list[i], plies), uint8(i), uint16(len(plies)))
	}
	f.Fuzz(func(t *testing.T, b []byte, which uint8, n uint16) {
		start := &list[int(which)%len(list)]
		var v1 DecoderV1
		v1.Reset(b, start)
		for range n % 512 {
			if v1.Next(&Ply{}) != nil {
				break
			}
		}
		plies, err := decode(b, start, int(n%512))
		if err != nil {
			return
		}
		var e Encoder
		e.Reset(nil, start, uint(b[0]>>4))
		for i := range plies {
			if err := e.Add(&plies[i]); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(e.Bytes(), b) {
			t.Fatalf("decoded\n%x\nbut encodes to\n%x", b, e.Bytes())
		}
	})
}
