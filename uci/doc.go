// Package uci speaks the Universal Chess Interface in both directions.
//
// [Serve] is the front end of this module's engine: it reads a GUI's commands
// and answers them, so that the engine plays in any program that knows UCI and
// its crazyhouse dialect (UCI_Variant, drops as "P@e4").
//
// [Client] is the other side: it starts any UCI engine as a child process and
// plays it as a game.Player. Every wait on the engine has a deadline, and each
// way in which an engine can fail has its own sentinel error.
//
// Both sides write castling as the king's own move (e1g1) unless UCI_Chess960
// is set, when the king takes the rook (e1h1). Scores are centipawns from the
// side to move's point of view, times on the wire whole milliseconds.
//
// The protocol is described in Stefan Meyer-Kahlen's "Description of the
// universal chess interface (UCI)", April 2006; UCI_Variant and the drop
// notation follow Fairy-Stockfish.
package uci
