package mockengine

import (
	"fmt"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// obeyCECP does what an engine does that was told "xboard", and reports whether it
// ends.
func (e *engine) obeyCECP(fields []string) (ends bool) {
	rest := strings.Join(fields[1:], " ")
	switch fields[0] {
	case "protover":
		fmt.Fprint(e.out, "Mock engine, all rights reserved\n",
			`feature ping=1 setboard=1 usermove=1 colors=0 sigint=0 myname="Mock 1.0"`, "\n",
			`feature variants="normal,crazyhouse" memory=1 nps=1 shiny=1`, "\n",
			`feature option="Skill Level -spin 20 0 20" option="Learn - not -check 0" option="Clear -button"`, "\n",
			"feature done=1\n")
	case "new":
		e.variant, e.force = chess.Chess, false
		e.line = chess.NewLine(e.variant.Start())
	case "variant":
		if v, err := chess.ParseVariant(rest); err == nil {
			e.variant = v
			e.line = chess.NewLine(v.Start())
		}
	case "force":
		e.force = true
	case "ping":
		fmt.Fprintf(e.out, "pong %s\n", rest)
	case "setboard":
		e.place(rest)
	case "holding":
		e.hold(rest)
	case "usermove":
		e.usermove(rest)
	case "go":
		e.force = false
		e.move()
	case "?":
		if e.searching {
			e.searching = false
			e.move()
		}
	case "quit":
		return true
	default:
		if strings.ContainsAny(fields[0], "12345678") { // to an engine without usermove
			e.usermove(fields[0])
		}
	}
	return false
}

// place obeys "setboard FEN".
func (e *engine) place(fen string) {
	p, err := chess.ParseFEN(e.variant, fen)
	if err != nil {
		fmt.Fprintf(e.out, "tellusererror Illegal position: %v\n", err)
		return
	}
	e.line = chess.NewLine(p)
}

// hold obeys "holding [WHITE] [BLACK]".
func (e *engine) hold(text string) {
	white, black, _ := strings.Cut(text, "] [")
	hands := strings.Trim(white, "[") + strings.ToLower(strings.Trim(black, "]"))
	before, rest, _ := strings.Cut(e.line.Pos().FEN(), "[")
	_, after, _ := strings.Cut(rest, "]")
	e.place(before + "[" + hands + "]" + after)
}

// usermove obeys a move of the opponent, and answers it.
func (e *engine) usermove(text string) {
	m, err := e.line.Pos().ParseUCI(text)
	if err != nil {
		m, err = e.line.Pos().ParseSAN(text)
	}
	if err != nil {
		fmt.Fprintf(e.out, "Illegal move: %s\n", text)
		return
	}
	e.line.Push(m)
	if !e.force {
		e.move()
	}
}

// move makes the move that the position decides, with some thinking.
func (e *engine) move() {
	move, second, ok := e.choose()
	if !ok {
		fmt.Fprintln(e.out, "1/2-1/2 {no move}")
		return
	}
	pos := e.line.Pos()
	fmt.Fprintf(e.out, "# a comment\n7 31 1 1234 %s\n8 99 1 1300\t%s !\n6 100003 1 1350 1. %s\n7 31 1 1350 9 0 0\t%s a1a1\nmove %s\n",
		pos.SAN(move), pos.SAN(move), pos.SAN(second), pos.SAN(move), pos.UCI(move))
	e.line.Push(move)
}
