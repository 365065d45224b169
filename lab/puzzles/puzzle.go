package puzzles

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Puzzle is a position with one best move.
type Puzzle struct {
	Position chess.Position
	Best     chess.Move // legal
	// Mate is in how many moves of its side Best mates, itself counted; 0 says that
	// it wins without a mate in so few moves as a Miner looks for.
	Mate int
	// Score is the search's value of Best in centipawns for the side to move; 0 of
	// mates.
	Score search.Score
	// Nodes and Depth are the least of the searches of 100, 1,000, 10,000 and
	// 100,000 nodes from which on all answer Best, and the depth in plies that it had
	// finished; 0 if not known.
	Nodes uint64
	Depth int
	// ID says where the puzzle comes from: a game's id and the plies made in it.
	ID string
}

// gradeNodes are the nodes of the searches that grade puzzles, rising.
var gradeNodes = []uint64{100, 1_000, 10_000, 100_000}

// Grade returns how hard the puzzle is: 1 to 4 for 100, 1,000, 10,000 and 100,000
// nodes, 5 for more, 0 if it is not known.
func (p *Puzzle) Grade() int {
	if p.Nodes == 0 {
		return 0
	}
	for i, n := range gradeNodes {
		if p.Nodes <= n {
			return i + 1
		}
	}
	return len(gradeNodes) + 1
}

// Kind returns what the puzzle asks for: "mate in 3", "win by a drop" or "win by a
// move".
func (p *Puzzle) Kind() string {
	switch {
	case p.Mate > 0:
		return fmt.Sprintf("mate in %d", p.Mate)
	case p.Best.IsDrop():
		return "win by a drop"
	}
	return "win by a move"
}
