package match

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/search"
)

// tournament is a round robin of four players, one of which fails now and then.
func tournament(pairs int) Config {
	cfg := testConfig(always("greedy", greedy(1)), always("random", random(2)), pairs)
	cfg.Players = append(cfg.Players, always("crashing", crashing(12)), always("greedy too", greedy(4)))
	return cfg
}

func TestEncounters(t *testing.T) {
	for _, c := range []struct {
		format         Format
		players, seeds int
		want           string
	}{
		{RoundRobin, 2, 0, "[[0 1]]"},
		{Gauntlet, 2, 1, "[[0 1]]"},
		{RoundRobin, 4, 0, "[[0 1] [0 2] [0 3] [1 2] [1 3] [2 3]]"},
		{Gauntlet, 4, 0, "[[0 1] [0 2] [0 3]]"},
		{Gauntlet, 4, 2, "[[0 2] [0 3] [1 2] [1 3]]"},
		{Gauntlet, 4, 3, "[[0 3] [1 3] [2 3]]"},
	} {
		cfg := Config{Players: make([]Contestant, c.players), Format: c.format, Seeds: c.seeds, Pairs: 5}
		if got := fmt.Sprint(cfg.encounters()); got != c.want {
			t.Errorf("%v of %d with %d seeds: %s, want %s", c.format, c.players, c.seeds, got, c.want)
		}
		if want := 10 * strings.Count(c.want, " "); c.players == 2 && cfg.Games() != want {
			t.Errorf("%d games, want %d", cfg.Games(), want)
		}
	}
	cfg := Config{Players: make([]Contestant, MaxPlayers), Pairs: 1}
	if n := cfg.Games(); n != 64*63 {
		t.Errorf("64 players have %d games", n)
	}
	for _, f := range []Format{RoundRobin, Gauntlet} {
		if again, err := ParseFormat(f.String()); err != nil || again != f {
			t.Errorf("%v: %v, %v", f, again, err)
		}
	}
	if _, err := ParseFormat("swiss"); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), `"swiss"`) {
		t.Errorf("swiss: %v", err)
	}
}

// Every opening is played by every encounter, and whenever a tournament is
// stopped, no encounter is more than one pair ahead of another.
func TestRoundsAreBalanced(t *testing.T) {
	cfg := tournament(3)
	played := make(map[[2]int]int)
	openings := make(map[string]map[[2]int]bool)
	cfg.OnPair = func(p Pair, games [2]*game.Game, r Result) {
		played[p.Players]++
		if openings[p.Opening] == nil {
			openings[p.Opening] = make(map[[2]int]bool)
		}
		openings[p.Opening][p.Players] = true
		least, most := 99, 0
		for _, e := range cfg.encounters() {
			least, most = min(least, played[e]), max(most, played[e])
		}
		if most > least+1 {
			t.Errorf("pair %d: %v", p.Number, played)
		}
		for i, g := range games {
			white, black := cfg.Players[p.Players[i]].Net, cfg.Players[p.Players[1-i]].Net
			if g.Nets != [2]string{white, black} {
				t.Errorf("pair %d, game %d: nets %v, want %s and %s", p.Number, i, g.Nets, white, black)
			}
		}
		if r.Pairs() != p.Number+1 {
			t.Errorf("%d pairs after pair %d", r.Pairs(), p.Number)
		}
	}
	mustRun(t, cfg)
	if len(openings) != 3 {
		t.Errorf("%d openings, want 3", len(openings))
	}
	for text, encounters := range openings {
		if len(encounters) != 6 {
			t.Errorf("%s was played by %v", text, encounters)
		}
	}
}

// games returns the PairId and Round of every game in a PGN file, sorted.
func games(t *testing.T, path string) []string {
	t.Helper()
	var found []string
	round := ""
	for line := range strings.Lines(string(readFile(t, path))) {
		if text, ok := strings.CutPrefix(line, "[Round "); ok {
			round = text
		}
		if strings.HasPrefix(line, "[PairId ") {
			found = append(found, line+round)
		}
	}
	slices.Sort(found)
	return found
}

