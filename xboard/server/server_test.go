package server

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/internal/leak"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
	uci "github.com/crazyhouse-rl/selfplay/uci/server"
	"github.com/crazyhouse-rl/selfplay/xboard"
)

// serveFlag makes the test binary the engine of this package.
const serveFlag = "-xboard-serve"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveFlag {
		if uci.Serve(context.Background(), os.Stdin, os.Stdout, uci.Options{Version: "test", XBoard: New}) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const patience = 20 * time.Second

// session is a dialogue with a server.
type session struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string // closed with the server's output
}

func newSession(t *testing.T, commands ...string) *session {
	t.Helper()
	return newSessionOf(t, uci.Options{}, commands...)
}

func newSessionOf(t *testing.T, o uci.Options, commands ...string) *session {
	t.Helper()
	o.XBoard, o.MaxHashMB = New, 4
	leak.Check(t)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := &session{t: t, in: inW, lines: make(chan string, 1<<14)}
	go func() {
		if err := uci.Serve(context.Background(), inR, outW, o); err != nil {
			t.Error(err)
		}
		inR.Close()
		outW.Close()
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
	s.send(append([]string{"xboard"}, commands...)...)
	return s
}

func (s *session) send(commands ...string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, strings.Join(commands, "\n")+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

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

// answer sends commands and a ping and returns what comes before its pong, but for
// comments.
func (s *session) answer(commands ...string) []string {
	s.t.Helper()
	s.send(append(commands, "ping 77")...)
	all := s.until("pong 77")
	return slices.DeleteFunc(all[:len(all)-1], func(l string) bool { return strings.HasPrefix(l, "# ") })
}

func TestServerIntroduces(t *testing.T) {
	text := strings.Join(newSession(t, "protover 2", "accepted done", "rejected nps").answer(), "\n")
	for _, want := range []string{
		"feature ping=1 setboard=1 playother=1 san=0 usermove=1", `myname="selfplay" variants="normal,crazyhouse" colors=0`,
		`feature option="MultiPV -spin 1 1 256"`, `feature option="Clear Hash -button"`, `feature option="EvalFile -string"`,
		`feature option="UCI_LimitStrength -check 0"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	if !strings.HasSuffix(text, "\nfeature done=1") || strings.Contains(text, "UCI_Variant") || strings.Contains(text, `"Hash`) {
		t.Errorf("found\n%s", text)
	}
	if got := describe(uci.Option{Name: "Runtime", Describe: "type combo default b var a var b"}); got != "Runtime -combo a /// *b" {
		t.Errorf("combo: %q", got)
	}
}

// repetition has the start position for the third time.
var repetition = slices.Repeat([]string{"usermove g1f3", "usermove g8f6", "usermove f3g1", "usermove f6g8"}, 2)

// TestServerAnswers: commands in a game, and all that is said to them.
func TestServerAnswers(t *testing.T) {
	const mate = "setboard 7k/8/6KP/8/8/8/8/8[Q] w - - 0 1"
	for name, test := range map[string]struct {
		commands []string
		want     []string
	}{
		"mates":       {[]string{"variant crazyhouse", "force", mate, "sd 2", "go"}, []string{"move Q@g7", "1-0 {White mates}"}},
		"is mated":    {[]string{"variant crazyhouse", "force", mate, "usermove Q@g7", "usermove h8g7"}, []string{"1-0 {White mates}", "Illegal move: h8g7"}},
		"unknown":     {[]string{"xyzzy 3", "variant atomic", "level 1", "st 0", "sd x", "nps ?", "otim", "level x 1 1"}, []string{"Error (unknown command): xyzzy 3", "Error (unknown variant): variant atomic", "Error (found 1 numbers, expected moves, base and increment): level 1", "Error (expected a number): st 0", "Error (expected a number): sd x", "Error (expected a number): nps ?", "Error (expected a number): otim", `Error (found "x 1 1", expected MOVES MIN[:SEC] SEC): level x 1 1`}},
		"overstepped": {[]string{"variant crazyhouse", "force", mate, "level 0 1 0", "time -5", "otim -700", "time --5", "time -x"}, []string{"Error (expected a number): time --5", "Error (expected a number): time -x"}},
		"illegal":     {[]string{"force", "usermove e2e5", "e9e9", "e2e4", "e2e4", "P@e3", "usermove"}, []string{"Illegal move: e2e5", "Error (unknown command): e9e9", "Illegal move: e2e4", "Illegal move: P@e3", "Illegal move: "}},
		"positions":   {[]string{"setboard 8/8 w", "undo", "remove"}, []string{"tellusererror Illegal position: chess: FEN: board: found 2 ranks, expected 8", "Error (there is no such move): undo", "Error (there is no such move): remove"}},
		"taken back":  {[]string{"force", "e2e4", "e7e5", "remove", "e2e4", "undo", "e2e3"}, nil},
		"options":     {[]string{"memory 2", "cores 1", "option multipv=2", "option UCI_LimitStrength=1", "option Clear Hash", "option None=1", "cores x"}, []string{`Error (found option "None", expected one of the features): option None=1`, `Error (option Threads: found "x", expected a whole number from 1 to 512): cores x`}},
		"draws":       {[]string{"force", "setboard 7k/8/6K1/8/8/8/8/8 w - - 0 1", "go"}, []string{"1/2-1/2 {Draw by insufficient material}"}},
		"repeated":    {slices.Concat([]string{"variant crazyhouse", "force"}, repetition, []string{"usermove e2e4"}), nil},
		"fifty moves": {[]string{"force", "setboard k7/8/8/8/8/8/8/K6R w - - 100 80", "usermove h1h2"}, nil},
		"ignored":     {[]string{"random", "draw", "name X", "computer", "holding [P] []", "hint", ".", "result 1-0 {x}", "?", "exit", "bk"}, []string{" no book", ""}},
		"plays chess": {[]string{"nps 50", "st 1", "force", "setboard 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "go"}, []string{"move a1a8", "1-0 {White mates}"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			got := s.answer(test.commands...)
			if !slices.Equal(got, test.want) {
				t.Errorf("answers\n%q\nexpected\n%q", got, test.want)
			}
		})
	}
}

var thinkingPattern = regexp.MustCompile(`^\d+ -?\d+ \d+ \d+ \d+ \d+ 0\t\S`)

func TestServerThinks(t *testing.T) {
	s := newSession(t, "new", "variant crazyhouse", "post", "sd 4", "usermove e2e4")
	all := s.until("move ")
	thinking := 0
	for _, line := range all {
		if thinkingPattern.MatchString(line) {
			thinking++
		}
	}
	if thinking < 4 {
		t.Errorf("%d lines of thinking in\n%s", thinking, strings.Join(all, "\n"))
	}
	if got := s.answer("nopost", "usermove d2d4"); len(got) != 1 || !strings.HasPrefix(got[0], "move ") {
		t.Errorf("answers %q", got)
	}
	// A pong waits for the move, and "?" brings it.
	s.send("st 60", "sd 100", "usermove a2a3", "ping 5", "usermove a3a4", "?")
	if all := s.until("pong 5"); !strings.HasPrefix(all[len(all)-2], "move ") || !slices.Contains(all, "Illegal move (it is not your turn): a3a4") && !slices.Contains(all, "Illegal move: a3a4") {
		t.Errorf("answers %q", all)
	}
	// A search that force breaks off has no move.
	if got := s.answer("usermove b2b3", "force"); slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, "move ") }) {
		t.Errorf("answers %q", got)
	}
}

