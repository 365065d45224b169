package dash

import (
	"net/http"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes"
)

const pgnText = `[White "Ann"]
[Black "Bob"]
[Result "1-0"]

1. e4 {first} d5 (1... e5 2. Nf3) 2. exd5 Qxd5 3. Nc3 Qd8 4. P@e6 1-0
`

// asText is the JSON of a text.
func asText(text string) string { return string(encode(Text{text})) }

func TestText(t *testing.T) {
	s := withoutNet(t)
	told := answered[Told](t, s, "text", asText(pgnText))
	if got := told.Table.Positions; len(got) != 8 || got[7].UCI != "P@e6" || got[3].SAN != "exd5" || told.White != "Ann" || told.Result != "1-0" || told.Table.Result != "*" || told.More {
		t.Errorf("found %d positions, %+v", len(got), told)
	}
	if told := answered[Told](t, s, "text", asText(pgnText+"\n"+pgnText)); !told.More || len(told.Table.Positions) != 8 {
		t.Errorf("of two games: found %d positions, more %v", len(told.Table.Positions), told.More)
	}
	const fen = "6k1/5ppp/8/8/8/8/5PPP/1N4K1[r] w - - 0 1"
	if told := answered[Told](t, s, "text", asText(" "+fen+"\n")); told.Table.Start != fen || len(told.Table.Positions) != 1 || len(told.Table.Legal) == 0 {
		t.Errorf("found %+v", told.Table)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", " \n", "no text"},
		{"no game", "hello", "not a move"},
		{"tags alone, broken", `[White "Ann`, "bad PGN"},
		{"bad FEN", "8/8/8/8/8/8/8/8 w - - 0 1", "FEN: "},
		{"illegal move", "1. e4 e5 2. Ke3", "ply 3"},
		{"drop of nothing", "1. N@e4", "ply 1"},
		{"another variant", "[Variant \"Chess\"]\n\n1. e4 *", "game of chess, expected one of crazyhouse"},
		{"a variant that is not known", "[Variant \"Atomic\"]\n\n1. e4 *", "variant"},
		{"a long game", strings.Repeat("Nf3 Nf6 Ng1 Ng8 ", 1100), "at most 4096 plies"},
	} {
		if w := question(t, s, "text", asText(tc.text)); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), tc.want) {
			t.Errorf("%s: code %d, %s; expected 400 and %q", tc.name, w.Code, w.Body, tc.want)
		}
	}
	if w := question(t, s, "text", asText(strings.Repeat(" ", mostAsked))); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a large text: code %d, expected 413", w.Code)
	}
}

// A text may hold any bytes.
func FuzzText(f *testing.F) {
	for _, seed := range []string{pgnText, "8/8/8/8/8/8/8/8 w - - 0 1", "1. e4 e5 *", "{", "[a \"b\"]\n\n(((("} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if out, err := told(text, chess.Crazyhouse); err == nil && out.Table == nil {
			t.Errorf("%q: found no table and no error", text)
		}
	})
}

func TestAnalysis(t *testing.T) {
	s := withoutNet(t)
	a := answered[Analysis](t, s, "analysis", `{"fen":"6k1/5ppp/8/8/8/8/5PPP/1N4K1[r] w - - 0 1","lines":2,"nodes":2000}`)
	if len(a.Lines) != 2 || a.Lines[0].Win+a.Lines[0].Draw+a.Lines[0].Loss != 1000 || len(a.Lines[0].SAN) == 0 || a.Net != "the built-in net" || a.Depth == 0 {
		t.Errorf("found %+v", a)
	}
	if len(a.Threats) == 0 || a.Threats[0].Mate != 1 || !strings.HasPrefix(a.Threats[0].UCI, "R@") {
		t.Errorf("found threats %+v, expected mate by a rook", a.Threats)
	}
	over := answered[Analysis](t, s, "analysis", `{"moves":["f2f3","e7e5","g2g4","d8h4"],"lines":1}`)
	if over.Ended != "checkmate" || len(over.Lines) != 0 {
		t.Errorf("found %+v", over)
	}
	for body, want := range map[string]string{
		`{}`: "found lines 0", `{"lines":9}`: "found lines 9", `{"lines":1,"moves":["e2e5"]}`: "ply 1", `{"lines":1,"fen":"x"}`: "FEN: ",
	} {
		if w := question(t, s, "analysis", body); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: code %d, %s; expected 400 and %q", body, w.Code, w.Body, want)
		}
	}
}

// The planes are those of package planes. In a set that has a feature for every piece,
// every piece but the kings needs one, and there are no others.
func TestInputs(t *testing.T) {
	s := withoutNet(t)
	const fen = "r2qk2r/ppp2ppp/2n5/8/8/2N5/PPP2PPP/R2QK2R[BBNbbnpp] b KQkq - 0 9"
	in := answered[Inputs](t, s, "inputs", `{"fen":"`+fen+`"}`)
	p, err := chess.ParseFEN(chess.Crazyhouse, fen)
	if err != nil {
		t.Fatal(err)
	}
	var want [planes.Size]float32
	planes.Encode(want[:], &p, 0)
	if len(in.Planes) != planes.Channels {
		t.Fatalf("found %d planes, expected %d", len(in.Planes), planes.Channels)
	}
	for i, plane := range in.Planes {
		for j := range 64 {
			got := plane.Values[0]
			if !plane.Constant {
				got = plane.Values[j]
			}
			if got != want[64*i+j] {
				t.Fatalf("plane %d (%s), square %d: found %v, expected %v", i, plane.Name, j, got, want[64*i+j])
			}
		}
	}
	if len(in.Blocks) == 0 || in.Features == "" {
		t.Fatalf("found no features: %+v", in)
	}
	found := false
	for _, b := range in.Blocks {
		if b.Name != "HalfKAv2" && b.Name != "All" && b.Name != "KingZone * (All + Hand)" {
			continue
		}
		found = true
		for side, seen := range b.Sides {
			pieces := 0
			for square, n := range seen.Squares {
				piece := p.PieceAt(chess.Square(square))
				switch {
				case piece.Type() == chess.King:
					pieces++
					if n != nil {
						t.Errorf("%s: %d features need a king", b.Name, *n)
					}
				case piece == chess.NoPiece:
					if n == nil || *n != 0 {
						t.Errorf("%s: features need the empty square %v", b.Name, chess.Square(square))
					}
				default:
					pieces++
					if n == nil || *n != 1 {
						t.Errorf("%s, side %d: found %v features for the piece on %v, expected 1", b.Name, side, n, chess.Square(square))
					}
				}
			}
			if b.Name != "All" { // hands too
				pieces += p.Hand(chess.White).Total() + p.Hand(chess.Black).Total()
				if len(seen.Hands) != 5 || seen.Hands["B"] != 1 || seen.Hands["p"] != 1 {
					t.Errorf("found %v for the hands", seen.Hands)
				}
			}
			if len(seen.Active) != pieces {
				t.Errorf("%s, side %d: found %d active features, expected %d", b.Name, side, len(seen.Active), pieces)
			}
		}
	}
	if !found {
		t.Errorf("found no block with a feature for every piece in %s", in.Features)
	}
}