// sortedLines returns the lines of a log without what follows from the order
// the pairs finished in.
func sortedLines(t *testing.T, path string) []string {
	t.Helper()
	log, err := ReadLog(strings.NewReader(string(readFile(t, path))))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, p := range log.Pairs {
		lines = append(lines, string(encodeLine(p)))
	}
	slices.Sort(lines)
	return lines
}

// A tournament killed after any write to its log or its PGN, and run again,
// ends as one that was not: same table, same pairs, every game once.
func TestKilledTournament(t *testing.T) {
	dir := t.TempDir()
	cfg := tournament(2)
	cfg.Format = Gauntlet
	cfg.Log, cfg.PGN = filepath.Join(dir, "straight.jsonl"), filepath.Join(dir, "straight.pgn")
	straight := mustRun(t, cfg)
	log, pgn := readFile(t, cfg.Log), readFile(t, cfg.PGN)
	wantLines, wantGames := sortedLines(t, cfg.Log), games(t, cfg.PGN)
	if len(wantLines) != 6 || len(wantGames) != 12 {
		t.Fatalf("%d pairs, %d games", len(wantLines), len(wantGames))
	}
	cfg.Concurrency = 3
	cfg.Log, cfg.PGN = filepath.Join(dir, "killed.jsonl"), filepath.Join(dir, "killed.pgn")
	lines := strings.SplitAfter(string(log), "\n")
	size := 0
	for i, line := range lines {
		for _, cut := range []int{0, len(line) / 2, max(0, len(line)-1)} { // of the next line written
			read, err := decodeLog(log[:size])
			if err != nil {
				t.Fatal(err)
			}
			kept := string(log[:size]) + line[:min(cut, len(line))]
			// Games of a pair that is not in the log, whole or torn.
			next, err := decodeLog(log[:size+len(line)])
			if err != nil {
				t.Fatal(err)
			}
			torn := string(pgn[:min(int(next.pgn), int(read.pgn)+17*cut)])
			if os.WriteFile(cfg.Log, []byte(kept), 0o644) != nil || os.WriteFile(cfg.PGN, []byte(torn), 0o644) != nil {
				t.Fatal("cannot write")
			}
			if r := mustRun(t, cfg); !reflect.DeepEqual(settled(r), settled(straight)) {
				t.Errorf("line %d cut at %d:\n%v\nstraight:\n%v", i, cut, r, straight)
			}
			if got := sortedLines(t, cfg.Log); !slices.Equal(got, wantLines) {
				t.Errorf("line %d cut at %d: pairs\n%s\nwant\n%s", i, cut, got, wantLines)
			}
			if got := games(t, cfg.PGN); !slices.Equal(got, wantGames) {
				t.Errorf("line %d cut at %d: games\n%s\nwant\n%s", i, cut, got, wantGames)
			}
		}
		size += len(line)
	}
}

// A log belongs to one list of players in one format.
func TestLogOfAnotherTournament(t *testing.T) {
	cfg := tournament(1)
	cfg.Log = filepath.Join(t.TempDir(), "match.jsonl")
	mustRun(t, cfg)
	for word, change := range map[string]func(*Config){
		`format is "roundrobin" in the log, "gauntlet of 2" here`: func(c *Config) { c.Format, c.Seeds = Gauntlet, 2 },
		`player 5 is "" in the log, "fifth" here`:                 func(c *Config) { c.Players = append(c.Players, always("fifth", random(9))) },
		`player 4 is "greedy too" in the log, "" here`:            func(c *Config) { c.Players = c.Players[:3] },
		`player 1 is "greedy" in the log, "greedy too" here`:      func(c *Config) { slices.Reverse(c.Players) },
	} {
		other := cfg
		other.Players = slices.Clone(cfg.Players)
		change(&other)
		if _, err := Run(t.Context(), other); !errors.Is(err, ErrOtherSchedule) || !strings.Contains(err.Error(), word) {
			t.Errorf("error %v, want %s", err, word)
		}
	}
	// A pair of other players than its number says is damage, not another match.
	// The lines are put as an earlier build wrote them, without their checksums.
	sums := regexp.MustCompile(`,"crc32c":"[0-9a-f]{8}"`)
	text := strings.Replace(sums.ReplaceAllString(string(readFile(t, cfg.Log)), ""), `"pair":1,"players":[0,2]`, `"pair":1,"players":[1,2]`, 1)
	if err := os.WriteFile(cfg.Log, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), cfg); !errors.Is(err, ErrBadLog) || !strings.Contains(err.Error(), "pair 1 is of players [1 2]") {
		t.Errorf("pair of other players: %v", err)
	}
}