func TestServerPonders(t *testing.T) {
	s := newSession(t, "new", "variant crazyhouse", "hard", "level 0 1 0", "time 2000", "otim 2000", "usermove e2e4")
	s.until("move ")
	hint := s.answer("hint")
	if len(hint) != 1 || !strings.HasPrefix(hint[0], "Hint: ") {
		t.Fatalf("no hint: %q", hint)
	}
	expected := strings.TrimPrefix(hint[0], "Hint: ")
	s.send("usermove " + expected)
	s.until("move ")
	// Another move than the expected one, or none any more.
	if got := s.answer("easy", "hard", "force", "undo", "undo", "go"); len(got) != 1 || !strings.HasPrefix(got[0], "move ") {
		t.Errorf("answers %q", got)
	}
}

func TestServerAnalyses(t *testing.T) {
	s := newSession(t, "variant crazyhouse", "analyze")
	s.until("3 ")
	s.send(".")
	s.until("stat01: ")
	s.send("usermove e2e4")
	s.until("3 ")
	s.send("undo")
	s.until("3 ")
	s.send("new", "variant crazyhouse") // which stay in analysis
	s.until("3 ")
	s.send("usermove e2e4")
	s.until("3 ")
	s.answer("exit", "post")
	if got := s.answer("."); len(got) != 0 {
		t.Errorf("after exit %q", got)
	}
	if got := s.answer("nopost", "sd 1", "go"); len(got) != 1 {
		t.Errorf("answers %q", got)
	}
}

