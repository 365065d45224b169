// Package chess holds the rules of crazyhouse and of plain chess, both with
// Chess960 castling: positions, legal moves, notation, draws and perft.
//
// A [Variant] is a row of properties; one [Position] type serves all of them,
// its hands simply stay empty where captures do not go to hand. Position is a
// small value without pointers, so a move is tried on a copy:
//
//	child := *p
//	child.Make(m)
//
// [Position.Make] trusts its caller: moves come from [Position.Legal], or have
// passed [Position.IsLegal], [Position.ParseUCI] or [Position.ParseSAN]. Text
// is checked where it enters, in [ParseFEN] and the two move parsers.
//
// Squares count from a1 = 0 along the ranks to h8 = 63. A [Line] is a position
// with the moves that follow it, which is what repetition needs to know.
package chess