// A log and a PGN belong together from the beginning.
func TestPGNWithoutItsLog(t *testing.T) {
	dir := t.TempDir()
	with, without := tournament(1), tournament(1)
	with.Log, with.PGN = filepath.Join(dir, "with.jsonl"), filepath.Join(dir, "with.pgn")
	without.Log = filepath.Join(dir, "without.jsonl")
	mustRun(t, with)
	mustRun(t, without)
	pgn := readFile(t, with.PGN)
	refused := func(what string, cfg Config, word string) {
		t.Helper()
		if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: error %v, expected %q", what, err, word)
		}
	}
	cfg := without
	cfg.PGN = filepath.Join(dir, "new.pgn")
	refused("PGN for a log without", cfg, "begun without PGN")
	cfg = with
	cfg.PGN = ""
	refused("no PGN for a log with", cfg, "begun with PGN")
	cfg = with
	cfg.Log = ""
	refused("PGN of another match", cfg, "expected a new one")
	cfg.Log = filepath.Join(dir, "new.jsonl")
	refused("PGN of another match for a new log", cfg, "expected a new one")
	if got := readFile(t, with.PGN); string(got) != string(pgn) {
		t.Error("a refused PGN was changed")
	}
	cfg = with
	cfg.PGN = filepath.Join(dir, "other.pgn")
	other := bytes.Repeat([]byte("1. e4 e5 *\n\n"), len(pgn))
	if err := os.WriteFile(cfg.PGN, other, 0o644); err != nil {
		t.Fatal(err)
	}
	refused("somebody's PGN", cfg, "found other games")
	if !bytes.Equal(readFile(t, cfg.PGN), other) {
		t.Error("somebody's PGN was changed")
	}
	if err := os.WriteFile(with.PGN, pgn[:len(pgn)-1], 0o644); err != nil {
		t.Fatal(err)
	}
	refused("PGN cut short", with, "expected at least")
}

func TestPGN(t *testing.T) {
	cfg := tournament(1)
	cfg.PGN, cfg.Build = filepath.Join(t.TempDir(), "games.pgn"), "v1"
	mustRun(t, cfg)
	text := string(readFile(t, cfg.PGN))
	for _, tag := range []string{
		`[Event "roundrobin of 4 players"]`, `[White "greedy too"]`, `[Black "crashing"]`, `[Variant "Crazyhouse"]`,
		`[WhiteNet "net-of-random"]`, `[BlackNet "net-of-random"]`, `[RunId "test"]`, `[PairId "5"]`, `[Round "1.2"]`,
		`[Build "v1"]`, `[OpeningId "0"]`, `[Openings "random `, `[Seed "`,
	} {
		if !strings.Contains(text, tag) {
			t.Errorf("no %s in\n%s", tag, text)
		}
	}
	cfg.PGN, cfg.RunID = "/dev/full", ""
	if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "PGN") {
		t.Errorf("PGN to a full disk: %v", err)
	}
}

