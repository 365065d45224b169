package uci

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// mockFlag makes the test binary an engine: mockFlag MODE.
const mockFlag = "-uci-mock-engine"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == mockFlag {
		os.Exit(runMock(os.Args[2]))
	}
	os.Exit(m.Run())
}

// mockConfig runs the test binary as an engine of the given mode, with times
// short enough for a test.
func mockConfig(mode string) ClientConfig {
	return ClientConfig{
		Command:       os.Args[0],
		Args:          []string{mockFlag, mode},
		StartTimeout:  10 * time.Second,
		ReadyTimeout:  10 * time.Second,
		SearchTimeout: 10 * time.Second,
		MoveMargin:    10 * time.Second,
		QuitGrace:     10 * time.Second,
	}
}

// runMock is an engine that behaves in most things, and misbehaves in the way
// mode names.
func runMock(mode string) int {
	switch mode {
	case "serve":
		if Serve(context.Background(), os.Stdin, os.Stdout, Options{Version: "test"}) != nil {
			return 1
		}
		return 0
	case "exit-at-once":
		fmt.Println("ERROR: cannot find my opening book")
		return 3
	case "sleeper": // sleeps holding the output of the mock that started it
		time.Sleep(time.Minute)
		return 0
	}
	m := mock{mode: mode, line: chess.NewLine(chess.Crazyhouse.Start())}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, maxLine)
	for in.Scan() {
		if code := m.obey(in.Text()); code >= 0 {
			return code
		}
	}
	return 0
}

type mock struct {
	mode      string
	line      *chess.Line
	searching bool
}

// obey returns the exit status, -1 to go on.
func (m *mock) obey(command string) int {
	fields := strings.Fields(command)
	if len(fields) == 0 {
		return -1
	}
	switch fields[0] {
	case "uci":
		m.identify()
	case "isready":
		if m.mode != "never-ready" {
			fmt.Println("readyok")
		}
	case "setoption", "ucinewgame":
		if m.mode == "echo" {
			fmt.Fprintln(os.Stderr, command)
		}
	case "position":
		m.position(fields)
	case "go":
		return m.search()
	case "stop":
		if m.searching && m.mode != "hang" {
			m.searching = false
			m.best("")
		}
	case "quit":
		if m.mode == "ignore-quit" {
			time.Sleep(time.Minute)
		}
		return 0
	}
	return -1
}

func (m *mock) identify() {
	if m.mode == "never-uciok" {
		return
	}
	fmt.Print("Mock engine, all rights reserved\n\nid name Mock 1.0\nid author nobody\n")
	fmt.Println("option name MultiPV type spin default 1 min 1 max 9")
	fmt.Println("option name Skill Level type spin default 20 min 0 max 20")
	switch m.mode {
	case "no-variants":
	case "chess-only":
		fmt.Println("option name UCI_Variant type combo default chess var chess var atomic")
	default:
		fmt.Println("option name UCI_Variant type combo default chess var chess var crazyhouse")
		fmt.Println("option name UCI_Chess960 type check default false")
	}
	fmt.Println("uciok")
}

// position trusts the client, whose commands are what is tested: it dies of a
// wrong one.
func (m *mock) position(fields []string) {
	text := strings.Join(fields[1:], " ")
	head, moves, _ := strings.Cut(text, " moves")
	fen, isFEN := strings.CutPrefix(head, "fen ")
	if !isFEN {
		fen = chess.Crazyhouse.StartFEN
	}
	start, err := chess.ParseFEN(chess.Crazyhouse, fen)
	if err != nil {
		panic(err)
	}
	m.line = chess.NewLine(start)
	for _, text := range strings.Fields(moves) {
		move, err := m.line.Pos().ParseUCI(text)
		if err != nil {
			panic(err)
		}
		m.line.Push(move)
	}
}

func (m *mock) search() int {
	switch m.mode {
	case "crash":
		fmt.Println("info depth 1 score cp 3 pv e2e4")
		fmt.Println("assertion failed: king in hand")
		return 134
	case "close-output":
		os.Stdout.Close()
		time.Sleep(time.Minute)
	case "hang", "until-stop":
		m.searching = true
		return -1
	case "illegal":
		fmt.Println("bestmove e2e5")
		return -1
	case "none":
		fmt.Println("bestmove (none)")
		return -1
	case "garbage":
		fmt.Println("bestmove \x01\xffmove")
		return -1
	case "bare":
		fmt.Println("bestmove")
		return -1
	case "endless-line":
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 4096)); err != nil {
				return 1
			}
		}
	case "noise":
		for i := range 2000 {
			fmt.Printf("info string %d\nnoise \x00 %d\ninfo depth zebra score cp 9z pv\n\n", i, i)
		}
	case "die-after-move":
		m.best("")
		return 9
	case "twice":
		m.best("")
	case "holder": // dies, but leaves a child that keeps the pipe open
		cmd := exec.Command(os.Args[0], mockFlag, "sleeper")
		cmd.Stdout = os.Stdout
		if cmd.Start() != nil {
			return 2
		}
		return 1
	}
	m.best("ponder e7e5")
	return -1
}

// best plays the first legal move.
func (m *mock) best(more string) {
	var moves chess.MoveList
	m.line.Pos().Legal(&moves)
	move := m.line.Pos().UCI(moves.Moves[0])
	second := m.line.Pos().UCI(moves.Moves[1])
	fmt.Printf("info depth 7 seldepth 9 multipv 1 score cp 31 nodes 1234 time 5 pv %s\n", move)
	fmt.Printf("info depth 8 multipv 1 score cp 99 lowerbound nodes 1300 pv %s\n", move)
	fmt.Printf("info depth 7 multipv 2 score mate -2 nodes 1350 pv %s a1a1\n", second)
	fmt.Printf("bestmove %s %s\n", move, more)
}
