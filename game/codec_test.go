package game

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game/plycode"
	"github.com/crazyhouse-rl/selfplay/search"
)

func mustEncode(t testing.TB, g *Game) []byte {
	t.Helper()
	b, err := Encode(nil, g)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// reseal makes length and checksum of an altered record right again.
func reseal(b []byte) []byte {
	if err := finish(b); err != nil {
		panic(err)
	}
	return b
}

// TestRoundTrip is the law of the codec, on random games of every kind of start.
func TestRoundTrip(t *testing.T) {
	rng := newRand(1)
	for _, start := range starts(t) {
		for n := range 30 {
			g := randomGame(start, rng, n*n/2)
			b := mustEncode(t, g)
			got, err := Decode(b)
			if err != nil {
				t.Fatalf("%s: %v", start.FEN(), err)
			}
			if !reflect.DeepEqual(got, g) {
				t.Fatalf("got %+v\nwant %+v", got, g)
			}
			if again := mustEncode(t, got); !bytes.Equal(again, b) {
				t.Fatalf("second encoding differs:\n%x\n%x", again, b)
			}
			checkHeader(t, b, g)
		}
	}
}

func checkHeader(t *testing.T, b []byte, g *Game) {
	t.Helper()
	h, err := DecodeHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	want := Header{
		ID: g.ID, Variant: g.Variant, Chess960: g.Start.Chess960(), Plies: len(g.Plies),
		Outcome: g.Outcome, Reason: g.Reason, Adjudged: g.Adjudged, Seed: g.Seed,
		Nets: g.Nets, Limits: g.Limits, Build: g.Build,
	}
	if fen := g.Start.FEN(); fen != g.Variant.StartFEN {
		want.StartFEN = fen
	}
	if h != want {
		t.Fatalf("header %+v\nwant %+v", h, want)
	}
}

// TestEncodeAppends checks that Encode leaves alone what is in dst.
func TestEncodeAppends(t *testing.T) {
	g := randomGame(chess.Crazyhouse.Start(), newRand(2), 40)
	b := mustEncode(t, g)
	got, err := Encode([]byte("before"), g)
	if err != nil || string(got) != "before"+string(b) {
		t.Errorf("%q, %v", got, err)
	}
	g.Plies[3].Move = chess.NoMove
	if got, err := Encode([]byte("before"), g); string(got) != "before" || !errors.Is(err, ErrIllegal) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestTexts runs the forms of a text through all text fields.
func TestTexts(t *testing.T) {
	hash, id := strings.Repeat("0123456789abcdef", 4), "01890a5d-ac96-774b-bcce-b302099a8057"
	texts := []string{
		"", "material", hash, strings.ToUpper(hash), hash[:62], id, strings.ToUpper(id), "{" + id + "}",
		strings.Repeat("x", maxText), "\xff\x00",
	}
	for _, a := range texts {
		for _, b := range texts {
			g := randomGame(chess.Crazyhouse.Start(), newRand(3), 4)
			g.ID, g.Nets, g.Limits, g.Build = a, [2]string{b, a}, a, b
			got, err := Decode(mustEncode(t, g))
			if err != nil {
				t.Fatalf("%q %q: %v", a, b, err)
			}
			if !reflect.DeepEqual(got, g) {
				t.Errorf("%q %q: got %+v", a, b, got)
			}
		}
	}
	for n := maxText + 1; n < 260; n++ {
		g := randomGame(chess.Crazyhouse.Start(), newRand(3), 4)
		g.Build = strings.Repeat("x", n)
		if _, err := Encode(nil, g); !errors.Is(err, ErrTooLarge) {
			t.Errorf("text of %d bytes: %v", n, err)
		}
	}
}

func TestTruncatedAndTrailing(t *testing.T) {
	b := mustEncode(t, randomGame(mustFEN(t, chess.Crazyhouse, start960[1]), newRand(4), 60))
	for n := range b {
		want := ErrTruncated
		if _, err := Decode(b[:n:n]); !errors.Is(err, want) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if _, err := DecodeHeader(b[:n:n]); !errors.Is(err, want) {
			t.Fatalf("cut at %d: header: %v", n, err)
		}
	}
	if _, err := Decode(append(bytes.Clone(b), 0)); !errors.Is(err, ErrTrailing) {
		t.Errorf("trailing byte: %v", err)
	}
	if _, err := Decode(append(bytes.Clone(b), b...)); !errors.Is(err, ErrTrailing) {
		t.Errorf("two records: %v", err)
	}
	// Cut records with a length and checksum to match: the bits run out.
	for n := offTexts; n < len(b); n++ {
		if _, err := Decode(reseal(bytes.Clone(b[:n]))); err == nil {
			t.Fatalf("resealed at %d: accepted", n)
		}
	}
}

func TestEveryBitFlip(t *testing.T) {
	b := mustEncode(t, randomGame(chess.Crazyhouse.Start(), newRand(5), 30))
	for i := range 8 * len(b) {
		flipped := bytes.Clone(b)
		flipped[i/8] ^= 1 << (i % 8)
		want := ErrCRC
		switch {
		case i/8 < offVersion:
			want = ErrMagic
		case i/8 == offVersion && (flipped[offVersion] < 1 || flipped[offVersion] > version):
			want = ErrVersion
		case i/8 >= offLength && i/8 < offCRC:
			if _, err := Decode(flipped); err == nil || errors.Is(err, ErrCRC) {
				t.Fatalf("bit %d: %v", i, err)
			}
			continue
		}
		if _, err := Decode(flipped); !errors.Is(err, want) {
			t.Fatalf("bit %d: %v, expected %v", i, err, want)
		}
	}
}

// TestDecodeRefuses alters single fields and reseals. Each error must say where,
// what was found and what was expected.
func TestDecodeRefuses(t *testing.T) {
	good := mustEncode(t, randomGame(chess.Crazyhouse.Start(), newRand(6), 30))
	for _, tc := range []struct {
		name  string
		spoil func(b []byte) []byte
		want  error
		text  string
	}{
		{"empty", func(b []byte) []byte { return nil }, ErrTruncated, "found 0 bytes, expected at least 25"},
		{"magic", func(b []byte) []byte { b[0] = 'X'; return b }, ErrMagic, `found magic "XHGM", expected "ZHGM"`},
		{"version", func(b []byte) []byte { b[4] = 4; return b }, ErrVersion, "byte 4: found 4, expected 1 to 3"},
		{"version 0", func(b []byte) []byte { b[4] = 0; return b }, ErrVersion, "byte 4: found 0, expected 1 to 3"},
		{"variant", func(b []byte) []byte { b[11] = 9; return reseal(b) }, ErrVariant, "byte 11: found number 9, expected 1 to 2"},
		{"variant 0", func(b []byte) []byte { b[11] = 0; return reseal(b) }, ErrVariant, "byte 11: found number 0, expected 1 to 2"},
		{"flags", func(b []byte) []byte { b[12] |= 4; return reseal(b) }, ErrMalformed, "byte 12: found flags 0x4"},
		{"no outcome", func(b []byte) []byte { b[13] = 0; return reseal(b) }, ErrMalformed, "byte 13: found outcome byte 0x0"},
		{"outcome bits", func(b []byte) []byte { b[13] |= 64; return reseal(b) }, ErrMalformed, "byte 13: found outcome byte 0x43"},
		{"loser", func(b []byte) []byte { b[13] = 1; return reseal(b) }, ErrOutcome, "found 1-0 by ply limit"},
		{"reason", func(b []byte) []byte { b[14] = byte(chess.Checkmate); return reseal(b) }, ErrOutcome, "found 1/2-1/2 by checkmate, but the final position is * by none"},
		{"reason unknown", func(b []byte) []byte { b[14] = 99; return reseal(b) }, ErrOutcome, "found 1/2-1/2 by other"},
		{"plies", func(b []byte) []byte { b[16] = 0xff; return reseal(b) }, ErrTooLarge, "byte 15: found 65310 plies, expected at most 4096"},
		{"one ply less", func(b []byte) []byte { b[15]--; return reseal(b) }, ErrMalformed, "after 29 plies"},
		{"two plies more", func(b []byte) []byte { b[15] += 2; return reseal(b) }, ErrMalformed, "ply 31: cut short"},
		{"many plies", func(b []byte) []byte { b[16] = 8; return reseal(b) }, ErrMalformed, "2078 plies in "},
		{"byte after the plies", func(b []byte) []byte { return reseal(append(b, 0)) }, ErrMalformed, "bits after 30 plies"},
		{"UUID in full", func(b []byte) []byte {
			return reseal(slices.Concat(b[:25], []byte{36}, []byte("01890a5d-ac96-774b-bcce-b302099a8057"), b[25+17:]))
		}, ErrMalformed, "in form 36, expected 251"},
		{"text form", func(b []byte) []byte { b[25] = 254; return reseal(b) }, ErrMalformed, "byte 25: text form 254"},
		{"needless FEN", func(b []byte) []byte { return reseal(withFEN(b, chess.Crazyhouse.StartFEN)) }, ErrMalformed, "needs no place"},
		{"bad FEN", func(b []byte) []byte { return reseal(withFEN(b, "8/8/8/8 w - - 0 1")) }, ErrMalformed, "start position"},
		{"other spelling of a FEN", func(b []byte) []byte {
			return reseal(withFEN(b, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"))
		}, ErrMalformed, "start position"},
	} {
		_, err := Decode(tc.spoil(bytes.Clone(good)))
		if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: %v, expected %v with %q", tc.name, err, tc.want, tc.text)
		}
	}
}

// withFEN puts a start FEN into a record without one.
func withFEN(b []byte, fen string) []byte {
	_, next, err := readHeader(b)
	if err != nil {
		panic(err)
	}
	b[12] |= flagFEN
	return slices.Concat(b[:next], []byte{byte(len(fen))}, []byte(fen), b[next:])
}

// TestPliesRefused puts plies into a record that package plycode has and games do
// not.
func TestPliesRefused(t *testing.T) {
	g := randomGame(chess.Crazyhouse.Start(), newRand(7), 1)
	g.Plies[0] = Ply{Move: g.Plies[0].Move, HasScore: true, Train: true}
	b := mustEncode(t, g)
	_, next, err := readHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	var other chess.MoveList
	g.Start.Legal(&other)
	for name, ply := range map[string]plycode.Ply{
		"illegal":      {Move: chess.NewMove(chess.A1, chess.H8, chess.Normal)},
		"partial":      {Move: g.Plies[0].Move, Partial: true},
		"another made": {Move: g.Plies[0].Move, Other: other.Moves[g.Plies[0].Move&1]},
		"score":        {Move: g.Plies[0].Move, HasScore: true, Score: search.MateScore + 1},
	} {
		if ply.Other == ply.Move {
			ply.Other = other.Moves[2]
		}
		var e plycode.Encoder
		e.Reset(bytes.Clone(b[:next]), &g.Start, 0)
		if err := e.Add(&ply); err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(reseal(e.Bytes())); !errors.Is(err, ErrIllegal) && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var e plycode.Encoder
	e.Reset(bytes.Clone(b[:next]), &g.Start, plycode.MaxOrder)
	if err := e.Add(&plycode.Ply{Move: g.Plies[0].Move, HasScore: true, Train: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(reseal(e.Bytes())); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "score order 15") {
		t.Errorf("score order: %v", err)
	}
}

// TestOutcomes goes through endings, true and false.
func TestOutcomes(t *testing.T) {
	mate := playMoves(t, chess.Crazyhouse, "f2f3 e7e5 g2g4 d8h4")
	threefold := playMoves(t, chess.Crazyhouse, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8")
	open := playMoves(t, chess.Crazyhouse, "e2e4")
	for _, tc := range []struct {
		game     *Game
		outcome  chess.Outcome
		reason   chess.Reason
		adjudged chess.Outcome
		ok       bool
	}{
		{mate, chess.BlackWins, chess.Checkmate, chess.Ongoing, true},
		{mate, chess.BlackWins, chess.Checkmate, chess.WhiteWins, true}, // the adjudication was wrong
		{mate, chess.WhiteWins, chess.Checkmate, chess.Ongoing, false},
		{mate, chess.BlackWins, chess.Stalemate, chess.Ongoing, false},
		{mate, chess.Draw, PlyLimit, chess.Ongoing, false},
		{mate, chess.BlackWins, AdjudicatedWin, chess.BlackWins, false},
		{mate, chess.Ongoing, chess.NoReason, chess.Ongoing, false},
		{threefold, chess.Draw, chess.Repetition, chess.Ongoing, true},
		{threefold, chess.Draw, AdjudicatedDraw, chess.Draw, false},
		{open, chess.Draw, PlyLimit, chess.Ongoing, true},
		{open, chess.Draw, PlyLimit, chess.WhiteWins, true},
		{open, chess.WhiteWins, PlyLimit, chess.Ongoing, false},
		{open, chess.WhiteWins, AdjudicatedWin, chess.WhiteWins, true},
		{open, chess.WhiteWins, AdjudicatedWin, chess.Ongoing, false},
		{open, chess.Draw, AdjudicatedWin, chess.Draw, false},
		{open, chess.Draw, AdjudicatedDraw, chess.Draw, true},
		{open, chess.Draw, AdjudicatedDraw, chess.BlackWins, false},
		{open, chess.BlackWins, TimeForfeit, chess.Ongoing, true},
		{open, chess.BlackWins, IllegalMove, chess.Ongoing, true},
		{open, chess.WhiteWins, EngineFailure, chess.Ongoing, true},
		{open, chess.Draw, EngineFailure, chess.Ongoing, false},
		{open, chess.WhiteWins, chess.Checkmate, chess.Ongoing, false},
		{open, chess.Draw, chess.Repetition, chess.Ongoing, false},
		{open, chess.Draw, Abandoned, chess.Ongoing, false},
		{open, chess.Draw, chess.NoReason, chess.Ongoing, false},
		{open, chess.Draw, chess.Reason(200), chess.Ongoing, false},
	} {
		g := *tc.game
		g.Outcome, g.Reason, g.Adjudged = tc.outcome, tc.reason, tc.adjudged
		b, err := Encode(nil, &g)
		if tc.ok != (err == nil) || err != nil && !errors.Is(err, ErrOutcome) {
			t.Errorf("%v by %s, verdict %v: %v", tc.outcome, ReasonText(tc.reason), tc.adjudged, err)
		}
		if err == nil {
			if _, err := Decode(b); err != nil {
				t.Error(err)
			}
		}
	}
	late := *threefold
	late.Plies = append(slices.Clone(late.Plies), late.Plies[0])
	late.Outcome, late.Reason = chess.Draw, PlyLimit
	if _, err := Encode(nil, &late); !errors.Is(err, ErrIllegal) {
		t.Errorf("game that goes on after a repetition: %v", err)
	}
}

func playMoves(t *testing.T, v *chess.Variant, moves string) *Game {
	t.Helper()
	g := &Game{ID: "x", Variant: v, Start: v.Start()}
	line := chess.NewLine(g.Start)
	for _, text := range strings.Fields(moves) {
		m, err := line.Pos().ParseUCI(text)
		if err != nil {
			t.Fatal(err)
		}
		line.Push(m)
		g.Plies = append(g.Plies, Ply{Move: m})
	}
	return g
}

func TestEncodeRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*Game)
		want  error
	}{
		"no variant":    {func(g *Game) { g.Variant = nil }, ErrVariant},
		"other variant": {func(g *Game) { g.Variant = chess.Chess }, ErrVariant},
		"score":         {func(g *Game) { g.Plies[0] = Ply{Move: g.Plies[0].Move, HasScore: true, Score: search.Infinite} }, ErrMalformed},
		"outcome":       {func(g *Game) { g.Outcome = 4 }, ErrMalformed},
		"plies":         {func(g *Game) { g.Plies = make([]Ply, MaxGamePlies+1) }, ErrTooLarge},
		"move":          {func(g *Game) { g.Plies[5].Move = chess.NewMove(chess.A1, chess.H8, chess.Castle) }, ErrIllegal},
	} {
		g := randomGame(chess.Crazyhouse.Start(), newRand(8), 10)
		tc.spoil(g)
		if _, err := Encode(nil, g); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLargestGame shows that a game at every other bound is within
// MaxRecordBytes: kings walk about between full hands, so that there are some 300
// moves to choose from, and the scores swing from end to end.
func TestLargestGame(t *testing.T) {
	rng := newRand(9)
	g := randomGame(mustFEN(t, chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[QRRBBNNPPPPPPPPqrrbbnnpppppppp] w - - 12 40"), rng, 0)
	line := chess.NewLine(g.Start)
	for i := range MaxGamePlies {
		var list chess.MoveList
		line.Pos().Legal(&list)
		moves := slices.DeleteFunc(list.Slice(), chess.Move.IsDrop)
		rng.Shuffle(len(moves), func(i, j int) { moves[i], moves[j] = moves[j], moves[i] })
		for _, m := range moves {
			line.Push(m)
			if outcome, _ := line.Outcome(); outcome == chess.Ongoing {
				break
			}
			line.Pop()
		}
		if line.Len() != i+1 {
			t.Fatalf("no way to go on after ply %d", i)
		}
		swing := search.Score(i%4/2*2-1) * search.MateScore
		g.Plies = append(g.Plies, Ply{Move: line.Moves()[i], Score: swing, HasScore: true, Train: i%2 == 0})
	}
	g.ID, g.Limits = strings.Repeat("i", maxText), strings.Repeat("l", maxText)
	b := mustEncode(t, g)
	t.Logf("%d bytes", len(b))
	if got, err := Decode(b); err != nil || !reflect.DeepEqual(got, g) {
		t.Error("does not round-trip", err)
	}
}

// FuzzDecode gives Decode any bytes, as they are and with magic, version, length
// and checksum put right, so that the fuzzer reaches the inside.
func FuzzDecode(f *testing.F) {
	rng := newRand(12)
	for _, start := range starts(f) {
		f.Add(mustEncode(f, randomGame(start, rng, 12))) // every kind of start
	}
	f.Add(mustEncode(f, randomGame(chess.Crazyhouse.Start(), rng, 0))) // no plies
	f.Add(mustEncode(f, withPolicies(randomGame(chess.Crazyhouse.Start(), rng, 12), rng)))
	f.Add([]byte{})
	f.Add(Seal(mustEncode(f, randomGame(chess.Crazyhouse.Start(), rng, 12)), sealKey("a"))) // passed over
	f.Fuzz(func(t *testing.T, b []byte) {
		checkCanonical(t, b)
		if len(b) >= offTexts && len(b) <= MaxRecordBytes {
			b = bytes.Clone(b)
			copy(b, magic)
			for v := byte(1); v <= version; v++ {
				b[offVersion] = v
				checkCanonical(t, reseal(b))
			}
		}
	})
}

// checkCanonical: what Decode accepts, Encode writes, if only in another version
// than 1.
func checkCanonical(t *testing.T, b []byte) {
	h, headerErr := DecodeHeader(b)
	g, err := Decode(b)
	if err != nil {
		return
	}
	if b, err = skipSeal(b); err != nil {
		t.Fatalf("decoded, but %v", err)
	}
	if headerErr != nil || h.ID != g.ID || h.Plies != len(g.Plies) || h.Outcome != g.Outcome {
		t.Fatalf("header %+v (%v) of %+v", h, headerErr, g)
	}
	again, err := Encode(nil, g)
	if err != nil || b[offVersion] != 1 && !bytes.Equal(again, b) {
		t.Fatalf("decoded\n%x\nbut encodes to\n%x (%v)", b, again, err)
	}
	if then, err := Decode(again); err != nil || !reflect.DeepEqual(then, g) {
		t.Fatalf("record of version %d encodes to another game (%v)", b[offVersion], err)
	}
}