// A player is used again by later pairs, and all are closed in the end.
func TestLobby(t *testing.T) {
	var made, open atomic.Int32
	cfg := tournament(4)
	for i := range cfg.Players {
		player := random(uint64(i))
		cfg.Players[i].New = func() (game.Player, error) {
			made.Add(1)
			open.Add(1)
			return counted{player, &open}, nil
		}
	}
	cfg.Concurrency = 2
	mustRun(t, cfg)
	if n := made.Load(); n < 4 || n > 8 || open.Load() != 0 {
		t.Errorf("%d players made for 4 contestants and 2 at a time, %d not closed", n, open.Load())
	}
	made.Store(0)
	cfg.Concurrency = 1
	mustRun(t, cfg)
	if made.Load() != 4 {
		t.Errorf("%d players made for 4 contestants and 1 at a time", made.Load())
	}
	made.Store(0)
	cfg.Players[1].Fresh = true
	mustRun(t, cfg)
	if made.Load() != 3+12 || open.Load() != 0 {
		t.Errorf("%d players made for 3 contestants and one that is fresh in its 12 pairs, %d not closed", made.Load(), open.Load())
	}
}

// hoarding is a player whose moves depend on all its games before.
type hoarding struct{ games uint64 }

func (h *hoarding) NewGame() error { h.games++; return nil }

func (h *hoarding) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	return random(h.games)(ctx, line, lim)
}

// A player that keeps something from game to game does not spoil a resumed
// tournament if it is fresh for every pair.
func TestFreshPlayers(t *testing.T) {
	cfg := tournament(3)
	cfg.Players[1].New = func() (game.Player, error) { return &hoarding{}, nil }
	cfg.Players[1].Fresh = true
	cfg.Log = filepath.Join(t.TempDir(), "one.jsonl")
	mustRun(t, cfg)
	want := sortedLines(t, cfg.Log)
	cfg.Log = filepath.Join(t.TempDir(), "four.jsonl")
	cfg.Concurrency = 4
	mustRun(t, cfg)
	if got := sortedLines(t, cfg.Log); !slices.Equal(got, want) {
		t.Errorf("four at a time\n%s\nwant\n%s", got, want)
	}
	cfg.Players = slices.Clone(cfg.Players)
	cfg.Players[1].Fresh = false
	if _, err := Run(t.Context(), cfg); !errors.Is(err, ErrOtherSchedule) {
		t.Errorf("gone on with another sort of player: %v", err)
	}
}

// counted is a player that counts those that are open.
type counted struct {
	answer
	open *atomic.Int32
}

func (c counted) Close() error { c.open.Add(-1); return nil }

// No game begins if a player cannot be made, whenever its first game is.
func TestPlayersAreMadeBeforeTheFirstGame(t *testing.T) {
	cfg := tournament(2)
	cfg.Players[3].New = func() (game.Player, error) { return nil, errCrash }
	cfg.OnGame = func(e GameEvent) { t.Errorf("game %d began", e.Number()) }
	if _, err := Run(t.Context(), cfg); !errors.Is(err, ErrNoPlayer) || !strings.Contains(err.Error(), "greedy too") {
		t.Errorf("error %v", err)
	}
}

func TestGameEvents(t *testing.T) {
	cfg := tournament(1)
	open := make(map[int]GameEvent)
	ended, failed := 0, 0
	cfg.Concurrency = 3
	cfg.OnGame = func(e GameEvent) {
		if e.Played == nil {
			open[e.Number()] = e
			return
		}
		began := open[e.Number()]
		delete(open, e.Number())
		ended++
		if e.Failure != "" {
			failed++
		}
		if began.White != e.White || began.Black != e.Black || e.Played.Outcome == chess.Ongoing {
			t.Errorf("game %d: began as %+v, ended as %+v", e.Number(), began, e)
		}
	}
	r := mustRun(t, cfg)
	if want := failures(r)[2]; ended != cfg.Games() || len(open) != 0 || failed != want || want == 0 {
		t.Errorf("%d games ended, %d open, %d failed; want %d, none, %d", ended, len(open), failed, cfg.Games(), want)
	}
}

// sure plays by chance and says that it wins, or that it loses.
func sure(of search.Score) answer {
	chance := random(7)
	return func(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
		r, err := chance(ctx, line, lim)
		r.Score = of
		return r, err
	}
}

