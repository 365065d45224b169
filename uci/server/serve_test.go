package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/internal/leak"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search/strength"
)

// session is a dialogue with a server.
type session struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string // closed with the server's output
	done  chan error  // the result of Serve
}

func newSession(t *testing.T, o Options) *session {
	t.Helper()
	leak.Check(t)
	return openSession(t, o)
}

// openSession is newSession for a synctest bubble, which waits for its goroutines
// itself: leak.Check counts those outside too, for which no time passes there.
func openSession(t *testing.T, o Options) *session {
	t.Helper()
	if o.MaxHashMB == 0 {
		o.MaxHashMB = 64
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := &session{t: t, in: inW, lines: make(chan string, 1<<16), done: make(chan error, 1)}
	go func() {
		err := Serve(t.Context(), inR, outW, o)
		inR.Close()
		outW.Close()
		s.done <- err
	}()
	go func() {
		defer close(s.lines)
		for sc := bufio.NewScanner(outR); sc.Scan(); {
			s.lines <- sc.Text()
		}
	}()
	t.Cleanup(func() {
		inW.Close()
		for range s.lines {
		}
	})
	return s
}

// send sends commands.
func (s *session) send(commands ...string) {
	s.t.Helper()
	for _, c := range commands {
		if _, err := io.WriteString(s.in, c+"\n"); err != nil {
			s.t.Fatalf("sending %q: %v", c, err)
		}
	}
}

const patience = 10 * time.Second

// until returns the lines up to the first that begins with prefix.
func (s *session) until(prefix string) []string {
	s.t.Helper()
	var all []string
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				s.t.Fatalf("output ended before %q; it was:\n%s", prefix, strings.Join(all, "\n"))
			}
			all = append(all, line)
			if strings.HasPrefix(line, prefix) {
				return all
			}
		case <-timeout:
			s.t.Fatalf("no %q; the output was:\n%s", prefix, strings.Join(all, "\n"))
		}
	}
}

// answer sends commands and isready, and returns what comes before readyok.
func (s *session) answer(commands ...string) []string {
	s.t.Helper()
	s.send(append(commands, "isready")...)
	all := s.until("readyok")
	return all[:len(all)-1]
}

// best sends commands and returns the bestmove's line.
func (s *session) best(commands ...string) string {
	s.t.Helper()
	s.send(commands...)
	all := s.until("bestmove")
	return all[len(all)-1]
}

// silent fails if the server says anything for a while.
func (s *session) silent(d time.Duration) {
	s.t.Helper()
	select {
	case line, ok := <-s.lines:
		s.t.Fatalf("found %q (%v), expected silence", line, ok)
	case <-time.After(d):
	}
}

// end waits for Serve to return, and returns what was still printed.
func (s *session) end() []string {
	s.t.Helper()
	var all []string
	for line := range s.lines {
		all = append(all, line)
	}
	select {
	case err := <-s.done:
		if err != nil {
			s.t.Errorf("Serve: %v", err)
		}
	case <-time.After(patience):
		s.t.Fatal("Serve did not return")
	}
	return all
}

// fen returns the FEN of the position on the server's board.
func (s *session) fen() string {
	s.t.Helper()
	for _, line := range s.answer("d") {
		if fen, ok := strings.CutPrefix(line, "Fen: "); ok {
			return fen
		}
	}
	s.t.Fatal("no FEN")
	return ""
}

// eachEngine runs a test with alpha-beta and with tree search.
func eachEngine(t *testing.T, test func(t *testing.T, o Options)) {
	t.Run("alpha-beta", func(t *testing.T) { test(t, Options{}) })
	t.Run("tree", func(t *testing.T) { test(t, treeServer()) })
}

// treeServer returns the options of a server that plays by tree search without a
// net.
func treeServer() Options {
	return Options{Player: player.Spec{Search: player.TreeSearch, Resources: player.Resources{HashMB: 4}}}
}

const startFEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"

