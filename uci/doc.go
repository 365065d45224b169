// Package uci has the Universal Chess Interface: its text, read and written, and
// the side of a program that runs engines. Package uci/server is the engine's side.
//
// [Client] starts any UCI engine as a child process and plays with it as a
// game.Player. Every wait on the engine has a deadline, and each way in which an
// engine can fail has its own sentinel error in package internal/engine. [Peer] is an engine that a benchmark
// compares speeds with.
//
// Both sides write castling as the king's own move (e1g1) unless UCI_Chess960
// is set, when the king takes the rook (e1h1). Scores are centipawns from the
// side to move's point of view, times on the wire whole milliseconds.
//
// The protocol is described in Stefan Meyer-Kahlen's "Description of the
// universal chess interface (UCI)", April 2006; UCI_Variant and the drop
// notation follow Fairy-Stockfish.
package uci
