package ab

import "github.com/crazyhouse-rl/selfplay/chess"

// Evaluator says what positions are worth. A search thread drives its own
// evaluator along the line it looks at: Reset at the root, then Push before
// each move is made and Pop after it has been taken back, which lets an
// evaluator keep its sums incrementally. At most search.MaxPly moves are pushed
// at a time.
type Evaluator interface {
	// Reset starts a line at p.
	Reset(p *chess.Position)
	// Push extends the line by m. p is the position before the move, which
	// is legal there, or chess.NoMove for passing the turn.
	Push(p *chess.Position, m chess.Move)
	// Pop takes the last move of the line back.
	Pop()
	// Evaluate returns the value of p, the last position of the line, in
	// centipawns from the point of view of the side to move, which is seldom
	// in check: only where a line gets too long.
	Evaluate(p *chess.Position) int
}