func TestServeIdentifies(t *testing.T) {
	s := newSession(t, Options{Name: "crazy", Version: "1.2", Author: "nobody", Player: player.Spec{Resources: player.Resources{Threads: 2, HashMB: 8}}})
	s.send("uci")
	got := s.until("uciok")
	want := []string{
		"id name crazy 1.2",
		"id author nobody",
		"",
		"option name Hash type spin default 8 min 1 max 64",
		"option name Threads type spin default 2 min 1 max 512",
		"option name Clear Hash type button",
		"option name Ponder type check default false",
		"option name MultiPV type spin default 1 min 1 max 256",
		"option name Move Overhead type spin default 10 min 0 max 10000",
		"option name EvalFile type string default <empty>",
		"option name UCI_Variant type combo default crazyhouse var chess var crazyhouse",
		"option name UCI_Chess960 type check default false",
		"option name UCI_ShowWDL type check default false",
		"option name UCI_LimitStrength type check default false",
		fmt.Sprintf("option name UCI_Elo type spin default %d min %d max %[1]d", strength.MaxElo(), strength.MinElo()),
		"option name Skill Level type spin default 20 min 0 max 20",
		"option name Skill Seed type spin default 0 min 0 max 1000000000",
		"option name Debug Log File type string default <empty>",
		"option name UCI_EngineAbout type string default crazy 1.2 by nobody, https://github.com/crazyhouse-rl/selfplay",
		"uciok",
	}
	if !slices.Equal(got, want) {
		t.Errorf("answer to uci:\n%s\nexpected:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

var infoPattern = regexp.MustCompile(`^info depth \d+ seldepth \d+ multipv \d+ score (cp|mate) -?\d+( lowerbound| upperbound)? ` +
	`nodes \d+ nps \d+ hashfull \d+ time \d+ pv( [a-h][1-8][a-h][1-8][nbrq]?| [PNBRQ]@[a-h][1-8])+$`)

func TestServeSearches(t *testing.T) {
	s := newSession(t, Options{})
	s.answer()
	s.send("ucinewgame", "position startpos moves e2e4 d7d5 e4d5 d8d5", "go depth 5")
	if said := s.until("info")[0]; said != "info string evaluation: material" {
		t.Errorf("first line %q", said)
	}
	all := s.until("bestmove")
	for _, line := range all[:len(all)-1] {
		if !infoPattern.MatchString(line) {
			t.Errorf("line %q", line)
		}
	}
	if len(all) < 6 {
		t.Errorf("%d lines, expected five iterations and a move", len(all))
	}
	s.silent(20 * time.Millisecond)
}

func TestServeLimits(t *testing.T) {
	eachEngine(t, func(t *testing.T, o Options) {
		s := newSession(t, o)
		for _, limits := range []string{
			"depth 3", "nodes 500", "movetime 20", "wtime 500 btime 500", "wtime 300 btime 300 winc 10 binc 10 movestogo 3",
			"wtime -20 btime -20", "depth 3 searchmoves a2a3 h2h3", "mate 1 depth 2", "depth 99999999999 nodes 10",
			"depth 2 depth", "nodes 100 unknown words",
		} {
			s.best("position startpos", "go "+limits)
		}
		if best := s.best("go depth 3 searchmoves a2a3"); !strings.HasPrefix(best, "bestmove a2a3") {
			t.Errorf("searchmoves a2a3: %s", best)
		}
		if got := s.best("position fen 6k1/5ppp/8/8/8/8/8/R5K1[] w - - 0 1", "go mate 1"); !strings.HasPrefix(got, "bestmove a1a8") {
			t.Errorf("mate in one: %s", got)
		}
	})
}

func TestServeStopsAtOnce(t *testing.T) {
	eachEngine(t, func(t *testing.T, o Options) {
		s := newSession(t, o)
		s.answer()
		for _, command := range []string{"go infinite", "go", "go depth 120", "go movetime 100000", "go ponder wtime 1000 btime 1000", "go infinite depth 1"} {
			s.send("position startpos", command)
			s.until("info depth")
			s.send("isready") // answered during the search
			for _, line := range s.until("readyok") {
				if strings.HasPrefix(line, "bestmove") {
					t.Fatalf("%s: %s before stop", command, line)
				}
			}
			began := time.Now()
			s.best("stop")
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("%s: stop took %v", command, took)
			}
			s.send("stop") // a second one has nothing to stop
			s.silent(10 * time.Millisecond)
		}
	})
}

func TestServePonder(t *testing.T) {
	eachEngine(t, func(t *testing.T, o Options) {
		synctest.Test(t, func(t *testing.T) { // in whose time an hour passes while all wait
			s := openSession(t, o)
			ponders := func() {
				t.Helper()
				time.Sleep(time.Hour)
				for _, line := range s.answer() {
					if strings.HasPrefix(line, "bestmove") {
						t.Fatal("bestmove before ponderhit")
					}
				}
			}
			s.answer("ponderhit") // without effect, also on the next search
			s.send("position startpos", "go ponder depth 2 movetime 30")
			ponders()
			s.best("ponderhit")
			s.best("go ponder depth 2 movetime 30", "ponderhit", "ponderhit")
			s.best("go ponder depth 2 wtime 1000 btime 1000", "stop", "ponderhit")
			s.best("go depth 1", "ponderhit")
			s.send("go ponder depth 2 movetime 10")
			ponders()
			s.best("ponderhit")
		})
		s := newSession(t, o)
		s.best("position startpos", "go ponder movetime 30", "ponderhit")
		s.best("go ponder wtime 1000 btime 1000", "stop")
	})
}

func TestServeOneBestmovePerGo(t *testing.T) {
	eachEngine(t, func(t *testing.T, o Options) {
		s := newSession(t, o)
		s.answer()
		const n = 20
		for range n {
			s.send("go infinite") // each ends the one before
		}
		s.send("quit")
		count := 0
		for _, line := range s.end() {
			if strings.HasPrefix(line, "bestmove") {
				count++
			}
		}
		if count != n {
			t.Errorf("%d bestmoves for %d go", count, n)
		}
	})
}

func TestServeQuits(t *testing.T) {
	for _, how := range []string{"quit", "end of input"} {
		s := newSession(t, Options{})
		s.send("position startpos", "go infinite")
		s.until("info depth")
		if how == "quit" {
			s.send("quit")
		} else {
			s.in.Close()
		}
		if all := s.end(); len(all) == 0 || !strings.HasPrefix(all[len(all)-1], "bestmove") {
			t.Errorf("%s: last words %q", how, all)
		}
	}
}

func TestServeNoLegalMove(t *testing.T) {
	eachEngine(t, func(t *testing.T, o Options) {
		s := newSession(t, o)
		s.answer()
		mated := "position fen 7k/6Q1/6K1/8/8/8/8/8[] b - - 0 1"
		stalemated := "position fen 7k/5Q2/6K1/8/8/8/8/8[] b - - 0 1"
		for position, score := range map[string]string{mated: "mate 0", stalemated: "cp 0"} {
			s.send(position, "go depth 5")
			if got := s.until("bestmove"); !slices.Equal(got, []string{"info depth 0 score " + score, "bestmove (none)"}) {
				t.Errorf("%s: %q", position, got)
			}
		}
		for _, c := range [][2]string{{"go infinite", "stop"}, {"go ponder wtime 9 btime 9", "ponderhit"}, {"go ponder wtime 9 btime 9", "stop"}} {
			s.send(mated, c[0])
			s.until("info depth 0")
			s.silent(10 * time.Millisecond)
			if got := s.best(c[1]); got != "bestmove (none)" {
				t.Errorf("%v: %s", c, got)
			}
		}
	})
}

func TestServeFaultyPosition(t *testing.T) {
	s := newSession(t, Options{})
	s.answer("position startpos moves e2e4")
	e4 := "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR[] b KQkq - 0 1"
	for _, c := range []struct{ command, complaint, fen string }{
		{"position", `found "", expected startpos or fen`, e4},
		{"position fen", "expected startpos or fen", e4},
		{"position start moves e2e4", `found "start", expected startpos or fen`, e4},
		{"position fen 8/8/8 w - - 0 1", "FEN: board: found", e4},
		{"position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] x KQkq - 0 1", `side to move: found "x"`, e4},
		{"position startpos moves e2e4 e7e5 g1f4 b8c6", `before move 3, in rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR[] w KQkq - 0 2: chess: move "g1f4": illegal move`,
			"rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR[] w KQkq - 0 2"},
		{"position startpos moves P@e4", "no P in hand", startFEN},
		{"position startpos moves xyzzy", "not a move", startFEN},
	} {
		got := s.answer(c.command)
		if len(got) != 1 || !strings.HasPrefix(got[0], "info string position ") || !strings.Contains(got[0], c.complaint) {
			t.Errorf("%s: found %q, expected a complaint with %q", c.command, got, c.complaint)
		}
		if fen := s.fen(); fen != c.fen {
			t.Errorf("%s: position is %s, expected %s", c.command, fen, c.fen)
		}
		s.answer("position startpos moves e2e4")
	}
	if got := s.answer("position fen " + strings.Repeat("x\x01", 2000)); len(got) != 1 || len(got[0]) > maxComment+100 {
		t.Errorf("long fault: %q", got)
	}
}

// TestServeLongLine: what was too long to be read may have been a position, so no other
// one is played.
func TestServeLongLine(t *testing.T) {
	s := newSession(t, Options{})
	s.answer("position startpos moves e2e4")
	if got := s.answer("position startpos moves " + strings.Repeat("y", engine.MaxLine)); len(got) != 1 || !strings.Contains(got[0], "line of more than") {
		t.Errorf("a long line: %q", got)
	}
	if got := s.best("go depth 1"); got != "bestmove 0000" {
		t.Errorf("found the move %s, expected none", got)
	}
	if got := s.best("position startpos moves e2e4", "go depth 1"); got == "bestmove 0000" {
		t.Error("found no move after a position that was read")
	}
}

// TestServeVariantAfterFault: a position of another variant does not stand for a faulty one.
func TestServeVariantAfterFault(t *testing.T) {
	s := newSession(t, Options{})
	s.answer("position startpos moves e2e5", "setoption name UCI_Variant value chess")
	if got := s.best("go depth 1"); got == "bestmove 0000" {
		t.Error("found no move from chess's first position")
	}
}

// TestServeRookFiles: castling rights by the rooks' files do not change how castling is
// written where UCI_Chess960 is off.
func TestServeRookFiles(t *testing.T) {
	s := newSession(t, Options{})
	const fen = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R[] w HAha - 0 1"
	if got := s.answer("position fen " + fen + " moves e1g1 e8c8"); len(got) != 0 {
		t.Errorf("answers %q", got)
	}
	if got := s.best("position fen "+fen, "go depth 1 searchmoves e1g1"); got != "bestmove e1g1" {
		t.Errorf("found %s, expected e1g1", got)
	}
	s.answer("setoption name UCI_Chess960 value true")
	if got := s.best("position fen "+fen, "go depth 1 searchmoves e1h1"); got != "bestmove e1h1" {
		t.Errorf("with UCI_Chess960: found %s, expected e1h1", got)
	}
}

func TestServeIgnoresNoise(t *testing.T) {
	s := newSession(t, Options{})
	s.answer()
	if got := s.answer("", "   ", "hello", "debug on", "register later", "Quit", "xyzzy go infinite"); len(got) != 0 {
		t.Errorf("answers to noise: %q", got)
	}
	s.best("  go   depth\t1 \r")
}

func TestServeMultiPV(t *testing.T) {
	s := newSession(t, Options{})
	s.answer("setoption name MultiPV value 3")
	s.send("go depth 4")
	firsts := map[string]bool{}
	for _, line := range s.until("bestmove") {
		if f := strings.Fields(line); f[0] == "info" && slices.Contains(f, "4") {
			depth, number, pv := slices.Index(f, "depth"), slices.Index(f, "multipv"), slices.Index(f, "pv")
			if f[depth+1] == "4" && slices.Contains([]string{"1", "2", "3"}, f[number+1]) && pv > 0 {
				firsts[f[pv+1]] = true
			}
		}
	}
	if len(firsts) != 3 {
		t.Errorf("first moves at depth 4: %v, expected three", firsts)
	}
}

func TestServePerft(t *testing.T) {
	eachEngine(t, func(t *testing.T, o Options) {
		s := newSession(t, o)
		s.send("position startpos", "perft 4")
		if all := s.until("Nodes searched"); all[len(all)-1] != "Nodes searched: 197281" || len(all) != 22 {
			t.Errorf("perft 4: %q", all)
		}
		s.until("info string perft")
		s.send("go perft 1")
		if all := s.until("Nodes searched"); all[len(all)-1] != "Nodes searched: 20" {
			t.Errorf("perft 1: %q", all)
		}
		s.until("info string perft")
		s.answer("perft 12")
		s.best("go depth 1") // breaks it off
	})
}

func TestServeBench(t *testing.T) {
	s := newSession(t, Options{})
	var first string
	for range 2 {
		s.send("bench 2")
		all := s.until("")
		nodes, _, _ := strings.Cut(all[0], " nodes ")
		if first == "" {
			first = nodes
		}
		if nodes != first || nodes == "" {
			t.Errorf("bench: %q, then %q", first, all)
		}
	}
	if got := s.answer("bench deep"); len(got) == 0 || !strings.Contains(strings.Join(got, " "), `found "deep"`) {
		t.Errorf("bench deep: %q", got)
	}
	s.send("bench 50", "quit")
	s.end()
}

func TestServeEndsWithItsContext(t *testing.T) {
	leak.Check(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, r, io.Discard, Options{}) }()
	if _, err := io.WriteString(w, "go infinite\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Serve: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Serve did not return")
	}
}

var errFull = errors.New("disk full")

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errFull }

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, errFull }

func TestServeReportsBrokenStreams(t *testing.T) {
	leak.Check(t)
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, "go infinite\n")
	}()
	if err := Serve(t.Context(), r, fullWriter{}, Options{}); !errors.Is(err, errFull) {
		t.Errorf("writer: %v", err)
	}
	w.Close()
	if err := Serve(t.Context(), badReader{}, io.Discard, Options{}); !errors.Is(err, errFull) {
		t.Errorf("reader: %v", err)
	}
}
