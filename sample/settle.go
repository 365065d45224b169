package sample

import (
	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
)

// noisy reports whether QuietLeaf replaces a position with these traits.
func (t Traits) noisy() bool { return t.InCheck || t.Capture }

// Replace replaces a sample that QuietLeaf of f is for by its quiet leaf; others stay
// as they are. It is false if there is none: the sample is then as it was and not to be
// trained on.
func (f *Filter) Replace(s *Sample) bool {
	return !f.QuietLeaf || !TraitsOf(&s.Pos, s.Move).noisy() || s.settle()
}

// settle replaces s by the position to which its move and then captures lead, as
// [ab.Settle] plays them. A search that took the move has looked at about this line, so
// the score is the leaf's too, from the side to move there, and so is the result. The
// leaf has no move to learn: it was not played on from there.
//
// It is false, and s as it was, if the move is not known or not legal or there is no
// leaf.
func (s *Sample) settle() bool {
	if s.Partial || s.Move == chess.NoMove || !s.Pos.IsLegal(s.Move) {
		return false
	}
	next := s.Pos
	next.Make(s.Move)
	leaf, line, ok := ab.Settle(&next)
	if !ok {
		return false
	}
	plies := uint16(1 + len(line))
	if plies%2 == 1 {
		if s.HasScore() {
			s.Score = -s.Score
		}
		s.Result = -s.Result
	}
	s.Pos, s.Move, s.Policy, s.Repetitions = leaf, chess.NoMove, nil, 0
	s.Ply += plies
	s.PliesLeft -= min(plies, s.PliesLeft)
	return true
}