// Whoever is to move after the opening, and whoever plays White, the player
// that wins is credited: openings of both parities, from the start and from
// positions with either side to move; wins by adjudication and by failure.
func TestSignsOfResults(t *testing.T) {
	book := func(fens ...string) Openings {
		return Openings{ID: "test", Opening: func(round int) (game.Opening, error) {
			p, err := chess.ParseFEN(chess.Crazyhouse, fens[round%len(fens)])
			return game.Opening{Start: p}, err
		}}
	}
	for name, openings := range map[string]Openings{
		"random": RandomOpenings(chess.Crazyhouse, 3, 1, 6),
		"book": book("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR[] w KQkq - 0 2",
			"rnbqkbnr/ppp1pppp/8/3p4/3PP3/8/PPP2PPP/RNBQKBNR[Pn] b KQkq - 0 2"),
	} {
		sides := make(map[chess.Color]int)
		for _, loser := range []answer{sure(-3000), cheating} {
			cfg := testConfig(always("winner", sure(3000)), always("loser", loser), 12)
			cfg.Openings = openings
			cfg.Game = game.Config{MaxPlies: 400, WinScore: 2500, WinPlies: 2}
			cfg.OnPair = func(p Pair, games [2]*game.Game, _ Result) {
				o, err := openings.Opening(p.Number)
				if err != nil {
					t.Fatal(err)
				}
				line := chess.NewLine(o.Start)
				for _, m := range o.Moves {
					line.Push(m)
				}
				sides[line.Pos().SideToMove()]++
				for i, g := range games {
					if want := chess.Win(chess.Color(i)); g.Outcome != want || p.Outcome(i) != rating.Win { // the winner is White first
						t.Errorf("%s: pair %d, game %d from %s: outcome %v, want %v", name, p.Number, i, p.Opening, g.Outcome, want)
					}
				}
			}
			if r := mustRun(t, cfg); r.Encounters[0].Pairs != (rating.Pentanomial{WW: 12}) || r.Standings[0].Name != "winner" {
				t.Errorf("%s:\n%v", name, r)
			}
			slices.Reverse(cfg.Players)
			cfg.OnPair = nil
			if r := mustRun(t, cfg); r.Encounters[0].Pairs != (rating.Pentanomial{LL: 12}) || r.Standings[0].Name != "winner" {
				t.Errorf("%s, players the other way round:\n%v", name, r)
			}
		}
		if sides[chess.White] == 0 || sides[chess.Black] == 0 {
			t.Errorf("%s: sides to move %v", name, sides)
		}
	}
}

// What adjudication would have said of games played out is in log and result.
func TestAdjudicationIsTested(t *testing.T) {
	cfg := testConfig(always("greedy", greedy(1)), always("loser", sure(-3000)), 10)
	cfg.Players[0].New = func() (game.Player, error) { return sure(3000), nil } // of a win that chance may not give
	cfg.Game = game.Config{MaxPlies: 400, WinScore: 2500, WinPlies: 4, NoAdjudicateShare: 0.6}
	cfg.Log = filepath.Join(t.TempDir(), "match.jsonl")
	r := mustRun(t, cfg)
	a := r.Adjudication
	if a.Score == 0 || a.Tested == 0 || a.Wrong == 0 || a.Wrong > a.Tested || a.Score+a.Length+a.Tested != 20 {
		t.Errorf("adjudication %+v", a)
	}
	if again := mustRun(t, cfg); again.Adjudication != a {
		t.Errorf("from the log %+v, want %+v", again.Adjudication, a)
	}
}

func TestLoad(t *testing.T) {
	cfg := tournament(1)
	for concurrency, want := range map[int]int{0: 1, 1: 1, 3: 3, 6: 6, 99: 6} {
		cfg.Concurrency = concurrency
		if got := cfg.Load(); got != want {
			t.Errorf("%d at a time: load %d, want %d", concurrency, got, want)
		}
	}
	cfg.Concurrency, cfg.Players[1].Threads = 2, 4
	if got := cfg.Load(); got != 8 {
		t.Errorf("load %d, want 8", got)
	}
}
