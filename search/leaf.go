package search

import "github.com/crazyhouse-rl/selfplay/chess"

// Leaf is one position whose value and move probabilities a policy and value
// net is asked for. The caller fills the first group of fields and may use the
// same Leaf again: what a net fills reuses its memory.
type Leaf struct {
	// Pos is not changed. Its halfmove clock counts as [Advance] does.
	Pos *chess.Position
	// Repetitions says how often the position stood on the board earlier in
	// its game, as [chess.Line.Repetitions].
	Repetitions int
	// Moves are the legal moves of Pos, at least one, in any order.
	Moves []chess.Move

	// Priors are the probabilities of Moves, one each; they sum to 1.
	Priors []float32
	// Value is the expected result for the side to move, from -1 (lost) to 1.
	Value float32
	// Draw is the probability of a draw, 0 if the net does not tell.
	Draw float32
	// PliesLeft is how many plies the game is expected to last, 0 if the net
	// does not tell.
	PliesLeft float32
}

// Advance makes the legal move m in p and counts the halfmove clock as nets on
// planes know it, by the rules of lichess: the drop of a pawn is progress, that of
// another piece is a quiet ply. [chess.Position.Make] sets the clock to 0 at every
// drop, as Fairy-Stockfish does. In crazyhouse no rule asks for the clock.
func Advance(p *chess.Position, m chess.Move) {
	clock := p.HalfmoveClock()
	p.Make(m)
	if m.IsDrop() && m.DropType() != chess.Pawn {
		p.SetClocks(clock+1, p.FullmoveNumber())
	}
}

// Current returns the current position of a line, its halfmove clock counted as
// [Advance] does.
func Current(l *chess.Line) chess.Position {
	p := *l.Start()
	for _, m := range l.Moves() {
		Advance(&p, m)
	}
	return p
}
