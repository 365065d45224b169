package mockengine

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// flag makes a test binary the engine: flag SCRIPT.
const flag = "-mock-engine"

// childFlag makes it a process that only lasts.
const childFlag = "-mock-engine-child"

// forever is how long engines last that do nothing: longer than any test, not so
// long that one forgotten stays for good.
const forever = 5 * time.Minute

// maxCommand bounds a command in bytes.
const maxCommand = 1 << 20

// Main runs the engine, and ends the program with it, if the program was started
// by [Command]. Else it returns.
func Main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == flag:
		os.Exit(Run(os.Args[2], os.Stdin, os.Stdout, os.Stderr))
	case len(os.Args) == 2 && os.Args[1] == childFlag:
		time.Sleep(forever)
		os.Exit(0)
	}
}

// Command returns the program and the arguments that start the engine: this
// program, which has to call [Main], with a script.
func Command(script string) (program string, args []string) {
	return os.Args[0], []string{flag, script}
}

// Run is the engine between a reader and a writer. It returns the exit status:
// that of the script, 0 at the end of the input, 2 if the script is wrong.
func Run(script string, in io.Reader, out io.WriteCloser, complaints io.Writer) int {
	steps, err := parseScript(script)
	if err != nil {
		fmt.Fprintln(complaints, err)
		return 2
	}
	e := engine{
		steps: steps, seen: map[string]int{}, out: out, complaints: complaints,
		variant: chess.Chess, line: chess.NewLine(chess.Chess.Start()),
	}
	if e.act("start") {
		return e.status
	}
	commands := bufio.NewScanner(in)
	commands.Buffer(nil, maxCommand)
	for commands.Scan() {
		if e.act(commands.Text()) {
			break
		}
	}
	return e.status
}

// engine is one engine that runs.
type engine struct {
	steps      []step
	seen       map[string]int // commands so far, by first word
	out        io.WriteCloser
	complaints io.Writer
	status     int // to end with

	variant   *chess.Variant
	chess960  bool
	line      *chess.Line
	searching bool // until stop, or "?"

	cecp  bool // it was told "xboard"
	force bool // of CECP: it does not move
}

// act obeys a command, or does what the script says in its place. It reports
// whether the engine ends.
func (e *engine) act(command string) (ends bool) {
	fields := strings.Fields(command)
	if len(fields) == 0 {
		return false
	}
	word := fields[0]
	e.seen[word]++
	for _, s := range e.steps {
		if !s.fits(word, e.seen[word]) {
			continue
		}
		for _, a := range s.actions {
			if e.do(a, command, fields) {
				return true
			}
		}
		return false
	}
	return e.obey(fields)
}

// do performs one action and reports whether the engine ends.
func (e *engine) do(a action, command string, fields []string) (ends bool) {
	switch a.verb {
	case "obey":
		return e.obey(fields)
	case "print":
		fmt.Fprintln(e.out, a.text)
	case "complain":
		fmt.Fprintln(e.complaints, a.text)
	case "echo":
		fmt.Fprintln(e.complaints, command)
	case "sleep":
		time.Sleep(a.span)
	case "think":
		e.searching = true
	case "exit":
		e.status = a.number
		return true
	case "kill":
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		time.Sleep(forever)
	case "hang":
		time.Sleep(forever)
	case "flood":
		return e.repeat("info depth 1 nodes 7 string and so on\n")
	case "endless":
		return e.repeat(strings.Repeat("x", 4096))
	case "close":
		_ = e.out.Close()
	case "child":
		child := exec.Command(os.Args[0], childFlag)
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			fmt.Fprintln(e.complaints, err)
		}
	}
	return false
}

// repeat writes text until nobody reads it, or for ever.
func (e *engine) repeat(text string) (ends bool) {
	for end := time.Now().Add(forever); time.Now().Before(end); {
		if _, err := io.WriteString(e.out, text); err != nil {
			break
		}
	}
	e.status = 1
	return true
}

// obey does what an engine does and reports whether it ends.
func (e *engine) obey(fields []string) (ends bool) {
	if e.cecp {
		return e.obeyCECP(fields)
	}
	switch fields[0] {
	case "xboard":
		e.cecp = true
	case "uci":
		fmt.Fprint(e.out, "Mock engine, all rights reserved\n\nid name Mock 1.0\nid author nobody\n",
			"option name MultiPV type spin default 1 min 1 max 9\n",
			"option name Skill Level type spin default 20 min 0 max 20\n",
			"option name UCI_Variant type combo default chess var chess var crazyhouse\n",
			"option name UCI_Chess960 type check default false\n",
			"uciok\n")
	case "isready":
		fmt.Fprintln(e.out, "readyok")
	case "setoption":
		e.set(fields)
	case "position":
		if err := e.position(fields[1:]); err != nil {
			// The commands are what is tested: a wrong one ends the engine.
			fmt.Fprintln(e.complaints, err)
			e.status = 3
			return true
		}
	case "go":
		e.best()
	case "stop":
		if e.searching {
			e.searching = false
			e.best()
		}
	case "quit":
		return true
	}
	return false
}

// set obeys "setoption name NAME value VALUE" for the options of the game.
func (e *engine) set(fields []string) {
	if len(fields) != 5 {
		return
	}
	switch strings.ToLower(fields[2]) {
	case "uci_variant":
		if v, err := chess.ParseVariant(fields[4]); err == nil {
			e.variant = v
		}
	case "uci_chess960":
		e.chess960 = fields[4] == "true"
	}
}

// position obeys "position startpos|fen FEN [moves ...]".
func (e *engine) position(fields []string) error {
	head, moves, _ := strings.Cut(strings.Join(fields, " "), " moves")
	fen, given := strings.CutPrefix(head, "fen ")
	if !given {
		fen = e.variant.StartFEN
	}
	start, err := chess.ParseFEN(e.variant, fen)
	if err != nil {
		return err
	}
	start.SetChess960(e.chess960)
	e.line = chess.NewLine(start)
	for text := range strings.FieldsSeq(moves) {
		m, err := e.line.Pos().ParseUCI(text)
		if err != nil {
			return err
		}
		e.line.Push(m)
	}
	return nil
}

// best plays a move that the position alone decides.
func (e *engine) best() {
	first, other, ok := e.choose()
	if !ok {
		fmt.Fprintln(e.out, "bestmove (none)")
		return
	}
	pos := e.line.Pos()
	move, second := pos.UCI(first), pos.UCI(other)
	fmt.Fprintf(e.out, "info depth 7 seldepth 9 multipv 1 score cp 31 nodes 1234 time 5 pv %s\n"+
		"info depth 8 multipv 1 score cp 99 lowerbound nodes 1300 pv %s\n"+
		"info depth 7 multipv 2 score mate -2 nodes 1350 pv %s a1a1\n"+
		"bestmove %s ponder a1a1\n", move, move, second, move)
}

// choose returns two moves that the position alone decides, if there is any.
func (e *engine) choose() (first, second chess.Move, ok bool) {
	var moves chess.MoveList
	pos := e.line.Pos()
	pos.Legal(&moves)
	if moves.N == 0 {
		return chess.NoMove, chess.NoMove, false
	}
	i := int(pos.Key() % uint64(moves.N))
	return moves.Moves[i], moves.Moves[(i+1)%moves.N], true
}
