package book

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

func testSelection() Selection {
	return Selection{Count: 60, Lo: -100, Hi: 99, Scores: 4, Hands: []int{0, 1, 3}, Oversample: 3}
}

// randomWalks are walks of random moves with random scores.
func randomWalks(t *testing.T, n int) []Walk {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	walks := make([]Walk, n)
	for i := range walks {
		o, err := game.RandomOpening(chess.Crazyhouse.Start(), rng, 4, 24, nil)
		if err != nil {
			t.Fatal(err)
		}
		line := chess.NewLine(o.Start)
		for _, m := range o.Moves {
			line.Push(m)
		}
		walks[i] = Walk{Number: i, End: *line.Pos(), Score: search.Score(rng.NormFloat64() * 120)}
	}
	return walks
}

// selected gives walks to a selector until it wants no more.
func selected(t *testing.T, s Selection, seed uint64, walks []Walk) (*Selector, []Walk, []Stratum) {
	t.Helper()
	sel, err := NewSelector(s, seed)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range walks {
		if more, err := sel.Add(w); err != nil {
			t.Fatal(err)
		} else if !more {
			break
		}
	}
	book, strata, err := sel.Select()
	if err != nil {
		t.Fatal(err)
	}
	return sel, book, strata
}

func TestSelect(t *testing.T) {
	walks := randomWalks(t, 2000)
	sel, book, strata := selected(t, testSelection(), 1, walks)
	c := sel.Census
	if c.Walks != c.OutOfBand+c.Duplicates+c.Found || c.Found < 60 {
		t.Errorf("census %+v does not add up", c)
	}
	if len(book) != 60 || len(strata) != 4*3*2 {
		t.Fatalf("%d positions in %d strata", len(book), len(strata))
	}
	counts := make([]int, len(strata))
	for i := range book {
		w := &book[i]
		for j, s := range strata {
			hands := piecesInHand(&w.End)
			if w.Score >= s.Score[0] && w.Score <= s.Score[1] && hands >= s.Hands[0] && (s.Hands[1] < 0 || hands <= s.Hands[1]) && w.End.SideToMove().String() == s.Side {
				counts[j]++
			}
		}
	}
	most := 0
	for _, s := range strata {
		most = max(most, s.Taken)
	}
	for j, s := range strata {
		if counts[j] != s.Taken {
			t.Errorf("stratum %+v: has %d", s, counts[j])
		}
		if s.Taken < most-1 && s.Taken < s.Found {
			t.Errorf("stratum %+v: could be nearer to %d", s, most)
		}
	}
}

func TestSelectionDependsOnSeedAndWalks(t *testing.T) {
	walks := randomWalks(t, 2000)
	_, a, _ := selected(t, testSelection(), 1, walks)
	_, b, _ := selected(t, testSelection(), 1, walks)
	_, c, _ := selected(t, testSelection(), 2, walks)
	if !slices.Equal(a, b) {
		t.Error("the same seed gives another book")
	}
	if slices.Equal(a, c) {
		t.Error("another seed gives the same order")
	}
	byNumber := func(x, y Walk) int { return x.Number - y.Number }
	slices.SortFunc(a, byNumber)
	slices.SortFunc(c, byNumber)
	if !slices.Equal(a, c) {
		t.Error("another seed of the order gives other positions")
	}
}

// A position counts once, and not again with the colours reversed.
func TestDuplicates(t *testing.T) {
	s := testSelection()
	s.Count = 1
	sel, err := NewSelector(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := randomWalks(t, 1)[0]
	w.Score = 10
	other := w
	if other.End, err = reversed(&w.End); err != nil {
		t.Fatal(err)
	}
	for _, w := range []Walk{w, w, other, {Verdict: Ended}, {Verdict: Lopsided}, {Verdict: Check}, {End: w.End, Score: 100}} {
		if _, err := sel.Add(w); err != nil {
			t.Fatal(err)
		}
	}
	if want := (Census{Walks: 7, Ended: 1, Lopsided: 1, Check: 1, OutOfBand: 1, Duplicates: 2, Found: 1}); sel.Census != want {
		t.Errorf("census %+v, expected %+v", sel.Census, want)
	}
}

func TestSelectionStops(t *testing.T) {
	walks := randomWalks(t, 500)
	s := testSelection()
	s.MaxWalks = 30
	sel, err := NewSelector(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for more := true; more; n++ {
		if more, err = sel.Add(walks[n]); err != nil {
			t.Fatal(err)
		}
	}
	if n != 30 {
		t.Errorf("%d walks looked at, expected 30", n)
	}
	if _, _, err := sel.Select(); !errors.Is(err, ErrTooFew) {
		t.Errorf("error %v", err)
	}
	s.MaxWalks, s.Oversample = 0, 1
	if sel, _, _ := selected(t, s, 1, walks); sel.Census.Found != s.Count {
		t.Errorf("without oversampling %d found, expected %d", sel.Census.Found, s.Count)
	}
}

// The strata of score cover the band without gaps.
func TestEdges(t *testing.T) {
	for _, scores := range []int{1, 2, 3, 7, 200} {
		s := testSelection()
		s.Scores = scores
		all := s.strata()
		if all[0].Score[0] != s.Lo || all[len(all)-1].Score[1] != s.Hi {
			t.Errorf("%d strata run from %d to %d", scores, all[0].Score[0], all[len(all)-1].Score[1])
		}
		for score := s.Lo; score <= s.Hi; score++ {
			w := Walk{End: chess.Crazyhouse.Start(), Score: score}
			if st := all[s.stratum(&w)]; score < st.Score[0] || score > st.Score[1] || st.Side != "white" || st.Hands[0] != 0 {
				t.Errorf("%d strata: score %d in %+v", scores, score, st)
			}
		}
	}
}

func TestBadSelections(t *testing.T) {
	for name, change := range map[string]func(*Selection){
		"count":          func(s *Selection) { s.Count = 0 },
		"too many":       func(s *Selection) { s.Count = maxBook + 1 },
		"band":           func(s *Selection) { s.Hi = s.Lo - 1 },
		"mates":          func(s *Selection) { s.Hi = search.MateScore },
		"scores":         func(s *Selection) { s.Scores = 0 },
		"many scores":    func(s *Selection) { s.Scores = 201 },
		"no hands":       func(s *Selection) { s.Hands = nil },
		"hands from one": func(s *Selection) { s.Hands = []int{1, 2} },
		"falling hands":  func(s *Selection) { s.Hands = []int{0, 2, 2} },
		"oversample":     func(s *Selection) { s.Oversample = 0.5 },
		"walks":          func(s *Selection) { s.MaxWalks = -1 },
	} {
		s := testSelection()
		change(&s)
		if _, err := NewSelector(s, 1); !errors.Is(err, ErrSettings) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
