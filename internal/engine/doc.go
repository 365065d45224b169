// Package engine runs another program's chess engine in a child process: its pipes,
// its lines, a deadline for every wait, and what an engine's failure is called. The
// clients of both protocols, packages uci and xboard, are built on it.
package engine
