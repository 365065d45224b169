package server

import (
	"context"
	"strings"
	"testing"
)

// FuzzServe gives the server any bytes as a session. Whatever they are, the
// server ends with them, answers each go once and keeps a legal position.
func FuzzServe(f *testing.F) {
	f.Add("uci\nisready\nucinewgame\nposition startpos moves e2e4 e7e5\ngo depth 2\nstop\nquit\n")
	f.Add("setoption name UCI_Chess960 value true\nposition fen 1r2k1r1/8/8/8/8/8/8/1R2K1R1[] w KQkq - 0 1 moves e1b1\ngo nodes 10\nd\neval")
	f.Add("setoption name Hash value 99\nsetoption name Threads value 2\nsetoption name Clear Hash\nsetoption name MultiPV value 4\ngo infinite")
	f.Add("setoption name UCI_Variant value chess\nposition fen 8/8/8/8/8/8/8/8 w\ngo ponder wtime 1\nponderhit\nstop")
	f.Add("go perft 9\nperft 2\nperft\nbench 30\nbench x\ngo searchmoves e2e4 e9e9 depth 3\n\x00\xff\r\n")
	f.Add("position fen 7k/6Q1/6K1/8/8/8/8/8[] b - - 0 1\ngo infinite\ngo ponder\nponderhit\nsetoption name EvalFile value nothing\n")
	f.Add("position fen x\ngo depth 2\ngo ponder\nponderhit\nposition startpos\ngo wtime abc\ngo searchmoves z9z9\nstop\ngo depth -3 mate\n")
	f.Add("setoption name UCI_LimitStrength value true\nsetoption name UCI_Elo value 0\nsetoption name UCI_ShowWDL value true\ngo infinite\nsetoption name Skill Level value 3\n")
	f.Add("setoption name CPuct value 2.5\nsetoption name Mate Probe value 2\nsetoption name Gumbel Actions value 4\nsetoption name LCB value x\ngo nodes 20\nbench 3\neval")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 || strings.Contains(text, "/dev") || strings.Contains(text, "/proc") {
			return
		}
		if strings.Contains(strings.ToLower(text), "debug log") {
			return // it would write files anywhere
		}
		goes := 0
		for line := range strings.Lines(text) {
			fields := strings.Fields(line)
			if len(fields) > 0 && fields[0] == "quit" {
				break
			}
			if len(fields) > 0 && fields[0] == "go" {
				goes++
			}
		}
		for _, o := range []Options{{}, treeServer()} {
			o.MaxHashMB, o.MaxThreads = 1, 2
			fuzzSession(t, text, goes, o)
		}
	})
}

// fuzzSession checks a session of text that has a number of "go" commands.
func fuzzSession(t *testing.T, text string, goes int, o Options) {
	t.Helper()
	var out strings.Builder
	if err := Serve(context.Background(), strings.NewReader(text), &out, o); err != nil {
		t.Fatal(err)
	}
	bestmoves := 0
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "bestmove ") {
			bestmoves++
		}
		if !strings.HasSuffix(line, "\n") {
			t.Errorf("half a line: %q", line)
		}
	}
	if bestmoves > goes || bestmoves < goes && !strings.Contains(text, "perft") {
		t.Errorf("%d bestmoves for %d go in %q:\n%s", bestmoves, goes, text, out.String())
	}
}