// TestServerAnalysesDraws: positions that are drawn by what came before are analysed,
// and those behind them.
func TestServerAnalysesDraws(t *testing.T) {
	s := newSession(t, "variant crazyhouse", "analyze")
	for _, moves := range [][]string{repetition, {"usermove e2e4"}} {
		for _, line := range s.answer(moves...) {
			if !thinkingPattern.MatchString(line) {
				t.Errorf("%q: answer %q", moves, line)
			}
		}
		s.send(".")
		s.until("stat01: ")
	}
}

// netBytes returns the file of a net.
func netBytes(t *testing.T, a nnue.Architecture) []byte {
	t.Helper()
	n, err := nnuetest.Random(a, 5)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := n.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestServerBeginsWithANetOfChess: the first game is one of chess, whatever the
// variant that the options begin with.
func TestServerBeginsWithANetOfChess(t *testing.T) {
	a := nnue.Narrow(16)
	a.Variant = chess.Chess.Name
	path := filepath.Join(t.TempDir(), "chess.nnue")
	if err := os.WriteFile(path, netBytes(t, a), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSessionOf(t, uci.Options{Player: player.Spec{Net: path}}, "sd 1", "go")
	if got := strings.Join(s.until("move "), "\n"); !strings.Contains(got, "evaluation: chess.nnue") {
		t.Errorf("answers:\n%s", got)
	}
}

// TestServerNetOfAnotherVariant: the variant may follow the net, which is missed by a
// search alone.
func TestServerNetOfAnotherVariant(t *testing.T) {
	planes, err := onnx.Encode(archtest.Net(t, "residual 1x8", 1))
	if err != nil {
		t.Fatal(err)
	}
	for name, net := range map[string][]byte{"a.nnue": netBytes(t, nnue.Narrow(16)), "a.onnx": planes} {
		t.Run(name, func(t *testing.T) {
			o := uci.Options{}
			if name == "a.onnx" {
				o.Player.Search = player.TreeSearch
			}
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, net, 0o600); err != nil {
				t.Fatal(err)
			}
			s := newSessionOf(t, o)
			if got := s.answer("option EvalFile=" + path); len(got) != 0 {
				t.Errorf("answers to the option %q", got)
			}
			if got := s.answer("go"); len(got) != 1 || !strings.HasPrefix(got[0], "tellusererror no net: EvalFile: ") {
				t.Errorf("answers in chess %q", got)
			}
			s.send("variant crazyhouse", "sd 1", "go")
			if got := strings.Join(s.until("move "), "\n"); !strings.Contains(got, "evaluation: "+name) {
				t.Errorf("answers in crazyhouse:\n%s", got)
			}
			// A net that was there before the first game, which is one of chess, is no other case.
			o.Player.Net = path
			s = newSessionOf(t, o)
			for range 2 {
				if got := s.answer("new", "go"); len(got) != 1 || !strings.HasPrefix(got[0], "tellusererror no net: EvalFile: ") {
					t.Errorf("answers in chess, net first: %q", got)
				}
				if got := s.answer("new", "variant crazyhouse", "sd 1", "go"); len(got) != 1 || !strings.HasPrefix(got[0], "move ") {
					t.Errorf("answers in crazyhouse, net first: %q", got)
				}
			}
			// Analysis goes on by the net once the variant is its own again.
			s = newSessionOf(t, o)
			s.send("variant crazyhouse", "analyze", "new")
			s.until("tellusererror no net: EvalFile: ")
			s.send("variant crazyhouse", ".")
			s.until("stat01: ")
			s.send("exit")
		})
	}
}

// TestServerWithoutNet: an engine that lost its net says so in place of a move.
func TestServerWithoutNet(t *testing.T) {
	s := newSession(t, "option EvalFile=/nowhere/net.nnue")
	if got := s.answer("go"); len(got) != 2 || !strings.HasPrefix(got[1], "tellusererror ") {
		t.Errorf("answers %q", got)
	}
}

// TestServerMended: once it can move again, it does when it is its turn.
func TestServerMended(t *testing.T) {
	s := newSession(t, "variant crazyhouse", "option EvalFile=/nowhere/net.nnue", "sd 1")
	s.send("usermove e2e4")
	s.until("tellusererror ")
	s.answer("option EvalFile=builtin", "undo")
	s.send("usermove d2d4")
	s.until("move ")
}

// TestServerRookFiles: castling is the king's own move, whatever names the rights.
func TestServerRookFiles(t *testing.T) {
	s := newSession(t, "variant crazyhouse", "force", "setboard r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R[] w HAha - 0 1")
	if got := s.answer("usermove e1g1"); len(got) != 0 {
		t.Errorf("answers %q", got)
	}
}

// TestUCIStays: a first command other than xboard leaves the protocol as it is.
func TestUCIStays(t *testing.T) {
	var out strings.Builder
	err := uci.Serve(t.Context(), strings.NewReader("\nisready\nxboard\nprotover 2\nposition startpos\ngo nodes 5\n"), &out, uci.Options{XBoard: New})
	if err != nil || !strings.Contains(out.String(), "bestmove") || strings.Contains(out.String(), "feature") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestGame has the client play whole games against the server, in another process.
func TestGame(t *testing.T) {
	for _, test := range []struct {
		variant *chess.Variant
		fen     string
		lim     search.Limits
	}{
		{chess.Crazyhouse, chess.Crazyhouse.StartFEN, search.Limits{Nodes: 300}},
		{chess.Chess, chess.Chess.StartFEN, search.Limits{Depth: 2}},
		{chess.Crazyhouse, "r3k2r/pppq1ppp/2n2n2/8/8/2N2N2/PPPQ~1PPP/R3K2R[BBPPbbpp] b KQkq - 3 11", search.Limits{Time: [2]time.Duration{time.Second, time.Second}}},
	} {
		t.Run(test.variant.Name, func(t *testing.T) {
			leak.Check(t)
			c, err := xboard.Start(t.Context(), engine.Config{
				Command: os.Args[0], Args: []string{serveFlag}, Variant: test.variant, Options: map[string]string{"memory": "2", "cores": "1", "Skill Seed": "4"},
				StartTimeout: patience, ReadyTimeout: patience, SearchTimeout: patience, MoveMargin: patience, QuitGrace: patience,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if c.Name() != "selfplay test" {
				t.Errorf("name %q", c.Name())
			}
			p, err := chess.ParseFEN(test.variant, test.fen)
			if err != nil {
				t.Fatal(err)
			}
			line := chess.NewLine(p)
			if err := c.NewGame(); err != nil {
				t.Fatal(err)
			}
			for line.Len() < 60 {
				if outcome, _ := line.Outcome(); outcome != chess.Ongoing {
					break
				}
				r, err := c.Search(t.Context(), line, test.lim)
				if err != nil {
					t.Fatalf("ply %d: %v", line.Len(), err)
				}
				if r.PV[0] != r.Move || test.lim.Nodes > 0 && r.Nodes == 0 || test.lim.Nodes > 0 && r.Nodes > test.lim.Nodes {
					t.Fatalf("ply %d: result %+v", line.Len(), r)
				}
				line.Push(r.Move)
			}
			if line.Len() < 10 {
				t.Errorf("the game ended after %d plies", line.Len())
			}
		})
	}
}
