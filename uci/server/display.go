package server

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/player"
)

// display obeys "d": the position for human eyes.
func (s *server) display() {
	p := s.line.Pos()
	var b strings.Builder
	const rule = " +---+---+---+---+---+---+---+---+\n"
	b.WriteString("\n" + rule)
	for rank := 7; rank >= 0; rank-- {
		for file := range 8 {
			sq := chess.NewSquare(file, rank)
			piece := p.PieceAt(sq).String()
			if piece == "." {
				piece = " "
			}
			if p.Promoted().Has(sq) {
				fmt.Fprintf(&b, " | %s~", piece)
				continue
			}
			fmt.Fprintf(&b, " | %s", piece)
		}
		fmt.Fprintf(&b, " | %d\n%s", rank+1, rule)
	}
	b.WriteString("   a   b   c   d   e   f   g   h\n\n")
	fmt.Fprintf(&b, "Fen: %s\nKey: %016X\nCheckers:", p.FEN(), p.Key())
	for c := p.Checkers(); c != 0; c &= c - 1 {
		fmt.Fprintf(&b, " %s", c.First())
	}
	fmt.Fprintf(&b, "\nRepetitions: %d\n", s.line.Repetitions())
	s.out.write([]byte(b.String()))
}

// evaluate obeys "eval": the static evaluation of the position.
func (s *server) evaluate() {
	if err := s.missing(); err != nil {
		s.out.comment("%v", err)
		return
	}
	if s.player.Search == player.TreeSearch {
		s.evaluateTree()
		return
	}
	p := s.line.Pos()
	n, name := s.evaluation()
	eval := n.Evaluator()
	eval.Reset(p)
	var b strings.Builder
	fmt.Fprintf(&b, "evaluation by %s, from the side to move's point of view (%s)\n", name, p.SideToMove())
	if n.NNUE != nil {
		describeNet(&b, n.NNUE, p)
	}
	fmt.Fprintf(&b, "centipawns %d\n", eval.Evaluate(p))
	s.out.write([]byte(b.String()))
}

// describeNet writes what goes into a net's evaluation of p, in the units of
// [nnue.Eval].
func describeNet(b *strings.Builder, n *nnue.Network, p *chess.Position) {
	e := n.Evaluate(p)
	fmt.Fprintf(b, "bucket       psqt positional (1/%d units)\n", n.Architecture().OutputScale)
	for i, positional := range e.Positional {
		mark := ' '
		if i == e.Bucket {
			mark = '*'
		}
		psqt := "-" // a net may have no such part
		if len(e.PSQT) > 0 {
			psqt = strconv.Itoa(e.PSQT[i])
		}
		fmt.Fprintf(b, "%c %4d %10s %10d\n", mark, i, psqt, positional)
	}
	fmt.Fprintf(b, "raw %d\nadjusted %d\nfinal %d\n", e.Raw, e.Adjusted, e.Final)
}
