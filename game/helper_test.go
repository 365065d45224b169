package game

import (
	"bufio"
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

var update = flag.Bool("update", false, "rewrite golden files")

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// start960 are Chess960 starts, one with rights on one side only.
var start960 = []string{
	"bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN[] w GEge - 0 1",
	"rkbbnnqr/pppppppp/8/8/8/8/PPPPPPPP/RKBBNNQR[Nq] b HAh - 3 9",
}

func mustFEN(t testing.TB, v *chess.Variant, fen string) chess.Position {
	t.Helper()
	p, err := chess.ParseFEN(v, fen)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// starts are start positions of both variants, Chess960 among them, some with
// Black to move.
func starts(t testing.TB) []chess.Position {
	list := []chess.Position{chess.Crazyhouse.Start(), chess.Chess.Start()}
	for _, fen := range start960 {
		list = append(list, mustFEN(t, chess.Crazyhouse, fen))
	}
	standard960 := chess.Chess.Start()
	standard960.SetChess960(true)
	return append(list, standard960,
		mustFEN(t, chess.Crazyhouse, "r1bQ~1rk1/ppp2pp1/5n1p/8/3q~4/2N2N2/PPP2PPP/R3R1K1[BPnp] w - - 1 25"),
		mustFEN(t, chess.Crazyhouse, "r1b1kb1r/ppp1qppp/2n2n2/4p3/2B1P3/5N2/PPP2PPP/RNBQ1RK1[Pp] b kq - 5 6"))
}

// randomGame plays random moves from start, with scores that walk at random and
// flags that change now and then, until the game ends or has n plies.
func randomGame(start chess.Position, rng *rand.Rand, n int) *Game {
	g := &Game{
		ID: "01890a5d-ac96-774b-bcce-b302099a8057", Variant: start.Variant(), Start: start, Plies: []Ply{},
		Seed: rng.Uint64(), Limits: "nodes 5000", Build: "v0.1.0",
		Nets: [2]string{strings.Repeat("0a", 32), strings.Repeat("0a", 32)},
	}
	line := chess.NewLine(start)
	score, hasScore, train := search.Score(0), rng.IntN(2) == 0, rng.IntN(2) == 0
	for len(g.Plies) < n {
		if g.Outcome, g.Reason = line.Outcome(); g.Outcome != chess.Ongoing {
			return g
		}
		if rng.IntN(8) == 0 {
			hasScore, train = rng.IntN(2) == 0, rng.IntN(2) == 0
		}
		score = -score + search.Score(rng.NormFloat64()*80)
		if rng.IntN(40) == 0 {
			score = search.MateScore - search.Score(rng.IntN(20))
		}
		ply := Ply{Move: RandomMove(line.Pos(), rng), HasScore: hasScore, Train: train}
		if hasScore {
			ply.Score = max(-search.MateScore, min(search.MateScore, score))
		}
		g.Plies = append(g.Plies, ply)
		line.Push(ply.Move)
	}
	if g.Outcome, g.Reason = line.Outcome(); g.Outcome == chess.Ongoing {
		g.Outcome, g.Reason = chess.Draw, PlyLimit
	}
	return g
}

// engineGames reads testdata/engine-games.txt.
func engineGames(t testing.TB) []*Game {
	t.Helper()
	f, err := os.Open("testdata/engine-games.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	outcomes := map[string]chess.Outcome{"1-0": chess.WhiteWins, "0-1": chess.BlackWins, "1/2-1/2": chess.Draw}
	var games []*Game
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if words[0] == "#" {
			continue
		}
		g := &Game{
			ID: "01890a5d-ac96-774b-bcce-b302099a8057", Variant: chess.Crazyhouse, Start: chess.Crazyhouse.Start(),
			Seed: uint64(len(games)), Limits: "depth 4", Build: "v0.1.0",
			Nets: [2]string{strings.Repeat("5e", 32), strings.Repeat("5e", 32)},
		}
		line := chess.NewLine(g.Start)
		for _, word := range words[1:] {
			text, score, _ := strings.Cut(word, ":")
			m, err := line.Pos().ParseUCI(text)
			if err != nil {
				t.Fatal(err)
			}
			s, err := strconv.Atoi(score)
			if err != nil {
				t.Fatal(err)
			}
			g.Plies = append(g.Plies, Ply{Move: m, Score: search.Score(s), HasScore: true, Train: true})
			line.Push(m)
		}
		if g.Outcome, g.Reason = line.Outcome(); g.Outcome == chess.Ongoing {
			g.Outcome = outcomes[words[0]]
			g.Adjudged, g.Reason = g.Outcome, AdjudicatedWin
			if g.Outcome == chess.Draw {
				g.Reason = AdjudicatedDraw
			}
		} else if g.Outcome != outcomes[words[0]] {
			t.Fatalf("the rules say %v: %s", g.Outcome, lines.Text())
		}
		games = append(games, g)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return games
}

// fakePlayer picks a move by the position alone and gives the score its
// function says, so a game with it depends on nothing else.
type fakePlayer struct {
	score    func(pos *chess.Position) search.Score
	newGames int
	searches int
	limits   []search.Limits
	elapsed  time.Duration // to answer with
	// at, if set, may answer instead; the bool says whether it does.
	at func(ctx context.Context, ply int) (search.Result, error, bool)
}

func (p *fakePlayer) NewGame() error {
	p.newGames++
	return nil
}

func (p *fakePlayer) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	p.searches++
	p.limits = append(p.limits, lim)
	if p.at != nil {
		if res, err, ok := p.at(ctx, line.Len()); ok {
			return res, err
		}
	}
	pos := line.Pos()
	var list chess.MoveList
	pos.Legal(&list)
	res := search.Result{Move: list.Moves[pos.Key()%uint64(list.N)], Depth: 4, Elapsed: p.elapsed}
	res.PV = []chess.Move{res.Move}
	if p.score != nil {
		res.Score = p.score(pos)
	}
	return res, nil
}

// whiteAhead is a score function that sees White ahead by s.
func whiteAhead(s search.Score) func(*chess.Position) search.Score {
	return func(pos *chess.Position) search.Score {
		if pos.SideToMove() == chess.White {
			return s
		}
		return -s
	}
}
