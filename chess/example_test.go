package chess_test

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// A captured pawn goes to hand and comes back as a drop that gives check.
func Example() {
	line := chess.NewLine(chess.Crazyhouse.Start())
	for _, text := range []string{"e4", "d5", "exd5", "Qxd5", "Nc3", "Qd8", "P@d7+"} {
		m, err := line.Pos().ParseSAN(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		line.Push(m)
	}
	fmt.Println(line.Pos().FEN())

	var l chess.MoveList
	line.Pos().Legal(&l)
	for _, m := range l.Slice() {
		fmt.Println(line.Pos().SAN(m))
	}

	_, err := line.Pos().ParseUCI("N@f6")
	fmt.Println(err)
	// Output:
	// rnbqkbnr/pppPpppp/8/8/8/2N5/PPPP1PPP/R1BQKBNR[p] b KQkq - 0 4
	// Kxd7
	// Nxd7
	// Bxd7
	// Qxd7
	// chess: move "N@f6": illegal move: found no N in hand, expected a legal move of black
}

func ExamplePosition_String() {
	p, err := chess.ParseFEN(chess.Crazyhouse, "r1b1k2r/ppp2ppp/2n2n2/3qp3/8/2NP1N2/PPP2PPP/R1BQK2R/PBpb w KQkq - 0 9")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(p.String())
	// Output:
	// +---+---+---+---+---+---+---+---+
	//  | r |   | b |   | k |   |   | r | 8 [bp]
	//  +---+---+---+---+---+---+---+---+
	//  | p | p | p |   |   | p | p | p | 7
	//  +---+---+---+---+---+---+---+---+
	//  |   |   | n |   |   | n |   |   | 6
	//  +---+---+---+---+---+---+---+---+
	//  |   |   |   | q | p |   |   |   | 5
	//  +---+---+---+---+---+---+---+---+
	//  |   |   |   |   |   |   |   |   | 4
	//  +---+---+---+---+---+---+---+---+
	//  |   |   | N | P |   | N |   |   | 3
	//  +---+---+---+---+---+---+---+---+
	//  | P | P | P |   |   | P | P | P | 2
	//  +---+---+---+---+---+---+---+---+
	//  | R |   | B | Q | K |   |   | R | 1 [BP]
	//  +---+---+---+---+---+---+---+---+
	//    a   b   c   d   e   f   g   h
	//
	// FEN: r1b1k2r/ppp2ppp/2n2n2/3qp3/8/2NP1N2/PPP2PPP/R1BQK2R[BPbp] w KQkq - 0 9
}
